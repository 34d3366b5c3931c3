//! Plans can be played and come to what they say, and what is proved is what trying everything gives.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use gdl::{Description, ReadOptions, Rules, Term};
use proptest::prelude::{ProptestConfig, Strategy, prop_assert, prop_assert_eq, proptest};
use reasoner::{Expansion, Interrupt, Limits, Reasoner, ReasonerError, Role, Session, Value};
use reasoner_native::{Budget, Interpreter, InterpreterSession, Netlist};
use sat::{NoPuzzle, Outcome, Plan, Planner, Question, Verdict};
use testkit::Shared;

fn interpreter(text: &str) -> Arc<Interpreter> {
    let description = Description::read(text, ReadOptions::default()).unwrap();
    Arc::new(Interpreter::new(Arc::new(Rules::from_description(&description).unwrap())).unwrap())
}

fn limits() -> sat::Limits<'static> {
    sat::Limits { bytes: 1 << 30, go_on: &|| true }
}

fn session(interpreter: &Arc<Interpreter>) -> InterpreterSession {
    interpreter.session(Limits::default(), &Interrupt::new()).unwrap()
}

fn shipped(name: &str) -> Arc<Interpreter> {
    interpreter(games::find(name).unwrap().text)
}

/// All plans and the verdict, from the state of these moves.
fn plans(
    interpreter: &Arc<Interpreter>,
    played: &[&str],
    question: &Question<'_>,
) -> (Vec<(Vec<Term>, Value)>, Verdict) {
    let netlist = Netlist::new(interpreter, &Budget::default()).unwrap();
    let mut session = session(interpreter);
    let mut state = session.initial_state().unwrap();
    for text in played {
        let a_move = session.move_of(&Term::parse(text).unwrap()).unwrap();
        state = session.next_state(&state, &[a_move]).unwrap();
    }
    let mut fluents = Vec::new();
    session.fluents(&state, &mut fluents);
    let fluents: Vec<Term> = fluents.into_iter().map(|fluent| session.fluent_term(fluent)).collect();
    let given = (!played.is_empty()).then_some(&fluents[..]);
    let planner = Planner::new(&netlist, given, limits()).unwrap();
    let mut plans: Vec<(Vec<Term>, Value)> = Vec::new();
    let Outcome { verdict, .. } = planner.run(question, |Plan { moves, value }| {
        plans.push((moves.into_iter().map(|a_move| netlist.moves()[a_move].term.clone()).collect(), value));
    });
    for (moves, value) in &plans {
        assert_eq!(value_of(&mut session, &state, moves), *value);
    }
    assert!(plans.windows(2).all(|pair| pair[0].1 < pair[1].1), "each is better than the one before");
    (plans, verdict)
}

/// What a line comes to, which must be legal and end the game, or get stuck, not before its end.
fn value_of(
    session: &mut InterpreterSession,
    from: &<InterpreterSession as Session>::State,
    line: &[Term],
) -> Value {
    let mut state = from.clone();
    let mut expansion = Expansion::default();
    for term in line {
        session.expand(&state, &mut expansion).unwrap();
        assert!(!expansion.terminal);
        let a_move = session.move_of(term).unwrap();
        assert!(expansion.moves_of(Role(0)).contains(&a_move), "{term} is not legal");
        state = session.next_state(&state, &[a_move]).unwrap();
    }
    match session.expand(&state, &mut expansion) {
        Err(ReasonerError::NotPlayable { .. }) => session.goals(&state, &mut expansion.goals).unwrap(),
        expanded => assert!(expanded.map(|()| expansion.terminal).unwrap()),
    }
    expansion.goals[0].at_end().unwrap_or(0)
}

#[test]
fn shipped_puzzles_are_solved_and_the_optimum_proved() {
    for (name, optimum) in [("hanoi", 100), ("lights-out", 100), ("left-right", 100)] {
        let (plans, verdict) = plans(&shipped(name), &[], &Question::default());
        assert_eq!((plans.last().map(|plan| plan.1), verdict), (Some(optimum), Verdict::Proved), "{name}");
    }
}

#[test]
fn plans_begin_in_any_state() {
    let (from_start, _) = plans(&shipped("lights-out"), &[], &Question::default());
    let line: Vec<String> = from_start.last().unwrap().0.iter().map(Term::to_string).collect();
    let played: Vec<&str> = line[..2].iter().map(String::as_str).collect();
    let (rest, verdict) = plans(&shipped("lights-out"), &played, &Question::default());
    assert_eq!((rest.last().unwrap().1, verdict), (100, Verdict::Proved));
    assert!(rest.last().unwrap().0.len() <= line.len() - 2);
}

#[test]
fn games_of_more_roles_are_no_puzzles() {
    let netlist = Netlist::new(&shipped("tic-tac-toe"), &Budget::default()).unwrap();
    assert_eq!(Planner::new(&netlist, None, limits()).err(), Some(NoPuzzle::Roles(2)));
}

#[test]
fn only_what_is_better_than_known_is_told() {
    let interpreter = shipped("left-right");
    let netlist = Netlist::new(&interpreter, &Budget::default()).unwrap();
    let mut told = Vec::new();
    let planner = Planner::new(&netlist, None, limits()).unwrap();
    let outcome =
        planner.run(&Question { least: &|| Some(98), ..Question::default() }, |plan| told.push(plan.value));
    assert_eq!(outcome.verdict, Verdict::Proved);
    assert!(told.iter().all(|&value| value > 98) && told.last() == Some(&100));
    let planner = Planner::new(&netlist, None, limits()).unwrap();
    let best = Question { least: &|| Some(100), ..Question::default() };
    assert_eq!(planner.run(&best, |_| panic!("nothing is better")).verdict, Verdict::Proved);
}

