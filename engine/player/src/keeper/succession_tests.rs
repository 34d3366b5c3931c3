//! Matches that begin with the interpreter and go on with the propnet, at moments that the tests choose.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gdl::{Description, ReadOptions, Rules, Term};
use reasoner::{Dice, Interrupt, Limits, Move, Reasoner, ReasonerError, Role, Session};
use reasoner_native::{Budget, Evaluation, FactSet, Interpreter, InterpreterSession, Propnet};

use super::clock::Deadlines;
use super::desk::Desk;
use super::orders::Orders;
use super::succession::Succession;
use super::thinker::{Beginning, Job, Thinking};
use crate::brain::Brain;
use crate::building::Building;
use crate::protocol::message::{Report, Request, Start};
use crate::reasoners::WithSuccessor;

/// Two roles count, each by one or by two, at the same time; a counter of steps goes along.
const RACE: &str = "(role a) (role b) (init (at a 0)) (init (at b 0)) (init (step 0)) \
    (sum 0 1 1) (sum 1 1 2) (sum 2 1 3) (sum 3 1 4) (sum 4 1 5) (sum 5 1 6) (sum 6 1 7) (sum 7 1 8) \
    (sum 0 2 2) (sum 1 2 3) (sum 2 2 4) (sum 3 2 5) (sum 4 2 6) (sum 5 2 7) (sum 6 2 8) \
    (<= (legal ?r (go ?n)) (true (at ?r ?x)) (sum ?x ?n ?y)) (<= (legal ?r rest) (role ?r)) \
    (<= (next (at ?r ?y)) (does ?r (go ?n)) (true (at ?r ?x)) (sum ?x ?n ?y) (not (clash ?r ?n))) \
    (<= (next (at ?r ?x)) (does ?r (go ?n)) (true (at ?r ?x)) (clash ?r ?n)) \
    (<= (next (at ?r ?x)) (does ?r rest) (true (at ?r ?x))) \
    (<= (clash ?r 2) (does ?r (go 2)) (does ?o (go 2)) (distinct ?r ?o)) \
    (<= (next (step ?y)) (true (step ?x)) (sum ?x 1 ?y)) (<= terminal (true (step 7))) \
    (<= (ahead ?r) (true (at ?r ?x)) (true (at ?o ?y)) (distinct ?r ?o) (more ?x ?y)) \
    (<= (more ?x ?y) (sum ?y 1 ?x)) (<= (more ?x ?y) (sum ?z 1 ?x) (more ?z ?y)) \
    (<= (goal ?r 100) (ahead ?r)) (<= (goal ?r 0) (role ?r) (not (ahead ?r)))";

/// One role turns eight wheels of thirty: some 10^11 fluents, one of which holds.
const WHEELS: &str = "(role r) (init (at 0 0 0 0 0 0 0 0)) (init (step 0)) (<= terminal (true (step 5))) (goal r 50) \
    (<= (legal r (turn ?i)) (wheel ?i)) (wheel 1) (wheel 5) (wheel 8) \
    (<= (next (step ?y)) (true (step ?x)) (then ?x ?y)) \
    (<= (next (at ?n ?b ?c ?d ?e ?f ?g ?h)) (does r (turn 1)) (true (at ?a ?b ?c ?d ?e ?f ?g ?h)) (turned ?a ?n)) \
    (<= (next (at ?a ?b ?c ?d ?n ?m ?g ?h)) (does r (turn 5)) (true (at ?a ?b ?c ?d ?e ?f ?g ?h)) (turned ?e ?n) (turned ?c ?m)) \
    (<= (next (at ?b ?a ?d ?c ?e ?h ?f ?n)) (does r (turn 8)) (true (at ?a ?b ?c ?d ?e ?f ?g ?h)) (turned ?h ?n)) \
    (<= (turned ?x ?y) (then ?x ?y)) (turned 29 0)";

/// The numbers below thirty, one after the other.
fn counting() -> String {
    (0..29).map(|x| format!("(then {x} {}) ", x + 1)).collect()
}

