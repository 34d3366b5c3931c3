//! A thinker whose reasoner panics.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gdl::{Description, ReadOptions, Rules, Term};
use reasoner::{Fluent, GoalAnswer, Interrupt, Limits, Move, Reasoner, ReasonerError, Role, Session};
use reasoner_native::{FactSet, Interpreter, InterpreterSession};

use super::clock::Deadlines;
use super::desk::Desk;
use super::orders::Orders;
use super::thinker::{Job, Thinking};
use crate::brain::Brain;
use crate::protocol::message::{Report, Request};
use crate::reasoners::WithReasoner;

/// An interpreter that panics once, in a search.
#[derive(Debug)]
struct Stumbling {
    interpreter: Arc<Interpreter>,
    has_stumbled: Arc<AtomicBool>,
}

struct StumblingSession {
    inner: InterpreterSession,
    has_stumbled: Arc<AtomicBool>,
}

impl Reasoner for Stumbling {
    type State = FactSet;
    type Session = StumblingSession;

    fn name(&self) -> &'static str {
        "stumbling"
    }

    fn roles(&self) -> &[Term] {
        self.interpreter.roles()
    }

    fn session(
        self: &Arc<Self>,
        limits: Limits,
        interrupt: &Interrupt,
    ) -> Result<StumblingSession, ReasonerError> {
        let inner = self.interpreter.session(limits, interrupt)?;
        Ok(StumblingSession { inner, has_stumbled: Arc::clone(&self.has_stumbled) })
    }
}

impl Session for StumblingSession {
    type State = FactSet;

    fn roles(&self) -> &[Term] {
        self.inner.roles()
    }

    fn initial_state(&mut self) -> Result<FactSet, ReasonerError> {
        self.inner.initial_state()
    }

    fn state_of(&mut self, fluents: &[Term]) -> Result<FactSet, ReasonerError> {
        self.inner.state_of(fluents)
    }

    fn is_terminal(&mut self, state: &FactSet) -> Result<bool, ReasonerError> {
        self.inner.is_terminal(state)
    }

    fn legal_moves(
        &mut self,
        state: &FactSet,
        role: Role,
        legal: &mut Vec<Move>,
    ) -> Result<(), ReasonerError> {
        self.inner.legal_moves(state, role, legal)
    }

    fn next_state(&mut self, state: &FactSet, joint_move: &[Move]) -> Result<FactSet, ReasonerError> {
        let is_search = std::thread::current().name().is_some_and(|name| name.starts_with("search"));
        assert!(!is_search || self.has_stumbled.swap(true, Ordering::Relaxed), "it stumbles");
        self.inner.next_state(state, joint_move)
    }

    fn goals(&mut self, state: &FactSet, goals: &mut Vec<GoalAnswer>) -> Result<(), ReasonerError> {
        self.inner.goals(state, goals)
    }

    fn fluents(&mut self, state: &FactSet, fluents: &mut Vec<Fluent>) {
        self.inner.fluents(state, fluents);
    }

    fn fluent_term(&mut self, fluent: Fluent) -> Term {
        self.inner.fluent_term(fluent)
    }

    fn move_term(&mut self, a_move: Move) -> Term {
        self.inner.move_term(a_move)
    }

    fn move_of(&mut self, term: &Term) -> Result<Move, ReasonerError> {
        self.inner.move_of(term)
    }
}

/// The second move wins.
const CHOICE: &str = "(role a) (role b) (init start) (legal a bad) (legal a good) (legal b wait) (<= (next over) (true start)) \
    (<= (next won) (does a good)) (<= terminal (true over)) (<= (goal a 100) (true won)) (<= (goal a 0) (not (true won))) (goal b 50)";

/// What is answered to the first PLAY, and whether a search has panicked by then.
fn answer(settings: &str) -> (String, bool) {
    let description = Description::read(CHOICE, ReadOptions::default()).unwrap();
    let rules = Arc::new(Rules::from_description(&description).unwrap());
    let has_stumbled = Arc::<AtomicBool>::default();
    let interpreter = Arc::new(Interpreter::new(rules).unwrap());
    let reasoner = Arc::new(Stumbling { interpreter, has_stumbled: Arc::clone(&has_stumbled) });
    let Ok(Request::Start(start)) = Request::parse(&format!("( START m a ({CHOICE}) 1 1)")) else {
        panic!("a START is one");
    };
    let (desk, orders) = (Arc::<Desk>::default(), Arc::<Orders>::default());
    let now = Instant::now();
    let job = Job {
        start: *start,
        reading: ReadOptions::default(),
        brain: Brain::parse(settings).unwrap(),
        // There is no time to search before the first PLAY.
        deadlines: Deadlines { search: now, answer: now },
        desk: Arc::clone(&desk),
        orders: Arc::clone(&orders),
        gone: Interrupt::new(),
    };
    let outsiders = single::Outsiders::default();
    std::thread::scope(|scope| {
        let thinking = Thinking { job: &job, started: now, outsiders: &outsiders };
        let thinker = scope.spawn(move || thinking.run(reasoner).map_err(|error| error.to_string()));
        let search = Instant::now() + Duration::from_millis(500);
        let turn =
            orders.give(Report { id: "m".into(), joint_move: None }, Deadlines { search, answer: search });
        let picked = desk.wait(turn, Instant::now() + Duration::from_secs(60));
        orders.close();
        thinker.join().unwrap().unwrap();
        (picked.answer.expect("there is a legal move").to_string(), has_stumbled.load(Ordering::Relaxed))
    })
}

#[test]
fn a_search_that_fails_is_tried_again_in_the_same_turn() {
    assert_eq!(answer("threads=1,memory=16M,ponder=off"), ("good".to_owned(), true));
}

#[test]
fn a_search_that_fails_is_not_tried_again_where_its_work_is_limited() {
    assert_eq!(answer("threads=1,memory=16M,ponder=off,playouts=1000"), ("bad".to_owned(), true));
}
