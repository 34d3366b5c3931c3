//! `daggerboard search`: one search of one position.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use gdl::Term;
use reasoner::{Interrupt, Limits, Reasoner, Role, Session};
use search::{Budget, Report, Searcher};
use serde_json::{Value, json};

use crate::brain::{BrainArgs, parse_seconds};
use crate::failure::{Failure, Outcome};
use crate::game_source::GameArgs;
use crate::output;
use crate::position::PositionArgs;
use crate::reasoners::{SetUp, WithReasoner};
use crate::stop;

/// Search one position and show what was found
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  daggerboard search tic-tac-toe --seconds 2
  daggerboard search my-game.kif --state position.json --role white --json
  daggerboard search tic-tac-toe --threads 1 --seed 7 --playouts 10000")]
pub struct SearchArgs {
    #[command(flatten)]
    game: GameArgs,
    #[command(flatten)]
    position: PositionArgs,
    /// Whose moves to show; the first role with a choice if it is not given
    #[arg(long, value_name = "NAME")]
    role: Option<String>,
    #[command(flatten)]
    brain: BrainArgs,
    /// How long to search; 5 s if neither this nor --playouts is given
    #[arg(long, value_name = "S", conflicts_with = "playouts", value_parser = parse_seconds)]
    seconds: Option<f64>,
    /// How many playouts to make
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    playouts: Option<u64>,
}

/// How long a search takes if nobody says.
const DEFAULT_SECONDS: f64 = 5.0;
/// How often progress is shown.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

impl SearchArgs {
    /// Searches and prints.
    ///
    /// # Errors
    /// If the game or the position cannot be had, or the search fails.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        let game = self.game.load()?;
        let kind = self.brain.reasoner;
        let stop = stop::on_ctrl_c()?;
        let searching = Searching { args: self, name: &game.name, as_json, stop: &stop };
        kind.with(Arc::clone(&game.rules), &SetUp::until(&stop), searching)?
    }
}

struct Searching<'a> {
    args: &'a SearchArgs,
    name: &'a str,
    as_json: bool,
    stop: &'a Interrupt,
}

impl WithReasoner for Searching<'_> {
    type Output = Result<Outcome, Failure>;

    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Self::Output {
        let args = self.args;
        let stop = self.stop;
        let brain = args.brain.brain(args.playouts, None);
        let mut session = reasoner.session(Limits::default(), stop)?;
        let root = args.position.load(&mut session)?;
        if session.is_terminal(&root)? {
            return Err(Failure::work("the position is terminal: there is nothing to search"));
        }
        let role = choose_role(&mut session, &root, args.role.as_deref())?;
        let mut searcher = Searcher::new(Arc::clone(&reasoner), brain.search.clone())?;
        searcher.set_root(&root);
        let report = self.search(&mut searcher, &mut session, role, stop)?;
        self.demand_playouts(&report, stop)?;
        let report = Shown { report: &report, role, session: &mut session };
        if self.as_json {
            output::json(&report.json(self.name, reasoner.name(), args))?;
        } else {
            report.print()?;
        }
        Ok(Outcome::Done)
    }
}

impl Searching<'_> {
    /// A search without a playout has found nothing, and names no move.
    fn demand_playouts(&self, report: &Report, stop: &Interrupt) -> Result<(), Failure> {
        if report.is_terminal {
            return Err(Failure::work("a role has no legal move in the position, which is not terminal")
                .hint(format!("`daggerboard check {} --simulate 10` tells more", self.args.game.game)));
        }
        if report.playouts > 0 {
            return Ok(());
        }
        Err(match &report.errors.last {
            Some(error) => Failure::work(error).context("no playout came to its end"),
            None if stop.is_raised() => Failure::work("stopped before a playout came to its end"),
            None => Failure::work("no playout came to its end in time").hint("give more --seconds"),
        })
    }

    fn search<R: Reasoner>(
        &self,
        searcher: &mut Searcher<R>,
        session: &mut R::Session,
        role: Role,
        stop: &Interrupt,
    ) -> Result<Report, Failure> {
        let seconds = match self.args.playouts {
            Some(_) => None,
            None => Some(self.args.seconds.unwrap_or(DEFAULT_SECONDS)),
        };
        let deadline = seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
        let budget = Budget { deadline, playouts: self.args.playouts, work: None };
        let mut next = Instant::now() + PROGRESS_EVERY;
        let mut progress = |report: &Report| {
            if Instant::now() >= next {
                next = Instant::now() + PROGRESS_EVERY;
                let best = report.best(role).map(|a_move| session.move_term(a_move).to_string());
                output::progress(format_args!(
                    "{:.0} s: {} playouts, best {}",
                    report.seconds,
                    report.playouts,
                    best.unwrap_or_default()
                ));
            }
        };
        Ok(searcher.run(&budget, stop, &mut progress)?)
    }
}

