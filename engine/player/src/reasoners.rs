//! The one list of concrete reasoners.
//!
//! In goes a kind and rules, out comes a call of a visitor that is generic over the reasoner. No other file
//! names a reasoner's type; everything else is generic over [`Reasoner`].

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use gdl::{Rules, Term};
use reasoner::{Interrupt, Limits, Reasoner, ReasonerError, Session};
use reasoner_native::{Budget, Evaluation, Interpreter, Progress, Propnet, Watch};
pub use reasoner_native::{GateCount, NetReport, Netlist};
#[cfg(feature = "prolog")]
use reasoner_prolog::{Prolog, Update};
use single::Outsiders;

use crate::building::Building;
use crate::output;

/// The names of this build's reasoners, for help texts and messages.
#[cfg(feature = "prolog")]
pub const NAMES: &str = "auto, interpreter, propnet, propnet-scalar, prolog, prolog-full";
/// The names of this build's reasoners, for help texts and messages.
#[cfg(not(feature = "prolog"))]
pub const NAMES: &str = "auto, interpreter, propnet, propnet-scalar";

/// The reasoners by the names that the command line knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReasonerKind {
    /// The propnet if the rules can be grounded within a share of time and memory, otherwise the interpreter; a match begins
    /// with the interpreter.
    #[default]
    Auto,
    /// Evaluates any rules on demand, without grounding.
    Interpreter,
    /// Grounds the rules into a propositional network, and evaluates many states side by side.
    Propnet,
    /// The same network, one state at a time; for comparison.
    PropnetScalar,
    /// Embedded SWI-Prolog, which gets the difference from state to state.
    #[cfg(feature = "prolog")]
    Prolog,
    /// Embedded SWI-Prolog, which gets every state whole; for comparison.
    #[cfg(feature = "prolog")]
    PrologFull,
}

/// Every kind of this build.
const KINDS: &[ReasonerKind] = &[
    ReasonerKind::Auto,
    ReasonerKind::Interpreter,
    ReasonerKind::Propnet,
    ReasonerKind::PropnetScalar,
    #[cfg(feature = "prolog")]
    ReasonerKind::Prolog,
    #[cfg(feature = "prolog")]
    ReasonerKind::PrologFull,
];

/// A name that stands for no reasoner of this build.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KindError {
    /// A reasoner that exists, but elsewhere.
    #[error("the reasoner {0:?} is not in this build; use one of: {NAMES}")]
    NotInThisBuild(String),
    /// No reasoner at all.
    #[error("there is no reasoner {0:?}; use one of: {NAMES}")]
    Unknown(String),
}

impl FromStr for ReasonerKind {
    type Err = KindError;

    fn from_str(name: &str) -> Result<ReasonerKind, KindError> {
        if let Some(&kind) = KINDS.iter().find(|kind| kind.to_string() == name) {
            return Ok(kind);
        }
        Err(match name {
            "prolog" | "prolog-full" => KindError::NotInThisBuild(name.to_owned()),
            _ => KindError::Unknown(name.to_owned()),
        })
    }
}

impl fmt::Display for ReasonerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ReasonerKind::Auto => "auto",
            ReasonerKind::Interpreter => "interpreter",
            ReasonerKind::Propnet => "propnet",
            ReasonerKind::PropnetScalar => "propnet-scalar",
            #[cfg(feature = "prolog")]
            ReasonerKind::Prolog => "prolog",
            #[cfg(feature = "prolog")]
            ReasonerKind::PrologFull => "prolog-full",
        })
    }
}

/// Work that any reasoner can serve.
pub trait WithReasoner {
    /// What the work gives.
    type Output;

    /// Does the work.
    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Self::Output;
}

/// Work that begins with one reasoner, and may go on with another once that is built.
pub trait WithSuccessor {
    /// What the work gives.
    type Output;

    /// Does the work.
    fn run<A: Reasoner, B: Reasoner>(self, first: Arc<A>, second: Building<B>) -> Self::Output;
}

/// What grounding may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// How long. Without an end, what comes of it is the same on every machine.
    pub time: Option<Duration>,
    /// Steps of joins.
    pub steps: u64,
    /// Words of ground rules, of 4 bytes.
    pub words: usize,
    /// Bytes of memory, roughly.
    pub bytes: usize,
}

impl Share {
    /// Where nobody waits for a clock: nearly all published games take less.
    pub const PATIENT: Share =
        Share { time: Some(Duration::from_secs(60)), steps: u64::MAX, words: usize::MAX, bytes: 4 << 30 };

    /// Counted in steps, words and bytes alone. Of the 389 rulesheets of the reference data 382 take less, the largest of them
    /// some seconds, half of them a hundredth of one; what is too large is given up after at most half a minute.
    pub const COUNTED: Share = Share { time: None, steps: 50_000_000, words: 32_000_000, bytes: 512 << 20 };

