//! `daggerboard player`: waits for managers.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use crate::brain::{Brain, BrainArgs, ThreadsArgs, TimeUse, parse_playouts, parse_seconds, parse_switch};
use crate::failure::{Failure, Outcome};
use crate::game_source::ReadingArgs;
use crate::keeper::{Keeper, Settings};
use crate::manager::record;
use crate::output;
use crate::protocol::server::Server;
use crate::stop;

/// Wait for game managers and play
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  daggerboard player
  daggerboard player --port 9148 --threads 2 --memory 4G --name Rusty
  daggerboard player --config 'ucd(1,0,1)' --unexplored gibbs --aim difference
  daggerboard player --port 0        (a free port, which is printed)")]
pub struct PlayerArgs {
    /// The port to listen at; 0 takes a free one
    #[arg(long, default_value_t = 9147, value_name = "PORT")]
    port: u16,
    /// The address to listen at
    #[arg(long, default_value = "0.0.0.0", value_name = "ADDRESS")]
    bind: std::net::IpAddr,
    /// The name that managers are told
    #[arg(long, default_value = "Daggerboard", value_name = "NAME", value_parser = parse_name)]
    name: String,
    /// Free a match when nothing is heard of it for its longest clock and this many seconds
    #[arg(long, default_value_t = 180, value_name = "S")]
    patience: u32,
    /// The folder for records: of each match a rulesheet ID-ROLE.kif as it came, and ID-ROLE.json, which `daggerboard
    /// replay DIR/ID-ROLE.kif --moves DIR/ID-ROLE.json` reads; a match that comes again gets a number behind its name
    #[arg(long, default_value = "records", value_name = "DIR")]
    records: PathBuf,
    /// Leave no records
    #[arg(long, conflicts_with = "records")]
    no_records: bool,
    /// Playouts per move, instead of the whole clock
    #[arg(long, value_name = "N", value_parser = parse_playouts)]
    playouts: Option<u64>,
    /// Processor time of each thread for a move, instead of the whole clock
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    cpu: Option<f64>,
    /// How much of a turn's time is used: whole (all of it), managed (less where the best move cannot change any more, or is
    /// clear at three fifths of the time). On a fixed play clock that wins nothing but time. With --cpu what a move leaves is
    /// saved, and unclear moves may take up to twice their time. Not with --playouts; no change in games of one role and where
    /// the final move is not the most visited one
    #[arg(long, default_value_t, value_name = "USE")]
    time: TimeUse,
    /// Whether to think on the opponents' time: on, off. Never with --playouts and --cpu
    #[arg(long, default_value = "on", value_name = "SWITCH", value_parser = parse_switch, action = clap::ArgAction::Set)]
    ponder: bool,
    #[command(flatten)]
    brain: BrainArgs,
    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    reading: ReadingArgs,
}

/// How often the watchdog looks, and Ctrl-C is noticed.
const WATCH_EVERY: Duration = Duration::from_millis(100);

/// Names go into an answer that is one KIF expression on one ASCII line.
fn parse_name(text: &str) -> Result<String, String> {
    let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.+".contains(&byte);
    match !text.is_empty() && text.bytes().all(is_fine) {
        true => Ok(text.to_owned()),
        false => Err("a word of ASCII letters, digits and _ - . + is wanted".to_owned()),
    }
}

impl PlayerArgs {
    /// Serves until it is stopped.
    ///
    /// # Errors
    /// If the port cannot be had.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        let brain = self.brain.brain(self.threads.n(), self.playouts, self.cpu)?;
        let brain = brain.with_time(self.time).map_err(|error| Failure::usage(format!("--{error}")))?;
        let brain = Brain { ponders: self.ponder, ..brain };
        let stop = stop::on_ctrl_c()?;
        let address = std::net::SocketAddr::new(self.bind, self.port);
        let server = Server::bind(&address.to_string()).map_err(|error| {
            Failure::work(error)
                .context(format_args!("port {}", self.port))
                .hint("another player may have it; give another --port, or --port 0 for a free one")
        })?;
        let records = (!self.no_records).then(|| self.records.clone());
        if let Some(folder) = &records {
            record::prepare(folder)?;
        }
        let keeper = Arc::new(Keeper::new(Settings {
            name: self.name.clone(),
            reading: self.reading.options(),
            brain,
            patience: Duration::from_secs(u64::from(self.patience)),
            records,
        }));
        let port = server.address()?.port();
        if as_json {
            output::json(&serde_json::json!({ "port": port }))?;
        } else {
            output::line(format_args!("listening on port {port}"))?;
        }
        let answering = Arc::clone(&keeper);
        let serving =
            std::thread::Builder::new().name("serve".into()).spawn(move || server.serve(&answering))?;
        while !stop.is_raised() && !serving.is_finished() {
            std::thread::sleep(WATCH_EVERY);
            keeper.watch();
        }
        keeper.shut_down();
        match serving.is_finished() {
            true => Err(Failure::work("the system gives no threads to serve with")),
            false => Ok(Outcome::Done),
        }
    }
}