/// The role of that name, or the first with more than one move, or the first.
fn choose_role<S: Session>(session: &mut S, root: &S::State, name: Option<&str>) -> Result<Role, Failure> {
    let roles: Vec<Term> = session.roles().to_vec();
    let all = || Role::all(roles.len());
    if let Some(name) = name {
        return all().find(|role| roles[role.idx()].to_string().eq_ignore_ascii_case(name)).ok_or_else(
            || {
                let known: Vec<String> = roles.iter().map(Term::to_string).collect();
                Failure::usage(format!("there is no role {name:?}"))
                    .hint(format!("the roles are {}", known.join(" ")))
            },
        );
    }
    for role in all() {
        let mut legal = Vec::new();
        session.legal_moves(root, role, &mut legal)?;
        if legal.len() > 1 {
            return Ok(role);
        }
    }
    Ok(Role(0))
}

/// A report as it is printed.
struct Shown<'a, S: Session> {
    report: &'a Report,
    role: Role,
    session: &'a mut S,
}

impl<S: Session> Shown<'_, S> {
    /// Moves with visits and value, the most visited first.
    fn moves(&mut self) -> Vec<(String, u64, f64)> {
        let moves = self.report.roles.get(self.role.idx()).map_or(&[][..], |role| &role.moves);
        let mut shown: Vec<_> = moves
            .iter()
            .map(|it| (self.session.move_term(it.a_move).to_lower_case(), it.visits, it.value))
            .collect();
        shown.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        shown
    }

    fn best(&mut self) -> Option<String> {
        self.report.best(self.role).map(|a_move| self.session.move_term(a_move).to_lower_case())
    }

    fn json(mut self, game: &str, reasoner: &str, args: &SearchArgs) -> Value {
        let moves: Vec<Value> = self
            .moves()
            .into_iter()
            .map(|(a_move, visits, value)| json!({ "move": a_move, "visits": visits, "value": value }))
            .collect();
        let report = self.report;
        let best_line = report.best_line.as_ref().map(|line| {
            let texts: Vec<Vec<String>> = line
                .joint_moves
                .iter()
                .map(|moves| moves.iter().map(|&it| self.session.move_term(it).to_lower_case()).collect())
                .collect();
            json!({ "value": line.value, "moves": texts })
        });
        json!({
            "game": game,
            "reasoner": reasoner,
            "config": args.brain.config.to_string(),
            "role": self.session.roles()[self.role.idx()].to_lower_case(),
            "best": self.best(),
            "moves": moves,
            "playouts": report.playouts,
            "seconds": report.seconds,
            "playouts_per_s": rate(report),
            "nodes": report.nodes,
            "edges": report.edges,
            "bytes": report.bytes,
            "counters": counters(report),
            "best_line": best_line,
            "last_error": report.errors.last,
        })
    }

    fn print(mut self) -> Result<(), Failure> {
        let report = self.report;
        for (a_move, visits, value) in self.moves() {
            output::line(format_args!("{visits:>12} visits  value {value:>6.2}  {a_move}"))?;
        }
        output::line(format_args!(
            "{} playouts, {:.0} a second, {} nodes, {} edges, {:.0} MiB",
            report.playouts,
            rate(report),
            report.nodes,
            report.edges,
            report.bytes as f64 / f64::from(1 << 20)
        ))?;
        if let Some(error) = &report.errors.last {
            output::line(format_args!("{} playouts failed: {error}", report.errors.playouts))?;
        }
        let role = self.session.roles()[self.role.idx()].to_string();
        output::line(format_args!("best for {role}: {}", self.best().unwrap_or_default()))
    }
}

fn rate(report: &Report) -> f64 {
    report.playouts as f64 / report.seconds.max(f64::EPSILON)
}

/// The counters by name.
fn counters(report: &Report) -> Value {
    macro_rules! by_name {
        ($($name:ident)*) => { json!({ $(stringify!($name): report.counters.$name,)* }) };
    }
    by_name!(
        failed_playouts interrupted_playouts depth_sum max_depth rollout_steps nodes_made edges_made openings
        lost_claims same_leaf duplicates cas_failures transpositions lookups probes max_probes table_full too_wide
        cut_paths unrepeatable_lines
    )
}
