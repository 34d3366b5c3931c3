//! Stratification: no atom depends on its own negation.
//!
//! The question is asked rule by rule, not relation by relation: a rule asks for the rules whose heads can be
//! what its condition says, so `(goal ?r 0)` may stand under `not` in a rule for `(goal ?r 50)`. Only
//! relations that are in a cycle through `not` are looked at so closely.

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::RelationGraph;
use super::report::{Report, quoted};
use super::sheet::{RelationKey, Sentence, Sheet};
use super::unify::may_unify;
use crate::components::components;
use crate::sexpr::Sexpr;

/// How many pairs of condition and head are compared; published sheets need fewer than a thousand.
const MAX_COMPARISONS: usize = 1_000_000;

/// A rule of a relation in a cycle through `not`.
struct Node<'a> {
    statement: usize,
    head: Sentence<'a>,
    /// The conditions inside the cycle, and whether each stands under `not`.
    asks: Vec<(Sentence<'a>, bool)>,
}

/// Reports every negated condition in a cycle.
pub(super) fn check(sheet: &Sheet, graph: &RelationGraph, report: &mut Report) {
    let nodes = suspects(sheet, graph);
    let index = HeadIndex::new(&nodes);
    let mut edges = vec![Vec::new(); nodes.len()];
    // Each negated condition with the rules that it may ask for.
    let mut negations: Vec<(usize, &Sentence, Vec<usize>)> = Vec::new();
    let mut n_left = MAX_COMPARISONS;
    for (from, node) in nodes.iter().enumerate() {
        for (sentence, negated) in &node.asks {
            let candidates = index.candidates(sentence);
            let Some(left) = n_left.checked_sub(candidates.len()) else {
                report.warning(
                    node.statement,
                    sentence.sexpr,
                    format!("too many rules to tell whether {} depends on its own negation", node.head.name),
                    "give the negated condition a relation of its own",
                );
                return;
            };
            n_left = left;
            let mut to: Vec<usize> = candidates.into_owned();
            to.retain(|&candidate| may_unify(sentence.args, nodes[candidate].head.args));
            edges[from].extend(&to);
            if *negated {
                negations.push((from, sentence, to));
            }
        }
    }
    let component = components(&edges);
    for (from, sentence, to) in negations {
        if to.iter().any(|&to| component[to] == component[from]) {
            report.error(
                nodes[from].statement,
                sentence.sexpr,
                format!(
                    "negative cycle: {} depends on its own negation through {}",
                    nodes[from].head.name,
                    quoted(sentence.sexpr)
                ),
                "break the cycle: let the negated relation ask only for what does not ask back",
            );
        }
    }
}

/// The rules of all relations in a cycle with a negated condition.
fn suspects<'a>(sheet: &Sheet<'a>, graph: &RelationGraph<'a>) -> Vec<Node<'a>> {
    let mut negative: FxHashSet<usize> = FxHashSet::default();
    for (clause, head) in sheet.heads() {
        clause.for_each_sentence(&mut |sentence, negated| {
            if negated && graph.in_a_cycle(head.key(), sentence.key()) {
                negative.extend(graph.component_of(head.key()));
            }
        });
    }
    let mut nodes = Vec::new();
    for (clause, head) in sheet.heads() {
        if !graph.component_of(head.key()).is_some_and(|component| negative.contains(&component)) {
            continue;
        }
        let mut asks = Vec::new();
        clause.for_each_sentence(&mut |sentence, negated| {
            if graph.in_a_cycle(head.key(), sentence.key()) {
                asks.push((*sentence, negated));
            }
        });
        // What asks for nothing inside the cycle closes none.
        if !asks.is_empty() {
            nodes.push(Node { statement: clause.statement, head: *head, asks });
        }
    }
    nodes
}

/// The rules of each relation, also by the name at each place of the head.
struct HeadIndex<'a> {
    all: FxHashMap<RelationKey<'a>, Vec<usize>>,
    /// By relation, place and name; without a name, those with a variable there.
    by_name: FxHashMap<(RelationKey<'a>, usize, Option<&'a str>), Vec<usize>>,
}

impl<'a> HeadIndex<'a> {
    fn new(nodes: &[Node<'a>]) -> HeadIndex<'a> {
        let mut index = HeadIndex { all: FxHashMap::default(), by_name: FxHashMap::default() };
        for (idx, node) in nodes.iter().enumerate() {
            let key = node.head.key();
            index.all.entry(key).or_default().push(idx);
            for (place, arg) in node.head.args.iter().enumerate() {
                index.by_name.entry((key, place, fixed_name(arg))).or_default().push(idx);
            }
        }
        index
    }

    /// The rules whose heads may be the sentence, by the place that leaves the fewest.
    fn candidates(&self, sentence: &Sentence<'a>) -> std::borrow::Cow<'_, [usize]> {
        let key = sentence.key();
        let of = |place, name| self.by_name.get(&(key, place, name)).map_or(&[][..], Vec::as_slice);
        let all = self.all.get(&key).map_or(&[][..], Vec::as_slice);
        sentence
            .args
            .iter()
            .enumerate()
            .filter_map(|(place, arg)| fixed_name(arg).map(|name| (of(place, Some(name)), of(place, None))))
            .min_by_key(|(named, open)| named.len() + open.len())
            .map_or(std::borrow::Cow::Borrowed(all), |(named, open)| [named, open].concat().into())
    }
}

/// The name at the head of a term; none for a variable.
fn fixed_name(term: &Sexpr) -> Option<&str> {
    term.head().filter(|name| !name.starts_with('?'))
}
