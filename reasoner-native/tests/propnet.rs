//! The propnet against the interpreter, and its lanes against its plain evaluation.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use gdl::{Description, ReadOptions, Rules};
use proptest::prelude::*;
use reasoner::{
    Dice, Expansion, Interrupt, Limits, Lot, MAX_ROLLOUT_STEPS, Move, Reasoner, ReasonerError, Role,
    Rollouts, Session, Tally, Uniform,
};
use reasoner_native::{BitState, Budget, Evaluation, Interpreter, Netlist, Propnet, PropnetSession};
use testkit::{Shared, clocked_rules, cross_check, random_rules};

/// Widths of lanes, and the plain evaluation.
const EVALUATIONS: [Evaluation; 5] = [
    Evaluation::Lanes(64),
    Evaluation::Lanes(256),
    Evaluation::Lanes(512),
    Evaluation::Lanes(1024),
    Evaluation::Sliced,
];

/// Shared games of many kinds: alternating and simultaneous moves, one role and several, loops, goals that cost
/// much, rollouts that end at once and late.
const GAMES: [&str; 12] = [
    "ticTacToe",
    "connectFour",
    "breakthrough",
    "checkers",
    "blocker",
    "hanoi",
    "eightPuzzle",
    "chineseCheckers6",
    "cubicup_3player",
    "atariGoVariant_7x7",
    "reversi",
    "tpeg",
];

fn rules(text: &str) -> Arc<Rules> {
    let description = Description::read(text, ReadOptions::default()).unwrap();
    Arc::new(Rules::from_description(&description).unwrap())
}

fn propnet(rules: &Arc<Rules>, evaluation: Evaluation) -> Arc<Propnet> {
    let interpreter = Arc::new(Interpreter::new(Arc::clone(rules)).unwrap());
    Arc::new(Propnet::new(&interpreter, &Budget::default(), evaluation).unwrap())
}

fn session(rules: &Arc<Rules>, evaluation: Evaluation) -> PropnetSession {
    propnet(rules, evaluation).session(Limits::default(), &Interrupt::new()).unwrap()
}

/// States met in random rollouts, terminal ones too, and their neighbours in the list the same now and then.
fn some_states(session: &mut PropnetSession, seed: u64, n_states: usize) -> Vec<BitState> {
    let mut dice = Dice::new(seed);
    let mut states = Vec::new();
    let mut expansion = Expansion::default();
    let mut state = session.initial_state().unwrap();
    while states.len() < n_states {
        states.extend(std::iter::repeat_n(state.clone(), 1 + dice.below(3)));
        let joint_move: Option<Vec<_>> = match session.expand(&state, &mut expansion) {
            Ok(()) if !expansion.terminal => Some(
                Role::all(session.roles().len())
                    .map(|role| expansion.moves_of(role))
                    .map(|legal| legal[dice.below(legal.len())])
                    .collect(),
            ),
            Ok(()) | Err(ReasonerError::NotPlayable { .. }) => None,
            Err(error) => panic!("{error}"),
        };
        state = match joint_move {
            Some(joint_move) => session.next_state(&state, &joint_move).unwrap(),
            None => session.initial_state().unwrap(),
        };
    }
    states
}

/// A joint move from each state, every third one not legal there; none if a role never has a move.
fn some_moves(plain: &mut PropnetSession, states: &[BitState]) -> Option<Vec<Move>> {
    let mut expansions = Vec::new();
    plain.expand_all(states, &mut expansions).unwrap();
    let legal = |expansion: &Expansion, role| expansion.moves_of(role).to_vec();
    let roles: Vec<Role> = Role::all(plain.roles().len()).collect();
    let known: Vec<Vec<Move>> =
        roles.iter().map(|&role| expansions.iter().flat_map(|it| legal(it, role)).collect()).collect();
    let mut moves = Vec::new();
    for (place, expansion) in expansions.iter().enumerate() {
        for (role, known) in roles.iter().zip(&known) {
            let here = legal(expansion, *role);
            let from = if here.is_empty() || place % 3 == 0 { known } else { &here };
            moves.push(*from.get(place.checked_rem(from.len())?)?);
        }
    }
    Some(moves)
}

