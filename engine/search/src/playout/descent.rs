//! Descents: from the root to where the graph ends, and further once it has grown there.

use reasoner::{Dice, MAX_ROLLOUT_STEPS, Reasoner, ReasonerError};

use super::{End, Setting, Walker};
use crate::backup::{Passed, Path};
use crate::config::Simultaneous;
use crate::edge::Child;
use crate::node::{Node, NodeId, Opening, Status};
use crate::orders::Sound;
use crate::select::{Viewpoint, choose_by_regret};
use crate::sync::Ordering;

/// One in so many playouts through a state in which the reasoner mostly fails asks it again: the failure may
/// have been a rare one that came first.
const RETRY: usize = 16;

/// One in so many playouts that would end behind a joint move at what is proven goes elsewhere.
const TURN: usize = 8;

/// A descent under way.
#[derive(Debug)]
pub(super) struct Descent {
    pub(super) path: Path,
    /// Of its rollouts.
    pub(super) seed: u64,
    dice: Dice,
    next: Next,
}

/// How a descent goes on.
#[derive(Debug, Clone, Copy)]
enum Next {
    /// It enters this node.
    Enter(NodeId),
    /// It looks again at the last node of its path, whose moves were asked: with this question, or by another descent.
    Look(Option<usize>),
    /// It learns from this question where the joint move leads that it chose.
    Follow(usize),
}

/// What to do at a node.
enum Arrival {
    GoOn,
    RollOut,
    /// The goals are set.
    Known,
    /// The ranks are set in their place.
    Proven,
    /// Its moves must be asked: with this question, or another descent does.
    Asks(Option<usize>),
}

impl Descent {
    /// Begins the playout of a number, which fixes its random choices; the descent has a stream of its own, for the
    /// rollout's must be the same played again.
    pub(super) fn begin<S>(setting: Setting<'_, S>, mut path: Path, number: u64) -> Descent {
        path.begin(setting.scheme.weight(), setting.scheme.hot_levels > 0);
        Descent {
            path,
            seed: Dice::child_seed(setting.seed, number),
            dice: Dice::new(Dice::child_seed(!setting.seed, number)),
            next: Next::Enter(setting.root),
        }
    }
}

impl<R: Reasoner> Walker<R> {
    /// Goes on to where the graph ends, and tells the end; or to where something must be asked first, and asks it.
    pub(super) fn descend(
        &mut self,
        setting: Setting<'_, R::State>,
        descent: &mut Descent,
    ) -> Result<Option<End<R::State>>, ReasonerError> {
        std::mem::swap(&mut self.path, &mut descent.path);
        self.selector.begin_descent();
        self.kept.begin_descent(self.path.nodes.is_empty());
        let end = self.go_on(setting, descent);
        std::mem::swap(&mut self.path, &mut descent.path);
        end
    }

    fn go_on(
        &mut self,
        setting: Setting<'_, R::State>,
        descent: &mut Descent,
    ) -> Result<Option<End<R::State>>, ReasonerError> {
        loop {
            let arrival = match descent.next {
                Next::Enter(id) => {
                    let id = if self.path.nodes.is_empty() { self.pass_kept(id) } else { id };
                    self.enter(setting, id, &mut descent.dice)
                }
                Next::Look(question) => {
                    question.map_or(Ok(()), |question| self.answers.moves(question))?;
                    self.look(setting, setting.graph.node(self.place()), false)
                }
                Next::Follow(question) => match self.follow(setting, question)? {
                    Ok(id) => self.enter(setting, id, &mut descent.dice),
                    Err(state) => return Ok(Some(End::Outside(state))),
                },
            };
            match arrival {
                Arrival::GoOn => {}
                Arrival::RollOut => return Ok(Some(End::Node)),
                Arrival::Known => return Ok(Some(End::Known)),
                Arrival::Proven => return Ok(Some(End::Proven)),
                Arrival::Asks(question) => {
                    descent.next = Next::Look(question);
                    return Ok(None);
                }
            }
            let id = self.place();
            let opening = setting.graph.node(id).opening();
            let child = match opening.mover {
                Some(role) => match self.choose_move(setting, id, opening, role, &mut descent.dice) {
                    Some(child) => child,
                    None => return Ok(Some(End::Node)),
                },
                None => self.choose_joint_move(setting, id, opening, &mut descent.dice),
            };
            descent.next = match child {
                Child::Node(id) => Next::Enter(id),
                Child::Broken => {
                    self.set_goals(0);
                    return Ok(Some(End::Broken));
                }
                Child::None => {
                    self.note_joint_move(setting, opening);
                    let question = self.questions.ask_child(id, &self.choices, &self.joint_move);
                    descent.next = Next::Follow(question);
                    return Ok(None);
                }
            };
        }
    }