/// When the manager's side lets the propnet be ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ready {
    /// While START is answered.
    AtStart,
    /// While the move of this step, from 1, is thought about.
    InStep(u64),
    /// Before the PLAY for this step is sent.
    Before(u64),
    Never,
}

/// A match from the manager's side; the interpreter says what is legal.
struct Table {
    session: InterpreterSession,
    state: FactSet,
    /// Of the thinker's side.
    desk: Arc<Desk>,
    orders: Arc<Orders>,
    gone: Interrupt,
    thinker: Option<JoinHandle<()>>,
    /// Opens the gate before the propnet.
    open: Sender<()>,
    /// Says that the propnet is there, or that there is none.
    announced: Receiver<()>,
    /// Whether there will be one.
    has_propnet: bool,
}

/// A moment that does not come.
fn far() -> Instant {
    Instant::now() + Duration::from_secs(600)
}

/// Long enough for a search to be interrupted.
const CLOCK: Duration = Duration::from_millis(600);

impl Table {
    /// Begins a match of the first role.
    fn begin(text: &str, settings: &str, budget: fn() -> Budget) -> Table {
        let description = Description::read(text, ReadOptions::default()).unwrap();
        let rules = Arc::new(Rules::from_description(&description).unwrap());
        let role = rules.roles()[0].clone();
        let interpreter = Arc::new(Interpreter::new(rules).unwrap());
        let mut session = interpreter.session(Limits::default(), &Interrupt::new()).unwrap();
        let state = session.initial_state().unwrap();
        let (desk, orders, gone) = (Arc::<Desk>::default(), Arc::<Orders>::default(), Interrupt::new());
        let (open, gate) = mpsc::channel();
        let (done, announced) = mpsc::channel();
        let Ok(Request::Start(start)) = Request::parse(&format!("( START m {role} ({text}) 1 1)")) else {
            panic!("a START is one");
        };
        let job = job(*start, settings, &desk, &orders, &gone);
        let thinker = std::thread::spawn(move || think(&job, &interpreter, gate, done, budget));
        let has_propnet = text == RACE;
        Table { session, state, desk, orders, gone, thinker: Some(thinker), open, announced, has_propnet }
    }

    /// What the player answers to the next PLAY, and all legal moves.
    fn ask(&mut self, step: u64, last: Option<&[Term]>, ready: Ready) -> (Term, Vec<Vec<Move>>) {
        if ready == Ready::Before(step) {
            self.open.send(()).unwrap();
            self.wait_for_news();
        }
        let joint_move = last.map(|moves| moves.iter().cloned().map(Some).collect());
        let search = Instant::now() + CLOCK;
        let turn =
            self.orders.give(Report { id: "m".into(), joint_move }, Deadlines { search, answer: search });
        if ready == Ready::InStep(step) {
            // A search is under way when it comes.
            std::thread::sleep(CLOCK / 6);
            self.open.send(()).unwrap();
        }
        let picked = self.desk.wait(turn, far());
        if ready == Ready::InStep(step) {
            self.wait_for_news();
        }
        let answer = picked.answer.expect("there is an answer");
        let legal = Role::all(self.session.roles().len()).map(|role| {
            let mut legal = Vec::new();
            self.session.legal_moves(&self.state, role, &mut legal).unwrap();
            legal
        });
        (answer, legal.collect())
    }