/// Demands that rollouts, expansions and successors in lanes are those of the plain evaluation, one by one.
fn demand_equal_lanes(rules: &Arc<Rules>, n_states: usize) {
    let mut plain = session(rules, Evaluation::Scalar);
    let states = some_states(&mut plain, 5, n_states);
    let seeds: Vec<u64> = (0..2 * states.len() as u64).map(|counter| Dice::child_seed(9, counter)).collect();
    let (mut expected_ends, mut expected) = (Rollouts::default(), Vec::new());
    plain.rollouts(&states, &seeds, &mut expected_ends).unwrap();
    plain.expand_all(&states, &mut expected).unwrap();
    let moves = some_moves(&mut plain, &states);
    let (mut next, mut expected_next) = (Vec::new(), Vec::new());
    if let Some(moves) = &moves {
        plain.next_states(&states, moves, &mut expected_next).unwrap();
    }
    for evaluation in EVALUATIONS {
        let mut sliced = session(rules, evaluation);
        let (mut ends, mut expansions) = (Rollouts::default(), Vec::new());
        sliced.rollouts(&states, &seeds, &mut ends).unwrap();
        let is_different = |&rollout: &usize| {
            let of = |ends: &Rollouts| (ends.length(rollout), ends.goals(rollout).to_vec());
            of(&ends) != of(&expected_ends)
        };
        let different = (0..seeds.len()).find(is_different);
        assert_eq!((ends.len(), different), (seeds.len(), None), "{evaluation:?}");
        sliced.expand_all(&states, &mut expansions).unwrap();
        assert_eq!(expansions, expected, "{evaluation:?}");
        if let Some(moves) = &moves {
            sliced.next_states(&states, moves, &mut next).unwrap();
        }
        assert_eq!(next, expected_next, "{evaluation:?}");
    }
}

#[test]
fn lanes_give_what_single_states_give_in_shared_games() {
    let Some(shared) = Shared::find_or_skip() else { return };
    for name in GAMES {
        demand_equal_lanes(&shared.game(name).unwrap(), 700);
    }
}

/// Demands that series of so many rollouts from each of some states come in lanes to what they come to one by one.
fn demand_equal_series(rules: &Arc<Rules>, n_states: usize, lengths: &[u32]) {
    let mut plain = session(rules, Evaluation::Scalar);
    let mut sliced = EVALUATIONS.map(|evaluation| session(rules, evaluation));
    let n_roles = plain.roles().len();
    for state in some_states(&mut plain, 6, n_states) {
        for &n_rollouts in lengths {
            let mut expected = Tally::new(n_roles);
            plain.tally(&state, 11, n_rollouts, &mut expected).unwrap();
            assert_eq!(expected.n_rollouts, u64::from(n_rollouts));
            for (session, evaluation) in sliced.iter_mut().zip(EVALUATIONS) {
                let mut tally = Tally::new(n_roles);
                session.tally(&state, 11, n_rollouts, &mut tally).unwrap();
                assert_eq!(tally, expected, "{n_rollouts} in {evaluation:?}");
            }
        }
    }
}

#[test]
fn series_in_lanes_come_to_what_single_rollouts_do() {
    let Some(shared) = Shared::find_or_skip() else { return };
    for name in ["ticTacToe", "connectFour", "chineseCheckers6", "hanoi", "reversi"] {
        demand_equal_series(&shared.game(name).unwrap(), 3, &[1500]);
    }
}

/// Long series are played in parts, some of them in other widths, and what comes behind the first million is what the
/// seeds say.
#[test]
fn no_rollout_of_a_long_series_is_forgotten_or_played_twice() {
    let rules = rules(
        "(role thrower) (init ready) (next thrown) (<= terminal (true thrown))
         (side 1) (side 2) (side 3) (side 4) (side 5) (side 6) (<= (legal thrower (throw ?n)) (side ?n))
         (<= (next (shows ?n)) (does thrower (throw ?n))) (<= (goal thrower ?n) (true (shows ?n)))",
    );
    let of_first = |n_rollouts: u32, evaluation| {
        let mut session = session(&rules, evaluation);
        let root = session.initial_state().unwrap();
        let mut tally = Tally::new(1);
        session.tally(&root, 11, n_rollouts, &mut tally).unwrap();
        assert_eq!(tally.n_rollouts, u64::from(n_rollouts));
        tally.goal_sums[0]
    };
    let (first, last) = ((1 << 21) - 500, (1 << 21) + 500);
    let mut plain = session(&rules, Evaluation::Scalar);
    let root = plain.initial_state().unwrap();
    let mut expected = 0;
    for rollout in first..last {
        let end = plain.rollout_with(&root, Lot::seed_in_series(11, rollout), &mut Uniform, None).unwrap();
        expected += u64::from(end.goals[0]);
    }
    for evaluation in [Evaluation::Lanes(64), Evaluation::Sliced] {
        assert_eq!(of_first(last, evaluation) - of_first(first, evaluation), expected, "{evaluation:?}");
    }
}

