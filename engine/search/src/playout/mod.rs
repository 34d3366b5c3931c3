//! Playouts: select, expand, roll out, back up; one at a time or many side by side.

mod evaluate;

use std::ops::Range;

use reasoner::{
    Dice, Expansion, GoalAnswer, Interrupt, MAX_ROLLOUT_STEPS, Move, Reasoner, ReasonerError, Rollouts,
    Session, Value,
};

use self::evaluate::Outcomes;
use crate::backup::{Passed, Path};
use crate::best_line::BestLine;
use crate::config::Simultaneous;
use crate::counters::WorkerCounters;
use crate::edge::Child;
use crate::graph::{Blocks, Graph, Opened, goal_of};
use crate::history::History;
use crate::later::MovesMade;
use crate::node::{NodeId, Opening, Status};
use crate::orders::Sound;
use crate::scheme::Scheme;
use crate::select::{Selector, Viewpoint, choose_by_regret};
use crate::shares::{Share, TimeShares};
use crate::sync::Ordering;

/// One in so many playouts through a state in which the reasoner mostly fails asks it again: the failure may
/// have been a rare one that came first.
const RETRY: usize = 16;

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
    /// The path of the descent under way.
    path: Path,
    /// The descents of a batch that have come to their ends.
    leaves: Vec<Leaf<R::State>>,
    spare_paths: Vec<Path>,
    blocks: Blocks,
    selector: Selector,
    expansion: Expansion,
    goal_answers: Vec<GoalAnswer>,
    joint_move: Vec<Move>,
    /// Per role, the index of the chosen edge among those of a simultaneous node.
    choices: Vec<u32>,
    rollouts: Rollouts,
    /// What the rollouts of a batch start from, and their seeds.
    starts: Vec<R::State>,
    seeds: Vec<u64>,
    outcomes: Outcomes,
    /// The goals of a known end, one per role.
    goals: Vec<u64>,
    values: Vec<u64>,
    /// The rollout's moves, where the scheme asks.
    played: Vec<Move>,
    moves_made: MovesMade,
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
        matches!(self, End::Known | End::Broken)
    }
}

/// What to do at a node.
enum Arrival {
    GoOn(Opening),
    RollOut,
    /// The goals are set.
    Known,
}

