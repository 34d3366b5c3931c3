//! Tables that have become too small are made larger, while nobody searches.

use std::hash::Hash;

use super::Graph;
use crate::later::LaterMoves;
use crate::orders::Orders;

impl<S: Eq + Hash, O: Orders> Graph<S, O> {
    /// Whether a table is more than half full and could be larger.
    pub(crate) fn wants_larger_tables(&self) -> bool {
        self.wants_larger_state_table()
            || self.joint_table.wants_more_for(self.joints.end())
            || self.later.as_ref().is_some_and(LaterMoves::wants_larger_table)
    }

    fn wants_larger_state_table(&self) -> bool {
        self.has_transpositions && self.state_table.wants_more_for(self.nodes.end())
    }

    /// Makes those larger that should be.
    pub(crate) fn grow_tables(&mut self, n_threads: usize) {
        while self.wants_larger_state_table() {
            self.state_table.grow::<O>(&self.meter, n_threads);
        }
        while self.joint_table.wants_more_for(self.joints.end()) {
            self.joint_table.grow::<O>(&self.meter, n_threads);
        }
        if let Some(later) = &mut self.later {
            while later.wants_larger_table() {
                later.grow_table::<O>(&self.meter, n_threads);
            }
        }
    }
}
