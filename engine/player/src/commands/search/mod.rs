//! `daggerboard search`: one search of one position.

mod shown;
mod single;

use std::sync::Arc;
use std::time::{Duration, Instant};

use ::search::{Budget, Report, Searcher};
use ::single::{Outsiders, System};
use clap::Args;
use gdl::Term;
use reasoner::{Interrupt, Limits, Reasoner, Role, Session};

use self::shown::{Asked, Shown};
use crate::brain::{Brain, BrainArgs, ThreadsArgs, parse_playouts, parse_seconds};
use crate::commands::laws::Verified;
use crate::failure::{Failure, Outcome};
use crate::game_source::GameArgs;
use crate::moves::find_role;
use crate::output;
use crate::position::{Position, PositionArgs};
use crate::reasoners::{self, SetUp, Share, WithReasoner};
use crate::stop;

/// Search one position and show what was found
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  daggerboard search tic-tac-toe --seconds 2
  daggerboard search tic-tac-toe --threads 1 --seed 7 --playouts 10000
  echo '[\"(holds e cross)\", \"(turn nought)\"]' > position.json
  daggerboard search tic-tac-toe --state position.json --role nought --json
  daggerboard search connect-four --config 'ucd(1,0,1)' --payoffs edges --json
  daggerboard search connect-four --config credited --seconds 2 --verify
  daggerboard search nim --solver on
  daggerboard search knights-tour --seconds 2 --json
  daggerboard search lights-out --config 'nrpa(2)' --threads 2

Games of one role are searched by the portfolio, unless --config or --verify say otherwise; then the best line counts, and \
JSON has best_value, best_line, and whether it is proved that none is better. The search ends with the proof.

With --solver on a search ends before its time when it has solved the position: `solved` is told with what each move is \
proven to be worth, in goal points without a discount, and by how many steps at its best.

The reasoner auto grounds the rules before the search: within half of --seconds, or with --playouts within a number of \
steps, so that with a seed and one thread the result is the same on every machine. In JSON, reasoner is who answered, \
set_up_s the time before the search, and refused why auto did without the propnet.

A playout is one way down the graph and counts as one visit for each rollout from its end, so moves have as many visits \
as there were rollouts: where the reasoner plays many side by side, 8 for each playout unless --rollouts says otherwise. \
Moves that lead to a position which is reached in other ways too may have more, and the others fewer (see --config).

In JSON an option that was left to the search is null. bytes_per_node and bytes_per_edge share all bytes of the \
graph out among its nodes, or among its edges; a small graph has more of them, since it is allotted in chunks.")]
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
    #[command(flatten)]
    threads: ThreadsArgs,
    /// How long to search; 5 s if neither this nor --playouts is given
    #[arg(long, value_name = "S", conflicts_with = "playouts", value_parser = parse_seconds)]
    seconds: Option<f64>,
    /// How many playouts to make
    #[arg(long, value_name = "N", value_parser = parse_playouts)]
    playouts: Option<u64>,
    /// Check the graph's laws after the search: visits, sums, credits, links, states and proven bounds. It takes
    /// time and memory as the graph does; Ctrl-C stops it. A broken law is told, and the exit code is 1
    #[arg(long)]
    verify: bool,
}

/// How long a search takes if nobody says.
const DEFAULT_SECONDS: f64 = 5.0;
/// The part of that time which grounding may take before the search under `auto`.
const AUTO_PART: u32 = 2;
/// How often progress is shown.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

impl SearchArgs {
    /// Searches and prints.
    ///
    /// # Errors
    /// If the game or the position cannot be had, or the search fails.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        let brain = self.brain.brain(self.threads.n(), self.playouts, None)?;
        let game = self.game.load()?;
        let kind = brain.reasoner;
        let stop = stop::on_ctrl_c()?;
        let position = self.position.read()?;
        let mut set_up = SetUp { position: position.facts.clone(), ..SetUp::shown(&stop) };
        if self.playouts.is_none() {
            set_up.auto = Share { time: Some(self.time() / AUTO_PART), ..Share::PATIENT };
        }
        let searching = Searching {
            args: self,
            brain,
            name: &game.name,
            position,
            outsiders: reasoners::outsiders(&game.rules),
            set_up: set_up.clone(),
            begun: Instant::now(),
            as_json,
            stop: &stop,
        };
        kind.with(Arc::clone(&game.rules), &set_up, searching)?
    }

    /// How long to search, if playouts are not counted.
    fn time(&self) -> Duration {
        Duration::from_secs_f64(self.seconds.unwrap_or(DEFAULT_SECONDS))
    }
}

