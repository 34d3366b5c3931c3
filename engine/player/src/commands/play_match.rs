//! `daggerboard match`: plays whole matches and records them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use reasoner::{Dice, Interrupt, Reasoner};
use serde_json::json;

use crate::brain::parse_seconds;
use crate::failure::{Failure, Outcome};
use crate::game_source::{Game, GameArgs};
use crate::manager::contact::{self, Contact};
use crate::manager::opening::Opening;
use crate::manager::record::{self, Record, Status};
use crate::manager::referee::{Match, Seated, Terms};
use crate::manager::spec::PlayerSpec;
use crate::output;
use crate::reasoners::{self, ReasonerKind, SetUp, WithReasoner};
use crate::stop;

/// Play matches between players here and elsewhere
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  daggerboard match tic-tac-toe --player self:threads=2 --player random
  daggerboard match tic-tac-toe --player 'self:config=ucd(1,0,1)' --player legal
  daggerboard match my-game.kif --player self --player http://localhost:9148
  daggerboard match nim --player self --player legal --repeat 10 --rotate
  daggerboard match tic-tac-toe --player self --player self --loopback --json

Players, one per role in role order (a role named `random` is played by the manager):
  self[:key=value,...]   ours; keys threads (1 if it is not given) config payoffs
                         aim discount unexplored in-flight simultaneous final-move
                         solver rave-bias pn-bias batch rollouts hot-levels c reasoner
                         memory seed, as the options of `daggerboard search
                         --help`, playouts cpu (seconds of each thread for a move)
                         time (whole, managed) ponder (on, off; both as
                         `daggerboard player --help` says) pin (0+1)
  http://host:port       any player that speaks the protocol
  random                 random legal moves
  legal                  the first legal move
A late or illegal move is replaced by a random legal one and noted in the record:
TO, CE or IL.")]
pub struct MatchArgs {
    #[command(flatten)]
    game: GameArgs,
    /// A player; give it once for each role
    #[arg(long = "player", value_name = "SPEC", required = true)]
    players: Vec<PlayerSpec>,
    /// The start clock in seconds
    #[arg(long, default_value = "10", value_name = "S", value_parser = clap::value_parser!(u32).range(1..=604_800))]
    start: u32,
    /// The play clock in seconds
    #[arg(long, default_value = "5", value_name = "S", value_parser = clap::value_parser!(u32).range(1..=604_800))]
    play: u32,
    /// What is added to the play clock before an answer counts as late; ggp-base gives 1
    #[arg(long, default_value = "0", value_name = "S", value_parser = parse_grace)]
    grace: f64,
    /// How many matches
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Let the players change places from match to match
    #[arg(long)]
    rotate: bool,
    /// What the manager's random choices follow from; another one each time if it is not given
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The folder for the records
    #[arg(long, default_value = "records", value_name = "DIR")]
    records: PathBuf,
    /// Speak real HTTP with players of ours, too, on loopback ports
    #[arg(long)]
    loopback: bool,
    /// Give a match up after this many steps
    #[arg(long, default_value = "5000", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_steps: u32,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
    #[arg(long, default_value = "auto", value_name = "NAME", help = format!("The manager's own reasoner: {}; auto is the interpreter here", reasoners::NAMES))]
    reasoner: ReasonerKind,
}

/// Reads a time in seconds that may be nothing.
fn parse_grace(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(0.0) => Ok(0.0),
        _ => parse_seconds(text),
    }
}

impl MatchArgs {
    /// Plays and prints.
    ///
    /// # Errors
    /// If a match cannot be played or recorded.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        let game = self.game.load()?;
        let roles = game.rules.roles();
        let is_chance: Vec<bool> =
            roles.iter().map(|role| role.to_string().eq_ignore_ascii_case("random")).collect();
        let wanted = is_chance.iter().filter(|&&chance| !chance).count();
        if self.players.len() != wanted {
            let names: Vec<String> = roles.iter().map(ToString::to_string).collect();
            return Err(Failure::usage(format!("{} players for {wanted} roles", self.players.len())).hint(
                format!(
                    "give --player once for each of the roles {}; one named `random` is the manager's",
                    names.join(" ")
                ),
            ));
        }
        let contacts = self
            .players
            .iter()
            .map(|spec| {
                let contact = contact::connect(&spec.kind, self.game.reading.options(), self.loopback)?;
                Ok(Seated { name: spec.to_string(), contact, is_process: false })
            })
            .collect::<Result<Vec<_>, Failure>>()?;
        record::prepare(&self.records)?;
        let stop = stop::on_ctrl_c()?;
        let set_up = SetUp::shown(&stop);
        let playing = Playing { args: self, game: &game, is_chance, contacts, stop, as_json };
        self.reasoner.for_few_questions().with(Arc::clone(&game.rules), &set_up, playing)?
    }
}

struct Playing<'a> {
    args: &'a MatchArgs,
    game: &'a Game,
    /// For each role, whether the manager plays it as chance.
    is_chance: Vec<bool>,
    contacts: Vec<Seated>,
    stop: Interrupt,
    as_json: bool,
}

