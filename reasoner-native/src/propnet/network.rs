//! From rules to the smallest net that is found within a budget.

use std::time::{Duration, Instant};

use gdl::Rules;
use reasoner::Value;

use crate::ground::{self, Budget, GroundError, Manner, Stage};
use crate::net::{self, Net, Size};
use crate::terms::{TermId, Terms};

/// Atoms of one predicate beyond which it is evaluated on demand, at first. Where that does not help, the limit is
/// raised.
const MAX_ATOMS: usize = 300_000;
/// What the limit is raised by.
const RAISE: usize = 4;

/// Whole clauses are tried beside split ones as long as they give at most so many times their words of ground rules.
const MAX_PLAIN_TIMES: usize = 4;
/// So many times where they are few.
const MAX_SMALL_PLAIN_TIMES: usize = 64;
/// Words of ground rules of whole clauses that are few: some tenths of a second.
const MIN_PLAIN_WORDS: usize = 4_000_000;
/// Those that never are: seconds.
const MAX_PLAIN_WORDS: usize = 8_000_000;

/// How a net came to be.
#[derive(Debug, Clone, Default)]
pub(super) struct Making {
    /// Whether clauses were split.
    pub(super) is_decomposed: bool,
    /// Relations that were evaluated on demand, as text.
    pub(super) on_demand: Vec<String>,
    /// Words that the ground rules took.
    pub(super) ground_words: usize,
    /// Time of grounding.
    pub(super) ground_time: Duration,
    /// Time of building and simplifying.
    pub(super) net_time: Duration,
    /// Before simplifying.
    pub(super) raw: Size,
    /// After.
    pub(super) size: Size,
}

/// What nets are made from.
#[derive(Debug)]
pub(super) struct Origin<'a> {
    pub(super) rules: &'a Rules,
    /// With the terms of the roles and of the initial state.
    pub(super) terms: Terms,
    pub(super) roles: Vec<TermId>,
    pub(super) initial: Vec<TermId>,
    /// Larger goals are none.
    pub(super) max_goal: Value,
}

/// A net with the terms that it speaks of.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) net: Net,
    pub(super) terms: Terms,
    pub(super) making: Making,
}

/// Makes nets of split and of whole clauses, and keeps the smaller one. The words of the budget are for split clauses, or for whole ones
/// where split ones cannot be; whole ones beside a net that is there may have more ([`or_plain`]).
///
/// # Errors
/// If none is had within the budget.
pub(super) fn best(origin: &Origin<'_>, budget: &Budget) -> Result<Made, GroundError> {
    let mut max_atoms = MAX_ATOMS;
    loop {
        let [split, plain] = [true, false].map(|is_decomposed| Manner { is_decomposed, max_atoms });
        match make(origin, split, budget) {
            Ok(made) => return or_plain(origin, made, plain, budget),
            Err(GroundError::TooLarge(_)) => {}
            Err(error) => return Err(error),
        }
        match make(origin, plain, budget) {
            Err(GroundError::TooLarge(_)) => max_atoms *= RAISE,
            made => return made,
        }
    }
}

/// The net of split clauses, or that of whole ones if it is smaller and not dear.
fn or_plain(origin: &Origin<'_>, split: Made, plain: Manner, budget: &Budget) -> Result<Made, GroundError> {
    let times = |times: usize| split.making.ground_words.saturating_mul(times);
    let words =
        times(MAX_PLAIN_TIMES).clamp(MIN_PLAIN_WORDS.min(times(MAX_SMALL_PLAIN_TIMES)), MAX_PLAIN_WORDS);
    let budget = Budget { words, ..budget.clone() };
    let plain = raw(origin, plain, &budget).and_then(|raw| {
        // No clause was split, or none that matters.
        let is_same = raw.making.raw == split.making.raw;
        if is_same { Ok(None) } else { raw.simplified(&budget).map(Some) }
    });
    match plain {
        Ok(Some(plain)) if plain.making.size.work() < split.making.size.work() => Ok(plain),
        Err(GroundError::Interrupted) => Err(GroundError::Interrupted),
        Ok(_) | Err(_) => Ok(split),
    }
}

fn make(origin: &Origin<'_>, manner: Manner, budget: &Budget) -> Result<Made, GroundError> {
    raw(origin, manner, budget)?.simplified(budget)
}

/// A net that is not simplified yet.
struct Raw {
    net: Net,
    terms: Terms,
    making: Making,
}

fn raw(origin: &Origin<'_>, manner: Manner, budget: &Budget) -> Result<Raw, GroundError> {
    let begun = Instant::now();
    budget.enter(if manner.is_decomposed { Stage::GroundingSplit } else { Stage::GroundingWhole });
    let ground = ground::ground(origin.rules, origin.terms.clone(), &origin.initial, manner, budget)?;
    let ground_time = begun.elapsed();
    let net = net::build(origin.rules, &ground, &origin.roles, origin.max_goal)?;
    let making = Making {
        is_decomposed: manner.is_decomposed,
        on_demand: ground.on_demand.clone(),
        ground_words: ground.n_words(),
        ground_time,
        net_time: begun.elapsed() - ground_time,
        raw: net.size(),
        size: Size::default(),
    };
    Ok(Raw { net, terms: ground.terms, making })
}

impl Raw {
    fn simplified(self, budget: &Budget) -> Result<Made, GroundError> {
        let begun = Instant::now();
        budget.enter(Stage::Simplifying);
        let net = net::simplify(self.net, budget)?;
        let net_time = self.making.net_time + begun.elapsed();
        let making = Making { net_time, size: net.size(), ..self.making };
        tracing::debug!(?making, "a net");
        Ok(Made { net, terms: self.terms, making })
    }
}