    /// Waits until the thinker has heard what became of the propnet, and has done what it does about it.
    fn wait_for_news(&self) {
        self.announced.recv().unwrap();
        while self.orders.has_news() || (self.has_propnet && self.desk.reasoners().len() < 2) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Plays to the end: the player's moves, and random ones of the others. The number of moves.
    fn play(&mut self, ready: Ready) -> u64 {
        let mut dice = Dice::new(1);
        if ready == Ready::AtStart {
            self.open.send(()).unwrap();
        }
        self.desk.wait(0, far());
        let mut last: Option<Vec<Term>> = None;
        for step in 1.. {
            if self.session.is_terminal(&self.state).unwrap() {
                return step - 1;
            }
            let (answer, legal) = self.ask(step, last.as_deref(), ready);
            let own = legal[0].iter().find(|&&own| self.session.move_term(own) == answer);
            let own = *own.unwrap_or_else(|| panic!("step {step}: {answer} is legal"));
            let others = legal[1..].iter().map(|legal| legal[dice.below(legal.len())]);
            let joint_move: Vec<Move> = std::iter::once(own).chain(others).collect();
            last = Some(joint_move.iter().map(|&it| self.session.move_term(it)).collect());
            self.state = self.session.next_state(&self.state, &joint_move).unwrap();
        }
        unreachable!("steps have no end")
    }

    /// Ends the match, and waits until its threads are gone.
    fn end(&mut self) -> Vec<(String, u64)> {
        self.gone.raise();
        self.orders.close();
        self.thinker.take().unwrap().join().unwrap();
        self.desk.reasoners().into_iter().map(|it| (it.reasoner, it.turn)).collect()
    }
}

fn job(start: Start, settings: &str, desk: &Arc<Desk>, orders: &Arc<Orders>, gone: &Interrupt) -> Job {
    let search = Instant::now() + CLOCK;
    Job {
        start,
        reading: ReadOptions::default(),
        brain: Brain::parse(settings).unwrap(),
        deadlines: Deadlines { search, answer: search },
        desk: Arc::clone(desk),
        orders: Arc::clone(orders),
        gone: gone.clone(),
    }
}

/// The thinker's thread: the propnet is built once the gate is open.
fn think(
    job: &Job,
    interpreter: &Arc<Interpreter>,
    gate: Receiver<()>,
    done: Sender<()>,
    budget: fn() -> Budget,
) {
    let cancel = Interrupt::new();
    let (theirs, origin, orders) = (cancel.clone(), Arc::clone(interpreter), Arc::clone(&job.orders));
    let build = move || {
        while gate.recv_timeout(Duration::from_millis(5)).is_err() {
            if theirs.is_raised() {
                return Err(ReasonerError::Interrupted);
            }
        }
        Propnet::new(&origin, &Budget { interrupt: theirs, ..budget() }, Evaluation::Sliced)
    };
    let when_done = move || {
        orders.announce();
        // A test that does not wait for it may be over.
        let _ = done.send(());
    };
    let building = Building::begin(cancel, None, build, when_done).unwrap();
    let succession = Succession::of(&job.brain, CLOCK, 64);
    let outsiders = single::Outsiders::default();
    let thinking = Thinking { job, started: Instant::now(), outsiders: &outsiders };
    let beginning = Beginning { thinking, succession };
    beginning.run(Arc::clone(interpreter), building).unwrap();
}

fn seats(seats: &[(&str, u64)]) -> Vec<(String, u64)> {
    seats.iter().map(|&(reasoner, turn)| (reasoner.to_owned(), turn)).collect()
}

/// The reasoner changes at every kind of moment of a game in which both move at once; every move is legal, and the match
/// has its steps.
#[test]
fn a_match_begins_with_the_interpreter_and_ends_with_the_propnet() {
    for (ready, turn) in [
        (Ready::AtStart, 0),
        (Ready::Before(1), 0),
        (Ready::Before(4), 3),
        (Ready::InStep(2), 2),
        (Ready::InStep(5), 5),
    ] {
        let mut table = Table::begin(RACE, "threads=2,memory=64M", Budget::default);
        assert_eq!(table.play(ready), 7, "{ready:?}");
        assert_eq!(table.end(), seats(&[("interpreter", 0), ("propnet", turn)]), "{ready:?}");
    }
}

#[test]
fn a_match_without_a_propnet_is_played_by_the_interpreter() {
    let mut table = Table::begin(RACE, "memory=64M", Budget::default);
    assert_eq!(table.play(Ready::Never), 7);
    assert_eq!(table.end(), seats(&[("interpreter", 0)]));
}

/// What cannot be grounded within the memory is played on as it began, also when that turns out in a search.
#[test]
fn rules_that_explode_are_played_by_the_interpreter() {
    let rules = counting() + WHEELS;
    for ready in [Ready::AtStart, Ready::InStep(2)] {
        let small = || Budget { bytes: 16 << 20, ..Budget::default() };
        let mut table = Table::begin(&rules, "memory=64M", small);
        assert_eq!(table.play(ready), 5, "{ready:?}");
        assert_eq!(table.end(), seats(&[("interpreter", 0)]), "{ready:?}");
    }
}

/// The thinker's thread waits for the one that builds, so it ends only if that ends.
#[test]
fn building_that_would_go_on_for_ever_ends_with_the_match() {
    let mut table = Table::begin(&(counting() + WHEELS), "memory=64M", Budget::default);
    table.open.send(()).unwrap();
    table.desk.wait(0, far());
    let (answer, legal) = table.ask(1, None, Ready::Never);
    let texts: BTreeSet<Term> = legal[0].iter().map(|&it| table.session.move_term(it)).collect();
    assert!(texts.contains(&answer), "{answer}");
    assert_eq!(table.end(), seats(&[("interpreter", 0)]));
}

/// What no legal move leads to can be reported all the same.
#[test]
fn a_position_that_the_propnet_does_not_know_stays_with_the_interpreter() {
    let rules = RACE.replace(
        "(<= (legal ?r rest) (role ?r))",
        "(<= (legal ?r rest) (role ?r)) (<= (next (odd ?m)) (does a ?m) (sum ?m ?m ?m))",
    ) + " (sum strange strange strange)";
    let mut table = Table::begin(&rules, "memory=64M", Budget::default);
    table.desk.wait(0, far());
    table.ask(1, None, Ready::Never);
    // Not legal, but the rules say what comes of it: a fact that no legal move leads to.
    let strange = ["strange", "rest"].map(|text| Term::parse(text).unwrap());
    let joint_move = Some(strange.iter().cloned().map(Some).collect());
    let search = Instant::now() + CLOCK;
    let turn = table.orders.give(Report { id: "m".into(), joint_move }, Deadlines { search, answer: search });
    assert!(table.desk.wait(turn, far()).answer.is_some());
    table.open.send(()).unwrap();
    table.wait_for_news();
    assert_eq!(table.end(), seats(&[("interpreter", 0)]));
}

/// In each of three steps the first of two moves spoils it.
const TEMPTING: &str = "(role a) (role b) (init (step 0)) (then 0 1) (then 1 2) (then 2 3) \
    (legal a bad) (legal a good) (legal b wait) (<= (next (step ?y)) (true (step ?x)) (then ?x ?y)) \
    (<= (next spoilt) (does a bad)) (<= (next spoilt) (true spoilt)) (<= terminal (true (step 3))) \
    (<= (goal a 0) (true spoilt)) (<= (goal a 100) (not (true spoilt))) (goal b 50)";

/// A turn for which there is no time is answered by what earlier ones have found.
#[test]
fn what_is_known_is_answered_where_there_is_no_search() {
    let mut table = Table::begin(TEMPTING, "memory=64M", Budget::default);
    table.desk.wait(0, far());
    let played = |moves: [&str; 2]| moves.map(|text| Some(Term::parse(text).unwrap())).to_vec();
    // The third has time, and is not asked for.
    let then = || Some(played(["good", "wait"]));
    let [first, second, _] = [None, then(), then()].map(|joint_move| {
        let search = Instant::now() + CLOCK;
        table.orders.give(Report { id: "m".into(), joint_move }, Deadlines { search, answer: search })
    });
    for turn in [first, second] {
        let picked = table.desk.wait(turn, far());
        assert_eq!(picked.answer.map(|answer| answer.to_string()).as_deref(), Some("good"), "turn {turn}");
    }
    table.end();
}
