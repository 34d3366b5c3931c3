//! The options of a search on the command line, with their helps.

use std::num::NonZero;
use std::time::Duration;

use clap::Args;
use search::{Aim, FinalMove, InFlight, Options, Payoffs, Simultaneous, Unexplored};
use single::System;

use super::Brain;
use super::numbers::{
    HotLevels, parse_batch, parse_bytes, parse_core, parse_discount, parse_exploration, parse_hot_levels,
    parse_pn_bias, parse_rave_bias, parse_rollouts, parse_seed, parse_switch, parse_threads,
};
use crate::failure::Failure;
use crate::reasoners::{self, ReasonerKind};

/// The options of a search on the command line.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Search")]
pub struct BrainArgs {
    /// Who answers questions about the rules.
    #[arg(long, default_value = "auto", value_name = "NAME", help = format!("Who answers questions about the rules: {}", reasoners::NAMES), long_help = reasoner_help())]
    pub reasoner: ReasonerKind,
    /// The rules of selection and backup, such as uct, uct+t, 'ucd(1,0,1)', credited, or a system for games of one role,
    /// such as portfolio, 'nested(2)', sp-mcts; --help has them all. Portfolio for one role, and otherwise uct+t, if it is
    /// not given
    #[arg(long, value_name = "NAME", long_help = CONFIGURATIONS)]
    pub config: Option<System>,
    /// Where playouts are added: edges, nodes. Nodes under uct+t, otherwise edges, if it is not given;
    /// ucd without a depth of 0, update-all and update-descent have a choice (Saffidine et al. 2012, 3.1)
    #[arg(long, value_name = "PLACE")]
    pub payoffs: Option<Payoffs>,
    /// What a role of a two-role game wants: own (a high goal), difference (to the other's goal),
    /// own-then-other (a high goal, and of equal ones a low goal of the other) (Finnsson and Björnsson 2008)
    #[arg(long, default_value_t, value_name = "AIM")]
    pub aim: Aim,
    /// What a value is worth one step before its end, above 0 and at most 1; 0.99 makes early wins worth
    /// more (Finnsson and Björnsson 2008)
    #[arg(long, default_value_t = Options::default().discount, value_name = "D", value_parser = parse_discount)]
    pub discount: f64,
    /// How the first way out of a position and the moves of rollouts are chosen: uniform (by chance), gibbs(TAU) by what
    /// a move was worth elsewhere, TAU above 0 and at most 1000000 goal points; gibbs is gibbs(10) (Finnsson and
    /// Björnsson 2008)
    #[arg(long, default_value_t, value_name = "RULE")]
    pub unexplored: Unexplored,
    /// How playouts under way keep others from their path: count (as visits in the exploration term; Liu et
    /// al. 2020), loss(WEIGHT) (each as so many lost playouts, above 0 and at most 1000000; Chaslot et al. 2008); loss is
    /// loss(1)
    #[arg(long, default_value_t, value_name = "RULE")]
    pub in_flight: InFlight,
    /// How each role chooses where several have a choice: ucb1 (as if it were alone), regret-matching (Hart
    /// and Mas-Colell 2000)
    #[arg(long, default_value_t, value_name = "RULE")]
    pub simultaneous: Simultaneous,
    /// What the move to play has most of: visits, mean, top (the best value of a playout through it). The
    /// mean under mc and mc-memory, otherwise visits, if it is not given
    #[arg(long, value_name = "WHAT")]
    pub final_move: Option<FinalMove>,
    /// Whether bounds on the values of positions are proven and gone by: on, off. What is proven worse is not tried, and a
    /// solved position ends the search (Winands et al. 2008, Cazenave and Saffidine 2010); never under mc and mc-memory
    #[arg(long, default_value = "off", value_name = "SWITCH", value_parser = parse_switch, action = clap::ArgAction::Set)]
    pub solver: bool,
    /// How soon a move's own mean takes over under rave and rave-ucd, 0 to 1 (Saffidine et al. 2012, 4.3)
    #[arg(long, default_value_t = Options::default().rave_bias, value_name = "B", value_parser = parse_rave_bias)]
    pub rave_bias: f64,
    /// How much moves are preferred that are near to a proven win, in goal points, 0 to 1000000: the k-th nearest of n has
    /// X times 1 - k / n more in UCB1 (Kowalski et al. 2024 and 2025, UCT-PN, their C_pn). Counted for each role and position, in
    /// 4 bytes; 0 counts nothing. Above 0 it needs --solver on; never under mc and mc-memory, nor where several choose at once
    #[arg(long, default_value_t = Options::default().pn_bias, value_name = "X", value_parser = parse_pn_bias)]
    pub pn_bias: f64,
    /// Leaves that a thread gathers before it rolls out from all of them, up to 512; 64 if it is not given and the reasoner
    /// plays many side by side, otherwise 1. Not with rave, rave-ucd and gibbs, whose rollouts are made one by one
    #[arg(long, value_name = "N", value_parser = parse_batch)]
    pub batch: Option<u32>,
    /// Rollouts from each leaf, each counted as a visit; with more than 8, C grows with the square root of an eighth of
    /// them. 8 if it is not given and the reasoner plays many side by side, otherwise 1. Not with rave, rave-ucd and
    /// gibbs, whose rollouts are made one by one
    #[arg(long, value_name = "N", value_parser = parse_rollouts)]
    pub rollouts: Option<u32>,
    /// Levels from the root on whose statistics each thread gathers over a batch and adds at once, up to 8; auto for every
    /// position whose moves all have finished playouts, and in long searches over several batches; without the solver that
    /// costs least and keeps threads out of each other's way. With uct, uct+t and update-descent; under others auto gathers
    /// nothing
    #[arg(long, default_value = "auto", value_name = "N|auto", value_parser = parse_hot_levels)]
    pub hot_levels: HotLevels,
    /// The constant C of UCB1, in goal points; 40 if it is not given, 100 in games of one role
    #[arg(long, value_name = "C", value_parser = parse_exploration)]
    pub c: Option<f64>,
    /// Bytes that the graph may take, 1G if it is not given; K, M and G multiply by 1024. When they are used up the search
    /// pauses and forgets what is hardly ever visited, about half; between moves it forgets what cannot come any more. That
    /// takes some tenths of a second for each million positions. When the clock has no time for it, nothing is added any more
    /// until the move is made, and a graph that is nearly full then begins anew. Beside the graph each thread takes some megabytes,
    /// and up to 1G for a question of the interpreter or of Prolog that needs as much. Positions and moves have numbers of 32
    /// bits: beyond some hundreds of G more is not used
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub memory: Option<usize>,
    /// Cores to pin the threads to, such as 0,1
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_core)]
    pub pin: Vec<usize>,
    /// What all random choices follow from
    #[arg(long, value_name = "N", value_parser = parse_seed)]
    pub seed: Option<u64>,
}

