//! Which relations depend on themselves, and an order for evaluating them.

use crate::components::components;
use crate::rules::{Literal, RelationId, Rules};

/// How the relations of some rules depend on each other, whether under `not` or not.
#[derive(Debug, Clone)]
pub struct Recursion {
    component: Vec<usize>,
    recursive: Vec<bool>,
}

impl Recursion {
    /// Looks at every rule.
    pub fn of(rules: &Rules) -> Recursion {
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
        let component = components(&edges);
        let mut n_members = vec![0; n_relations];
        component.iter().for_each(|&component| n_members[component] += 1);
        let recursive =
            (0..n_relations).map(|id| n_members[component[id]] > 1 || edges[id].contains(&id)).collect();
        Recursion { component, recursive }
    }

    /// Whether a relation depends on itself.
    pub fn is_recursive(&self, relation: RelationId) -> bool {
        self.recursive[relation.idx()]
    }

    /// The number of the group of relations that depend on each other to which a relation belongs.
    pub fn component(&self, relation: RelationId) -> usize {
        self.component[relation.idx()]
    }

    /// Relations in an order in which each stands behind those it depends on, but for those of its own group.
    pub fn order(&self) -> Vec<RelationId> {
        let mut order: Vec<RelationId> = (0u32..).map(RelationId).take(self.component.len()).collect();
        order.sort_by_key(|&relation| self.component(relation));
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Description, ReadOptions};

    #[test]
    fn groups_stand_behind_what_they_depend_on() {
        let text = "(role you) (legal you go) (goal you 100) (<= terminal (even z))
            (<= (even ?x) (s ?y ?x) (odd ?y)) (<= (odd ?x) (s ?y ?x) (even ?y)) (even z) (s z o)
            (<= (up ?x) (s ?x ?y) (up ?y)) (<= (top ?x) (not (up ?x)) (s ?x ?y))";
        let description = Description::read(text, ReadOptions::default()).unwrap();
        let rules = Rules::from_description(&description).unwrap();
        let recursion = Recursion::of(&rules);
        let id = |wanted: &str| {
            let ids = (0u32..).map(RelationId).take(rules.relations().len());
            ids.into_iter().find(|&id| rules.relation_name(id) == wanted).unwrap()
        };
        for (relation, recursive) in
            [("even/1", true), ("odd/1", true), ("up/1", true), ("top/1", false), ("terminal/0", false)]
        {
            assert_eq!(recursion.is_recursive(id(relation)), recursive, "{relation}");
        }
        assert_eq!(recursion.component(id("even/1")), recursion.component(id("odd/1")));
        let order = recursion.order();
        let place = |relation| order.iter().position(|&other| other == id(relation)).unwrap();
        assert!(place("s/2") < place("up/1") && place("up/1") < place("top/1"));
        assert!(place("odd/1") < place("terminal/0"));
    }
}
