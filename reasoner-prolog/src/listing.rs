//! Which relations are given as facts in place of their rules.
//!
//! A relation that does not depend on the state has the same answers in every question. Where Prolog finds all of
//! them soon, and finds one of them as fast as a fact, they stand in the program instead of the rules.

use std::collections::{BTreeMap, BTreeSet};

use gdl::{Dependence, RelationId, Rules, Term};

use crate::engine::{Arg, Engine, Next, PrologError};
use crate::program::Program;
use crate::terms::SharedTerms;
use crate::translate::{self, Listing};

/// Inferences for the answers of one relation: some ten milliseconds.
const MAX_STEPS: u64 = 100_000;

/// Inferences for all relations together: some tenths of a second.
const MAX_STEPS_OF_ALL: u64 = 3_000_000;

/// The names in all answers of one relation.
const MAX_WORDS: usize = 1 << 20;

/// The facts that a call may have to look at, if Prolog indexes the best argument. Checkers is 2.5 times as fast
/// with its jumps as facts (18 a call); breakthrough half as fast with its pairs of cells (504 a call).
const MAX_FACTS_PER_CALL: usize = 32;

/// The answers of the relations that are better given as facts.
pub(crate) fn listing(
    engine: &Engine,
    rules: &Rules,
    terms: &SharedTerms,
    program: &Program,
) -> Result<BTreeMap<RelationId, Listing>, PrologError> {
    let mut listed = BTreeMap::new();
    let begun = engine.inferences()?;
    for id in translate::relations_asked(rules) {
        let relation = rules.relation(id);
        let is_static = relation.dependence == Dependence::Static && !translate::QUESTIONS.contains(&id);
        if !is_static || relation.rules.is_empty() || relation.arity == 0 {
            continue;
        }
        let left = MAX_STEPS_OF_ALL.saturating_sub(engine.inferences()? - begun);
        // What cannot be listed stays a matter of its rules, which say why when they are asked.
        if let Ok(Some(answers)) = answers(engine, rules, terms, program, id, MAX_STEPS.min(left))
            && is_worth_it(&answers)
        {
            listed.insert(id, answers.into_iter().collect());
        }
    }
    Ok(listed)
}

/// All answers, in the order of terms; none if they are too long.
///
/// # Errors
/// If they take too many inferences, or one of them has a variable or is too large.
fn answers(
    engine: &Engine,
    rules: &Rules,
    terms: &SharedTerms,
    program: &Program,
    relation: RelationId,
    steps: u64,
) -> Result<Option<BTreeSet<Vec<Term>>>, PrologError> {
    let mut answers = BTreeSet::new();
    let mut words = Vec::new();
    let mut n_words = 0;
    let predicate = program.predicate(engine, rules, relation);
    let args = vec![Arg::Free; predicate.n_args()];
    engine.ask_within(steps, predicate, &args, |solution| {
        words.clear();
        (0..predicate.n_args()).try_for_each(|arg_idx| solution.read(arg_idx, &mut words))?;
        n_words += words.len();
        let mut rest = &words[..];
        let mut answer = Vec::new();
        while !rest.is_empty() {
            answer.push(terms.term(engine, &mut rest)?);
        }
        answers.insert(answer);
        Ok::<Next, PrologError>(if n_words > MAX_WORDS { Next::Enough } else { Next::More })
    })?;
    Ok((n_words <= MAX_WORDS).then_some(answers))
}

/// Whether the best argument tells the answers apart well enough.
fn is_worth_it(answers: &BTreeSet<Vec<Term>>) -> bool {
    let n_args = answers.first().map_or(0, Vec::len);
    let n_values =
        |arg_idx: usize| answers.iter().map(|answer| &answer[arg_idx]).collect::<BTreeSet<_>>().len();
    let best = (0..n_args).map(n_values).max().unwrap_or(0);
    !answers.is_empty() && answers.len() <= best * MAX_FACTS_PER_CALL
}