#[test]
fn limits_end_a_search() {
    let interpreter = shipped("knights-tour");
    let netlist = Netlist::new(&interpreter, &Budget::default()).unwrap();
    let asked = |limits, question: &Question<'_>| {
        Planner::new(&netlist, None, limits).unwrap().run(question, |_| ()).verdict
    };
    let run = |limits| asked(limits, &Question::default());
    assert_eq!(run(sat::Limits { bytes: 10_000, ..limits() }), Verdict::OutOfMemory);
    assert_eq!(run(sat::Limits { go_on: &|| false, ..limits() }), Verdict::Stopped);
    assert_eq!(asked(limits(), &Question { max_steps: 1, ..Question::default() }), Verdict::TooLong);
}

/// A puzzle of nodes: move `m` leads from node `i` to `ways[i][m]`, if that is somewhere.
#[derive(Debug, Clone)]
struct Maze {
    ways: Vec<Vec<Option<usize>>>,
    goals: Vec<Value>,
    ends: Vec<bool>,
    /// Steps after which the game is over, where there are any.
    limit: Option<usize>,
}

impl Maze {
    fn text(&self) -> String {
        let mut text = "(role walker) (init (at 0)) (init (step 0))\n\
            (<= (legal walker ?m) (true (at ?a)) (way ?a ?m ?b))\n\
            (<= (next (at ?b)) (true (at ?a)) (does walker ?m) (way ?a ?m ?b))\n\
            (<= terminal (true (at ?a)) (end ?a))\n\
            (<= (goal walker ?v) (true (at ?a)) (worth ?a ?v))\n"
            .to_owned();
        if let Some(limit) = self.limit {
            text.push_str("(<= (next (step ?m)) (true (step ?n)) (after ?n ?m))\n");
            (0..limit).for_each(|step| writeln!(text, "(after {step} {})", step + 1).unwrap());
            writeln!(text, "(<= terminal (true (step {limit})))").unwrap();
        }
        for (from, ways) in self.ways.iter().enumerate() {
            writeln!(text, "(worth {from} {})", self.goals[from]).unwrap();
            if self.ends[from] {
                writeln!(text, "(end {from})").unwrap();
            }
            for (a_move, to) in ways.iter().enumerate().filter_map(|(a_move, to)| Some((a_move, (*to)?))) {
                writeln!(text, "(way {from} {a_move} {to})").unwrap();
            }
        }
        text
    }

    /// The best goal of any way to an end within so many steps.
    fn optimum(&self, max_steps: usize) -> Option<Value> {
        let mut level = HashSet::from([0]);
        let mut best = None;
        for step in 0..=max_steps {
            let is_stuck = |node: usize| self.ways[node].iter().all(Option::is_none);
            let is_over = |&node: &usize| self.ends[node] || self.limit == Some(step) || is_stuck(node);
            let (over, on): (HashSet<usize>, _) = level.into_iter().partition(is_over);
            best = best.max(over.into_iter().map(|node| self.goals[node]).max());
            level = on.iter().flat_map(|&node| self.ways[node].iter().flatten().copied()).collect();
        }
        best
    }
}

fn maze() -> impl Strategy<Value = Maze> {
    (2usize..9, 1usize..10).prop_flat_map(|(n_nodes, n_moves)| {
        let ways = proptest::collection::vec(
            proptest::collection::vec(proptest::option::weighted(0.4, 0..n_nodes), n_moves),
            n_nodes,
        );
        let goals = proptest::collection::vec(0u32..=100, n_nodes);
        let ends = proptest::collection::vec(proptest::bool::weighted(0.3), n_nodes);
        let limit = proptest::option::weighted(0.8, 1usize..8);
        (ways, goals, ends, limit).prop_map(|(ways, goals, ends, limit)| Maze { ways, goals, ends, limit })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_proved_is_what_trying_everything_gives(maze in maze(), usual_steps in 0usize..10) {
        const MAX_STEPS: usize = 20;
        let question = Question { max_steps: MAX_STEPS, usual_steps, ..Question::default() };
        let (plans, verdict) = plans(&interpreter(&maze.text()), &[], &question);
        let best = plans.last().map(|plan| plan.1);
        prop_assert_eq!(best, maze.optimum(MAX_STEPS));
        // After as many steps as there are nodes all ends were seen.
        prop_assert!(verdict == Verdict::Proved || (verdict == Verdict::TooLong && maze.limit.is_none()));
    }
}

#[test]
fn published_puzzles_have_their_known_optimum() {
    let Some(shared) = Shared::find_or_skip() else { return };
    for (name, optimum) in [
        ("duplicateStateLarge", 100),
        ("asteroidsSerial", 100),
        ("asteroidsParallel", 100),
        ("duplicateStateMedium", 100),
    ] {
        let rules = shared.game(name).unwrap();
        let (plans, verdict) = plans(&Arc::new(Interpreter::new(rules).unwrap()), &[], &Question::default());
        assert_eq!((plans.last().map(|plan| plan.1), verdict), (Some(optimum), Verdict::Proved), "{name}");
    }
}