#[test]
fn states_that_no_clock_knows_are_played_out_as_well() {
    let Some(shared) = Shared::find_or_skip() else { return };
    let rules = shared.game("ticTacToe").unwrap();
    let mut plain = session(&rules, Evaluation::Scalar);
    let root = plain.initial_state().unwrap();
    let mut fluents = Vec::new();
    plain.fluents(&root, &mut fluents);
    let mut terms: Vec<_> = fluents.into_iter().map(|fluent| plain.fluent_term(fluent)).collect();
    terms.retain(|term| !term.to_string().contains("control"));
    // Nobody's turn: no move is legal but to wait, for ever.
    let states: Vec<_> =
        std::iter::once(plain.state_of(&terms).unwrap()).chain(std::iter::repeat_n(root, 7)).collect();
    let seeds: Vec<u64> = (0..8).collect();
    let (mut expected, mut ends) = (Rollouts::default(), Rollouts::default());
    plain.rollouts(&states, &seeds, &mut expected).unwrap();
    session(&rules, Evaluation::Sliced).rollouts(&states, &seeds, &mut ends).unwrap();
    assert_eq!(ends, expected);
}

#[test]
fn a_rollout_in_lanes_can_be_played_again_move_by_move() {
    let Some(shared) = Shared::find_or_skip() else { return };
    let rules = shared.game("breakthrough").unwrap();
    let mut sliced = session(&rules, Evaluation::Sliced);
    let root = sliced.initial_state().unwrap();
    let seeds: Vec<u64> = (0..2000).collect();
    let mut ends = Rollouts::default();
    sliced.rollouts(&vec![root.clone(); seeds.len()], &seeds, &mut ends).unwrap();
    for rollout in (0..seeds.len()).step_by(97) {
        let mut played = Vec::new();
        let again = sliced.rollout_with(&root, seeds[rollout], &mut Uniform, Some(&mut played)).unwrap();
        assert_eq!((again.length, &again.goals[..]), (ends.length(rollout), ends.goals(rollout)));
        assert_eq!(played.len(), again.length as usize * 2);
        let mut state = root.clone();
        for joint_move in played.chunks_exact(2) {
            state = sliced.next_state(&state, joint_move).unwrap();
        }
        assert!(sliced.is_terminal(&state).unwrap());
    }
}

#[test]
fn every_legal_move_is_equally_likely() {
    let Some(shared) = Shared::find_or_skip() else { return };
    let rules = shared.game("breakthrough").unwrap();
    let mut session = session(&rules, Evaluation::Scalar);
    let root = session.initial_state().unwrap();
    let mut legal = Vec::new();
    session.legal_moves(&root, Role(0), &mut legal).unwrap();
    let n_rollouts = 500 * legal.len();
    let mut counts = vec![0u32; legal.len()];
    for seed in 0..n_rollouts as u64 {
        let mut played = Vec::new();
        session.rollout_with(&root, Dice::child_seed(3, seed), &mut Uniform, Some(&mut played)).unwrap();
        counts[legal.iter().position(|a_move| *a_move == played[0]).unwrap()] += 1;
    }
    let chi_square: f64 = counts.iter().map(|&n| (f64::from(n) - 500.0).powi(2) / 500.0).sum();
    // The 99.9 % point at 21 degrees of freedom.
    assert_eq!(legal.len(), 22);
    assert!(chi_square < 46.8, "{chi_square}: {counts:?}");
}

#[test]
fn an_interrupted_batch_is_an_error_and_the_next_one_is_right() {
    let Some(shared) = Shared::find_or_skip() else { return };
    let rules = shared.game("connectFour").unwrap();
    let interrupt = Interrupt::new();
    let mut session = propnet(&rules, Evaluation::Sliced).session(Limits::default(), &interrupt).unwrap();
    let states = vec![session.initial_state().unwrap(); 600];
    let seeds: Vec<u64> = (0..600).collect();
    let (mut ends, mut again) = (Rollouts::default(), Rollouts::default());
    session.rollouts(&states, &seeds, &mut ends).unwrap();
    interrupt.raise();
    assert_eq!(session.rollouts(&states, &seeds, &mut again), Err(ReasonerError::Interrupted));
    assert!(again.is_empty());
    interrupt.lower();
    session.rollouts(&states, &seeds, &mut again).unwrap();
    assert_eq!(ends, again);
}