/// How many threads a search has.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Search")]
pub struct ThreadsArgs {
    /// Worker threads; all cores if it is not given
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<usize>,
}

impl ThreadsArgs {
    /// As many as were asked for.
    pub fn n(self) -> usize {
        self.threads.unwrap_or_else(all_cores)
    }
}

fn reasoner_help() -> String {
    format!(
        "Who answers questions about the rules: {}

  auto
      the propnet where the rules can be grounded within a share of time and memory, otherwise the interpreter. A match \
begins with the interpreter at once; the propnet is built beside it, with half of --memory, and takes over as soon as it is \
ready, also in the middle of a turn. With fewer threads than cores it may take the start clock and 60 s more; otherwise the \
search leaves it the first half of the start clock, and it has to be ready at twice that clock. With --playouts or --cpu it \
is built before the first search, and what it may take is counted in steps, so that the choice does not depend on the machine. \
`daggerboard explain` tells what rules come to
  interpreter
      any rules, on demand, without grounding
  propnet, propnet-scalar
      grounded rules as gates; up to 1024 rollouts side by side, or one state at a time, for comparison
  prolog, prolog-full
      embedded SWI-Prolog, in builds that have it",
        reasoners::NAMES
    )
}

/// Lines are wrapped to the terminal, and what is wrapped keeps its indent: so texts stand below names.
const CONFIGURATIONS: &str = "\
The rules of selection and backup. Names with parentheses want quotes in a shell. A depth D is 0 to 16 edges, or inf.

  uct
      a tree; UCB1 on its edges
  uct+t
      a graph; results on nodes, a parent's visits are the sum of its children's (Méhat and Cazenave 2010, 3.2)
  ucd(D1,D2,D3)
      a graph; the mean, the parent's and the child's visits adapted by looking D1, D2 and D3 edges down whenever \
