//! The recursion restriction, which keeps what recursive rules derive finite.
//!
//! Where a rule asks for a relation that asks back for its head, each argument of that condition is ground,
//! or an argument of the head, or an argument of a positive condition outside the cycle (Love et al. 2008,
//! definition of the recursion restriction). Arguments are compared whole, not by their parts.

use rustc_hash::FxHashSet;

use super::graph::RelationGraph;
use super::report::{Report, quoted};
use super::sheet::{Clause, Condition, RelationKey, Sheet, is_ground};

/// Reports each argument that breaks the restriction.
pub(super) fn check(sheet: &Sheet, graph: &RelationGraph, report: &mut Report) {
    for (clause, head) in sheet.heads() {
        let mut is_recursive = false;
        clause.for_each_sentence(&mut |sentence, negated| {
            is_recursive |= !negated && graph.in_a_cycle(head.key(), sentence.key());
        });
        if !is_recursive {
            continue;
        }
        let mut given: FxHashSet<String> = head.args.iter().map(ToString::to_string).collect();
        let outside = Outside { graph, head: head.key() };
        clause.body.iter().for_each(|condition| given.extend(outside.arguments(condition)));
        check_clause(clause, head.key(), graph, &given, report);
    }
}

fn check_clause(
    clause: &Clause,
    head: RelationKey,
    graph: &RelationGraph,
    given: &FxHashSet<String>,
    report: &mut Report,
) {
    clause.for_each_sentence(&mut |sentence, negated| {
        if negated || !graph.in_a_cycle(head, sentence.key()) {
            return;
        }
        for arg in sentence.args {
            if !is_ground(arg) && !given.contains(&arg.to_string()) {
                report.error(
                    clause.statement,
                    arg,
                    format!(
                        "recursion restriction: {} in {}, which asks back for {}, stands in no other place",
                        quoted(arg),
                        sentence.name,
                        head.0
                    ),
                    "add a condition that lists its values, or what is derived may be infinite",
                );
            }
        }
    });
}

struct Outside<'g, 'a> {
    graph: &'g RelationGraph<'a>,
    head: RelationKey<'a>,
}

impl Outside<'_, '_> {
    /// The arguments of positive conditions outside the cycle; of an `or`, those that every branch has.
    fn arguments(&self, condition: &Condition) -> FxHashSet<String> {
        match condition {
            Condition::Sentence(sentence) if !self.graph.in_a_cycle(self.head, sentence.key()) => {
                sentence.args.iter().map(ToString::to_string).collect()
            }
            Condition::Or(_, branches) => {
                let mut branches = branches.iter().map(|branch| self.arguments(branch));
                let mut common = branches.next().unwrap_or_default();
                branches.for_each(|branch| common.retain(|arg| branch.contains(arg)));
                common
            }
            Condition::And(_, parts) => parts.iter().flat_map(|part| self.arguments(part)).collect(),
            _ => FxHashSet::default(),
        }
    }
}
