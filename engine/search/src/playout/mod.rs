//! Playouts: select, expand, roll out, back up; one at a time or many side by side.
//!
//! The descents of a batch go down until they need an answer of the reasoner ([`descent`]), which is asked for all of them
//! at once ([`questions`]), and so on until all have come to their ends; then all rollouts are made, and all backups
//! ([`evaluate`]).

mod descent;
mod evaluate;
mod questions;

use std::ops::Range;

use reasoner::{
    Dice, Expansion, GoalAnswer, Interrupt, Move, Reasoner, ReasonerError, Rollouts, Session, Value,
};

use self::descent::Descent;
use self::evaluate::Outcomes;
use self::questions::Questions;
use crate::backup::{Hot, Path};
use crate::best_line::BestLine;
use crate::counters::WorkerCounters;
use crate::graph::{Blocks, Graph};
use crate::history::History;
use crate::kept::Kept;
use crate::later::MovesMade;
use crate::node::{NodeId, Status};
use crate::orders::Sound;
use crate::scheme::Scheme;
use crate::select::Selector;
use crate::shares::{Share, TimeShares};

/// What the playouts of one run have in common.
#[derive(Debug)]
pub(crate) struct Setting<'a, S> {
    pub(crate) graph: &'a Graph<S>,
    pub(crate) root: NodeId,
    pub(crate) scheme: &'a Scheme,
    /// What moves were worth elsewhere, where the scheme asks.
    pub(crate) history: Option<&'a History>,
    pub(crate) seed: u64,
    pub(crate) max_goal: Value,
    pub(crate) best_line: &'a BestLine<S>,
    pub(crate) counters: &'a WorkerCounters,
}

impl<S> Clone for Setting<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Setting<'_, S> {}

/// One thread's means to make playouts. All memory that a playout needs is here and used again.
#[derive(Debug)]
pub(crate) struct Walker<R: Reasoner> {
    session: R::Session,
    n_roles: usize,
    /// The path of the descent at hand.
    path: Path,
    /// The descents of a batch that are under way.
    descents: Vec<Descent>,
    questions: Questions<R::State>,
    answers: Questions<R::State>,
    successors: Vec<R::State>,
    /// The descents of a batch that have come to their ends.
    leaves: Vec<Leaf<R::State>>,
    spare_paths: Vec<Path>,
    blocks: Blocks,
    selector: Selector,
    expansion: Expansion,
    expansions: Vec<Expansion>,
    goal_answers: Vec<GoalAnswer>,
    joint_move: Vec<Move>,
    /// Per role, the index of the chosen edge among those of a simultaneous node.
    choices: Vec<u32>,
    /// The probability that each had, where it was chosen by regret.
    chances: Vec<Option<f64>>,
    /// What is proven of the children of a node.
    words: Vec<u64>,
    rollouts: Rollouts,
    /// States about which the reasoner is asked: where moves are made, or rollouts begin.
    starts: Vec<R::State>,
    /// Of the rollouts of a batch.
    seeds: Vec<u64>,
    outcomes: Outcomes,
    /// The goals of a known end, one per role.
    goals: Vec<u64>,
    values: Vec<u64>,
    /// The rollout's moves, where the scheme asks.
    played: Vec<Move>,
    moves_made: MovesMade,
    hot: Hot,
    kept: Kept,
    shares: TimeShares,
}

/// A descent that has come to its end.
#[derive(Debug)]
struct Leaf<S> {
    path: Path,
    end: End<S>,
    /// One per role, of a known end.
    goals: Vec<u64>,
    /// Of its rollouts.
    seed: u64,
}

/// Where the descent ended and how its values came about.
#[derive(Debug)]
enum End<S> {
    /// At the last node of the path, whose goals are known without a rollout.
    Known,
    /// At the last node of the path, whose values are proven. What stands for its goals are ranks.
    Proven,
    /// At the last node of the path, with a rollout from there.
    Node,
    /// Behind an edge that the reasoner cannot follow, which is worth nothing.
    Broken,
    /// Behind an edge, with a rollout from a state that has no node.
    Outside(S),
}

impl<S> End<S> {
    /// Whether its goals are known without a rollout.
    fn is_known(&self) -> bool {
        matches!(self, End::Known | End::Proven | End::Broken)
    }
}

