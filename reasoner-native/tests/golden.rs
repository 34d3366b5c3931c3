//! The interpreter against the reference data: golden games, matches, scrambled sheets and cases.
//!
//! `DAGGERBOARD_GOLDEN` chooses the golden games: `sample` (the default), `whole`, or names.

#![allow(clippy::print_stderr, reason = "a long test tells how it goes")]

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use gdl::Rules;
use reasoner::ReasonerError;
use reasoner_native::{Budget, Evaluation, Interpreter, Propnet};
use testkit::{Exception, Selection, case_suite, golden_suite, match_suite, scrambled_suite};

/// The sheet uses one name both as `(p)` and as `p`, which are one proposition here and two to the reference;
/// the golden README does not insist on it.
const EXCEPTIONS: [Exception; 1] =
    [Exception { name: "ggptest_test_case_3a", reason: "(p) and p are one proposition" }];

fn report(line: &str) {
    eprintln!("{line}");
}

#[test]
fn golden_games_agree() {
    golden_suite(Interpreter::new, &Selection::from_env(), &EXCEPTIONS, &report).assert_clean();
}

#[test]
fn recorded_matches_agree() {
    match_suite(Interpreter::new, &[], &report).assert_clean();
}

#[test]
fn scrambled_sheets_agree() {
    scrambled_suite(Interpreter::new, &report).assert_clean();
}

#[test]
fn cases_agree() {
    case_suite(Interpreter::new, &[], &report).assert_clean();
}

/// Games that the propnet does not ground within [`WORK`].
const NOT_GROUNDED: [Exception; 13] = [
    Exception { name: "aaai2007_Ruledepthexponential_001", reason: "more steps than WORK" },
    Exception { name: "aaai2007_Ruledepthexponential_003", reason: "more steps than WORK" },
    Exception { name: "aaai2007_Ruledepthexponential_005", reason: "more steps than WORK" },
    Exception { name: "aaai2007_Ruledepthexponential_006", reason: "more steps than WORK" },
    Exception { name: "aaai2008_Cpularge_002", reason: "more steps than WORK" },
    Exception { name: "aaai2008_Cpularge_003", reason: "more steps than WORK" },
    Exception { name: "ruleDepthExponential", reason: "more steps than WORK" },
    Exception { name: "gt_two_thirds_6p", reason: "more steps than WORK" },
    Exception { name: "mummymaze1p", reason: "more steps than WORK" },
    Exception { name: "chess", reason: "its grounding is too large" },
    Exception { name: "slaughter", reason: "its grounding is too large" },
    Exception { name: "sudoku", reason: "its grounding is too large" },
    Exception { name: "laikLee_hex", reason: "its grounding is too large" },
];

/// Steps of grounding: some seconds. Every machine grounds the same games.
const WORK: u64 = 40_000_000;

fn propnet(rules: Arc<Rules>) -> Result<Propnet, ReasonerError> {
    let budget = Budget { work: Rc::new(Cell::new(WORK)), ..Budget::default() };
    Propnet::new(&Arc::new(Interpreter::new(rules)?), &budget, Evaluation::Sliced)
}

/// Takes minutes, most of them for games that cannot be grounded: only where golden games are asked for, as
/// `ci/golden` does.
#[test]
fn golden_games_agree_on_the_propnet() {
    if std::env::var_os("DAGGERBOARD_GOLDEN").is_none() {
        return testkit::skip(&"golden games on the propnet: DAGGERBOARD_GOLDEN asks for none");
    }
    golden_suite(propnet, &Selection::from_env(), &[&EXCEPTIONS[..], &NOT_GROUNDED].concat(), &report)
        .assert_clean();
}

#[test]
fn recorded_matches_agree_on_the_propnet() {
    match_suite(propnet, &NOT_GROUNDED, &report).assert_clean();
}

#[test]
fn scrambled_sheets_agree_on_the_propnet() {
    scrambled_suite(propnet, &report).assert_clean();
}

#[test]
fn cases_agree_on_the_propnet() {
    case_suite(propnet, &[], &report).assert_clean();
}
