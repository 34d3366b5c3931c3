//! What the tests of all games share.

use std::collections::BTreeMap;
use std::sync::Arc;

use bench::games::{Game, InRust, InRustSession};
use gdl::Term;
use reasoner::perft::{Perft, perft};
use reasoner::{
    Expansion, GoalAnswer, Interrupt, Limits, Lot, Move, Policy, Reasoner, Role, Session, Uniform, Value,
};
use statrs::distribution::{ChiSquared, ContinuousCDF};

pub fn session<G: Game>(game: G) -> InRustSession<G> {
    Arc::new(InRust::new(game)).session(Limits::default(), &Interrupt::new()).unwrap()
}

/// The counts of the whole tree, or of the first levels.
pub fn perft_of<G: Game>(game: G, depth: u32) -> Perft {
    let mut session = session(game);
    let root = session.initial_state().unwrap();
    perft(&mut session, &root, depth, &Interrupt::new(), |_, _| ()).unwrap()
}

/// A state's fluents as sorted texts.
pub fn fluent_texts<S: Session>(session: &mut S, state: &S::State) -> Vec<String> {
    let mut fluents = Vec::new();
    session.fluents(state, &mut fluents);
    assert!(fluents.is_sorted() && !fluents.is_empty());
    let mut texts: Vec<String> =
        fluents.into_iter().map(|fluent| session.fluent_term(fluent).to_string()).collect();
    texts.sort_unstable();
    texts
}

/// The state of some fluents, which are spelled as in KIF.
pub fn state_of<S: Session>(session: &mut S, fluents: &[impl AsRef<str>]) -> Result<S::State, String> {
    let terms: Vec<Term> = fluents.iter().map(|text| Term::parse(text.as_ref()).unwrap()).collect();
    session.state_of(&terms).map_err(|error| error.to_string())
}

/// The names of a role's legal moves, sorted.
pub fn legal_names<S: Session>(session: &mut S, state: &S::State, role: Role) -> Vec<String> {
    let mut moves = Vec::new();
    session.legal_moves(state, role, &mut moves).unwrap();
    names(session, &moves)
}

/// The names of moves, sorted.
pub fn names<S: Session>(session: &mut S, moves: &[Move]) -> Vec<String> {
    let mut names: Vec<String> = moves.iter().map(|&a_move| session.move_term(a_move).to_string()).collect();
    names.sort_unstable();
    names
}

pub fn move_named<S: Session>(session: &mut S, name: &str) -> Move {
    session.move_of(&Term::Name(name.into())).unwrap()
}

/// The state after the moves of `names`, in turns from `role` on.
pub fn play<S: Session>(session: &mut S, state: &S::State, role: usize, names: &[&str]) -> S::State {
    let mut state = state.clone();
    for (idx, name) in names.iter().enumerate() {
        let mover = (role + idx) % 2;
        assert!(
            legal_names(session, &state, Role(mover as u32)).contains(&(*name).to_owned()),
            "{name} is not legal in {:?}",
            fluent_texts(session, &state)
        );
        let mut joint_move = [move_named(session, "noop"); 2];
        joint_move[mover] = move_named(session, name);
        state = session.next_state(&state, &joint_move).unwrap();
    }
    state
}

/// The goals of a terminal state.
pub fn final_goals<S: Session>(session: &mut S, state: &S::State) -> Vec<Value> {
    let mut expansion = Expansion::default();
    session.expand(state, &mut expansion).unwrap();
    assert!(expansion.terminal);
    expansion.goals.iter().map(|goal| goal.only().unwrap()).collect()
}

/// The states of a random game, the first and the last among them.
pub fn random_states<S: Session>(session: &mut S, seed: u64) -> Vec<S::State> {
    let mut states = vec![session.initial_state().unwrap()];
    let n_roles = session.roles().len();
    let mut played = Vec::new();
    session.rollout_with(&states[0].clone(), seed, &mut Uniform, Some(&mut played)).unwrap();
    for joint_move in played.chunks(n_roles) {
        let next = session.next_state(&states[states.len() - 1], joint_move).unwrap();
        states.push(next);
    }
    states
}

/// Demands that moves which a session says it played are legal, end the game, not before, and come to these goals.
pub fn demand_played<S: Session>(session: &mut S, from: &S::State, played: &[Move], goals: &[Value]) {
    let mut state = from.clone();
    let mut expansion = Expansion::default();
    for joint_move in played.chunks(session.roles().len()) {
        session.expand(&state, &mut expansion).unwrap();
        assert!(!expansion.terminal);
        for (role, a_move) in Role::all(joint_move.len()).zip(joint_move) {
            assert!(expansion.moves_of(role).contains(a_move), "{a_move:?} of {expansion:?}");
        }
        state = session.next_state(&state, joint_move).unwrap();
    }
    session.expand(&state, &mut expansion).unwrap();
    assert!(expansion.terminal);
    let answers: Vec<GoalAnswer> = goals.iter().map(|&goal| GoalAnswer::One(goal)).collect();
    assert_eq!(expansion.goals, answers);
}

/// Calls a function with the moves that a rollout chooses among, and plays one of them at random.
pub struct Watching<F>(pub F);

impl<F: FnMut(Role, &[Move])> Policy for Watching<F> {
    fn choose(&mut self, role: Role, legal: &[Move], lot: Lot) -> usize {
        (self.0)(role, legal);
        lot.below(legal.len())
    }
}

/// Demands that two samples can come from one distribution: the chi-square test of homogeneity, with kinds that are
/// seldom taken together. One in 10 000 right samples would fail, but seeds are fixed.
pub fn demand_same_distribution<K: Ord>(one: impl Iterator<Item = K>, other: impl Iterator<Item = K>) {
    let mut counts: BTreeMap<K, [f64; 2]> = BTreeMap::new();
    one.for_each(|kind| counts.entry(kind).or_default()[0] += 1.0);
    other.for_each(|kind| counts.entry(kind).or_default()[1] += 1.0);
    let (often, seldom): (Vec<[f64; 2]>, Vec<[f64; 2]>) =
        counts.into_values().partition(|counts| counts[0] + counts[1] >= 20.0);
    let rest = seldom.iter().fold([0.0; 2], |sum, counts| [sum[0] + counts[0], sum[1] + counts[1]]);
    let kinds: Vec<[f64; 2]> = often.into_iter().chain((rest[0] + rest[1] >= 20.0).then_some(rest)).collect();
    assert!(kinds.len() >= 4, "too few kinds to tell anything");
    let totals = [0, 1].map(|sample| kinds.iter().map(|counts| counts[sample]).sum::<f64>());
    let all = totals[0] + totals[1];
    let statistic: f64 = kinds
        .iter()
        .flat_map(|counts| {
            [0, 1].map(|sample| (counts[sample], (counts[0] + counts[1]) * totals[sample] / all))
        })
        .map(|(observed, expected)| (observed - expected).powi(2) / expected)
        .sum();
    let limit = ChiSquared::new(kinds.len() as f64 - 1.0).unwrap().inverse_cdf(0.9999);
    assert!(statistic < limit, "chi-square {statistic} of {} kinds, above {limit}", kinds.len());
}
