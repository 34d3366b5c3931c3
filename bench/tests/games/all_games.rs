//! What holds for every game, whatever its rules.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use bench::games::{Game, Go, Hex, LeftRight, RustGame, SameGame};
use gdl::Term;
use player::reasoners::WithReasoner;
use proptest::prelude::*;
use reasoner::laws::check_playout;
use reasoner::{
    Dice, Interrupt, Limits, Lot, Move, Reasoner, ReasonerError, Rollouts, Session, Tally, Uniform,
};

use crate::common::{demand_played, fluent_texts, random_states, session, state_of};

const NAMES: [&str; 18] = [
    "leftright:1",
    "leftright:37",
    "hex:2",
    "hex:3",
    "hex:5,stone=b2",
    "hex:11",
    "hex:19",
    "go:2,komi=0",
    "go:3,komi=-1,limit=40",
    "go:5,komi=2.5",
    "go:9",
    "go:19,limit=150",
    "samegame:2,colours=2,seed=3",
    "samegame:5,colours=3,seed=2,rollouts=random",
    "samegame:10,seed=4,rollouts=taburandom,epsilon=0.5",
    "samegame:15,seed=1",
    "spine:2,depth=1",
    "spine:5,depth=9",
];

/// Checks every game of [`NAMES`].
macro_rules! for_all_games {
    ($check:ident) => {{
        struct Checking(&'static str);
        impl WithReasoner for Checking {
            type Output = ();
            fn run<R: Reasoner>(self, reasoner: Arc<R>) {
                $check(self.0, &reasoner);
            }
        }
        for name in NAMES {
            name.parse::<RustGame>().unwrap().with(Checking(name));
        }
    }};
}

fn session_of<R: Reasoner>(reasoner: &Arc<R>) -> R::Session {
    reasoner.session(Limits::default(), &Interrupt::new()).unwrap()
}

#[test]
fn random_games_keep_the_laws() {
    fn check<R: Reasoner>(name: &str, reasoner: &Arc<R>) {
        let mut session = session_of(reasoner);
        for seed in 0..20 {
            let breaches = check_playout(&mut session, seed, u32::MAX, reasoner.max_goal());
            assert_eq!(breaches, Ok(Vec::new()), "{name}, seed {seed}");
        }
    }
    for_all_games!(check);
}

#[test]
fn a_rollout_of_a_batch_is_played_again_from_its_seed_by_legal_moves() {
    fn check<R: Reasoner>(name: &str, reasoner: &Arc<R>) {
        let mut session = session_of(reasoner);
        let states: Vec<R::State> = (0..5).flat_map(|seed| random_states(&mut session, seed)).collect();
        let seeds: Vec<u64> = (0..states.len() as u64).map(|idx| Dice::child_seed(9, idx)).collect();
        let mut ends = Rollouts::default();
        session.rollouts(&states, &seeds, &mut ends).unwrap();
        assert_eq!(ends.len(), states.len());
        // Another session, asked in another order, knows nothing of what this one did.
        let mut other = session_of(reasoner);
        for idx in (0..states.len()).rev().step_by(states.len().div_ceil(150)) {
            let mut played = Vec::new();
            let end = other.rollout_with(&states[idx], seeds[idx], &mut Uniform, Some(&mut played)).unwrap();
            assert!(end.terminal);
            assert_eq!((&end.goals[..], end.length), (ends.goals(idx), ends.length(idx)), "{name}");
            assert_eq!(played.len(), end.length as usize * reasoner.n_roles());
            demand_played(&mut other, &states[idx], &played, &end.goals);
        }
    }
    for_all_games!(check);
}

#[test]
fn a_series_is_the_sum_of_its_rollouts() {
    fn check<R: Reasoner>(name: &str, reasoner: &Arc<R>) {
        let mut session = session_of(reasoner);
        for state in random_states(&mut session, 1).iter().step_by(7) {
            let mut tally = Tally::new(reasoner.n_roles());
            session.tally(state, 5, 20, &mut tally).unwrap();
            let seeds: Vec<u64> = (0..20).map(|rollout| Lot::seed_in_series(5, rollout)).collect();
            let mut ends = Rollouts::default();
            session.rollouts(&vec![state.clone(); 20], &seeds, &mut ends).unwrap();
            let lengths: u64 = (0..20).map(|idx| u64::from(ends.length(idx))).sum();
            assert_eq!((tally.n_rollouts, tally.n_transitions), (20, lengths), "{name}");
            for (role, &sum) in tally.goal_sums.iter().enumerate() {
                assert_eq!(sum, (0..20).map(|idx| u64::from(ends.goals(idx)[role])).sum::<u64>(), "{name}");
            }
        }
    }
    for_all_games!(check);
}

#[test]
fn a_state_is_known_from_its_fluents_and_a_move_from_its_term() {
    fn check<R: Reasoner>(name: &str, reasoner: &Arc<R>) {
        let mut session = session_of(reasoner);
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let mut moves = Vec::new();
        for state in random_states(&mut session, 3) {
            let texts = fluent_texts(&mut session, &state);
            let again = state_of(&mut session, &texts).unwrap();
            assert_eq!(again, state, "{name}");
            assert_eq!(hasher.hash_one(&again), hasher.hash_one(&state));
            for role in reasoner::Role::all(reasoner.n_roles()) {
                session.legal_moves(&state, role, &mut moves).unwrap();
            }
        }
        for a_move in moves {
            let term = session.move_term(a_move);
            assert_eq!(session.move_of(&term), Ok(a_move), "{name}: {term}");
        }
    }
    for_all_games!(check);
}

#[test]
fn no_state_comes_twice_in_a_game() {
    fn check<R: Reasoner>(name: &str, reasoner: &Arc<R>) {
        let mut session = session_of(reasoner);
        for seed in 0..20 {
            let states = random_states(&mut session, seed);
            assert_eq!(states.iter().collect::<HashSet<_>>().len(), states.len(), "{name}");
        }
    }
    for_all_games!(check);
}

#[test]
fn moves_that_are_not_legal_and_joint_moves_of_the_wrong_length_do_no_harm() {
    fn check<R: Reasoner>(name: &str, reasoner: &Arc<R>) {
        let mut session = session_of(reasoner);
        let n_roles = reasoner.n_roles();
        for state in random_states(&mut session, 4).iter().step_by(11) {
            for given in [0, n_roles + 1] {
                let error = session.next_state(state, &vec![Move(0); given]);
                assert_eq!(error, Err(ReasonerError::JointMove { given, n_roles }), "{name}");
            }
            for number in (0..450).chain([65_535, 65_536, u32::MAX]) {
                let next = session.next_state(state, &vec![Move(number); n_roles]).unwrap();
                session.is_terminal(&next).unwrap();
                session.goals(&next, &mut Vec::new()).unwrap();
            }
        }
    }
    for_all_games!(check);
}

#[test]
fn what_is_no_fluent_or_move_is_told() {
    fn check<R: Reasoner>(name: &str, reasoner: &Arc<R>) {
        let mut session = session_of(reasoner);
        for text in ["z9", "(left)", "(mark 1 1)", "a01", "Noop"] {
            let term = Term::parse(text).unwrap();
            let unknown = |what| ReasonerError::Unknown { what, term: term.to_string() };
            assert_eq!(session.move_of(&term), Err(unknown("move")), "{name}");
            assert_eq!(session.state_of(std::slice::from_ref(&term)), Err(unknown("fluent")), "{name}");
        }
        let nothing = session.state_of(&[]);
        assert!(matches!(nothing, Err(ReasonerError::Engine(_))), "{name}");
    }
    for_all_games!(check);
}

#[test]
fn an_interrupted_session_says_so_and_answers_again_afterwards() {
    fn check<R: Reasoner>(name: &str, reasoner: &Arc<R>) {
        let interrupt = Interrupt::new();
        let mut session = reasoner.session(Limits::default(), &interrupt).unwrap();
        let root = session.initial_state().unwrap();
        interrupt.raise();
        let interrupted = Err(ReasonerError::Interrupted);
        assert_eq!(session.is_terminal(&root), interrupted, "{name}");
        let mut tally = Tally::new(reasoner.n_roles());
        assert_eq!(session.tally(&root, 1, 1_000_000_000, &mut tally), Err(ReasonerError::Interrupted));
        interrupt.lower();
        assert_eq!(session.is_terminal(&root), Ok(false));
    }
    for_all_games!(check);
}

/// Plays a rollout from some state of a random game, and demands that it keeps the rules.
fn demand_rollout<G: Game>(game: G, seeds: [u64; 2], step: usize) {
    let mut session = session(game);
    let states = random_states(&mut session, seeds[0]);
    let state = &states[step % states.len()];
    let mut played = Vec::new();
    let end = session.rollout_with(state, seeds[1], &mut Uniform, Some(&mut played)).unwrap();
    assert_eq!(end.goals.len(), G::ROLES.len());
    demand_played(&mut session, state, &played, &end.goals);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rollouts_of_any_size_from_anywhere_end_by_legal_moves(
        size in 2u16..=19, n_steps in 1u16..=400, seeds: [u64; 2], step in 0usize..1000
    ) {
        demand_rollout(LeftRight::new(n_steps), seeds, step);
        demand_rollout(Hex::new(size), seeds, step);
        demand_rollout(Go::new(size), seeds, step);
        demand_rollout(SameGame::random(size.min(15), size % 4 + 2, n_steps), seeds, step);
    }
}
