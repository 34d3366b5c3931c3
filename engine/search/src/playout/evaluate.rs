//! What the ends of descents are worth: rollouts, and what is learnt from them.

use reasoner::{Lot, Move, Reasoner, ReasonerError, Session, Uniform};

use super::{End, Leaf, Setting, Walker};
use crate::backup::Ending;
use crate::best_line::Line;
use crate::config::Config;
use crate::history::Gibbs;
use crate::node::Status;
use crate::orders::Sound;
use crate::valuation::Valuation;

/// What one playout may add to the later moves of its nodes under `rave-ucd`, from the root down: they are as many as
/// its nodes times its moves, which in games of thousands of moves is too much.
const MAX_LATER_MOVES: usize = 1 << 14;

/// What the rollouts of a batch came to, leaf by leaf.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    n_roles: usize,
    /// Sums of values at the leaf's state, one per role.
    sums: Vec<u64>,
    /// The best value of a rollout, one per role.
    best: Vec<u64>,
    /// By leaf: the first role's best goal, and the rollout it came from.
    best_goals: Vec<(u64, u32)>,
    /// By leaf: the most moves that a rollout made.
    lengths: Vec<u32>,
    /// By leaf: whether all its rollouts came to their ends.
    is_done: Vec<bool>,
}

impl Outcomes {
    fn begin(&mut self, n_roles: usize, n_leaves: usize) {
        self.n_roles = n_roles;
        for numbers in [&mut self.sums, &mut self.best] {
            numbers.clear();
            numbers.resize(n_leaves * n_roles, 0);
        }
        self.best_goals.clear();
        self.best_goals.resize(n_leaves, (0, 0));
        self.lengths.clear();
        self.lengths.resize(n_leaves, 0);
        self.is_done.clear();
        self.is_done.resize(n_leaves, false);
    }

    /// Adds the end of a leaf's `rollout`th rollout.
    fn add(&mut self, valuation: &Valuation, leaf_idx: usize, rollout: u32, values: &[u64], end: (u64, u32)) {
        let (goal, length) = end;
        let first = leaf_idx * self.n_roles;
        for (role_idx, &value) in values.iter().enumerate() {
            let value = valuation.before(value, length);
            self.sums[first + role_idx] += value;
            self.best[first + role_idx] = self.best[first + role_idx].max(value);
        }
        if rollout == 0 || goal > self.best_goals[leaf_idx].0 {
            self.best_goals[leaf_idx] = (goal, rollout);
        }
        self.lengths[leaf_idx] = self.lengths[leaf_idx].max(length);
    }
}

/// The seed of a leaf's `rollout`th rollout of `n`.
fn seed_of(seed: u64, rollout: u32, n: u32) -> u64 {
    if n == 1 { seed } else { Lot::seed_in_series(seed, rollout) }
}

impl<R: Reasoner> Walker<R> {
    /// Rolls out from all leaves whose goals are not known.
    pub(super) fn roll_out(
        &mut self,
        setting: Setting<'_, R::State>,
        leaves: &[Leaf<R::State>],
        note: &mut impl FnMut(&ReasonerError),
    ) {
        let Setting { graph, scheme, .. } = setting;
        self.outcomes.begin(self.n_roles, leaves.len());
        let mut unknown: Vec<usize> = Vec::with_capacity(leaves.len());
        self.starts.clear();
        self.seeds.clear();
        self.played.clear();
        for (leaf_idx, leaf) in leaves.iter().enumerate() {
            let state = match (&leaf.end, leaf.path.nodes.last()) {
                (End::Node, Some(&id)) => graph.state(id),
                (End::Outside(state), _) => state,
                (End::Known | End::Proven | End::Broken | End::Node, _) => {
                    self.outcomes.is_done[leaf_idx] = true;
                    continue;
                }
            };
            unknown.push(leaf_idx);
            self.starts.push(state.clone());
            self.seeds.extend((0..scheme.n_rollouts).map(|it| seed_of(leaf.seed, it, scheme.n_rollouts)));
        }
        let n_each = scheme.n_rollouts as usize;
        let mut first = 0;
        while first < unknown.len() {
            let asked = self.ask_rollouts(setting, first, n_each);
            let n_done = self.rollouts.len() / n_each;
            for (i, &leaf_idx) in unknown[first..][..n_done].iter().enumerate() {
                self.gather(setting, leaf_idx, i * n_each);
            }
            let Err(error) = asked else { return };
            if error == ReasonerError::Interrupted {
                // Nobody asks for the others any more.
                unknown[first + n_done..].iter().for_each(|_| note(&error));
                return;
            }
            note(&error);
            // The one that failed is left out; those behind it have not been asked.
            if let Some(&failed) = unknown.get(first + n_done)
                && let (End::Node, Some(&id)) = (&leaves[failed].end, leaves[failed].path.nodes.last())
            {
                self.note_failure(graph, id, &error);
            }
            first += n_done + 1;
        }
    }

