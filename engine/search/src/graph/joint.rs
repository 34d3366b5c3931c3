//! Where a joint move leads from a simultaneous position.

use std::hash::{BuildHasher, Hash};

use rustc_hash::FxBuildHasher;

use super::{Blocks, Graph, note};
use crate::arena::Overwrite;
use crate::counters::WorkerCounters;
use crate::edge::Child;
use crate::node::NodeId;
use crate::orders::Orders;
use crate::parents::Way;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::table::{Found, spread};

const BROKEN: u32 = u32::MAX;

/// A joint move that was made, under the key (node, one choice per role). Joint moves are too many to list
/// (101^6 occurs), so they get a record when they are first made, which a table finds.
///
/// # Orderings
/// Written once, `Relaxed`, before the table publishes the record's index.
#[derive(Debug, Default)]
pub(crate) struct Joint {
    parent: AtomicU32,
    child: AtomicU32,
    /// First word in the side arena: the choices, one index per role among the node's edges; under `credited` also the
    /// visits, and each role's credit.
    side: AtomicU32,
}

impl Overwrite for Joint {
    fn overwrite(&self, other: &Joint) {
        let Joint { parent, child, side } = self;
        parent.overwrite(&other.parent);
        child.overwrite(&other.child);
        side.overwrite(&other.side);
    }
}

impl Joint {
    /// Fills the record.
    pub(crate) fn write(&self, parent: NodeId, child: Child, side: u32) {
        let child = match child {
            Child::None => 0,
            Child::Broken => BROKEN,
            Child::Node(id) => id.0,
        };
        self.parent.store(parent.0, Ordering::Relaxed);
        self.child.store(child, Ordering::Relaxed);
        self.side.store(side, Ordering::Relaxed);
    }

    /// Takes a record out that was never published.
    pub(crate) fn kill(&self) {
        self.parent.store(0, Ordering::Relaxed);
    }

    /// The node in which the joint move was made; 0 in a record that nothing refers to.
    pub(crate) fn parent(&self) -> NodeId {
        NodeId(self.parent.load(Ordering::Relaxed))
    }

    /// Where it leads.
    pub(crate) fn child(&self) -> Child {
        match self.child.load(Ordering::Relaxed) {
            0 => Child::None,
            BROKEN => Child::Broken,
            id => Child::Node(NodeId(id)),
        }
    }

    /// Its nodes have moved; to be told while nobody else is there.
    pub(crate) fn relink(&self, parent: NodeId, child: Child) {
        self.write(parent, child, self.side());
    }

    /// Its side record has moved; the same.
    pub(crate) fn move_side(&self, side: u32) {
        self.side.store(side, Ordering::Relaxed);
    }

    pub(crate) fn side(&self) -> u32 {
        self.side.load(Ordering::Relaxed)
    }
}

impl<S: Eq + Hash, O: Orders> Graph<S, O> {
    /// The record of a joint move in a simultaneous node, if it was made before.
    pub(crate) fn find_joint(&self, id: NodeId, choices: &[u32]) -> Option<u32> {
        self.joint_table.find::<O>(self.joint_hash(id, choices), |at| self.is_joint(at, id, choices))
    }

    /// A joint move that was made.
    pub(crate) fn joint(&self, index: u32) -> &Joint {
        self.joints.items.at(index as usize)
    }

    /// The edges that a joint move consists of, one for each role.
    pub(crate) fn edges_of_joint(&self, index: u32) -> impl Iterator<Item = u32> {
        let joint = self.joint(index);
        let first_edge = self.node(joint.parent()).opening().first_edge;
        (0..self.n_roles).map(move |offset| first_edge + choice_of(self.side_word(joint.side(), offset)))
    }

    /// How often a joint move was made, under `credited`.
    pub(crate) fn joint_visits(&self, index: u32) -> &AtomicU64 {
        self.side_word(self.joint(index).side(), self.n_roles)
    }

    /// What a joint move credited to its node for a role, under `credited`.
    pub(crate) fn joint_credit(&self, index: u32, role_idx: usize) -> &AtomicU64 {
        self.side_word(self.joint(index).side(), self.n_roles + 1 + role_idx)
    }

    /// Makes a joint move lead to `child`; where it leads now, and its record if there is one.
    pub(crate) fn link_joint(
        &self,
        blocks: &mut Blocks,
        id: NodeId,
        choices: &[u32],
        child: Child,
        counters: &WorkerCounters,
    ) -> (Child, Option<u32>) {
        let n_words = self.words_of_joint();
        let Blocks { joints, side: side_words, links, .. } = blocks;
        let lookup = self.joint_table.find_or_insert::<O>(
            self.joint_hash(id, choices),
            &self.meter,
            |at| self.is_joint(at, id, choices),
            || {
                let index = self.joints.reserve(joints, 1, &self.meter)?;
                let side = self.side.reserve(side_words, n_words, &self.meter)?;
                for (offset, &choice) in choices.iter().enumerate() {
                    self.side_word(side, offset).store(u64::from(choice), Ordering::Relaxed);
                }
                self.joints.items.at(index as usize).write(id, child, side);
                if let Child::Node(child) = child {
                    self.add_parent(links, child, id, Way::Joint(index));
                }
                Some(index)
            },
        );
        note(lookup, counters);
        let winner = match lookup.found {
            Found::Inserted(index) => return (child, Some(index)),
            Found::There(index) => index,
            Found::Lost { winner, loser } => {
                self.joints.items.at(loser as usize).kill();
                winner
            }
            Found::Full => {
                // Joint moves may be far more than nodes: what has no record leads out of the graph from now on.
                counters.table_full.add(1);
                self.meter.declare_full();
                0
            }
        };
        let held = if winner == 0 { Child::None } else { self.joints.items.at(winner as usize).child() };
        match (child, held) {
            (Child::Node(mine), Child::Node(_) | Child::None | Child::Broken)
                if !self.has_transpositions && held != child =>
            {
                self.node(mine).kill();
                counters.duplicates.add(1);
            }
            _ => {}
        }
        (held, (winner != 0).then_some(winner))
    }

    /// Words in the side record of a joint move.
    pub(crate) fn words_of_joint(&self) -> usize {
        if self.has_credit { 2 * self.n_roles + 1 } else { self.n_roles }
    }

    /// Puts a joint move into the table again; false if there is no room.
    pub(crate) fn enter_joint(&self, index: u32) -> bool {
        let joint = self.joint(index);
        let choices: Vec<u32> =
            (0..self.n_roles).map(|offset| choice_of(self.side_word(joint.side(), offset))).collect();
        self.joint_table.insert::<O>(self.joint_hash(joint.parent(), &choices), &self.meter, index)
    }

    fn joint_hash(&self, id: NodeId, choices: &[u32]) -> u64 {
        spread(FxBuildHasher.hash_one((id, choices)))
    }

    fn is_joint(&self, index: u32, id: NodeId, choices: &[u32]) -> bool {
        let joint = self.joints.items.at(index as usize);
        joint.parent() == id
            && choices
                .iter()
                .enumerate()
                .all(|(offset, &choice)| choice_of(self.side_word(joint.side(), offset)) == choice)
    }
}

/// A word of a joint move's side record that holds a choice.
#[allow(clippy::cast_possible_truncation, reason = "a choice's 32 bits were stored")]
fn choice_of(word: &AtomicU64) -> u32 {
    word.load(Ordering::Relaxed) as u32
}
