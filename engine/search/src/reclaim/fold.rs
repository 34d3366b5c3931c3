//! What edges that are cut leave behind, so that a node's playouts are still its own and those of its edges.
//!
//! An edge keeps its own visits and values: choices go by them as before. What is only told by the child, or would be told
//! wrongly by another child of the same move, becomes the edge's or the node's own.

use std::hash::Hash;

use super::fates::Fates;
use crate::credit::Credit;
use crate::edge::Child;
use crate::graph::Graph;
use crate::node::{NodeId, Status};
use crate::orders::Orders;
use crate::sync::Ordering;
use crate::threads::for_each;

impl<S: Eq + Hash + Send + Sync, O: Orders> Graph<S, O> {
    /// Folds what the edges and joint moves of living nodes to dead ones have brought.
    pub(super) fn fold(&self, fates: &Fates, n_threads: usize) {
        if !self.has_credit && self.layout.own.len == 0 {
            return;
        }
        for_each(fates.n_words(), n_threads, |word_idx| {
            fates.alive_in(word_idx).for_each(|id| self.fold_edges(id, fates));
        });
        if self.has_credit {
            self.fold_joint_credits(fates);
        }
    }

    fn fold_edges(&self, id: NodeId, fates: &Fates) {
        let opening = self.node(id).opening();
        if self.node(id).status::<O>() != Status::Open || opening.mover.is_none() {
            return;
        }
        for edge in opening.first_edge..opening.first_edge + opening.n_edges {
            let Child::Node(child) = self.edge(edge).child::<O>() else { continue };
            if fates.is_alive(child) {
                continue;
            }
            if self.has_credit {
                self.fold_credit(id, edge);
            } else {
                self.fold_values(edge);
            }
        }
    }

    /// Under `ucd`: all playouts of the edge ended right behind it, as far as is known (n' and mu').
    fn fold_values(&self, edge: u32) {
        let (sums, own) = (self.layout.sums, self.layout.own);
        let visits = self.edge(edge).count.read::<O>().visits;
        self.word(edge, own.first).store(visits, Ordering::Relaxed);
        for role_idx in 0..self.n_roles {
            let sum = self.word(edge, sums.first + role_idx).load(Ordering::Relaxed);
            self.word(edge, own.first + 1 + role_idx).store(sum, Ordering::Relaxed);
        }
    }

    /// Under `credited`: the edge's playouts and credit become the node's own, for another child that is hardly known must
    /// not speak for them.
    fn fold_credit(&self, id: NodeId, edge: u32) {
        let record = self.edge(edge);
        let visits = record.count.read::<O>().visits;
        self.node(id).own.fetch_add(visits, Ordering::Relaxed);
        record.count.retract(visits);
        record.sum.store(0, Ordering::Relaxed);
        for role_idx in 0..self.n_roles {
            self.word(edge, self.layout.credits.first + role_idx).store(0, Ordering::Relaxed);
        }
    }

    /// The same of joint moves, which are part of an edge of each role.
    fn fold_joint_credits(&self, fates: &Fates) {
        for index in self.joint_moves() {
            let joint = self.joint(index);
            let Child::Node(child) = joint.child() else { continue };
            if !fates.is_alive(joint.parent()) || fates.is_alive(child) {
                continue;
            }
            let visits = self.joint_visits(index).load(Ordering::Relaxed);
            self.node(joint.parent()).own.fetch_add(visits, Ordering::Relaxed);
            for (role_idx, edge) in self.edges_of_joint(index).enumerate() {
                let credit = Credit::of(self.joint_credit(index, role_idx).load(Ordering::Relaxed));
                self.edge(edge).count.retract(visits);
                self.edge(edge).sum.fetch_sub(credit.product(), Ordering::Relaxed);
            }
        }
    }
}
