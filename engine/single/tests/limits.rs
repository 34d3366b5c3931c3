//! What a search may take, and what it says of lines that do not end as they should.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{interpreter, options, outsiders, play, playouts, propnet, search, search_with};
use search::{MIN_BYTES, Options};

/// One move after the other for so many steps, in states of so many fluents.
fn long_walk(n_steps: usize, n_fluents: usize) -> String {
    let mut text = format!(
        "(role r) (init (step 0)) (legal r go) (<= terminal (true (step {n_steps}))) (goal r 50)
         (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m)) (<= (next (mark ?n)) (true (mark ?n)))"
    );
    (0..n_steps).for_each(|step| text.push_str(&format!("(succ {step} {})", step + 1)));
    (0..n_fluents).for_each(|mark| text.push_str(&format!("(init (mark {mark}))")));
    text
}

#[test]
fn states_count_with_all_that_they_hold() {
    const STEPS: usize = 3000;
    let few = Options { max_bytes: MIN_BYTES, ..options(1) };
    let small = search(&interpreter(&long_walk(STEPS, 1)), "exhaustive", &few, &playouts(10_000));
    assert!(small.proved, "states of two fluents fit");
    let n_fluents = 2 * MIN_BYTES / STEPS / size_of::<u32>();
    let large = search(&interpreter(&long_walk(STEPS, n_fluents)), "exhaustive", &few, &playouts(10_000));
    assert!(large.best.is_none() && large.parts[0].is_done, "it gives up");
    let bytes = large.playouts * (n_fluents * size_of::<u32>()) as u64;
    assert!(bytes <= (MIN_BYTES + MIN_BYTES / 2) as u64, "{bytes}");
}

/// Twelve steps to one of four sides each, all of which are remembered; four in a row to the left are worth 70.
fn many_ways() -> String {
    let mut text = "
        (role r) (init (step 0)) (side left) (side right) (side up) (side down)
        (<= (legal r ?s) (side ?s)) (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
        (<= (next (went ?n ?s)) (true (step ?n)) (does r ?s)) (<= (next (went ?n ?s)) (true (went ?n ?s)))
        (<= terminal (true (step 12)))
        (<= best (true (went 0 left)) (true (went 1 left)) (true (went 2 left)) (true (went 3 left)))
        (<= (goal r 70) best) (<= (goal r 10) (not best))"
        .to_owned();
    (0..12).for_each(|step| text.push_str(&format!("(succ {step} {})", step + 1)));
    text
}

#[test]
fn a_beam_as_wide_as_the_world_comes_to_an_end_in_little_memory() {
    let tour = interpreter(&many_ways());
    let few = Options { max_bytes: MIN_BYTES, ..options(1) };
    let report = search(&tour, "beam(16777216)", &few, &playouts(100_000));
    let line = report.best.expect("a beam that is cut comes to the end");
    assert_eq!(play(&tour, &line.moves), Some(line.value));
    assert!(!report.proved, "it has left out most");
}

#[test]
fn playouts_are_as_many_as_were_asked_for() {
    let tour = interpreter(&many_ways());
    let propnet = propnet(&tour);
    // A question behind each of four moves is never split.
    const GRAIN: u64 = 4;
    for system in ["nested(1)", "nrpa(2)", "beam(8)", "sp-mcts", "exhaustive", "ida", "portfolio"] {
        for n in [1, 100, 5000] {
            let n_made = [
                search(&tour, system, &options(1), &playouts(n)).playouts,
                search(&propnet, system, &options(1), &playouts(n)).playouts,
            ];
            let grain = if system.starts_with("beam") || system == "exhaustive" || system == "portfolio" {
                propnet_lanes(&propnet)
            } else {
                GRAIN
            };
            assert!(n_made.iter().all(|&made| made >= n && made < n + grain), "{system}: {n_made:?} of {n}");
        }
    }
}

/// States that are expanded, or rolled out from, in one question.
fn propnet_lanes<R: reasoner::Reasoner>(reasoner: &std::sync::Arc<R>) -> u64 {
    reasoner.n_side_by_side() as u64
}

#[test]
fn what_the_first_question_finds_is_counted() {
    for system in ["nested(1)", "sp-mcts", "nrpa(1)", "beam(8)", "exhaustive", "ida", "uct+t"] {
        let one = interpreter(
            "(role r) (init (at 0)) (legal r go) (legal r run) (next (at 1))
             (<= terminal (true (at 1))) (goal r 100)",
        );
        let report = search(&one, system, &options(1), &playouts(1000));
        assert!(report.proved && report.playouts > 0, "{system}: {}", report.playouts);
    }
}

/// The left move ends the game with 10, the right one leads to where nobody can move, with 60.
const STUCK: &str = "
    (role r) (init (at start)) (<= (legal r left) (true (at start))) (<= (legal r right) (true (at start)))
    (<= (next (at left)) (does r left)) (<= (next (at right)) (does r right))
    (<= terminal (true (at left))) (<= (goal r 10) (true (at left))) (<= (goal r 60) (true (at right)))";

#[test]
fn where_nobody_can_move_a_line_ends_with_the_goal_there() {
    let stuck = interpreter(STUCK);
    let propnet = propnet(&stuck);
    let outsiders = outsiders(&stuck);
    for system in ["uct+t", "nested(1)", "nrpa(2)", "beam(8)", "sp-mcts", "exhaustive", "ida", "sat"] {
        let on_interpreter = search_with(&outsiders, &stuck, system, &options(1), &playouts(500));
        let on_propnet = search_with(&outsiders, &propnet, system, &options(1), &playouts(500));
        for report in [on_interpreter, on_propnet] {
            assert_eq!(report.best.map(|line| line.value), Some(60), "{system}");
        }
    }
}

#[test]
fn where_no_line_ends_it_is_said_that_all_states_were_seen() {
    let endless = interpreter(
        "(role r) (init (x 1)) (legal r go) (legal r stay) (<= (next (x 2)) (true (x 1)))
         (<= (next (x 1)) (true (x 2))) (<= terminal (true (x 3))) (goal r 50)",
    );
    let report = search(&endless, "exhaustive", &options(1), &playouts(1_000_000));
    assert!(report.is_hopeless && report.best.is_none() && !report.proved);
    assert_eq!(report.playouts, 2);
    let report = search(&endless, "nested(1)", &options(1), &playouts(10));
    assert!(!report.is_hopeless);
}