impl<R: Reasoner> Walker<R> {
    pub(crate) fn new(session: R::Session, interrupt: Interrupt) -> Walker<R> {
        let n_roles = session.roles().len();
        Walker {
            n_roles,
            session,
            descents: Vec::new(),
            questions: Questions::new(n_roles),
            answers: Questions::new(n_roles),
            successors: Vec::new(),
            path: Path::default(),
            blocks: Blocks::default(),
            selector: Selector::new(interrupt),
            expansion: Expansion::default(),
            expansions: Vec::new(),
            goal_answers: Vec::new(),
            joint_move: Vec::new(),
            choices: Vec::new(),
            chances: Vec::new(),
            words: Vec::new(),
            leaves: Vec::new(),
            spare_paths: Vec::new(),
            rollouts: Rollouts::default(),
            starts: Vec::new(),
            seeds: Vec::new(),
            outcomes: Outcomes::default(),
            goals: Vec::new(),
            values: Vec::new(),
            played: Vec::new(),
            moves_made: MovesMade::default(),
            hot: Hot::default(),
            kept: Kept::default(),
            shares: TimeShares::default(),
        }
    }

    /// Forgets the blocks of a graph that is no longer in use.
    pub(crate) fn leave_graph(&mut self) {
        self.blocks = Blocks::default();
    }

    /// Opens the root, so that its moves can be reported before any playout.
    ///
    /// # Errors
    /// If the reasoner fails.
    pub(crate) fn open_root(&mut self, setting: Setting<'_, R::State>) -> Result<(), ReasonerError> {
        let node = setting.graph.node(setting.root);
        if node.status::<Sound>() == Status::Fresh && node.claim() {
            self.open_claimed(setting, setting.root, Dice::child_seed(setting.seed, 0))?;
        }
        Ok(())
    }

    /// Makes the playouts with these numbers, which fix all their random choices, as one batch: all descents first,
    /// then all rollouts side by side, then all backups. `note` is told of each that the reasoner spoils; it leaves no
    /// trace in the graph but the mark of failure.
    pub(crate) fn play_out(
        &mut self,
        setting: Setting<'_, R::State>,
        numbers: Range<u64>,
        note: &mut impl FnMut(&ReasonerError),
    ) {
        let mut clock = self.shares.begin(setting.counters);
        self.kept.begin_batch(setting.graph, setting.root, setting.scheme, numbers.end - numbers.start);
        for number in numbers {
            let path = self.spare_paths.pop().unwrap_or_default();
            self.descents.push(Descent::begin(setting, path, number));
        }
        while !self.descents.is_empty() {
            self.descend_all(setting, note);
            clock.lap(Share::Descents);
            self.ask(setting);
            clock.lap(Share::Expansions);
        }
        let mut leaves = std::mem::take(&mut self.leaves);
        self.roll_out(setting, &leaves, note);
        clock.lap(Share::Rollouts);
        self.hot.begin(setting.scheme.hot_levels, self.n_roles);
        for (leaf_idx, leaf) in leaves.drain(..).enumerate() {
            self.finish(setting, leaf_idx, leaf, note);
        }
        self.leaves = leaves;
        setting.counters.flushes.add(self.hot.flush(setting.graph) + self.kept.end_batch(setting.graph));
        clock.lap(Share::Backups);
    }

    /// Adds to the graph what the thread keeps.
    pub(crate) fn flush(&mut self, setting: Setting<'_, R::State>) {
        setting.counters.flushes.add(self.kept.flush(setting.graph));
    }

    /// Lets all descents go on as far as they can; those that have something to ask stay.
    fn descend_all(&mut self, setting: Setting<'_, R::State>, note: &mut impl FnMut(&ReasonerError)) {
        let mut descents = std::mem::take(&mut self.descents);
        descents.retain_mut(|descent| match self.descend(setting, descent) {
            Ok(None) => true,
            Ok(Some(end)) => {
                let goals = if end.is_known() { self.goals.clone() } else { Vec::new() };
                let path = std::mem::take(&mut descent.path);
                self.leaves.push(Leaf { path, end, goals, seed: descent.seed });
                false
            }
            Err(error) => {
                descent.path.cancel(setting.graph, &mut self.kept);
                self.spare_paths.push(std::mem::take(&mut descent.path));
                note(&error);
                false
            }
        });
        self.descents = descents;
    }
}
