//! From rules to the smallest net that is found within a budget.

use std::time::{Duration, Instant};

use gdl::Rules;

use crate::ground::{self, Budget, GroundError, Manner};
use crate::net::{self, Net, Size};
use crate::terms::{TermId, Terms};

/// Atoms of one predicate beyond which it is evaluated on demand, at first. Where that does not help, the limit is
/// raised.
const MAX_ATOMS: usize = 300_000;
/// What the limit is raised by.
const RAISE: usize = 4;

/// Whole clauses are tried beside split ones as long as they give at most so many times their words of ground rules.
const MAX_PLAIN_TIMES: usize = 4;
/// Words of ground rules of whole clauses that are always worth the attempt beside split ones: some tenths of a second.
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
}

/// A net with the terms that it speaks of.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) net: Net,
    pub(super) terms: Terms,
    pub(super) making: Making,
}

/// Makes nets of split and of whole clauses, and keeps the smaller one.
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
    let times = split.making.ground_words.saturating_mul(MAX_PLAIN_TIMES);
    let words = times.clamp(MIN_PLAIN_WORDS, MAX_PLAIN_WORDS).min(budget.words);
    match make(origin, plain, &Budget { words, ..budget.clone() }) {
        Ok(plain) if plain.making.size.work() < split.making.size.work() => Ok(plain),
        Err(GroundError::Interrupted) => Err(GroundError::Interrupted),
        Ok(_) | Err(_) => Ok(split),
    }
}

fn make(origin: &Origin<'_>, manner: Manner, budget: &Budget) -> Result<Made, GroundError> {
    let begun = Instant::now();
    let ground = ground::ground(origin.rules, origin.terms.clone(), &origin.initial, manner, budget)?;
    let ground_time = begun.elapsed();
    let raw = net::build(origin.rules, &ground, &origin.roles)?;
    let raw_size = raw.size();
    let net = net::simplify(raw, budget)?;
    let making = Making {
        is_decomposed: manner.is_decomposed,
        on_demand: ground.on_demand.clone(),
        ground_words: ground.n_words(),
        ground_time,
        net_time: begun.elapsed() - ground_time,
        raw: raw_size,
        size: net.size(),
    };
    tracing::debug!(?making, "a net");
    Ok(Made { net, terms: ground.terms, making })
}
