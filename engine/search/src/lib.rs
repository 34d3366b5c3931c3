//! The shared graph of positions and what searches it.
//!
//! In goes a game, as a [`Reasoner`](reasoner::Reasoner), a position, and a [`Budget`]; out comes a
//! [`Report`] of the moves there, from playouts that any number of threads made on one graph.
//!
//! What it deliberately does not do: read rules or any text, speak a protocol, decide how long it may think, or
//! keep anything of the finished match. The clock is known to one place, the run that waits for its
//! deadline.
//!
//! # How it fits together
//! [`Searcher`] owns the graph and the worker threads. A worker ([`worker`]) takes numbers of playouts and
//! makes them ([`playout`]): it chooses its way ([`select`]), adds to the graph where it ends ([`graph`]),
//! and adds the outcome to all that it passed ([`backup`]), for some batches at once where nodes are kept ([`kept`]), and what is proven too
//! ([`solver`]). The graph is nodes,
//! edges and joint moves in arenas ([`arena`]) and tables that find them ([`table`]); what is no longer needed of it
//! gives its room back between batches ([`reclaim`]). What one thread hands to another has its memory ordering in
//! [`orders`], and every atomic comes through [`sync`].
#![forbid(unsafe_code)]

mod adapted;
mod arena;
mod backup;
mod best_line;
mod config;
mod count;
mod counters;
mod credit;
mod edge;
mod error;
mod graph;
mod history;
mod incremental;
mod kept;
mod later;
mod layout;
#[cfg(all(test, loom))]
mod loom_tests;
mod measure;
mod node;
mod options;
mod order;
mod orders;
mod parents;
mod playout;
mod reclaim;
mod report;
mod results;
mod scheme;
mod searcher;
mod select;
mod settle;
mod shares;
#[cfg(all(test, shuttle))]
mod shuttle_tests;
mod solver;
mod sync;
mod table;
mod threads;
mod valuation;
mod verify;
mod work;
mod worker;

pub use config::{
    Aim, CONFIG_NAMES, ChoiceError, Config, ConfigError, Depth, Depths, FinalMove, InFlight, MAX_DEPTH,
    Payoffs, Simultaneous, Unexplored, plain_name,
};
pub use counters::Counters;
pub use error::SearchError;
pub use graph::RecordBytes;
pub use measure::{Sharing, measure_sharing};
pub use options::{
    Budget, MAX_BATCH, MAX_EXPLORATION, MAX_HOT_LEVELS, MAX_IN_FLIGHT, MAX_ROLLOUTS, MAX_THREADS, MIN_BYTES,
    Options, Settling, WorkLimit, cores,
};
pub use report::{BestLine, Failures, MoveReport, Proven, Reclaims, Report, RoleReport, TableReport};
pub use searcher::Searcher;
pub use verify::{Gap, GraphSummary, VerifyError};