    /// Goes through the nodes that are kept, from the root on; where they end.
    fn pass_kept(&mut self, root: NodeId) -> NodeId {
        let (mut id, mut from) = (root, None);
        while let Some(spot) = self.kept.pass(id, from) {
            let step = self.kept.step(spot);
            if !self.path.pass_kept(id, spot, step) {
                self.kept.cancel(spot);
                break;
            }
            (id, from) = (step.child, Some(spot));
        }
        id
    }

    /// The last node of the path.
    fn place(&self) -> NodeId {
        self.path.nodes[self.path.nodes.len() - 1]
    }

    /// Enters a node and finds out whether the descent goes on, or its moves are to be asked.
    fn enter(&mut self, setting: Setting<'_, R::State>, id: NodeId, dice: &mut Dice) -> Arrival {
        let graph = setting.graph;
        let node = graph.node(id);
        let before = self.path.enter_node(node, id);
        let is_root = self.path.nodes.len() == 1;
        if !is_root && self.is_proven(setting, id) {
            return Arrival::Proven;
        }
        // A state in which the reasoner fails more often than not is worth nothing, and costs next to nothing
        // from now on. That verdict is no success, so it leaves the balance as it is.
        let is_failing = !is_root && u64::from(node.failures.load(Ordering::Relaxed)) > before.visits;
        if is_failing && dice.below(RETRY) > 0 {
            node.failures.fetch_add(1, Ordering::Relaxed);
            self.set_goals(0);
            return Arrival::Known;
        }
        match node.status::<Sound>() {
            // The first playout through a node only rolls out; edges come with the second (Coulom 2006: one
            // new node a playout), and with the root's first.
            Status::Fresh if (before.visits > 0 || is_root) && !graph.meter.is_full() && node.claim() => {
                // Drawn anew for each node, also of a state that was forgotten: other moves may come first this time.
                Arrival::Asks(Some(self.questions.ask_moves(id, dice.bits())))
            }
            Status::Claimed if self.questions.asks_moves(id) => Arrival::Asks(None),
            _ => self.look(setting, node, before.in_flight > 0),
        }
    }

    /// Whether a descent can end at a node because its values are proven; then its ranks are set.
    fn is_proven(&mut self, setting: Setting<'_, R::State>, id: NodeId) -> bool {
        let Some(solver) = setting.scheme.solver.as_ref().filter(|solver| solver.ends_descents) else {
            return false;
        };
        let word = setting.graph.bounds(id);
        // The goals of a terminal node tell more: whether a line ends there.
        if !solver.layout.is_exact(word) || setting.graph.node(id).status::<Sound>() != Status::Open {
            return false;
        }
        self.goals.clear();
        self.goals.extend((0..self.n_roles).map(|role_idx| solver.layout.interval(word, role_idx).lo));
        true
    }