#[test]
fn every_state_owns_what_the_net_says() {
    let Some(shared) = Shared::find_or_skip() else { return };
    // Up to three words have their place in the state itself.
    for (game, is_inline) in [("ticTacToe", true), ("connectFour", true), ("hex", false)] {
        let net = propnet(&shared.game(game).unwrap(), Evaluation::Sliced);
        let mut session = net.session(Limits::default(), &Interrupt::new()).unwrap();
        let state = session.initial_state().unwrap();
        let (owned, told) = (net.heap_bytes(&state), net.heap_bytes_of_all().unwrap());
        assert_eq!(owned < 16, is_inline, "{game}");
        assert!((owned..=owned * 9 / 8).contains(&told), "{game}: {told} for {owned}");
    }
}

#[test]
fn grounding_stops_at_once_when_interrupted_and_in_time() {
    let Some(shared) = Shared::find_or_skip() else { return };
    // A game whose grounding takes very long.
    let interpreter = Arc::new(Interpreter::new(shared.game("chess").unwrap()).unwrap());
    let late = Budget { deadline: Some(Instant::now() + Duration::from_millis(50)), ..Budget::default() };
    let error = Propnet::new(&interpreter, &late, Evaluation::Sliced).unwrap_err();
    assert!(matches!(&error, ReasonerError::NotGrounded(why) if why.contains("time")), "{error}");
    let small = Budget { bytes: 10 << 20, ..Budget::default() };
    let error = Propnet::new(&interpreter, &small, Evaluation::Sliced).unwrap_err();
    assert!(matches!(&error, ReasonerError::NotGrounded(why) if why.contains("bytes")), "{error}");
    let interrupted = Budget::default();
    interrupted.interrupt.raise();
    let error = Propnet::new(&interpreter, &interrupted, Evaluation::Sliced).unwrap_err();
    assert_eq!(error, ReasonerError::Interrupted);
}

#[test]
fn joint_moves_of_the_wrong_length_are_an_error() {
    let Some(shared) = Shared::find_or_skip() else { return };
    let mut session = session(&shared.game("ticTacToe").unwrap(), Evaluation::Scalar);
    let state = session.initial_state().unwrap();
    let mut legal = Vec::new();
    session.legal_moves(&state, Role(0), &mut legal).unwrap();
    for given in [0, 1, 3] {
        let error = session.next_state(&state, &vec![legal[0]; given]);
        assert_eq!(error, Err(ReasonerError::JointMove { given, n_roles: 2 }));
    }
}

#[test]
fn what_no_reachable_state_has_is_refused() {
    let rules = rules(
        "(role you) (init (at a)) (legal you stay) (legal you go) (<= (next (at b)) (does you go))
         (<= (next (at ?x)) (true (at ?x)) (does you stay)) (init (wall c)) (<= (next (wall ?x)) (true (wall ?x)))
         (<= terminal (true (at b))) (goal you 100) (far d)",
    );
    let mut session = session(&rules, Evaluation::Sliced);
    let term = |text: &str| gdl::Term::parse(text).unwrap();
    let at_b = session.state_of(&[term("(at b)"), term("(wall c)")]).unwrap();
    assert!(session.is_terminal(&at_b).unwrap());
    for fluents in [vec![term("(at d)"), term("(wall c)")], vec![term("(at b)")]] {
        assert!(session.state_of(&fluents).is_err(), "{fluents:?}");
    }
    assert!(session.move_of(&term("jump")).is_err());
}

#[test]
fn fluents_that_matter_for_nothing_may_depend_on_what_goals_do() {
    // `count` matters for nothing, and shares `many` with a goal, but nothing with the next state that matters.
    let rules = rules(
        "(role you) (item a) (item b) (item c) (init (step 0)) (succ 0 1) (succ 1 2) (legal you (take a))
         (legal you (take b)) (<= (next (has ?x)) (does you (take ?x))) (<= (next (has ?x)) (true (has ?x)))
         (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m)) (<= terminal (true (step 2)))
         (<= many (true (has ?x)) (true (has ?y)) (distinct ?x ?y)) (<= (next (count many)) many)
         (<= (next (count few)) (not many)) (<= (goal you 100) many) (<= (goal you 0) (not many))",
    );
    let interpreter = Arc::new(Interpreter::new(Arc::clone(&rules)).unwrap());
    for seed in 0..20 {
        cross_check(&interpreter, &propnet(&rules, Evaluation::Sliced), seed, 60).unwrap();
    }
}

#[test]
fn gates_that_nothing_evaluates_do_not_say_how_others_are_evaluated() {
    // Simplifying this game leaves such a gate behind.
    let (seed, size) = (1_763_009_943_242_529_908, 6);
    let rules = rules(&random_rules(seed, size));
    let interpreter = Arc::new(Interpreter::new(Arc::clone(&rules)).unwrap());
    cross_check(&interpreter, &propnet(&rules, Evaluation::Sliced), seed, 60).unwrap();
}

