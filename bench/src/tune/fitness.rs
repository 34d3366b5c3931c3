//! What a set of values is worth in one game.

use std::sync::Arc;

use player::brain::Brain;
use player::failure::Failure;
use player::reasoners::{self, WithReasoner};
use reasoner::{Dice, Interrupt, Limits, Reasoner, Session};
use search::Searcher;
use single::{Outsiders, System};

use super::plan::Plan;
use crate::named_game::NamedGame;
use crate::play::{Searching, play_seats};

/// One game of one sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub iteration: usize,
    pub sample: usize,
    pub game_idx: usize,
    pub values: Vec<f64>,
}

impl Task {
    /// The game's name.
    pub fn game(&self, plan: &Plan) -> String {
        let pattern = &plan.games[self.game_idx % plan.games.len()];
        plan.filled(pattern, &self.values, plan.seed_of(self.iteration, self.game_idx))
    }
}

/// What a sample comes to in a game: the best value found in games of one role, 1 for a game won, 0.5 for an even one;
/// nothing if it is stopped.
///
/// # Errors
/// If the game or its players cannot be.
pub fn score(plan: &Plan, task: &Task, stop: &Interrupt) -> Result<Option<f64>, Failure> {
    let brain = |spec: &str| Brain::parse(spec).map_err(Failure::usage);
    let own = brain(&plan.filled(&plan.spec, &task.values, 0))?;
    let game = NamedGame::find(&task.game(plan))?;
    let against = plan.against.as_deref().map(brain).transpose()?;
    let seed = plan.seed_of(task.iteration, task.game_idx);
    let seat = task.game_idx / plan.games.len();
    let reasoner = own.reasoner;
    let outsiders = match &game {
        NamedGame::Rust(_) => Outsiders::default(),
        NamedGame::Rules(rules) => reasoners::outsiders(&rules.rules),
    };
    game.with(reasoner, stop, Scoring { own, against, outsiders, seed, seat, stop })?
}

struct Scoring<'a> {
    own: Brain,
    against: Option<Brain>,
    outsiders: Outsiders,
    seed: u64,
    seat: usize,
    stop: &'a Interrupt,
}

impl WithReasoner for Scoring<'_> {
    type Output = Result<Option<f64>, Failure>;

    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Self::Output {
        let score = match self.own.config {
            _ if reasoner.n_roles() > 1 => self.duel(&reasoner),
            None | Some(System::Graph(_)) => self.best_value_in_graph(&reasoner),
            Some(system) => self.best_value(&reasoner, system),
        }?;
        Ok(Some(score).filter(|_| !self.stop.is_raised()))
    }
}

impl Scoring<'_> {
    fn options(&self) -> search::Options {
        search::Options { seed: Some(self.seed), ..self.own.search.clone() }
    }

    /// The best value that a system for games of one role finds from the initial position.
    fn best_value<R: Reasoner>(&self, reasoner: &Arc<R>, system: System) -> Result<f64, Failure> {
        let mut searcher =
            single::Searcher::with_outsiders(reasoner, system, &self.options(), &self.outsiders)
                .map_err(Failure::usage)?;
        searcher.set_root(&reasoner.session(Limits::default(), &Interrupt::new())?.initial_state()?);
        let searched = searcher.run(&self.own.budget(None), self.stop, &mut |_| ());
        let report = searched.map_err(Failure::work)?;
        match (report.best, report.last_error) {
            (None, Some(error)) => Err(Failure::work(error)),
            (best, _) => Ok(best.map_or(0.0, |line| f64::from(line.value))),
        }
    }

    /// The best value that a search of the shared graph finds from the initial position.
    fn best_value_in_graph<R: Reasoner>(&self, reasoner: &Arc<R>) -> Result<f64, Failure> {
        let options = self.options();
        let mut searcher = Searcher::new(Arc::clone(reasoner), options)?;
        let root = reasoner.session(Limits::default(), &Interrupt::new())?.initial_state()?;
        searcher.set_root(&root);
        let report = searcher.run(&self.own.budget(None), self.stop, &mut |_| ())?;
        match report.errors.last {
            Some(error) => Err(Failure::work(error)),
            None => Ok(report.best_line.map_or(0.0, |line| line.value as f64)),
        }
    }

    /// A whole game against the other one.
    fn duel<R: Reasoner>(&self, reasoner: &Arc<R>) -> Result<f64, Failure> {
        let other = self.against.as_ref().ok_or_else(|| {
            Failure::usage("the game has several roles").hint("give `against`, the settings of the opponents")
        })?;
        let n_roles = reasoner.n_roles();
        let own_role = self.seat % n_roles;
        let seats = (0..n_roles).map(|role| {
            let brain = if role == own_role { &self.own } else { other };
            Searching::of_brain(reasoner, brain, Dice::child_seed(self.seed, role as u64))
        });
        let Some((goals, _)) = play_seats(reasoner, &mut seats.collect::<Vec<_>>(), self.stop)? else {
            return Ok(0.0);
        };
        let own = f64::from(goals[own_role]);
        let others = goals.iter().map(|&goal| f64::from(goal)).sum::<f64>() - own;
        let others = others / (n_roles - 1) as f64;
        Ok(if own > others {
            1.0
        } else if own < others {
            0.0
        } else {
            0.5
        })
    }
}