    /// Finds out whether the descent goes on from the node that it has entered. `is_shared` tells whether another one was
    /// under way there.
    fn look(&mut self, setting: Setting<'_, R::State>, node: &Node, is_shared: bool) -> Arrival {
        let graph = setting.graph;
        match node.status::<Sound>() {
            Status::Open
                if self.path.nodes.len() > MAX_ROLLOUT_STEPS as usize || self.path.has_come_back() =>
            {
                setting.counters.cut_paths.add(1);
                Arrival::RollOut
            }
            Status::Open => Arrival::GoOn,
            Status::Terminal => {
                let side = node.opening().side;
                self.goals.clear();
                self.goals.extend((0..self.n_roles).map(|role_idx| graph.goal(side, role_idx)));
                Arrival::Known
            }
            status => {
                if status == Status::Claimed {
                    // Whoever comes second does not wait.
                    setting.counters.lost_claims.add(1);
                }
                if is_shared {
                    setting.counters.same_leaf.add(1);
                }
                Arrival::RollOut
            }
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
        if let Some(spot) = self.kept.take_noted() {
            let step = self.kept.step(spot);
            self.path.leave_newly_kept(graph.node(id), spot, step);
            return Some(Child::Node(step.child));
        }
        self.choices.clear();
        self.choices.push(crate::arena::u32_of(chosen));
        self.path.leave_node(false);
        let edge = first + self.choices[0];
        let child = edges[chosen].child::<Sound>();
        let is_counted = !(setting.scheme.children_tell && matches!(child, Child::Node(_)));
        self.path.enter_edge(&edges[chosen], Passed { edge, role, chance: None, is_counted });
        Some(child)
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
        self.kept.leave();
        self.choices.clear();
        self.chances.clear();
        for role_idx in 0..self.n_roles {
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
            self.choices.push(edges.start + crate::arena::u32_of(chosen) - opening.first_edge);
            self.chances.push(chance);
        }
        let joint = self.turn_to_the_unproven(setting, id, opening, dice);
        self.path.leave_node(true);
        for ((role, &choice), &chance) in (0u32..).zip(&self.choices).zip(&self.chances) {
            let edge = opening.first_edge + choice;
            self.path.push_edge(Passed { edge, role, chance, is_counted: true });
        }
        self.path.enter_edges(graph);
        self.path.note_joint(joint);
        joint.map_or(Child::None, |joint| graph.joint(joint).child())
    }

    /// Writes down the joint move that the choices of this node make.
    fn note_joint_move(&mut self, setting: Setting<'_, R::State>, opening: Opening) {
        let graph = setting.graph;
        let edges = graph.edges_of(opening);
        self.joint_move.clear();
        match opening.mover {
            Some(mover) => self.joint_move.extend((0u32..).zip(0..self.n_roles).map(|(role, role_idx)| {
                if role == mover {
                    edges[self.choices[0] as usize].a_move()
                } else {
                    graph.only_move(opening, role_idx)
                }
            })),
            None => {
                self.joint_move.extend(self.choices.iter().map(|&choice| edges[choice as usize].a_move()))
            }
        }
    }

    /// Now and then, instead of a joint move that leads to what is known, makes one that does not: roles that choose each
    /// for itself come to their bad moves at the same time too seldom for proofs, which need all of them. Gives the record
    /// of the joint move that is made, if there is one.
    fn turn_to_the_unproven(
        &mut self,
        setting: Setting<'_, R::State>,
        id: NodeId,
        opening: Opening,
        dice: &mut Dice,
    ) -> Option<u32> {
        let graph = setting.graph;
        let joint = graph.find_joint(id, &self.choices)?;
        let (Some(solver), Child::Node(child)) = (&setting.scheme.solver, graph.joint(joint).child()) else {
            return Some(joint);
        };
        if !solver.layout.is_exact(graph.bounds(child)) || dice.below(TURN) > 0 {
            return Some(joint);
        }
        let mut unproven = solver.unproven_joint_moves(graph, id, opening);
        if unproven.is_empty() {
            return Some(joint);
        }
        self.choices = unproven.swap_remove(dice.below(unproven.len()));
        // Nobody chose them, so nobody regrets.
        self.chances.fill(None);
        graph.find_joint(id, &self.choices)
    }

    /// Chooses among a role's edges; none if it is better not to go on.
    fn choose(&mut self, setting: Setting<'_, R::State>, view: &Viewpoint, dice: &mut Dice) -> Option<usize> {
        let Setting { graph, scheme, history, .. } = setting;
        let is_only = view.edges.len() == 1;
        if is_only && !self.kept.is_followed() {
            return Some(0);
        }
        if scheme.config.is_guided() {
            let chosen = self.selector.choose(graph, scheme, history, view, dice, &mut self.kept);
            return if is_only { Some(0) } else { chosen };
        }
        Some(match history {
            Some(history) => {
                let moves = graph.edges_in(view.edges.clone()).iter().map(crate::edge::Edge::a_move);
                history.choose(view.role_idx, moves, dice.unit())
            }
            None => dice.below(view.edges.len()),
        })
    }
}
