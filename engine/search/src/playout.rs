//! One playout: select, expand, roll out, back up.

use std::slice;

use reasoner::{
    Dice, Expansion, GoalAnswer, MAX_ROLLOUT_STEPS, Move, Reasoner, ReasonerError, Rollouts, Session,
    Uniform, Value,
};

use crate::backup::Path;
use crate::best_line::{BestLine, Line};
use crate::config::Config;
use crate::counters::WorkerCounters;
use crate::edge::Child;
use crate::graph::{Blocks, Graph, Opened, value_of};
use crate::node::{NodeId, Opening, Status};
use crate::orders::Sound;
use crate::select::{Selector, Viewpoint};
use crate::sync::Ordering;

/// One in so many playouts through a state in which the reasoner mostly fails asks it again: the failure may
/// have been a rare one that came first.
const RETRY: usize = 16;

/// What the playouts of one run have in common.
#[derive(Debug)]
pub(crate) struct Setting<'a, S> {
    pub(crate) graph: &'a Graph<S>,
    pub(crate) root: NodeId,
    pub(crate) config: Config,
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
    path: Path,
    blocks: Blocks,
    selector: Selector,
    expansion: Expansion,
    goal_answers: Vec<GoalAnswer>,
    joint_move: Vec<Move>,
    /// Per role, the index of the chosen edge among those of a simultaneous node.
    choices: Vec<u32>,
    rollouts: Rollouts,
    /// The playout's outcome, one per role.
    values: Vec<u64>,
}

/// Where the descent ended and how its values came about.
#[derive(Debug)]
enum End<S> {
    /// At the last node of the path, whose values are known without a rollout.
    Known,
    /// At the last node of the path, with a rollout from there.
    Node,
    /// Behind an edge that the reasoner cannot follow, which is worth nothing.
    Broken,
    /// Behind an edge, with a rollout from a state that has no node.
    Outside(S),
}

/// What to do at a node.
enum Arrival {
    GoOn(Opening),
    RollOut,
    /// The values are set.
    Known,
}

impl<R: Reasoner> Walker<R> {
    pub(crate) fn new(session: R::Session, exploration: f64) -> Walker<R> {
        Walker {
            n_roles: session.roles().len(),
            session,
            path: Path::default(),
            blocks: Blocks::default(),
            selector: Selector::new(exploration),
            expansion: Expansion::default(),
            goal_answers: Vec::new(),
            joint_move: Vec::new(),
            choices: Vec::new(),
            rollouts: Rollouts::default(),
            values: Vec::new(),
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
            self.open_claimed(setting, setting.root)?;
        }
        Ok(())
    }

    /// Makes the playout with this number, which fixes all its random choices.
    ///
    /// # Errors
    /// If the reasoner failed; the playout has left no trace in the graph but the mark of failure.
    pub(crate) fn play_out(
        &mut self,
        setting: Setting<'_, R::State>,
        number: u64,
    ) -> Result<(), ReasonerError> {
        let graph = setting.graph;
        let rollout_seed = Dice::child_seed(setting.seed, number);
        // The descent has a stream of its own, for the rollout's must be the same played again.
        let mut dice = Dice::new(Dice::child_seed(!setting.seed, number));
        self.path.clear();
        let played = self.descend(setting, &mut dice).and_then(|end| {
            self.evaluate(setting, &end, rollout_seed)?;
            let ends_at_node = matches!(end, End::Known | End::Node);
            self.keep_best_line(setting, end, rollout_seed)?;
            Ok(ends_at_node)
        });
        match played {
            Ok(ends_at_node) => self.path.back_up(graph, &self.values, ends_at_node),
            Err(error) => {
                self.path.cancel(graph);
                return Err(error);
            }
        }
        let counters = setting.counters;
        let depth = self.path.nodes.len() as u64;
        counters.depth_sum.add(depth);
        counters.max_depth.raise(depth);
        counters.playouts.add(1);
        Ok(())
    }

