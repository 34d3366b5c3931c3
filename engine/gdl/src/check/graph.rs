//! Which relation is asked for by the rules of which, and the cycles in that.

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

/// The strongly connected component of each node (Tarjan 1972), with the recursion on a stack of our own:
/// the graph may be one long path.
pub(super) fn components(edges: &[Vec<usize>]) -> Vec<usize> {
    const UNSEEN: usize = usize::MAX;
    let n = edges.len();
    let (mut order, mut low) = (vec![UNSEEN; n], vec![0; n]);
    let mut component = vec![UNSEEN; n];
    let (mut n_seen, mut n_components) = (0, 0);
    let mut on_path: Vec<usize> = Vec::new();
    // A node and how many of its edges are done.
    let mut calls: Vec<(usize, usize)> = Vec::new();
    for root in 0..n {
        if order[root] != UNSEEN {
            continue;
        }
        calls.push((root, 0));
        while let Some((node, n_done)) = calls.last_mut() {
            let node = *node;
            if *n_done == 0 {
                order[node] = n_seen;
                low[node] = n_seen;
                n_seen += 1;
                on_path.push(node);
            }
            if let Some(&to) = edges[node].get(*n_done) {
                *n_done += 1;
                if order[to] == UNSEEN {
                    calls.push((to, 0));
                } else if component[to] == UNSEEN {
                    low[node] = low[node].min(order[to]);
                }
                continue;
            }
            if low[node] == order[node] {
                while let Some(member) = on_path.pop() {
                    component[member] = n_components;
                    if member == node {
                        break;
                    }
                }
                n_components += 1;
            }
            calls.pop();
            if let Some(&(caller, _)) = calls.last() {
                low[caller] = low[caller].min(low[node]);
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_components() {
        let edges = [vec![1], vec![2], vec![0, 3], vec![4], vec![], vec![5]];
        let component = components(&edges);
        assert!(component[0] == component[1] && component[1] == component[2]);
        assert_ne!(component[2], component[3]);
        assert_ne!(component[3], component[4]);
    }

    #[test]
    fn repeated_edges_and_late_back_edges_are_followed() {
        let edges = [vec![1, 1, 2], vec![0], vec![1, 3], vec![3, 0]];
        let component = components(&edges);
        assert!(component.iter().all(|&idx| idx == component[0]));
    }

    #[test]
    fn a_long_path_needs_no_deep_stack() {
        let n = 1_000_000;
        let edges: Vec<Vec<usize>> = (0..n).map(|idx| vec![(idx + 1) % n]).collect();
        assert!(components(&edges).iter().all(|&idx| idx == 0));
    }
}
