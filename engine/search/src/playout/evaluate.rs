//! What the end of a descent is worth: rollouts, and what is learnt from them.

use std::slice;

use reasoner::{Move, Reasoner, ReasonerError, RolloutEnd, Session, Uniform};

use super::{End, Setting, Walker};
use crate::backup::Ending;
use crate::best_line::Line;
use crate::config::Config;
use crate::history::Gibbs;
use crate::node::Status;
use crate::orders::Sound;

/// What one playout may add to the later moves of its nodes under `rave-ucd`, from the root down: they are as many as its
/// nodes times its moves, which in games of thousands of moves is too much.
const MAX_LATER_MOVES: usize = 1 << 14;

impl<R: Reasoner> Walker<R> {
    /// Sets the goals by a rollout, unless they are known.
    pub(super) fn evaluate(
        &mut self,
        setting: Setting<'_, R::State>,
        end: &End<R::State>,
        seed: u64,
    ) -> Result<(), ReasonerError> {
        let Setting { graph, counters, .. } = setting;
        self.length = 0;
        self.played.clear();
        let last = self.path.nodes.last().copied();
        let state = match (end, last) {
            (End::Node, Some(id)) => graph.state(id),
            (End::Outside(state), _) => state,
            (End::Known | End::Broken | End::Node, _) => return Ok(()),
        };
        if let Err(error) = self.roll_out(setting, state, seed) {
            if let (End::Node, Some(id)) = (end, last) {
                self.note_failure(graph, id, &error);
            }
            return Err(error);
        }
        counters.rollout_steps.add(u64::from(self.length));
        if let (End::Node, Some(id), 0) = (end, last, self.length) {
            // No move could be made: the game is over there, and need not be asked again.
            if graph.node(id).status::<Sound>() == Status::Fresh && graph.node(id).claim() {
                graph.close(&mut self.blocks, id, self.goals.iter().copied());
            }
        }
        Ok(())
    }

    /// Sets goals and length by one rollout, and its moves if the scheme asks.
    fn roll_out(
        &mut self,
        setting: Setting<'_, R::State>,
        state: &R::State,
        seed: u64,
    ) -> Result<(), ReasonerError> {
        let max_goal = setting.max_goal;
        self.goals.clear();
        if setting.scheme.wants_moves() {
            let RolloutEnd { length, goals, .. } = match setting.history {
                Some(history) => {
                    self.session.rollout_with(state, seed, &mut Gibbs(history), Some(&mut self.played))?
                }
                None => self.session.rollout_with(state, seed, &mut Uniform, Some(&mut self.played))?,
            };
            self.length = length;
            self.goals.extend(goals.iter().map(|&goal| u64::from(goal.min(max_goal))));
        } else {
            self.session.rollouts(slice::from_ref(state), &[seed], &mut self.rollouts)?;
            self.length = self.rollouts.length(0);
            let goals = self.rollouts.goals(0);
            self.goals.extend(goals.iter().map(|&goal| u64::from(goal.min(max_goal))));
        }
        Ok(())
    }

    /// Adds the playout to all that learns from it.
    pub(super) fn back_up(&mut self, setting: Setting<'_, R::State>, is_at_node: bool) {
        let Setting { graph, scheme, .. } = setting;
        scheme.valuation.of_end(&self.goals, &mut self.values);
        if scheme.wants_moves() {
            self.learn_moves(setting);
        }
        let ending = Ending { values: &self.values, length: self.length, is_at_node };
        self.path.back_up(graph, scheme, &ending);
    }

    /// Tells the history, and the nodes of the path, which moves were made and what came of it.
    fn learn_moves(&mut self, setting: Setting<'_, R::State>) {
        let Setting { graph, scheme, history, .. } = setting;
        let made = &mut self.moves_made;
        let values = &self.values;
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
        let mut add = |id, role: u32, a_move| {
            let key = (id, role, a_move);
            later.add::<Sound>(&mut self.blocks.later, &graph.meter, key, self.values[role as usize]);
        };
        let mut n_left = MAX_LATER_MOVES;
        for (level, &id) in self.path.nodes.iter().enumerate() {
            let node = graph.node(id);
            match (scheme.config, node.status::<Sound>(), node.opening().mover) {
                // All moves, since those of another node's mover are asked for too.
                (Config::RaveUcd { .. }, ..) => {
                    let moves = made.since(level).take(n_left);
                    n_left -= moves.map(|(role, a_move)| add(id, role, a_move)).count();
                }
                (_, Status::Open, Some(role)) => {
                    let moves = graph.edges_of(node.opening()).iter().map(crate::edge::Edge::a_move);
                    moves.filter(|&it| made.has(role, it, level)).for_each(|it| add(id, role, it));
                }
                _ => {}
            }
        }
    }

    /// In a game of one role, keeps the whole line of a playout that is the best so far, playing its rollout
    /// again move by move (Méhat and Cazenave 2010, 3.2).
    pub(super) fn keep_best_line(
        &mut self,
        setting: Setting<'_, R::State>,
        end: End<R::State>,
        seed: u64,
    ) -> Result<(), ReasonerError> {
        let goal = self.goals[0];
        if self.n_roles != 1 || !setting.best_line.would_take(goal) {
            return Ok(());
        }
        let graph = setting.graph;
        let mut moves: Vec<Move> =
            self.path.edges.iter().map(|passed| graph.edge(passed.edge).a_move()).collect();
        let mut states: Vec<R::State> = self.path.nodes.iter().map(|&id| graph.state(id).clone()).collect();
        let has_rollout = match end {
            End::Known => false,
            End::Broken => return Ok(()),
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
                let end = self.session.rollout_with(&state, seed, &mut Uniform, Some(&mut moves))?;
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