impl<R: Reasoner> Walker<R> {
    pub(crate) fn new(session: R::Session, interrupt: Interrupt) -> Walker<R> {
        Walker {
            n_roles: session.roles().len(),
            session,
            path: Path::default(),
            blocks: Blocks::default(),
            selector: Selector::new(interrupt),
            expansion: Expansion::default(),
            goal_answers: Vec::new(),
            joint_move: Vec::new(),
            choices: Vec::new(),
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
            self.open_claimed(setting, setting.root)?;
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
        for number in numbers {
            self.path = self.spare_paths.pop().unwrap_or_default();
            self.path.begin(setting.scheme.weight());
            self.selector.begin_descent();
            // The descent has a stream of its own, for the rollout's must be the same played again.
            let mut dice = Dice::new(Dice::child_seed(!setting.seed, number));
            match self.descend(setting, &mut dice) {
                Ok(end) => {
                    let path = std::mem::take(&mut self.path);
                    let goals = if end.is_known() { self.goals.clone() } else { Vec::new() };
                    let seed = Dice::child_seed(setting.seed, number);
                    self.leaves.push(Leaf { path, end, goals, seed });
                }
                Err(error) => {
                    self.path.cancel(setting.graph);
                    self.spare_paths.push(std::mem::take(&mut self.path));
                    note(&error);
                    if error == ReasonerError::Interrupted {
                        break;
                    }
                }
            }
        }
        clock.lap(Share::Descents);
        let mut leaves = std::mem::take(&mut self.leaves);
        self.roll_out(setting, &leaves, note);
        clock.lap(Share::Rollouts);
        for (leaf_idx, leaf) in leaves.drain(..).enumerate() {
            self.finish(setting, leaf_idx, leaf, note);
        }
        self.leaves = leaves;
        clock.lap(Share::Backups);
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
                    self.set_goals(0);
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
            self.set_goals(0);
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
                self.goals.clear();
                self.goals.extend((0..self.n_roles).map(|role_idx| graph.goal(side, role_idx)));
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
        if is_end {
            self.close_claimed(setting, id);
            return Ok(());
        }
        match graph.open(&mut self.blocks, id, &self.expansion, setting.counters) {
            Opened::Open => setting.counters.openings.add(1),
            Opened::Wide => setting.counters.too_wide.add(1),
            Opened::Full => {}
        }
        Ok(())
    }

    /// Closes a node that this thread has claimed, with the goals that were answered.
    fn close_claimed(&mut self, setting: Setting<'_, R::State>, id: NodeId) {
        self.goal_answers.resize(self.n_roles, GoalAnswer::None);
        let goals = self.goal_answers.iter().map(|&answer| goal_of(answer, setting.max_goal));
        if setting.graph.close(&mut self.blocks, id, goals) == Opened::Open {
            setting.counters.openings.add(1);
        }
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
        let first = opening.first_edge;
        let view = Viewpoint {
            id,
            edges: first..first + opening.n_edges,
            role_idx: role as usize,
            is_simultaneous: false,
        };
        let chosen = self.choose(setting, &view, dice)?;
        self.choices.clear();
        self.choices.push(crate::arena::u32_of(chosen));
        self.path.leave_node(false);
        let edge = first + self.choices[0];
        self.path.enter_edge(graph, Passed { edge, role, chance: None });
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
        self.choices.clear();
        self.joint_move.clear();
        self.path.leave_node(true);
        for (role, role_idx) in (0u32..).zip(0..self.n_roles) {
            let edges = graph.edges_of_role(id, role_idx);
            let is_by_regret = setting.scheme.simultaneous == Simultaneous::RegretMatching;
            let (chosen, chance) = if is_by_regret && setting.scheme.config.is_guided() && edges.len() > 1 {
                let (chosen, chance) = choose_by_regret(graph, edges.clone(), dice);
                (chosen, Some(chance))
            } else {
                let view = Viewpoint { id, edges: edges.clone(), role_idx, is_simultaneous: true };
                // Edges of a simultaneous node lead nowhere themselves, so none is broken.
                (self.choose(setting, &view, dice).unwrap_or(0), None)
            };
            let edge = edges.start + crate::arena::u32_of(chosen);
            self.choices.push(edge - opening.first_edge);
            self.joint_move.push(graph.edge(edge).a_move());
            self.path.push_edge(Passed { edge, role, chance });
        }
        self.path.enter_edges(graph);
        let joint = graph.find_joint(id, &self.choices);
        self.path.note_joint(joint);
        joint.map_or(Child::None, |joint| graph.joint(joint).child())
    }

    /// Chooses among a role's edges; none if it is better not to go on.
    fn choose(&mut self, setting: Setting<'_, R::State>, view: &Viewpoint, dice: &mut Dice) -> Option<usize> {
        let Setting { graph, scheme, history, .. } = setting;
        if view.edges.len() == 1 {
            return Some(0);
        }
        if scheme.config.is_guided() {
            return self.selector.choose(graph, scheme, history, view, dice);
        }
        Some(match history {
            Some(history) => {
                let moves = graph.edges_in(view.edges.clone()).iter().map(crate::edge::Edge::a_move);
                history.choose(view.role_idx, moves, dice.unit())
            }
            None => dice.below(view.edges.len()),
        })
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
                if error != ReasonerError::Interrupted && setting.scheme.config.has_memory() {
                    self.link(setting, id, opening, Child::Broken);
                }
                return Err(error);
            }
        };
        if !setting.scheme.config.has_memory() {
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
            (None, _) => {
                let (held, joint) = graph.link_joint(&mut self.blocks, id, &self.choices, child, counters);
                self.path.note_joint(joint);
                held
            }
            (Some(_), Child::Node(child)) => {
                let edge = opening.first_edge + self.choices[0];
                Child::Node(graph.link(&mut self.blocks, id, edge, child, counters))
            }
            (Some(_), _) => {
                let edge = graph.edge(opening.first_edge + self.choices[0]);
                edge.link::<Sound>(child).map_or_else(|held| held, |()| child)
            }
        }
    }
}
