//! What descents must ask the reasoner before they go on; asked for all descents of a batch at once.

use reasoner::{Expansion, GoalAnswer, Move, Reasoner, ReasonerError, Role, Session};

use super::{Setting, Walker};
use crate::edge::Child;
use crate::graph::{Graph, Opened, goal_of};
use crate::node::{NodeId, Opening};
use crate::orders::Sound;
use crate::sync::Ordering;

/// Questions of a batch, and their answers.
#[derive(Debug)]
pub(super) struct Questions<S> {
    n_roles: usize,
    /// Nodes whose moves are asked, each with what fixes in which order they will have their turns.
    nodes: Vec<(NodeId, u64)>,
    /// By node: why its moves could not be had.
    failures: Vec<Option<ReasonerError>>,
    /// By question where a joint move leads: the node in which it was chosen.
    origins: Vec<NodeId>,
    /// By such a question, one for each role: the moves.
    joint_moves: Vec<Move>,
    /// By such a question: the indices of the chosen edges among the node's, and zeros if they are fewer than the roles.
    choices: Vec<u32>,
    /// By such a question: the successor, until it is taken.
    successors: Vec<Option<Result<S, ReasonerError>>>,
}

impl<S> Questions<S> {
    pub(super) fn new(n_roles: usize) -> Questions<S> {
        Questions {
            n_roles,
            nodes: Vec::new(),
            failures: Vec::new(),
            origins: Vec::new(),
            joint_moves: Vec::new(),
            choices: Vec::new(),
            successors: Vec::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.failures.clear();
        self.origins.clear();
        self.joint_moves.clear();
        self.choices.clear();
        self.successors.clear();
    }

    /// Asks the moves of a node that this thread has claimed, which will have their turns by this salt; the question's number.
    pub(super) fn ask_moves(&mut self, id: NodeId, salt: u64) -> usize {
        self.nodes.push((id, salt));
        self.nodes.len() - 1
    }

    /// Whether the moves of a node are asked.
    pub(super) fn asks_moves(&self, id: NodeId) -> bool {
        self.nodes.iter().any(|&(asked, _)| asked == id)
    }

    /// Asks where a joint move leads, made by the edges of these indices; the question's number.
    pub(super) fn ask_child(&mut self, origin: NodeId, choices: &[u32], joint_move: &[Move]) -> usize {
        self.origins.push(origin);
        self.joint_moves.extend_from_slice(joint_move);
        self.choices.extend_from_slice(choices);
        self.choices.resize(self.origins.len() * self.n_roles, 0);
        self.origins.len() - 1
    }

    /// Whether a node's moves could be had.
    pub(super) fn moves(&mut self, question: usize) -> Result<(), ReasonerError> {
        self.failures[question].take().map_or(Ok(()), Err)
    }
}

impl<R: Reasoner> Walker<R> {
    /// Asks the reasoner all that descents want to know.
    pub(super) fn ask(&mut self, setting: Setting<'_, R::State>) {
        self.ask_moves(setting);
        self.ask_successors(setting);
        std::mem::swap(&mut self.questions, &mut self.answers);
        self.questions.clear();
    }

    fn ask_moves(&mut self, setting: Setting<'_, R::State>) {
        let nodes = std::mem::take(&mut self.questions.nodes);
        if nodes.len() < 2 || !self.open_together(setting, &nodes) {
            for &(id, salt) in &nodes {
                let failure = self.open_claimed(setting, id, salt).err();
                self.questions.failures.push(failure);
            }
        }
        self.questions.nodes = nodes;
    }

    /// Opens nodes with one question for all. False if it failed: then nobody knows for which.
    fn open_together(&mut self, setting: Setting<'_, R::State>, nodes: &[(NodeId, u64)]) -> bool {
        self.starts.clear();
        self.starts.extend(nodes.iter().map(|&(id, _)| setting.graph.state(id).clone()));
        let mut expansions = std::mem::take(&mut self.expansions);
        let is_answered = self.session.expand_all(&self.starts, &mut expansions).is_ok();
        if is_answered {
            for (&(id, salt), expansion) in nodes.iter().zip(&expansions) {
                let failure = self.settle(setting, id, salt, expansion).err();
                self.questions.failures.push(failure);
            }
        }
        self.expansions = expansions;
        is_answered
    }

    /// Opens or closes a node that this thread has claimed; gives the claim back if the reasoner fails.
    pub(super) fn open_claimed(
        &mut self,
        setting: Setting<'_, R::State>,
        id: NodeId,
        salt: u64,
    ) -> Result<(), ReasonerError> {
        let mut expansion = std::mem::take(&mut self.expansion);
        let settled = match self.session.expand(setting.graph.state(id), &mut expansion) {
            Ok(()) => self.settle(setting, id, salt, &expansion),
            Err(ReasonerError::NotPlayable { .. }) => {
                expansion.clear();
                self.settle(setting, id, salt, &expansion)
            }
            Err(error) => Err(self.give_back(setting.graph, id, error)),
        };
        self.expansion = expansion;
        settled
    }