    /// Plays the rollouts from the `first` state on; after an error, those that came before it are there.
    fn ask_rollouts(
        &mut self,
        setting: Setting<'_, R::State>,
        first: usize,
        n_each: usize,
    ) -> Result<(), ReasonerError> {
        let (starts, seeds) = (&self.starts[first..], &self.seeds[first * n_each..]);
        if !setting.scheme.wants_moves() {
            return self.session.rollouts(starts, seeds, &mut self.rollouts);
        }
        // One at a time: see Scheme::batch.
        self.rollouts.clear(self.n_roles);
        let (state, seed, played) = (&starts[0], seeds[0], Some(&mut self.played));
        let end = match setting.history {
            Some(history) => self.session.rollout_with(state, seed, &mut Gibbs(history), played)?,
            None => self.session.rollout_with(state, seed, &mut Uniform, played)?,
        };
        self.rollouts.push(&end);
        Ok(())
    }

    /// Adds up a leaf's rollouts, which begin at `first` among those just played.
    fn gather(&mut self, setting: Setting<'_, R::State>, leaf_idx: usize, first: usize) {
        let Setting { scheme, counters, max_goal, .. } = setting;
        for rollout in 0..scheme.n_rollouts {
            let at = first + rollout as usize;
            let length = self.rollouts.length(at);
            self.goals.clear();
            self.goals.extend(self.rollouts.goals(at).iter().map(|&goal| u64::from(goal.min(max_goal))));
            scheme.valuation.of_end(&self.goals, &mut self.values);
            let end = (self.goals[0], length);
            self.outcomes.add(&scheme.valuation, leaf_idx, rollout, &self.values, end);
            counters.rollouts.add(1);
            counters.rollout_steps.add(u64::from(length));
        }
        self.outcomes.is_done[leaf_idx] = true;
    }

    /// Adds a leaf's playout to all that learns from it, or takes it back if it was spoiled.
    pub(super) fn finish(
        &mut self,
        setting: Setting<'_, R::State>,
        leaf_idx: usize,
        leaf: Leaf<R::State>,
        note: &mut impl FnMut(&ReasonerError),
    ) {
        let Setting { graph, scheme, counters, .. } = setting;
        let Leaf { path, end, goals, seed } = leaf;
        self.path = path;
        let is_known = end.is_known();
        let is_at_node = matches!(end, End::Known | End::Proven | End::Node);
        if is_known {
            match end {
                End::Proven => scheme.valuation.of_ranks(&goals, &mut self.values),
                _ => scheme.valuation.of_end(&goals, &mut self.values),
            }
            for rollout in 0..scheme.n_rollouts {
                self.outcomes.add(&scheme.valuation, leaf_idx, rollout, &self.values, (goals[0], 0));
            }
        } else if self.outcomes.is_done[leaf_idx] && self.outcomes.lengths[leaf_idx] == 0 {
            self.close_if_over(setting, &end, leaf_idx);
        }
        let kept = self.outcomes.is_done[leaf_idx].then(|| self.keep_best_line(setting, end, leaf_idx, seed));
        match kept {
            Some(Ok(())) => {
                if scheme.wants_moves() {
                    self.learn_moves(setting, leaf_idx);
                }
                let roles = leaf_idx * self.n_roles..(leaf_idx + 1) * self.n_roles;
                let (values, best) = (&self.outcomes.sums[roles.clone()], &self.outcomes.best[roles]);
                let ending = Ending { values, best, is_at_node };
                self.path.back_up(graph, scheme, &ending, &mut self.hot, &mut self.kept);
                if let Some(solver) = &scheme.solver {
                    solver.go_up(graph, &self.path, &mut self.words);
                    solver.renew_proof_numbers(graph, &self.path);
                }
                let depth = self.path.nodes.len() as u64;
                counters.depth_sum.add(depth);
                counters.max_depth.raise(depth);
                counters.playouts.add(1);
            }
            Some(Err(error)) => {
                self.path.cancel(graph, &mut self.kept);
                note(&error);
            }
            // Noted when the rollout failed, or was not made.
            None => self.path.cancel(graph, &mut self.kept),
        }
        self.spare_paths.push(std::mem::take(&mut self.path));
    }

