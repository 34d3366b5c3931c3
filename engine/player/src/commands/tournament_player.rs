//! A player of a tournament in a process of its own; hidden, since `tournament` alone starts it.
//!
//! It prints its address, then answers each line of orders on its standard input once it is ready for the match
//! they are for. It ends with its standard input.

use std::io::BufRead;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use parking_lot::Mutex;

use crate::brain::Brain;
use crate::failure::{Failure, Outcome};
use crate::keeper::{Keeper, Settings};
use crate::manager::spec::{PlayerKind, PlayerSpec};
use crate::output;
use crate::protocol::server::{Answer, Server};
use crate::stop;
use crate::tournament::stable::{Orders, READY};

/// Play in a tournament of this machine
#[derive(Debug, Args)]
pub struct TournamentPlayerArgs {
    /// The player
    spec: PlayerSpec,
}

/// The tournament says when a match is over.
const PATIENCE: Duration = Duration::from_secs(30 * 24 * 3600);

impl TournamentPlayerArgs {
    /// Plays until the standard input ends.
    ///
    /// # Errors
    /// If it is no player of ours, gets no port, or cannot read its orders.
    pub fn run(&self) -> Result<Outcome, Failure> {
        let PlayerKind::Own(brain) = &self.spec.kind else {
            return Err(Failure::usage(format!("{} is no player of ours", self.spec)));
        };
        // Ctrl-C on the terminal means the tournament, which ends this process in its own time.
        stop::ignore_ctrl_c()?;
        let server = Server::bind("127.0.0.1:0")?;
        let address = server.address()?;
        let current = Arc::new(Current(Mutex::new(None)));
        let answering = Arc::clone(&current);
        std::thread::Builder::new().name("serve".into()).spawn(move || server.serve(&answering))?;
        output::line(address)?;
        for line in std::io::stdin().lock().lines() {
            let orders: Orders = serde_json::from_str(&line?).map_err(Failure::work)?;
            current.replace(&orders, brain);
            output::line(READY)?;
        }
        Ok(Outcome::Done)
    }
}

/// The keeper of the match that is on; each match has a fresh one, so that nothing of an earlier match is left.
struct Current(Mutex<Option<Arc<Keeper>>>);

impl Current {
    fn replace(&self, orders: &Orders, brain: &Brain) {
        let mut brain = brain.clone();
        brain.playouts = orders.playouts.or(brain.playouts);
        brain.cpu = orders.cpu.map(Duration::from_secs_f64).or(brain.cpu);
        brain.search.seed = Some(orders.seed);
        if brain.search.pin.is_empty() {
            brain.search.pin.clone_from(&orders.pin);
        }
        let fresh = Keeper::new(Settings {
            name: "Daggerboard".to_owned(),
            reading: orders.reading(),
            brain,
            patience: PATIENCE,
            records: None,
        });
        let before = self.0.lock().replace(Arc::new(fresh));
        if let Some(before) = before {
            before.shut_down();
        }
    }
}

impl Answer for Current {
    fn answer(&self, message: &str, received: Instant) -> String {
        let keeper = self.0.lock().clone();
        keeper.map_or_else(|| "busy".to_owned(), |keeper| keeper.answer(message, received))
    }
}