impl WithReasoner for Playing<'_> {
    type Output = Result<Outcome, Failure>;

    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Self::Output {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let millis = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let seed = self.args.seed.unwrap_or(millis);
        let mut results = Results::new(self.contacts.len());
        for match_idx in 0..self.args.repeat {
            let shift = if self.args.rotate { match_idx as usize } else { 0 };
            let seats = self.seats(shift);
            let one = Match {
                id: format!("{}.{millis}-{}.{}", self.short_name(), std::process::id(), match_idx + 1),
                game: self.game,
                players: &seats.iter().map(|(_, seated)| seated.clone()).collect::<Vec<_>>(),
                terms: Terms {
                    start_clock: Duration::from_secs(u64::from(self.args.start)),
                    play_clock: Duration::from_secs(u64::from(self.args.play)),
                    grace: Duration::from_secs_f64(self.args.grace),
                    max_steps: self.args.max_steps as usize,
                    forfeit_after: None,
                    live: !self.args.quiet,
                },
                opening: Opening::NONE,
                seed: Dice::child_seed(seed, u64::from(match_idx)),
                stop: &self.stop,
            };
            let record = one.play(&reasoner)?;
            results.add(&seats, &record);
            // A result that cannot be kept can be told.
            let saved = record.save(&self.args.records);
            self.print(&record, saved.as_deref().ok())?;
            saved?;
            if record.status == Status::Stopped {
                break;
            }
        }
        if self.args.repeat > 1 {
            results.print(&self.contacts);
        }
        Ok(if results.all_completed { Outcome::Done } else { Outcome::Failed })
    }
}

impl Playing<'_> {
    /// Who sits at each role, with the index among the players; none for chance.
    fn seats(&self, shift: usize) -> Vec<(Option<usize>, Seated)> {
        let mut next = shift;
        let chance = Seated { name: "random".to_owned(), contact: Contact::Random, is_process: false };
        self.is_chance
            .iter()
            .map(|&is_chance| {
                if is_chance {
                    return (None, chance.clone());
                }
                let player_idx = next % self.contacts.len();
                next += 1;
                (Some(player_idx), self.contacts[player_idx].clone())
            })
            .collect()
    }

    /// A part of match ids and of file names: letters, digits and dashes of the game's name.
    fn short_name(&self) -> String {
        let stem = std::path::Path::new(&self.game.name).file_stem().unwrap_or_default().to_string_lossy();
        let plain: String =
            stem.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-' || *c == '_').take(20).collect();
        if plain.is_empty() { "match".to_owned() } else { plain }
    }

    fn print(&self, record: &Record, path: Option<&std::path::Path>) -> Result<(), Failure> {
        if self.as_json {
            return output::json(&json!({
                "id": record.id,
                "game": record.game,
                "status": record.status,
                "steps": record.moves.len(),
                "roles": record.roles,
                "players": record.players,
                "thought_with": record.thought_with,
                "goals": record.goals,
                "errors": record.errors,
                "record": path.map(|path| path.display().to_string()),
            }));
        }
        let parts: Vec<String> = record
            .roles
            .iter()
            .zip(&record.players)
            .zip(&record.goals)
            .map(|((role, player), goal)| {
                format!("{role} ({player}) {}", goal.map_or_else(|| "-".to_owned(), |goal| goal.to_string()))
            })
            .collect();
        output::line(format_args!(
            "{}: {:?} after {} steps: {}; {} errors; {}",
            record.id,
            record.status,
            record.moves.len(),
            parts.join(", "),
            record.errors.len(),
            path.map_or_else(|| "no record".to_owned(), |path| path.display().to_string())
        ))?;
        Ok(())
    }
}

/// The sum of several matches.
struct Results {
    goal_sums: Vec<u64>,
    n_errors: Vec<usize>,
    n_matches: usize,
    all_completed: bool,
}

impl Results {
    fn new(n_players: usize) -> Results {
        Results {
            goal_sums: vec![0; n_players],
            n_errors: vec![0; n_players],
            n_matches: 0,
            all_completed: true,
        }
    }

    fn add(&mut self, seats: &[(Option<usize>, Seated)], record: &Record) {
        self.all_completed &= record.status == Status::Completed;
        self.n_matches += 1;
        for (role_idx, (player_idx, _)) in seats.iter().enumerate() {
            let Some(player_idx) = *player_idx else { continue };
            self.goal_sums[player_idx] += u64::from(record.goals[role_idx].unwrap_or(0));
            let is_own = |error: &&crate::manager::record::PlayerError| error.role == record.roles[role_idx];
            self.n_errors[player_idx] += record.errors.iter().filter(is_own).count();
        }
    }

    fn print(&self, players: &[Seated]) {
        for (player_idx, player) in players.iter().enumerate() {
            output::progress(format_args!(
                "{}: mean goal {:.1} in {} matches, {} errors",
                player.name,
                self.goal_sums[player_idx] as f64 / self.n_matches.max(1) as f64,
                self.n_matches,
                self.n_errors[player_idx]
            ));
        }
    }
}