    /// As [`Share::COUNTED`], of rules that are to be unrolled many times. With more words of split clauses than these (pancakes88 has 1.6
    /// million) a step alone takes seconds.
    const OF_PLANS: Share = Share { time: None, steps: 10_000_000, words: 1_000_000, bytes: 256 << 20 };

    fn budget(self, interrupt: &Interrupt, audience: Audience) -> Budget {
        Budget {
            deadline: self.time.map(|time| Instant::now() + time),
            bytes: self.bytes,
            words: self.words,
            work: Rc::new(Cell::new(self.steps)),
            interrupt: interrupt.clone(),
            watch: audience.watch(),
        }
    }
}

/// Who is told where grounding is that takes long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Nobody.
    None,
    /// Whoever looks at standard error.
    Terminal,
    /// The log.
    Log,
}

impl Audience {
    fn watch(self) -> Option<Watch> {
        let seconds = Duration::from_secs;
        let log = |progress: &Progress| tracing::info!("{progress}");
        match self {
            Audience::None => None,
            Audience::Terminal => Some(Watch::new(seconds(1), |progress| output::progress(progress))),
            Audience::Log => Some(Watch::new(seconds(5), log)),
        }
    }
}

/// What setting a reasoner up may take, and what is demanded of it.
#[derive(Debug, Clone)]
pub struct SetUp {
    /// What grounding may take where the propnet is asked for.
    pub demanded: Share,
    /// What it may take where `auto` would like it.
    pub auto: Share,
    /// Facts that `auto` has to know; the interpreter knows all.
    pub position: Option<Vec<Term>>,
    /// Ends it at once.
    pub stop: Interrupt,
    /// Why `auto` had to do without the propnet, once it had to.
    pub refused: Arc<OnceLock<String>>,
    /// Who is told where grounding is.
    pub audience: Audience,
}

impl SetUp {
    /// Patient, but for `stop`; what `auto` chooses is the same on every machine.
    pub fn until(stop: &Interrupt) -> SetUp {
        SetUp {
            demanded: Share::PATIENT,
            auto: Share::COUNTED,
            position: None,
            stop: stop.clone(),
            refused: Arc::default(),
            audience: Audience::None,
        }
    }

    /// As [`SetUp::until`], with progress on standard error.
    pub fn shown(stop: &Interrupt) -> SetUp {
        SetUp { audience: Audience::Terminal, ..SetUp::until(stop) }
    }

    /// Whether the position is one of this game, as far as the interpreter can tell. If it is not, whoever wants it says so.
    fn is_position_known(&self, interpreter: &Arc<Interpreter>) -> Result<bool, ReasonerError> {
        let Some(facts) = &self.position else { return Ok(true) };
        match interpreter.session(Limits::default(), &self.stop)?.state_of(facts) {
            Err(ReasonerError::Interrupted) => Err(ReasonerError::Interrupted),
            state => Ok(state.is_ok()),
        }
    }

    /// The propnet that `auto` would like, if it can be had.
    fn favoured(&self, interpreter: &Arc<Interpreter>) -> Result<Arc<Propnet>, ReasonerError> {
        let cancel = Interrupt::new();
        let build = build(interpreter, self.auto, &cancel, self.audience);
        let propnet = Building::begin(cancel, None, build, || {})?.wait(&self.stop)?;
        if let Some(facts) = &self.position {
            propnet.session(Limits::default(), &self.stop)?.state_of(facts)?;
        }
        Ok(propnet)
    }
}

/// The work of building the propnet.
fn build(
    interpreter: &Arc<Interpreter>,
    share: Share,
    interrupt: &Interrupt,
    audience: Audience,
) -> impl FnOnce() -> Result<Propnet, ReasonerError> + Send + 'static {
    let (interpreter, interrupt) = (Arc::clone(interpreter), interrupt.clone());
    move || Propnet::new(&interpreter, &share.budget(&interrupt, audience), Evaluation::Sliced)
}

/// Sets up the interpreter, begins to build the propnet beside it, and does the work with both. The propnet is pinned to `core`
/// if one is given; `when_done` is called on its thread when it can be taken, or there is none.
///
/// # Errors
/// If there is no interpreter: there is always a thread to be had but on a machine that has no more of anything.
pub fn with_successor<W: WithSuccessor>(
    rules: Arc<Rules>,
    share: Share,
    core: Option<usize>,
    stop: &Interrupt,
    when_done: impl FnOnce() + Send + 'static,
    work: W,
) -> Result<W::Output, ReasonerError> {
    let interpreter = Arc::new(Interpreter::until(rules, stop)?);
    let cancel = Interrupt::new();
    let build = build(&interpreter, share, &cancel, Audience::Log);
    let building = Building::begin(cancel, core, build, when_done)?;
    Ok(work.run(interpreter, building))
}

