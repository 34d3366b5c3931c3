//! Which relation is asked for by the rules of which, and the cycles in that.

use crate::components::components;
use rustc_hash::FxHashMap;

use super::sheet::{RelationKey, Sheet};

/// The relations of a sheet and, for each, those that its rules ask for.
pub(super) struct RelationGraph<'a> {
    index: FxHashMap<RelationKey<'a>, usize>,
    /// For each relation, those that it asks for; repeats are possible.
    asks: Vec<Vec<usize>>,
    /// For each relation, its strongly connected component.
    component: Vec<usize>,
}

impl<'a> RelationGraph<'a> {
    pub(super) fn new(sheet: &Sheet<'a>) -> RelationGraph<'a> {
        let mut graph =
            RelationGraph { index: FxHashMap::default(), asks: Vec::new(), component: Vec::new() };
        for (clause, head) in sheet.heads() {
            let from = graph.intern(head.key());
            clause.for_each_sentence(&mut |sentence, _| {
                let to = graph.intern(sentence.key());
                graph.asks[from].push(to);
            });
        }
        graph.component = components(&graph.asks);
        graph
    }

    fn intern(&mut self, key: RelationKey<'a>) -> usize {
        let next = self.asks.len();
        let idx = *self.index.entry(key).or_insert(next);
        if idx == next {
            self.asks.push(Vec::new());
        }
        idx
    }

    /// Whether the two relations ask for each other, at once or through others, where `head` is known to ask
    /// for `asked`.
    pub(super) fn in_a_cycle(&self, head: RelationKey, asked: RelationKey) -> bool {
        match (self.index.get(&head), self.index.get(&asked)) {
            (Some(&head), Some(&asked)) => self.component[head] == self.component[asked],
            _ => false,
        }
    }

    /// The component of a relation of the sheet.
    pub(super) fn component_of(&self, key: RelationKey) -> Option<usize> {
        self.index.get(&key).map(|&idx| self.component[idx])
    }

    /// For each relation name that is or asks for `name`, at once or through others, `true`.
    pub(super) fn dependent_on(&self, name: &str) -> Vec<bool> {
        let mut asked_by: Vec<Vec<usize>> = vec![Vec::new(); self.asks.len()];
        for (from, asks) in self.asks.iter().enumerate() {
            asks.iter().for_each(|&to| asked_by[to].push(from));
        }
        let mut dependent = vec![false; self.asks.len()];
        let mut open: Vec<usize> =
            self.index.iter().filter(|(key, _)| key.0 == name).map(|(_, &idx)| idx).collect();
        while let Some(idx) = open.pop() {
            if !std::mem::replace(&mut dependent[idx], true) {
                open.extend(&asked_by[idx]);
            }
        }
        dependent
    }

    /// The answer of [`RelationGraph::dependent_on`] for one relation.
    pub(super) fn lookup(&self, dependent: &[bool], key: RelationKey) -> bool {
        self.index.get(&key).is_some_and(|&idx| dependent[idx])
    }
}
