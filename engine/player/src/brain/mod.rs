//! How a player of ours thinks: the options of a search, as a command line or a player's description names
//! them.
//!
//! In go texts, out comes a [`Brain`]. It does not think.

mod args;
mod numbers;
mod time_use;

use std::fmt::Display;
use std::str::FromStr;
use std::time::{Duration, Instant};

use search::{Budget, Options, SearchError, WorkLimit};
use single::System;

pub use self::args::{BrainArgs, ThreadsArgs, all_cores};
use self::numbers::{
    HotLevels, parse_batch, parse_bytes, parse_core, parse_discount, parse_exploration, parse_hot_levels,
    parse_pn_bias, parse_rave_bias, parse_rollouts, parse_seed,
};
pub use self::numbers::{parse_playouts, parse_seconds, parse_switch, parse_threads};
pub use self::time_use::TimeUse;
use crate::processor_time;
use crate::reasoners::ReasonerKind;

/// Everything that decides what our player answers, apart from the clock.
#[derive(Debug, Clone)]
pub struct Brain {
    /// Who answers questions about the rules.
    pub reasoner: ReasonerKind,
    /// How the graph is searched.
    pub search: Options,
    /// What was asked for by name: a configuration of the graph, which `search` has too, or a system for games of one
    /// role. None: the portfolio for one role, and otherwise the graph.
    pub config: Option<System>,
    /// Playouts per move, instead of the whole clock. Fixes the answers if there is one thread and a seed;
    /// so there is no thinking on the opponents' time either.
    pub playouts: Option<u64>,
    /// Processor time of each thread for a move, instead of the whole clock: fair between players on a machine
    /// that others use too. No thinking on the opponents' time either.
    pub cpu: Option<Duration>,
    /// Whether a turn of a match ends when its choice is settled.
    pub time: TimeUse,
    /// Whether it thinks on the opponents' time, unless it is limited.
    pub ponders: bool,
}

impl Default for Brain {
    /// One thread, so that several players share a machine fairly.
    fn default() -> Brain {
        Brain {
            reasoner: ReasonerKind::default(),
            search: Options::default(),
            config: None,
            playouts: None,
            cpu: None,
            time: TimeUse::default(),
            ponders: true,
        }
    }
}

/// All keys of settings, for messages and help.
const KEYS: &str = "threads, config, payoffs, aim, discount, unexplored, in-flight, simultaneous, final-move, solver, rave-bias, pn-bias, batch, rollouts, \
    hot-levels, c, reasoner, playouts, cpu, time, ponder, memory, seed, pin (cores joined by +)";