/// What rules come to as a propositional network.
///
/// # Errors
/// If they cannot be grounded.
pub fn explain(rules: Arc<Rules>, set_up: &SetUp) -> Result<NetReport, ReasonerError> {
    Ok(propnet(rules, set_up, Evaluation::Sliced)?.report())
}

/// The ground rules of a game as a circuit, and a reasoner that knows them without it.
///
/// # Errors
/// If they cannot be grounded.
pub fn netlist(rules: Arc<Rules>, set_up: &SetUp) -> Result<(Arc<impl Reasoner>, Netlist), ReasonerError> {
    let interpreter = Arc::new(Interpreter::until(rules, &set_up.stop)?);
    let budget = set_up.demanded.budget(&set_up.stop, set_up.audience);
    let netlist = Netlist::new(&interpreter, &budget)?;
    Ok((interpreter, netlist))
}

/// Who may help a search of a game of one role besides its reasoner: the interpreter, and a SAT solver with the ground rules.
pub fn outsiders(rules: &Arc<Rules>) -> Outsiders {
    let (for_states, for_plans) = (Arc::clone(rules), Arc::clone(rules));
    Outsiders::new(
        move |interrupt| Interpreter::until(Arc::clone(&for_states), interrupt),
        move |interrupt| {
            let interpreter = Arc::new(Interpreter::until(Arc::clone(&for_plans), interrupt)?);
            Netlist::new(&interpreter, &Share::OF_PLANS.budget(interrupt, Audience::None))
        },
    )
}

fn propnet(rules: Arc<Rules>, set_up: &SetUp, evaluation: Evaluation) -> Result<Propnet, ReasonerError> {
    let interpreter = Arc::new(Interpreter::until(rules, &set_up.stop)?);
    Propnet::new(&interpreter, &set_up.demanded.budget(&set_up.stop, set_up.audience), evaluation)
}

impl ReasonerKind {
    /// The kind where so few questions are asked that grounding would cost more than it gains.
    #[must_use]
    pub fn for_few_questions(self) -> ReasonerKind {
        if self == ReasonerKind::Auto { ReasonerKind::Interpreter } else { self }
    }

    /// Sets up the reasoner and does the work with it. `auto` is the propnet if it can be had within its share, otherwise the
    /// interpreter.
    ///
    /// # Errors
    /// If the reasoner cannot take the rules.
    pub fn with<W: WithReasoner>(
        self,
        rules: Arc<Rules>,
        set_up: &SetUp,
        work: W,
    ) -> Result<W::Output, ReasonerError> {
        match self {
            ReasonerKind::Auto => {
                let interpreter = Arc::new(Interpreter::until(rules, &set_up.stop)?);
                if !set_up.is_position_known(&interpreter)? {
                    return Ok(work.run(interpreter));
                }
                match set_up.favoured(&interpreter) {
                    Ok(propnet) => Ok(work.run(propnet)),
                    Err(ReasonerError::Interrupted) => Err(ReasonerError::Interrupted),
                    Err(reason) => {
                        tracing::warn!(%reason, "auto: the interpreter answers");
                        let _ = set_up.refused.set(reason.to_string());
                        Ok(work.run(interpreter))
                    }
                }
            }
            ReasonerKind::Interpreter => Ok(work.run(Arc::new(Interpreter::until(rules, &set_up.stop)?))),
            ReasonerKind::Propnet => Ok(work.run(Arc::new(propnet(rules, set_up, Evaluation::Sliced)?))),
            ReasonerKind::PropnetScalar => {
                Ok(work.run(Arc::new(propnet(rules, set_up, Evaluation::Scalar)?)))
            }
            #[cfg(feature = "prolog")]
            ReasonerKind::Prolog => Ok(work.run(Arc::new(Prolog::new(rules, Update::Difference)?))),
            #[cfg(feature = "prolog")]
            ReasonerKind::PrologFull => Ok(work.run(Arc::new(Prolog::new(rules, Update::Everything)?))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_give_kinds_and_back() {
        for name in NAMES.split(", ") {
            assert_eq!(name.parse::<ReasonerKind>().map(|kind| kind.to_string()), Ok(name.to_owned()));
        }
        assert_eq!(NAMES.split(", ").count(), KINDS.len());
        #[cfg(not(feature = "prolog"))]
        assert!(matches!("prolog".parse::<ReasonerKind>(), Err(KindError::NotInThisBuild(_))));
        assert!(matches!("magic".parse::<ReasonerKind>(), Err(KindError::Unknown(_))));
    }
}