struct Searching<'a> {
    args: &'a SearchArgs,
    brain: Brain,
    name: &'a str,
    position: Position,
    outsiders: Outsiders,
    set_up: SetUp,
    /// When setting up began.
    begun: Instant,
    as_json: bool,
    stop: &'a Interrupt,
}

impl WithReasoner for Searching<'_> {
    type Output = Result<Outcome, Failure>;

    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Self::Output {
        let args = self.args;
        let stop = self.stop;
        let mut session = reasoner.session(Limits::default(), stop)?;
        let root = self.position.load(&mut session)?;
        if session.is_terminal(&root)? {
            return Err(Failure::work("the position is terminal: there is nothing to search"));
        }
        let role = choose_role(&mut session, &root, args.role.as_deref())?;
        let set_up_s = self.begun.elapsed().as_secs_f64();
        if let Some(system) = self.system(&*reasoner)? {
            let mut legal = Vec::new();
            session.legal_moves(&root, role, &mut legal)?;
            if legal.is_empty() {
                return Err(self.stuck());
            }
            let asked = single::Asked {
                game: self.name,
                reasoner: reasoner.name(),
                set_up_s,
                refused: self.set_up.refused.get().map(String::as_str),
                system,
                outsiders: &self.outsiders,
                options: &self.brain.search,
                budget: self.budget(),
                as_json: self.as_json,
            };
            return single::run(&reasoner, &mut session, &root, &asked, stop);
        }
        let mut searcher = Searcher::new(Arc::clone(&reasoner), self.brain.search.clone())?;
        searcher.set_root(&root);
        let report = self.search(&mut searcher, &mut session, role, stop)?;
        self.demand_playouts(&report, stop)?;
        let verified = args.verify.then(|| Verified::of(&searcher, &report, stop));
        let shown = Shown { report: &report, role, session: &mut session, verified: verified.as_ref() };
        if self.as_json {
            let options = &self.brain.search;
            let asked = Asked {
                game: self.name,
                reasoner: reasoner.name(),
                set_up_s,
                refused: self.set_up.refused.get().map(String::as_str),
                options,
                seed: searcher.seed(),
            };
            output::json(&shown.json(&asked))?;
        } else {
            shown.print()?;
        }
        Ok(verified.map_or(Outcome::Done, |verified| verified.outcome()))
    }
}

impl Searching<'_> {
    /// The system that searches a game of one role; none if the shared graph is searched.
    fn system<R: Reasoner>(&self, reasoner: &R) -> Result<Option<System>, Failure> {
        let asked = self.brain.config.filter(|config| !matches!(config, System::Graph(_)));
        match asked {
            Some(asked) if reasoner.n_roles() != 1 => {
                let n_roles = reasoner.n_roles();
                Err(Failure::usage(format!("{asked} is for games of one role, and this one has {n_roles}")))
            }
            Some(asked) if self.args.verify => Err(Failure::usage(format!("{asked} has no graph to verify"))),
            None if self.args.verify => Ok(None),
            _ => Ok(self.brain.system_for(reasoner.n_roles())),
        }
    }

    fn budget(&self) -> Budget {
        let deadline = self.args.playouts.is_none().then(|| Instant::now() + self.args.time());
        self.brain.budget(deadline)
    }

    /// Nobody can play on.
    fn stuck(&self) -> Failure {
        Failure::work("a role has no legal move in the position, which is not terminal")
            .hint(format!("`daggerboard check {} --simulate 10` tells more", self.args.game.game))
    }

    /// A search without a playout has found nothing, and names no move.
    fn demand_playouts(&self, report: &Report, stop: &Interrupt) -> Result<(), Failure> {
        if report.is_terminal {
            return Err(self.stuck());
        }
        if report.playouts > 0 || report.is_solved {
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
        let budget = self.budget();
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
    if let Some(name) = name {
        return find_role(&roles, name).ok_or_else(|| {
            let known: Vec<String> = roles.iter().map(Term::to_string).collect();
            Failure::usage(format!("there is no role {name:?}"))
                .hint(format!("the roles are {}", known.join(" ")))
        });
    }
    for role in Role::all(roles.len()) {
        let mut legal = Vec::new();
        session.legal_moves(root, role, &mut legal)?;
        if legal.len() > 1 {
            return Ok(role);
        }
    }
    Ok(Role(0))
}
