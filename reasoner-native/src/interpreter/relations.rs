//! How relations depend on each other.
//!
//! In go rules, out comes an order in which static relations can be evaluated one by one, and which
//! relations are recursive.

use gdl::{Dependence, Literal, RelationId, Rules};

use super::compile::narrow;

/// Relations in an order in which each stands behind those it depends on, wherever that is possible, and
/// for each whether it depends on itself.
pub(super) fn order_relations(rules: &Rules) -> (Vec<RelationId>, Vec<bool>) {
    let n_relations = rules.relations().len();
    let mut edges = vec![Vec::new(); n_relations];
    for rule in rules.rules() {
        for literal in &rule.body {
            if let Literal::Holds(atom) | Literal::Not(atom) = literal {
                edges[rule.head.relation.idx()].push(atom.relation.idx());
            }
        }
    }
    for targets in &mut edges {
        targets.sort_unstable();
        targets.dedup();
    }
    let mut walk = Components { edges: &edges, ..Components::new(n_relations) };
    (0..n_relations).for_each(|relation| walk.visit(relation));
    let order = walk.finished.iter().map(|&relation| RelationId(narrow(relation))).collect();
    (order, walk.cyclic)
}

/// Strongly connected components (Tarjan 1972), with the recursion on a stack of its own.
struct Components<'a> {
    edges: &'a [Vec<usize>],
    number: Vec<usize>,
    low: Vec<usize>,
    open: Vec<usize>,
    finished: Vec<usize>,
    done: Vec<bool>,
    cyclic: Vec<bool>,
    n_visited: usize,
}

impl Components<'_> {
    fn new(n: usize) -> Self {
        Components {
            edges: &[],
            number: vec![usize::MAX; n],
            low: vec![usize::MAX; n],
            open: Vec::new(),
            finished: Vec::new(),
            done: vec![false; n],
            cyclic: vec![false; n],
            n_visited: 0,
        }
    }

    fn open(&mut self, node: usize) {
        self.number[node] = self.n_visited;
        self.low[node] = self.n_visited;
        self.n_visited += 1;
        self.open.push(node);
    }

    fn visit(&mut self, root: usize) {
        if self.number[root] != usize::MAX {
            return;
        }
        self.open(root);
        let mut path = vec![(root, 0)];
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            if let Some(&target) = self.edges[node].get(*next) {
                *next += 1;
                if target == node {
                    self.cyclic[node] = true;
                }
                if self.number[target] == usize::MAX {
                    self.open(target);
                    path.push((target, 0));
                } else if !self.done[target] {
                    self.low[node] = self.low[node].min(self.number[target]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                self.low[parent] = self.low[parent].min(self.low[node]);
            }
            if self.low[node] == self.number[node] {
                let start = self.open.iter().rposition(|&other| other == node).expect("the node is open");
                let members = self.open.split_off(start);
                for &member in &members {
                    self.done[member] = true;
                    self.cyclic[member] |= members.len() > 1;
                }
                self.finished.extend(members);
            }
        }
    }
}

/// Whether answers can be found before the game starts.
pub(super) fn is_static(rules: &Rules, relation: RelationId) -> bool {
    rules.relation(relation).dependence == Dependence::Static
        && !matches!(relation, RelationId::TRUE | RelationId::DOES)
}