    /// Walks down from the root to where the graph ends, and adds to it there.
    fn descend(
        &mut self,
        setting: Setting<'_, R::State>,
        dice: &mut Dice,
    ) -> Result<End<R::State>, ReasonerError> {
        let mut id = setting.root;
        loop {
            let opening = match self.arrive(setting, id, dice)? {
                Arrival::GoOn(opening) => opening,
                Arrival::RollOut => return Ok(End::Node),
                Arrival::Known => return Ok(End::Known),
            };
            let child = match opening.mover {
                Some(role) => match self.choose_move(setting, id, opening, role, dice) {
                    Some(child) => child,
                    None => return Ok(End::Node),
                },
                None => self.choose_joint_move(setting, id, opening, dice),
            };
            id = match child {
                Child::Node(id) => id,
                Child::Broken => {
                    self.set_values(0);
                    return Ok(End::Broken);
                }
                Child::None => match self.make_child(setting, id, opening)? {
                    Ok(id) => id,
                    Err(state) => return Ok(End::Outside(state)),
                },
            };
        }
    }

    /// Enters a node and finds out whether the descent goes on, opening the node if it is time to.
    fn arrive(
        &mut self,
        setting: Setting<'_, R::State>,
        id: NodeId,
        dice: &mut Dice,
    ) -> Result<Arrival, ReasonerError> {
        let graph = setting.graph;
        let node = graph.node(id);
        let before = self.path.enter_node(graph, id);
        let is_root = self.path.nodes.len() == 1;
        // A state in which the reasoner fails more often than not is worth nothing, and costs next to nothing
        // from now on. That verdict is no success, so it leaves the balance as it is.
        let is_failing = !is_root && u64::from(node.failures.load(Ordering::Relaxed)) > before.visits;
        if is_failing && dice.below(RETRY) > 0 {
            node.failures.fetch_add(1, Ordering::Relaxed);
            self.set_values(0);
            return Ok(Arrival::Known);
        }
        let status = match node.status::<Sound>() {
            // The first playout through a node only rolls out; edges come with the second (Coulom 2006: one
            // new node a playout), and with the root's first.
            Status::Fresh if (before.visits > 0 || is_root) && !graph.meter.is_full() => {
                if node.claim() {
                    self.open_claimed(setting, id)?;
                    node.status::<Sound>()
                } else {
                    Status::Claimed
                }
            }
            status => status,
        };
        match status {
            Status::Open
                if self.path.nodes.len() > MAX_ROLLOUT_STEPS as usize || self.path.has_come_back() =>
            {
                setting.counters.cut_paths.add(1);
                Ok(Arrival::RollOut)
            }
            Status::Open => Ok(Arrival::GoOn(node.opening())),
            Status::Terminal => {
                let side = node.opening().side;
                self.values.clear();
                self.values.extend((0..self.n_roles).map(|role_idx| graph.goal(side, role_idx)));
                Ok(Arrival::Known)
            }
            status => {
                if status == Status::Claimed {
                    // Whoever comes second does not wait.
                    setting.counters.lost_claims.add(1);
                }
                if before.in_flight > 0 {
                    setting.counters.same_leaf.add(1);
                }
                Ok(Arrival::RollOut)
            }
        }
    }

    /// Opens or closes a node that this thread has claimed; gives the claim back if the reasoner fails.
    fn open_claimed(&mut self, setting: Setting<'_, R::State>, id: NodeId) -> Result<(), ReasonerError> {
        let graph = setting.graph;
        let state = graph.state(id);
        let asked = match self.session.expand(state, &mut self.expansion) {
            Ok(()) if self.expansion.terminal => {
                self.goal_answers.clone_from(&self.expansion.goals);
                Ok(true)
            }
            Ok(()) => Ok(false),
            // Nobody can go on, so this is an end, whatever it is worth.
            Err(ReasonerError::NotPlayable { .. }) => {
                self.session.goals(state, &mut self.goal_answers).map(|()| true)
            }
            Err(error) => Err(error),
        };
        let is_end = match asked {
            Ok(is_end) => is_end,
            Err(error) => {
                graph.node(id).unclaim();
                self.note_failure(graph, id, &error);
                return Err(error);
            }
        };
        let opened = if is_end {
            self.goal_answers.resize(self.n_roles, GoalAnswer::None);
            let max_goal = setting.max_goal;
            let goals = self.goal_answers.iter().map(|&answer| value_of(answer, max_goal));
            graph.close(&mut self.blocks, id, goals)
        } else {
            graph.open(&mut self.blocks, id, &self.expansion, setting.counters)
        };
        match opened {
            Opened::Open => setting.counters.openings.add(1),
            Opened::Wide => setting.counters.too_wide.add(1),
            Opened::Full => {}
        }
        Ok(())
    }

