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
    for id in translate::relations_asked(rules) {
        let relation = rules.relation(id);
        let is_static = relation.dependence == Dependence::Static && !translate::QUESTIONS.contains(&id);
        if is_static && !relation.rules.is_empty() && relation.arity > 0 {
            let answers = answers(engine, rules, terms, program, id)?;
            if is_worth_it(&answers) {
                listed.insert(id, answers);
            }
        }
    }
    Ok(listed)
}

/// All answers, in Prolog's order of terms; none if they are too many, or not ground.
fn answers(
    engine: &Engine,
    rules: &Rules,
    terms: &SharedTerms,
    program: &Program,
    relation: RelationId,
) -> Result<Listing, PrologError> {
    let mut answers = Vec::new();
    let mut words = Vec::new();
    let name = engine.atom(&translate::relation_predicate(rules, relation));
    let pattern = engine.pattern(&name, rules.relation(relation).arity as usize);
    let module = engine.record(&[engine.atom(&program.module_name()).word()])?;
    let args = [Arg::Term(&module), Arg::Term(&pattern)];
    engine.ask(engine.all_answers(), &args, |solution| {
        words.clear();
        solution.read(1, &mut words)?;
        let (_, mut rest) = words.split_first().expect("a term has a first word");
        let mut answer = Vec::new();
        while !rest.is_empty() {
            answer.push(terms.term(engine, &mut rest)?);
        }
        answers.push(answer);
        Ok::<Next, PrologError>(Next::More)
    })?;
    Ok(answers)
}

/// Whether the best argument tells the answers apart well enough.
fn is_worth_it(answers: &[Vec<Term>]) -> bool {
    let n_args = answers.first().map_or(0, Vec::len);
    let n_values =
        |arg_idx: usize| answers.iter().map(|answer| &answer[arg_idx]).collect::<BTreeSet<_>>().len();
    let best = (0..n_args).map(n_values).max().unwrap_or(0);
    !answers.is_empty() && answers.len() <= best * MAX_FACTS_PER_CALL
}