they are asked for (Saffidine, Cazenave and Méhat 2012, 3.3); ucd(1,0,1) is the simple way
  uct1, uct2, uct3
      ucd(0,0,0), ucd(1,0,0), ucd(inf,0,0) (Childs, Brodeur and Kocsis 2008)
  ucd-incremental(D1,D2,D3)
      the numbers of ucd, kept on the edges and corrected by every backup (2012, 3.4)
  ucd-paper(D1,D2,D3)
      corrected as the paper prints it (2012, equation 15), which leaves out that counts change too
  update-all
      every playout is added to all edges above its end, each once (2012, 3.2)
  update-descent
      every playout is added to its path, and edges are compared by what they were given (2012, 3.2)
  rave
      means mixed with those of all playouts in which the move came later (Gelly and Silver 2007)
  rave-ucd(D-RAVE,D-MEAN)
      later playouts those of the nodes below instead, D-RAVE edges down, and means of depth D-MEAN (2012, 4.3)
  credited
      each edge credits its node with the child's mean, as often as it was passed (this project)
  mc
      uniform choice, no memory but the means of the root's moves (Finnsson and Björnsson 2008, MC_org)
  mc-memory
      uniform choice, but the tree is built and kept from move to move (MC_mem)

Not lock-free: ucd-incremental and ucd-paper, which make all backups of a graph under one lock.
With links to parents, which take memory and time: update-all, ucd-incremental, ucd-paper.
Slow on large graphs: ucd with a depth of inf, which looks at everything below; ucd-incremental keeps the same numbers.
For games of one role (portfolio if no name is given; parameters may be left out):

  portfolio
      nested, nrpa, uct+t, beam, sp-mcts, exhaustive and sat, which share the threads by what they find; ends when the best \
line cannot be bettered
  nested(LEVEL)
      nested Monte-Carlo search with memory of the best line (Méhat and Cazenave 2010, 4)
  max1, max2
      uct+t and nested(1), half of the time each, or a core each (2010, 6)
  nrpa(LEVEL,n=N,alpha=A,p=P)
      nested rollout policy adaptation (Rosin 2011); p rollouts before each adaption (Cazenave et al. 2020)
  beam(WIDTH)
      the best WIDTH states of each level, by rollouts; twice as many each time
  exhaustive
      every state once; proves the optimum where they fit --memory. Where the propnet's states are large the \
interpreter has them
  sat
      the ground rules as a planning problem for a SAT solver, longer and longer plans; proves the optimum; a decision of \
the solver counts as a playout. As `daggerboard-bench plan`
  ida
      iterative deepening, without a heuristic (Korf 1985)
  meida
      with memory in the start clock; on play clocks too if it found anything, otherwise uct (Finnsson and Björnsson 2008)
  sp-mcts(c=C,d=D,w=W,t=T,restarts=N,final=top|mean|visits,time=move|game)
      a tree with deviations and top values, randomised restarts (Schadd et al. 2012)

For research only: ucd-paper, whose numbers drift (`daggerboard search --verify` tells how far), and the baselines mc \
and mc-memory.";

impl BrainArgs {
    /// The brain that they describe, with so many threads.
    ///
    /// # Errors
    /// If options that are fine by themselves do not go together, as wrong usage.
    pub fn brain(&self, threads: usize, playouts: Option<u64>, cpu: Option<f64>) -> Result<Brain, Failure> {
        let defaults = Options::default();
        let search = Options {
            payoffs: self.payoffs,
            aim: self.aim,
            discount: self.discount,
            unexplored: self.unexplored,
            in_flight: self.in_flight,
            simultaneous: self.simultaneous,
            final_move: self.final_move,
            solver: self.solver,
            hot_levels: self.hot_levels.0,
            rave_bias: self.rave_bias,
            pn_bias: self.pn_bias,
            batch: self.batch,
            rollouts: self.rollouts,
            exploration: self.c,
            threads,
            seed: self.seed,
            max_bytes: self.memory.unwrap_or(defaults.max_bytes),
            pin: self.pin.clone(),
            ..defaults
        };
        let cpu = cpu.map(Duration::from_secs_f64);
        let mut brain = Brain { reasoner: self.reasoner, search, playouts, cpu, ..Brain::default() };
        self.config.into_iter().for_each(|config| brain.choose(config));
        brain.check().map_err(|error| Failure::usage(format!("--{error}")))?;
        Ok(brain)
    }
}

/// Threads that the machine runs side by side.
pub fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}