    /// Opens or closes a claimed node whose moves are known.
    fn settle(
        &mut self,
        setting: Setting<'_, R::State>,
        id: NodeId,
        salt: u64,
        expansion: &Expansion,
    ) -> Result<(), ReasonerError> {
        let graph = setting.graph;
        if expansion.terminal {
            self.goal_answers.clone_from(&expansion.goals);
            self.close_claimed(setting, id);
            return Ok(());
        }
        if Role::all(self.n_roles).any(|role| expansion.moves_of(role).is_empty()) {
            // Nobody can go on, so this is an end, whatever it is worth.
            return match self.session.goals(graph.state(id), &mut self.goal_answers) {
                Ok(()) => {
                    self.close_claimed(setting, id);
                    Ok(())
                }
                Err(error) => Err(self.give_back(graph, id, error)),
            };
        }
        match graph.open(&mut self.blocks, id, expansion, salt, setting.counters) {
            Opened::Open => setting.counters.openings.add(1),
            Opened::Wide => setting.counters.too_wide.add(1),
            Opened::Full => {}
        }
        Ok(())
    }

    /// Gives a claim back, since the reasoner failed.
    fn give_back(&self, graph: &Graph<R::State>, id: NodeId, error: ReasonerError) -> ReasonerError {
        graph.node(id).unclaim();
        self.note_failure(graph, id, &error);
        error
    }

    pub(super) fn note_failure(&self, graph: &Graph<R::State>, id: NodeId, error: &ReasonerError) {
        if *error != ReasonerError::Interrupted {
            graph.node(id).failures.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Closes a node that this thread has claimed, with the goals that were answered.
    pub(super) fn close_claimed(&mut self, setting: Setting<'_, R::State>, id: NodeId) {
        self.goal_answers.resize(self.n_roles, GoalAnswer::None);
        let goals = self.goal_answers.iter().map(|&answer| goal_of(answer, setting.max_goal));
        if let Some(solver) = &setting.scheme.solver {
            self.goals.clear();
            self.goals.extend(goals.clone());
            setting.scheme.valuation.ranks_of_end(&self.goals, &mut self.values);
            setting.graph.tighten(id, solver.layout, solver.of_end(&self.values));
        }
        if setting.graph.close(&mut self.blocks, id, goals) == Opened::Open {
            setting.counters.openings.add(1);
        }
    }

    fn ask_successors(&mut self, setting: Setting<'_, R::State>) {
        let Self { session, starts, successors, n_roles, .. } = self;
        let Questions { origins, joint_moves, successors: answers, .. } = &mut self.questions;
        let graph = setting.graph;
        if let [origin] = origins[..] {
            return answers.push(Some(session.next_state(graph.state(origin), joint_moves)));
        }
        starts.clear();
        starts.extend(origins.iter().map(|&id| graph.state(id).clone()));
        while answers.len() < origins.len() {
            let first = answers.len();
            let asked = session.next_states(&starts[first..], &joint_moves[first * *n_roles..], successors);
            answers.extend(successors.drain(..).map(|state| Some(Ok(state))));
            // Those behind the one that failed have not been asked, and are not if time is over.
            let n_failed = match asked {
                Ok(()) | Err(ReasonerError::Interrupted) => origins.len() - answers.len(),
                Err(_) => 1,
            };
            let failed = asked.err().unwrap_or(ReasonerError::Interrupted);
            answers.extend(std::iter::repeat_n(Some(Err(failed)), n_failed));
        }
        graph.look_ahead(answers.iter().filter_map(|answer| answer.as_ref()?.as_ref().ok()));
    }

    /// Follows a joint move, chosen in the last node of the path, that nobody had followed when it was asked about: makes the
    /// child known. Gives the state where that cannot be.
    pub(super) fn follow(
        &mut self,
        setting: Setting<'_, R::State>,
        question: usize,
    ) -> Result<Result<NodeId, R::State>, ReasonerError> {
        let Setting { graph, counters, scheme, .. } = setting;
        let id = self.answers.origins[question];
        let opening = graph.node(id).opening();
        self.choices.clear();
        self.choices.extend_from_slice(&self.answers.choices[question * self.n_roles..][..self.n_roles]);
        let state = match self.answers.successors[question].take().unwrap_or(Err(ReasonerError::Interrupted))
        {
            Ok(state) => state,
            Err(error) => {
                if error != ReasonerError::Interrupted && scheme.config.has_memory() {
                    self.link(setting, id, opening, Child::Broken);
                }
                return Err(error);
            }
        };
        if !scheme.config.has_memory() {
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