/// Why a description of a player makes no brain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BrainError {
    /// No `=`.
    #[error("{0:?} is no setting; write key=value")]
    NoValue(String),
    /// A key that was there before.
    #[error("{0} is set twice; set it once")]
    Twice(String),
    /// A key that there is not.
    #[error("there is no setting {0:?}; known are {KEYS}")]
    UnknownKey(String),
    /// A value that cannot be read, or not be had with the other settings.
    #[error("{key}={value}: {reason}")]
    Value {
        /// The setting.
        key: String,
        /// What stands behind the `=`.
        value: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl BrainError {
    fn value(key: &str, value: impl Display, reason: impl Display) -> BrainError {
        BrainError::Value { key: key.to_owned(), value: value.to_string(), reason: reason.to_string() }
    }
}

impl Brain {
    /// What ends a search before its deadline does, whatever it finds.
    pub fn budget(&self, deadline: Option<Instant>) -> Budget {
        let work = self.cpu.map(|limit| WorkLimit { worked: processor_time::of_this_thread, limit });
        Budget { deadline, playouts: self.playouts, work, ..Budget::default() }
    }

    /// The system that plays a game of so many roles, unless the shared graph does.
    pub fn system_for(&self, n_roles: usize) -> Option<System> {
        match self.config {
            Some(System::Graph(_)) => None,
            asked => (n_roles == 1).then(|| asked.unwrap_or(System::Portfolio)),
        }
    }

    /// Takes a configuration of the graph or a system.
    fn choose(&mut self, config: System) {
        if let System::Graph(config) = config {
            self.search.config = config;
        }
        self.config = Some(config);
    }

    /// Whether it thinks for less than the whole clock.
    pub fn is_limited(&self) -> bool {
        self.playouts.is_some() || self.cpu.is_some()
    }

    /// The same with another use of time.
    ///
    /// # Errors
    /// If it does not go with the other settings.
    pub fn with_time(self, time: TimeUse) -> Result<Brain, BrainError> {
        let brain = Brain { time, ..self };
        brain.check()?;
        Ok(brain)
    }

    /// Reads settings such as `threads=2,config=ucd(1,0,1)`.
    ///
    /// # Errors
    /// If a setting is unknown or there twice, its value makes no sense, or settings do not go together.
    pub fn parse(settings: &str) -> Result<Brain, BrainError> {
        let mut brain = Brain::default();
        let mut keys = Vec::new();
        for setting in split_outside_parentheses(settings).filter(|setting| !setting.is_empty()) {
            let (key, value) =
                setting.split_once('=').ok_or_else(|| BrainError::NoValue(setting.to_owned()))?;
            if keys.contains(&key) {
                return Err(BrainError::Twice(key.to_owned()));
            }
            brain.set(key, value)?;
            keys.push(key);
        }
        brain.check()?;
        Ok(brain)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), BrainError> {
        fn read<T: FromStr<Err: Display>>(key: &str, value: &str) -> Result<T, BrainError> {
            value.parse().map_err(|error| BrainError::value(key, value, error))
        }
        let number = |parse: fn(&str) -> Result<f64, String>| {
            parse(value).map_err(|reason| BrainError::value(key, value, reason))
        };
        let count = |parse: fn(&str) -> Result<usize, String>| {
            parse(value).map_err(|reason| BrainError::value(key, value, reason))
        };
        let whole = |parse: fn(&str) -> Result<u64, String>| {
            parse(value).map_err(|reason| BrainError::value(key, value, reason))
        };
        let small = |parse: fn(&str) -> Result<u32, String>| {
            parse(value).map_err(|reason| BrainError::value(key, value, reason))
        };
        let switch = || parse_switch(value).map_err(|reason| BrainError::value(key, value, reason));
        let search = &mut self.search;
        match key {
            "threads" => search.threads = count(parse_threads)?,
            "config" => self.choose(read(key, value)?),
            "payoffs" => search.payoffs = Some(read(key, value)?),
            "aim" => search.aim = read(key, value)?,
            "discount" => search.discount = number(parse_discount)?,
            "unexplored" => search.unexplored = read(key, value)?,
            "in-flight" => search.in_flight = read(key, value)?,
            "simultaneous" => search.simultaneous = read(key, value)?,
            "final-move" => search.final_move = Some(read(key, value)?),
            "solver" => search.solver = switch()?,
            "hot-levels" => {
                let HotLevels(levels) =
                    parse_hot_levels(value).map_err(|reason| BrainError::value(key, value, reason))?;
                search.hot_levels = levels;
            }
            "rave-bias" => search.rave_bias = number(parse_rave_bias)?,
            "pn-bias" => search.pn_bias = number(parse_pn_bias)?,
            "batch" => search.batch = Some(small(parse_batch)?),
            "rollouts" => search.rollouts = Some(small(parse_rollouts)?),
            "c" => search.exploration = Some(number(parse_exploration)?),
            "reasoner" => self.reasoner = read(key, value)?,
            "playouts" => self.playouts = Some(whole(parse_playouts)?),
            "cpu" => self.cpu = Some(Duration::from_secs_f64(number(parse_seconds)?)),
            "time" => self.time = read(key, value)?,
            "ponder" => self.ponders = switch()?,
            "memory" => search.max_bytes = count(parse_bytes)?,
            "pin" => {
                let cores: Result<_, _> = value.split('+').map(parse_core).collect();
                search.pin = cores.map_err(|reason| BrainError::value(key, value, reason))?;
            }
            "seed" => search.seed = Some(whole(parse_seed)?),
            _ => return Err(BrainError::UnknownKey(key.to_owned())),
        }
        Ok(())
    }

    /// # Errors
    /// If the search would refuse its options together: where payoffs can be, whether there are proofs to go by and whether
    /// rollouts are made side by side depends on other options, and everything else was checked as it was read. If
    /// time is managed where none is measured.
    fn check(&self) -> Result<(), BrainError> {
        if self.time == TimeUse::Managed && self.playouts.is_some() {
            let reason = "with playouts no time is measured; leave one of them out";
            return Err(BrainError::value("time", self.time, reason));
        }
        let Options { payoffs, pn_bias, batch, rollouts, .. } = self.search;
        let hot_levels = self.search.hot_levels.unwrap_or(0);
        if let Some(system) = self.config.filter(|system| !system.has_graph()) {
            let reason = format!("{system} has no graph; leave it out");
            if pn_bias > 0.0 {
                return Err(BrainError::value("pn-bias", pn_bias, reason));
            }
            if hot_levels > 0 {
                return Err(BrainError::value("hot-levels", hot_levels, reason));
            }
        }
        let Err(error) = self.search.check() else { return Ok(()) };
        match (&error, payoffs, batch, rollouts) {
            (SearchError::Payoffs(_), Some(payoffs), ..) => {
                Err(BrainError::value("payoffs", payoffs, &error))
            }
            (SearchError::NothingProven | SearchError::NothingGuided, ..) => {
                Err(BrainError::value("pn-bias", pn_bias, &error))
            }
            (SearchError::OneByOne, _, Some(n @ 2..), _) => Err(BrainError::value("batch", n, &error)),
            (SearchError::InFlight { batch, .. }, ..) => Err(BrainError::value("batch", batch, &error)),
            (SearchError::NothingHot, ..) => Err(BrainError::value("hot-levels", hot_levels, &error)),
            (SearchError::OneByOne, _, _, Some(n)) => Err(BrainError::value("rollouts", n, &error)),
            _ => Ok(()),
        }
    }
}

/// Splits at the commas outside of parentheses.
pub fn split_outside_parentheses(list: &str) -> impl Iterator<Item = &str> {
    let mut n_open = 0usize;
    list.split(move |c| {
        match c {
            '(' => n_open += 1,
            ')' => n_open = n_open.saturating_sub(1),
            _ => {}
        }
        c == ',' && n_open == 0
    })
}

#[cfg(test)]
mod tests {
    use search::{Aim, Config, FinalMove, InFlight, Payoffs, Simultaneous, Unexplored, cores};

    use super::*;

    #[test]
    fn settings_are_read() {
        let brain =
            Brain::parse("threads=2,config=mc,playouts=100,cpu=0.5,c=12.5,memory=64M,seed=7").unwrap();
        assert_eq!((brain.search.threads, brain.search.config), (2, Config::Mc));
        assert_eq!((brain.playouts, brain.search.seed), (Some(100), Some(7)));
        assert_eq!(brain.budget(None).work.map(|work| work.limit), Some(Duration::from_millis(500)));
        assert_eq!(brain.search.max_bytes, 64 << 20);
        assert!(Brain::parse("").is_ok());
    }

    #[test]
    fn commas_in_parentheses_split_no_settings() {
        let settings = "config=ucd(1,0,inf),threads=2,unexplored=gibbs(2.5),in-flight=loss(3)";
        let search = Brain::parse(settings).unwrap().search;
        assert_eq!((search.config.to_string().as_str(), search.threads), ("ucd(1,0,inf)", 2));
        assert_eq!(search.unexplored, Unexplored::Gibbs { tau: 2.5 });
        assert_eq!(search.in_flight, InFlight::VirtualLoss(3.0));
    }

    #[test]
    fn one_role_is_played_by_a_system_unless_a_configuration_of_the_graph_is_asked_for() {
        let system = |settings: &str, n_roles| {
            Brain::parse(settings).unwrap().system_for(n_roles).map(|system| system.to_string())
        };
        assert_eq!(system("threads=2", 1).as_deref(), Some("portfolio"));
        assert_eq!(system("config=nested(2)", 1).as_deref(), Some("nested(2)"));
        assert_eq!(system("config=uct+t", 1), None);
        assert_eq!((system("threads=2", 2), system("config=nested(2)", 2)), (None, None));
    }

    #[test]
    fn every_option_of_the_search_is_a_setting() {
        let settings = "config=update-all,payoffs=nodes,aim=difference,discount=0.99,\
                        simultaneous=regret-matching,final-move=top,rave-bias=0.5,batch=16,rollouts=4,\
                        pn-bias=2.5,solver=on";
        let search = Brain::parse(settings).unwrap().search;
        assert_eq!((search.config, search.payoffs), (Config::UpdateAll, Some(Payoffs::Nodes)));
        assert_eq!((search.aim, search.discount), (Aim::Difference, 0.99));
        assert_eq!(search.simultaneous, Simultaneous::RegretMatching);
        assert_eq!((search.final_move, search.rave_bias), (Some(FinalMove::Top), 0.5));
        assert_eq!((search.batch, search.rollouts), (Some(16), Some(4)));
        assert!(search.solver && !Brain::default().search.solver);
        assert_eq!((search.pn_bias, Brain::default().search.pn_bias), (2.5, 0.0));
    }

    #[test]
    fn a_bias_by_proof_numbers_needs_proofs() {
        for settings in ["pn-bias=10", "solver=off,pn-bias=10"] {
            let error = Brain::parse(settings).unwrap_err();
            assert!(
                matches!(&error, BrainError::Value { key, .. } if key == "pn-bias"),
                "{settings}: {error}"
            );
            assert!(error.to_string().contains("pn-bias=10: "), "{error}");
            assert!(error.to_string().ends_with("turn the solver on, or leave the bias at 0"), "{error}");
        }
        for settings in ["config=mc,solver=on,pn-bias=10", "config=mc-memory,solver=on,pn-bias=10"] {
            let error = Brain::parse(settings).unwrap_err();
            assert!(error.to_string().starts_with("pn-bias=10: mc and mc-memory"), "{error}");
        }
        for settings in ["pn-bias=10,solver=on", "solver=on,pn-bias=0", "pn-bias=0", "config=mc,pn-bias=0"] {
            assert!(Brain::parse(settings).is_ok(), "{settings}");
        }
    }

    #[test]
    fn hot_levels_go_with_configurations_that_add_along_the_path() {
        assert_eq!(Brain::parse("hot-levels=2").unwrap().search.hot_levels, Some(2));
        assert_eq!(Brain::parse("hot-levels=auto,config=credited").unwrap().search.hot_levels, None);
        let error = Brain::parse("hot-levels=2,config=credited").unwrap_err();
        assert!(error.to_string().starts_with("hot-levels=2: hot levels go with"), "{error}");
    }

    #[test]
    fn what_only_a_graph_has_is_not_for_systems_without_one() {
        for system in ["nested(1)", "nrpa(2)", "beam(8)", "exhaustive", "sat", "ida", "sp-mcts"] {
            for setting in ["hot-levels=2", "solver=on,pn-bias=10"] {
                let error = Brain::parse(&format!("config={system},{setting}")).unwrap_err();
                assert!(error.to_string().contains("has no graph"), "{system}, {setting}: {error}");
            }
            assert!(Brain::parse(&format!("config={system}")).is_ok(), "{system}");
        }
        for system in ["max1", "max2", "meida", "portfolio"] {
            assert!(Brain::parse(&format!("config={system},hot-levels=2")).is_ok(), "{system}");
        }
    }

    #[test]
    fn payoffs_go_with_the_configuration_in_any_order() {
        for settings in
            ["payoffs=nodes,config=ucd(1,1,1)", "config=uct+t,payoffs=nodes", "payoffs=edges,config=mc"]
        {
            assert!(Brain::parse(settings).is_ok(), "{settings}");
        }
        for settings in ["config=ucd(1,0,1),payoffs=nodes", "payoffs=nodes,config=uct", "payoffs=edges"] {
            let error = Brain::parse(settings).unwrap_err();
            assert!(
                matches!(&error, BrainError::Value { key, .. } if key == "payoffs"),
                "{settings}: {error}"
            );
        }
    }

    #[test]
    fn leaves_and_rollouts_are_limited_together() {
        let error = Brain::parse("rollouts=17,batch=512").unwrap_err();
        assert!(error.to_string().contains("8704, but at most 8192 are in flight"), "{error}");
        for settings in ["batch=512", "rollouts=64", "batch=512,rollouts=16", "batch=128,rollouts=64"] {
            assert!(Brain::parse(settings).is_ok(), "{settings}");
        }
    }

    #[test]
    fn rollouts_that_tell_their_moves_are_not_made_side_by_side() {
        for (settings, key) in [
            ("config=rave,batch=64", "batch"),
            ("rollouts=8,config=rave-ucd(1,0)", "rollouts"),
            ("batch=1,rollouts=2,unexplored=gibbs", "rollouts"),
        ] {
            let error = Brain::parse(settings).unwrap_err();
            assert!(matches!(&error, BrainError::Value { key: named, .. } if named == key), "{error}");
            assert!(error.to_string().contains("one by one; leave batch and rollouts out"), "{error}");
        }
        for settings in ["config=rave,batch=1,rollouts=1", "config=uct,batch=64,rollouts=8"] {
            assert!(Brain::parse(settings).is_ok(), "{settings}");
        }
    }

    #[test]
    fn time_is_managed_where_it_is_measured() {
        assert_eq!(Brain::parse("threads=2").unwrap().time, TimeUse::Whole);
        for settings in ["time=managed", "cpu=0.1,time=managed"] {
            let brain = Brain::parse(settings).unwrap();
            assert_eq!(brain.time, TimeUse::Managed);
            // Of a search that is no turn's.
            assert_eq!(brain.budget(None).settled_for, None);
        }
        assert!(Brain::parse("time=whole,playouts=10").is_ok());
        let error = Brain::parse("time=managed,playouts=10").unwrap_err();
        assert!(error.to_string().starts_with("time=managed: with playouts"), "{error}");
    }

    #[test]
    fn a_key_that_is_there_twice_is_named() {
        let error = Brain::parse("threads=2,config=uct,threads=2").unwrap_err();
        assert_eq!(error, BrainError::Twice("threads".to_owned()));
        assert_eq!(error.to_string(), "threads is set twice; set it once");
    }

    #[test]
    fn a_key_that_is_missing_is_answered_with_all_keys() {
        let told = Brain::parse("deep=1").unwrap_err().to_string();
        for key in KEYS.split(", ").map(|key| key.split(' ').next().unwrap()) {
            assert!(told.contains(key), "{key}");
            let error = Brain::parse(&format!("{key}=?")).unwrap_err();
            assert!(matches!(&error, BrainError::Value { key: named, .. } if named == key), "{key}: {error}");
        }
    }

    #[test]
    fn a_wrong_setting_is_named() {
        assert!(matches!(Brain::parse("thread=2"), Err(BrainError::UnknownKey(_))));
        assert!(matches!(Brain::parse("threads"), Err(BrainError::NoValue(_))));
        assert!(matches!(Brain::parse("memory=lots"), Err(BrainError::Value { .. })));
        assert!(matches!(Brain::parse("reasoner=magic"), Err(BrainError::Value { .. })));
        for setting in [
            "threads=0",
            "threads=1025",
            "c=nan",
            "c=-1",
            "c=1e308",
            "memory=1",
            "memory=99999999999G",
            "playouts=0",
            "cpu=0",
            "cpu=-1",
            "pin=",
            "pin=-1",
            "pin=99999",
            "config=ucb",
            "config=ucd",
            "config=ucd(1,0",
            "config=ucd(1,0,17)",
            "config=rave-ucd(1,0,1)",
            "payoffs=tree",
            "aim=high",
            "discount=0",
            "discount=1.01",
            "discount=nan",
            "unexplored=gibbs(0)",
            "unexplored=gibbs(10",
            "in-flight=loss(-1)",
            "simultaneous=nash",
            "final-move=first",
            "solver=maybe",
            "ponder=yes",
            "time=half",
            "batch=0",
            "batch=513",
            "rollouts=65",
            "hot-levels=9",
            "rave-bias=-0.1",
            "rave-bias=nan",
            "pn-bias=-1",
            "pn-bias=1000001",
            "pn-bias=nan",
            "pn-bias=1",
        ] {
            let error = Brain::parse(setting).unwrap_err();
            assert!(matches!(error, BrainError::Value { .. }), "{setting}");
            assert!(error.to_string().starts_with(&format!("{setting}: ")), "{error}");
        }
    }

    #[test]
    fn every_core_of_this_machine_can_be_pinned_to() {
        let known = cores();
        let texts: Vec<String> = known.iter().map(usize::to_string).collect();
        if known.is_empty() {
            return eprintln!("skipped: this system tells of no cores");
        }
        assert_eq!(Brain::parse(&format!("pin={}", texts.join("+"))).unwrap().search.pin, known);
    }
}