    fn note_failure(&self, graph: &Graph<R::State>, id: NodeId, error: &ReasonerError) {
        if *error != ReasonerError::Interrupted {
            graph.node(id).failures.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Chooses in a node where one role has a choice, and enters the edge; where it leads. None if it is
    /// better not to go on.
    fn choose_move(
        &mut self,
        setting: Setting<'_, R::State>,
        id: NodeId,
        opening: Opening,
        role: u32,
        dice: &mut Dice,
    ) -> Option<Child> {
        let graph = setting.graph;
        let edges = graph.edges_of(opening);
        let chosen = if edges.len() == 1 {
            0
        } else if setting.config.is_guided() {
            let view = self.view(graph, id, role as usize);
            if setting.config.has_transpositions() {
                self.selector.choose_by_children(graph, edges, view, dice)?
            } else {
                self.selector.choose_by_edges::<Sound>(edges, view, dice)?
            }
        } else {
            dice.below(edges.len())
        };
        self.choices.clear();
        self.choices.push(crate::arena::u32_of(chosen));
        self.path.enter_edge(graph, opening.first_edge + self.choices[0], role);
        self.joint_move.clear();
        for role_idx in 0..self.n_roles {
            let is_mover = role_idx == role as usize;
            self.joint_move.push(if is_mover {
                edges[chosen].a_move()
            } else {
                graph.only_move(opening, role_idx)
            });
        }
        Some(edges[chosen].child::<Sound>())
    }

    /// Chooses for each role in a simultaneous node, and enters one edge for each; where they lead.
    fn choose_joint_move(
        &mut self,
        setting: Setting<'_, R::State>,
        id: NodeId,
        opening: Opening,
        dice: &mut Dice,
    ) -> Child {
        let graph = setting.graph;
        let all_edges = graph.edges_of(opening);
        self.choices.clear();
        self.joint_move.clear();
        for role_idx in 0..self.n_roles {
            let range = graph.edge_range(opening, role_idx);
            let edges = &all_edges[range.clone()];
            let chosen = if edges.len() == 1 {
                0
            } else if setting.config.is_guided() {
                let view = self.view(graph, id, role_idx);
                // Edges of a simultaneous node lead nowhere themselves, so none is broken.
                self.selector.choose_by_edges::<Sound>(edges, view, dice).unwrap_or(0)
            } else {
                dice.below(edges.len())
            };
            let choice = crate::arena::u32_of(range.start + chosen);
            self.choices.push(choice);
            self.joint_move.push(edges[chosen].a_move());
        }
        for (role_idx, &choice) in (0u32..).zip(&self.choices) {
            self.path.enter_edge(graph, opening.first_edge + choice, role_idx);
        }
        graph.joint_child(id, &self.choices)
    }

    fn view(&self, graph: &Graph<R::State>, id: NodeId, role_idx: usize) -> Viewpoint {
        let (mut node, sum) = crate::select::statistics_of(graph, id, role_idx);
        // This very playout is no part of what is known.
        node.in_flight = node.in_flight.saturating_sub(1);
        Viewpoint { node, sum, role_idx }
    }

    /// Follows the chosen joint move to a child that the node does not know yet, and makes it known; gives
    /// the state where that cannot be.
    fn make_child(
        &mut self,
        setting: Setting<'_, R::State>,
        id: NodeId,
        opening: Opening,
    ) -> Result<Result<NodeId, R::State>, ReasonerError> {
        let Setting { graph, counters, .. } = setting;
        let state = match self.session.next_state(graph.state(id), &self.joint_move) {
            Ok(state) => state,
            Err(error) => {
                if error != ReasonerError::Interrupted && setting.config.has_memory() {
                    self.link(setting, id, opening, Child::Broken);
                }
                return Err(error);
            }
        };
        if !setting.config.has_memory() {
            return Ok(Err(state));
        }
        match graph.node_of(&mut self.blocks, state, counters) {
            Ok(child) => match self.link(setting, id, opening, Child::Node(child)) {
                Child::Node(winner) => Ok(Ok(winner)),
                // Outside all tables it can still be visited, this once, if something else finds it again.
                Child::None | Child::Broken => Ok(Err(graph.state(child).clone())),
            },
            Err(state) => {
                counters.table_full.add(1);
                Ok(Err(state))
            }
        }
    }

    /// Records where the chosen joint move leads; where it leads now.
    fn link(&mut self, setting: Setting<'_, R::State>, id: NodeId, opening: Opening, child: Child) -> Child {
        let Setting { graph, counters, .. } = setting;
        match (opening.mover, child) {
            (None, _) => graph.link_joint(&mut self.blocks, id, &self.choices, child, counters),
            (Some(_), Child::Node(child)) => {
                let edge = graph.edge(opening.first_edge + self.choices[0]);
                Child::Node(graph.link(edge, child, counters))
            }
            (Some(_), _) => graph.edge(opening.first_edge + self.choices[0]).link::<Sound>(child),
        }
    }

    /// Sets the values by a rollout, unless they are known.
    fn evaluate(
        &mut self,
        setting: Setting<'_, R::State>,
        end: &End<R::State>,
        seed: u64,
    ) -> Result<(), ReasonerError> {
        let Setting { graph, counters, .. } = setting;
        let last = self.path.nodes.last().copied();
        let state = match (end, last) {
            (End::Node, Some(id)) => graph.state(id),
            (End::Outside(state), _) => state,
            (End::Known | End::Broken | End::Node, _) => return Ok(()),
        };
        let rolled = self.session.rollouts(slice::from_ref(state), &[seed], &mut self.rollouts);
        if let Err(error) = rolled {
            if let (End::Node, Some(id)) = (end, last) {
                self.note_failure(graph, id, &error);
            }
            return Err(error);
        }
        self.values.clear();
        let goals = self.rollouts.goals(0);
        self.values.extend(goals.iter().map(|&goal| u64::from(goal.min(setting.max_goal))));
        let length = self.rollouts.length(0);
        counters.rollout_steps.add(u64::from(length));
        if let (End::Node, Some(id), 0) = (end, last, length) {
            // No move could be made: the game is over there, and need not be asked again.
            if graph.node(id).status::<Sound>() == Status::Fresh && graph.node(id).claim() {
                graph.close(&mut self.blocks, id, self.values.iter().copied());
            }
        }
        Ok(())
    }

    /// In a game of one role, keeps the whole line of a playout that is the best so far, playing its rollout
    /// again move by move (Méhat and Cazenave 2010, 3.2).
    fn keep_best_line(
        &mut self,
        setting: Setting<'_, R::State>,
        end: End<R::State>,
        seed: u64,
    ) -> Result<(), ReasonerError> {
        let value = self.values[0];
        if self.n_roles != 1 || !setting.best_line.would_take(value) {
            return Ok(());
        }
        let graph = setting.graph;
        let mut moves: Vec<Move> =
            self.path.edges.iter().map(|&(edge, _)| graph.edge(edge).a_move()).collect();
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
            let end = self.session.rollout_with(&state, seed, &mut Uniform, Some(&mut moves))?;
            if end.goals.first().map(|&goal| u64::from(goal.min(setting.max_goal))) != Some(value) {
                setting.counters.unrepeatable_lines.add(1);
                return Ok(());
            }
            for &a_move in &moves[n_before..] {
                state = self.session.next_state(&state, &[a_move])?;
                states.push(state.clone());
            }
        }
        setting.best_line.offer(Line { value, moves, states });
        Ok(())
    }

    fn set_values(&mut self, value: u64) {
        self.values.clear();
        self.values.resize(self.n_roles, value);
    }
}
