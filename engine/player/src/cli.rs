//! The command line as a whole; each command has its options and its work in a file of its own.

use clap::{Parser, Subcommand};

use crate::commands::{
    check, explain, games, perft, play_match, player, replay, search, speed, stress, tournament,
    tournament_player,
};
use crate::failure::{Failure, Outcome};
use crate::logs;
use crate::memory_policy::MemoryArgs;

/// Plays games it has never seen, from rules in the Game Description Language
#[derive(Debug, Parser)]
#[command(name = "daggerboard", version, max_term_width = 110, after_help = EXAMPLES)]
pub struct Cli {
    /// Log more, to standard error; twice for everything. RUST_LOG overrides it
    #[arg(short, long, action = clap::ArgAction::Count, global = true, display_order = FOR_ALL)]
    verbose: u8,
    /// Print results as JSON
    #[arg(long, global = true, display_order = FOR_ALL)]
    json: bool,
    #[command(flatten)]
    memory: MemoryArgs,
    #[command(subcommand)]
    command: Command,
}

/// Options of all commands stand below those of the command itself.
pub(crate) const FOR_ALL: usize = 900;

const EXAMPLES: &str = "\
Examples:
  daggerboard player --port 9147
  daggerboard match tic-tac-toe --player self --player random --play 1
  daggerboard tournament my-tournament.toml
  daggerboard search tic-tac-toe --seconds 2
  daggerboard games --show nim > my-game.kif
  daggerboard check my-game.kif

Exit codes: 0 done, 1 the work failed, 2 wrong usage";

#[derive(Debug, Subcommand)]
enum Command {
    Player(player::PlayerArgs),
    Match(play_match::MatchArgs),
    Tournament(tournament::TournamentArgs),
    Search(search::SearchArgs),
    Perft(perft::PerftArgs),
    Replay(replay::ReplayArgs),
    Check(check::CheckArgs),
    Speed(speed::SpeedArgs),
    Explain(explain::ExplainArgs),
    Stress(stress::StressArgs),
    Games(games::GamesArgs),
    #[command(hide = true)]
    TournamentPlayer(tournament_player::TournamentPlayerArgs),
}

impl Cli {
    /// Does what the command line says.
    ///
    /// # Errors
    /// If the work fails, or cannot be done as asked.
    pub fn run(self) -> Result<Outcome, Failure> {
        self.memory.settle()?;
        let json = self.json;
        // A player is watched through its log; the others show their progress themselves.
        logs::begin(self.verbose, if matches!(self.command, Command::Player(_)) { "info" } else { "warn" });
        match self.command {
            Command::Player(args) => args.run(json),
            Command::Match(args) => args.run(json),
            Command::Tournament(args) => args.run(json),
            Command::Search(args) => args.run(json),
            Command::Perft(args) => args.run(json),
            Command::Replay(args) => args.run(json),
            Command::Check(args) => args.run(json),
            Command::Speed(args) => args.run(json),
            Command::Explain(args) => args.run(json),
            Command::Stress(args) => args.run(json),
            Command::Games(args) => args.run(json),
            Command::TournamentPlayer(args) => args.run(),
        }
    }
}