#[test]
fn goals_are_the_whole_numbers_up_to_the_largest_one() {
    let rules = rules(
        "(role you) (role me) (init (at 0)) (legal you (go 1)) (legal you (go 2)) (legal me wait) (succ 1 30) (succ 1 007)
         (succ 1 200) (succ 1 101) (succ 2 256) (succ 2 100000) (succ 2 none) (succ 2 (pair 1 2)) (succ 2 -5)
         (<= (next (at ?n)) (does you (go ?n))) (<= terminal (not (true (at 0))))
         (<= (goal you ?v) (true (at ?n)) (succ ?n ?v)) (goal me 40) (goal me 040)",
    );
    let interpreter = Arc::new(Interpreter::new(Arc::clone(&rules)).unwrap());
    for seed in 0..4 {
        cross_check(&interpreter, &propnet(&rules, Evaluation::Sliced), seed, 60).unwrap();
    }
    demand_equal_lanes(&rules, 20);
}

#[test]
fn loops_that_matter_for_nothing_do_not_say_how_gates_are_evaluated() {
    // `on` holds for ever, so that nothing asks for `reach`; `foo` has a gate in common with it.
    let rules = rules(
        "(role you) (init (on)) (legal you (set 1)) (legal you (set 2)) (legal you (set 3))
         (<= (next (b ?n)) (does you (set ?n))) (<= (next (b ?n)) (true (b ?n)) (not (does you (set ?n))))
         (<= (reach a) (true (b 1)) (true (b 2))) (<= (reach a) (reach b) (true (b 3)))
         (<= (reach b) (reach a) (true (foo))) (<= (next (on)) (true (on))) (<= (next (on)) (reach a))
         (<= (next (foo)) (true (b 1)) (true (b 2))) (<= terminal (true (foo)) (true (b 3))) (goal you 100)",
    );
    let interpreter = Arc::new(Interpreter::new(Arc::clone(&rules)).unwrap());
    for seed in 0..20 {
        cross_check(&interpreter, &propnet(&rules, Evaluation::Sliced), seed, 60).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn made_up_games_are_answered_as_the_interpreter_answers(seed: u64, size in 1u32..9) {
        let rules = rules(&random_rules(seed, size));
        let interpreter = Arc::new(Interpreter::new(Arc::clone(&rules)).unwrap());
        let propnet = propnet(&rules, Evaluation::Sliced);
        let compared = cross_check(&interpreter, &propnet, seed, 60);
        prop_assert!(compared.is_ok(), "{}\n{}", compared.unwrap_err(), random_rules(seed, size));
    }

    #[test]
    fn made_up_games_are_the_same_in_lanes(seed: u64, size in 1u32..9) {
        demand_equal_lanes(&rules(&random_rules(seed, size)), 80);
    }

    #[test]
    fn made_up_games_with_clocks_are_answered_as_the_interpreter_answers(seed: u64, size in 1u32..9) {
        let rules = rules(&clocked_rules(seed, size));
        let interpreter = Arc::new(Interpreter::new(Arc::clone(&rules)).unwrap());
        let compared = cross_check(&interpreter, &propnet(&rules, Evaluation::Sliced), seed, 60);
        prop_assert!(compared.is_ok(), "{}\n{}", compared.unwrap_err(), clocked_rules(seed, size));
    }

    #[test]
    fn made_up_games_with_clocks_are_the_same_in_lanes(seed: u64, size in 1u32..9) {
        let rules = rules(&clocked_rules(seed, size));
        let mut plain = session(&rules, Evaluation::Scalar);
        let root = plain.initial_state().unwrap();
        let lengths = (0..4).map(|seed| plain.rollout_with(&root, seed, &mut Uniform, None).unwrap().length);
        // Few of those that never end: they take long.
        match lengths.max() < Some(MAX_ROLLOUT_STEPS / 10) {
            true => {
                demand_equal_lanes(&rules, 150);
                demand_equal_series(&rules, 4, &[0, 1, 3, 4, 5, 65, 130, 1025]);
            }
            false => {
                demand_equal_lanes(&rules, 5);
                demand_equal_series(&rules, 1, &[4]);
            }
        }
    }
}

#[test]
fn whole_clauses_may_have_more_words_than_split_ones_need() {
    let Some(shared) = Shared::find_or_skip() else { return };
    let interpreter = Arc::new(Interpreter::new(shared.game("sudokuGrade1").unwrap()).unwrap());
    let size = |budget: Budget| Netlist::new(&interpreter, &budget).unwrap().n_gates();
    let free = size(Budget::default());
    let words = 1_000_000;
    assert_eq!(size(Budget { words, ..Budget::default() }), free);
}