    /// No rollout could make a move: the game is over at the leaf, and need not be asked again.
    fn close_if_over(&mut self, setting: Setting<'_, R::State>, end: &End<R::State>, leaf_idx: usize) {
        let graph = setting.graph;
        let (End::Node, Some(&id)) = (end, self.path.nodes.last()) else { return };
        if graph.node(id).status::<Sound>() != Status::Fresh || !graph.node(id).claim() {
            return;
        }
        let answered = self.session.goals(graph.state(id), &mut self.goal_answers);
        if answered.is_err() {
            graph.node(id).unclaim();
            return;
        }
        debug_assert!(self.outcomes.is_done[leaf_idx]);
        self.close_claimed(setting, id);
    }

    /// Tells the history, and the nodes of the path, which moves were made and what came of it.
    fn learn_moves(&mut self, setting: Setting<'_, R::State>, leaf_idx: usize) {
        let Setting { graph, scheme, history, .. } = setting;
        let made = &mut self.moves_made;
        let values = &self.outcomes.sums[leaf_idx * self.n_roles..][..self.n_roles];
        made.clear();
        let mut note = |role: u32, a_move, step_idx| {
            made.add(role, a_move, step_idx);
            if let Some(history) = history {
                history.add(role as usize, a_move, values[role as usize]);
            }
        };
        for step_idx in 0..self.path.steps.len() {
            for passed in self.path.passed(step_idx) {
                note(passed.role, graph.edge(passed.edge).a_move(), step_idx);
            }
        }
        for (step_idx, joint_move) in (self.path.steps.len()..).zip(self.played.chunks(self.n_roles)) {
            for (role, &a_move) in (0u32..).zip(joint_move) {
                note(role, a_move, step_idx);
            }
        }
        let Some(later) = &graph.later else { return };
        let n_steps = self.path.steps.len();
        let mut add = |level: usize, id, role: u32, a_move| {
            let n_before = crate::arena::u32_of(n_steps - level);
            let value = scheme.valuation.before(values[role as usize], n_before);
            later.add::<Sound>(&mut self.blocks.later, &graph.meter, (id, role, a_move), value);
        };
        let mut n_left = MAX_LATER_MOVES;
        for (level, &id) in self.path.nodes.iter().enumerate() {
            let node = graph.node(id);
            match (scheme.config, node.status::<Sound>(), node.opening().mover) {
                // All moves, since those of another node's mover are asked for too.
                (Config::RaveUcd { .. }, ..) => {
                    let moves = made.since(level).take(n_left);
                    n_left -= moves.map(|(role, a_move)| add(level, id, role, a_move)).count();
                }
                (_, Status::Open, Some(role)) => {
                    let moves = graph.edges_of(node.opening()).iter().map(crate::edge::Edge::a_move);
                    moves.filter(|&it| made.has(role, it, level)).for_each(|it| add(level, id, role, it));
                }
                _ => {}
            }
        }
    }

    /// In a game of one role, keeps the whole line of a playout that is the best so far, playing its rollout
    /// again move by move (Méhat and Cazenave 2010, 3.2).
    fn keep_best_line(
        &mut self,
        setting: Setting<'_, R::State>,
        end: End<R::State>,
        leaf_idx: usize,
        seed: u64,
    ) -> Result<(), ReasonerError> {
        let (goal, rollout) = self.outcomes.best_goals[leaf_idx];
        if self.n_roles != 1 || !setting.best_line.would_take(goal) {
            return Ok(());
        }
        let graph = setting.graph;
        let mut moves: Vec<Move> =
            self.path.edges.iter().map(|passed| graph.edge(passed.edge).a_move()).collect();
        let mut states: Vec<R::State> = self.path.nodes.iter().map(|&id| graph.state(id).clone()).collect();
        let has_rollout = match end {
            End::Known => false,
            // A value is known where it is proven, the way to it is not; whoever found the end has kept its line.
            End::Proven | End::Broken => return Ok(()),
            End::Node => true,
            End::Outside(state) => {
                states.push(state);
                true
            }
        };
        if has_rollout {
            let mut state = states[states.len() - 1].clone();
            let n_before = moves.len();
            if setting.scheme.wants_moves() {
                moves.extend_from_slice(&self.played);
            } else {
                let end = self.session.rollout_with(
                    &state,
                    seed_of(seed, rollout, setting.scheme.n_rollouts),
                    &mut Uniform,
                    Some(&mut moves),
                )?;
                if end.goals.first().map(|&goal| u64::from(goal.min(setting.max_goal))) != Some(goal) {
                    setting.counters.unrepeatable_lines.add(1);
                    return Ok(());
                }
            }
            for &a_move in &moves[n_before..] {
                state = self.session.next_state(&state, &[a_move])?;
                states.push(state.clone());
            }
        }
        setting.best_line.offer(Line { value: goal, moves, states });
        Ok(())
    }

    pub(super) fn set_goals(&mut self, goal: u64) {
        self.goals.clear();
        self.goals.resize(self.n_roles, goal);
    }
}
