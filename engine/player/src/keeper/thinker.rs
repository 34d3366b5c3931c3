//! The thread that thinks in a match: set-up, one search per turn, and the opponents' time in between.
//!
//! In go orders, out come offers on the desk. A legal move lies there before the search begins, and is only
//! ever replaced by what the search found better. Whatever fails here, the desk keeps what it has. Under `auto` it begins
//! with one reasoner and changes to another when that is built: between two moves or in the middle of a search.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gdl::{Description, ReadOptions, Rules, Term};
use reasoner::{Interrupt, Move, Reasoner, ReasonerError};
use search::Budget;
use single::Outsiders;
use tracing::{info, info_span, warn};

use super::bank::Bank;
use super::clerk::Clerk;
use super::clock::Deadlines;
use super::desk::Desk;
use super::mind::{Ground, Mind, Thought};
use super::orders::{Next, Orders};
use super::seat::{JointTerms, Seat, SeatError};
use super::succession::{Succession, n_cores};
use crate::brain::Brain;
use crate::building::Building;
use crate::protocol::message::Start;
use crate::reasoners::{self, Audience, ReasonerKind, SetUp, Share, WithReasoner, WithSuccessor};

/// What a thinker needs of its match.
#[derive(Debug)]
pub struct Job {
    /// The START message.
    pub start: Start,
    /// How names are read.
    pub reading: ReadOptions,
    /// How to think.
    pub brain: Brain,
    /// When START has to be answered.
    pub deadlines: Deadlines,
    /// Where answers go.
    pub desk: Arc<Desk>,
    /// Where turns come from.
    pub orders: Arc<Orders>,
    /// Raised when the match is over.
    pub gone: Interrupt,
}

impl Job {
    /// How long reclaiming memory may hold an answer up: an order that comes meanwhile must wait for it.
    fn max_pause(&self) -> Duration {
        self.start.play_clock / 4
    }
}

/// Thinks until the match is over. Never panics.
pub fn run(job: &Job) {
    let _span = info_span!("match", id = job.start.id, role = %job.start.role).entered();
    match catch_unwind(AssertUnwindSafe(|| set_up(job))) {
        Ok(Ok(())) => job.desk.close("the match is over"),
        Ok(Err(reason)) => {
            if !job.orders.is_closed() {
                warn!(reason, "no player for this match");
            }
            job.desk.close(&reason);
        }
        Err(_) => job.desk.close("the player failed"),
    }
}

fn set_up(job: &Job) -> Result<(), String> {
    let started = Instant::now();
    let description = Description::from_sexprs(&job.start.text, job.start.rules.clone(), job.reading);
    let rules = Rules::from_description(&description).map_err(|error| error.to_string())?;
    let rules = Arc::new(rules);
    Clerk::of(job, &rules).begin();
    let start_clock = job.deadlines.search.saturating_duration_since(started);
    let demanded = Share { time: Some(start_clock / GROUNDING_PART), ..Share::PATIENT };
    let set_up = SetUp { demanded, audience: Audience::Log, ..SetUp::until(&job.gone) };
    let outsiders = reasoners::outsiders(&rules);
    let thinking = Thinking { job, started, outsiders: &outsiders };
    let thought = match job.brain.reasoner {
        ReasonerKind::Auto => begin(thinking, rules, start_clock),
        kind => match kind.with(Arc::clone(&rules), &set_up, thinking) {
            Err(ReasonerError::NotGrounded(reason)) => {
                warn!(reason, "the match is played with the interpreter");
                ReasonerKind::Interpreter.with(rules, &set_up, thinking)
            }
            thought => thought,
        },
    };
    thought.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
}

/// The part of the start clock that grounding may take where the propnet is demanded: time must be left for another reasoner.
const GROUNDING_PART: u32 = 2;

/// Begins with one reasoner, beside which another is built.
fn begin(
    thinking: Thinking<'_>,
    rules: Arc<Rules>,
    start_clock: Duration,
) -> Result<Result<(), SeatError>, ReasonerError> {
    let job = thinking.job;
    let succession = Succession::of(&job.brain, start_clock, n_cores());
    let orders = Arc::clone(&job.orders);
    let work = Beginning { thinking, succession };
    let (share, core) = (succession.share, succession.core);
    reasoners::with_successor(rules, share, core, &job.gone, move || orders.announce(), work)
}

/// A match that is to be thought about.
#[derive(Clone, Copy)]
pub(super) struct Thinking<'a> {
    pub(super) job: &'a Job,
    pub(super) started: Instant,
    pub(super) outsiders: &'a Outsiders,
}

impl WithReasoner for Thinking<'_> {
    type Output = Result<(), SeatError>;

    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Result<(), SeatError> {
        let mut thinker = self.thinker(reasoner, self.job.brain.search.max_bytes)?;
        let mut moment = Moment::Start;
        // Nothing is built beside, so there are no news.
        while thinker.go_on(&mut moment) == Pause::News {}
        Ok(())
    }
}

impl<'a> Thinking<'a> {
    /// A thinker in the initial state, whose graphs may take so many bytes.
    fn thinker<R: Reasoner>(self, reasoner: Arc<R>, graph_bytes: usize) -> Result<Thinker<'a, R>, SeatError> {
        let job = self.job;
        let seat = Seat::take(&reasoner, &job.start.role, job.brain.search.limits, &job.gone)?;
        let after = self.started.elapsed();
        info!(reasoner = reasoner.name(), ?after, "match set up");
        job.desk.think_with(reasoner.name(), after);
        let outsiders = self.outsiders;
        let bank = Bank::of(&job.brain, reasoner.n_roles());
        let legal = Vec::new();
        Ok(Thinker {
            job,
            reasoner,
            outsiders,
            seat,
            mind: None,
            graph_bytes,
            legal,
            bank,
            told: Ground::Rules,
            floor: Ground::Rules,
        })
    }
}

/// A match that begins with one reasoner while another is built.
pub(super) struct Beginning<'a> {
    pub(super) thinking: Thinking<'a>,
    pub(super) succession: Succession,
}

impl WithSuccessor for Beginning<'_> {
    type Output = Result<(), SeatError>;

    fn run<A: Reasoner, B: Reasoner>(self, first: Arc<A>, second: Building<B>) -> Result<(), SeatError> {
        let Beginning { thinking, succession } = self;
        let job = thinking.job;
        let mut thinker = thinking.thinker(first, succession.graph_bytes)?;
        if !succession.head_start.is_zero() {
            job.orders.wait(job.deadlines.search.min(thinking.started + succession.head_start));
        }
        if job.brain.is_limited() && !job.orders.make_way().is_raised() {
            warn!(
                "the start clock is over before a reasoner is chosen: what is answered depends on the machine"
            );
        }
        let mut moment = Moment::Start;
        while thinker.go_on(&mut moment) == Pause::News {
            let Some(built) = second.take() else { continue };
            match built.map_err(SeatError::from).and_then(|built| thinker.successor(built)) {
                Ok(mut successor) => {
                    // What the first search found is worth less than its memory.
                    drop_aside(thinker.mind.take());
                    drop((thinker, second));
                    let (reasoner, after) = (successor.reasoner.name(), thinking.started.elapsed());
                    info!(reasoner, ?after, moment = moment.name(), "the reasoner has changed");
                    job.desk.think_with(reasoner, after);
                    while successor.go_on(&mut moment) == Pause::News {}
                    return Ok(());
                }
                Err(reason) => {
                    warn!(%reason, reasoner = thinker.reasoner.name(), "the reasoner stays as it is");
                    thinker.allow(job.brain.search.max_bytes);
                }
            }
        }
        Ok(())
    }
}

/// Lets go of a graph without waiting for it: millions of states take a second.
fn drop_aside<R: Reasoner>(mind: Option<Mind<R>>) {
    // If no thread can be had, the closure and the search with it are dropped here.
    let _ = std::thread::Builder::new().name("drop-search".to_owned()).spawn(move || drop(mind));
}

/// Where in the match a thinker is.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// START is to be answered.
    Start,
    /// A PLAY is to be answered; a first answer lies on the desk.
    Turn(Deadlines),
    /// Nothing is to be answered.
    Between,
}

/// Why a thinker pauses.
#[derive(Debug, PartialEq, Eq)]
enum Pause {
    /// The match is over.
    Over,
    /// What was built is ready, or failed.
    News,
}

/// What a turn must have left for another reasoner to be worth it: to make its sessions, and to find more than was found.
const WORTH_CHANGING: Duration = Duration::from_millis(250);

impl Moment {
    fn name(&self) -> &'static str {
        match self {
            Moment::Start => "start",
            Moment::Turn(_) => "turn",
            Moment::Between => "between turns",
        }
    }

    /// Whether enough of it is left for another reasoner.
    fn is_worth_changing(&self) -> bool {
        match self {
            Moment::Turn(deadlines) => {
                deadlines.search.saturating_duration_since(Instant::now()) >= WORTH_CHANGING
            }
            Moment::Start | Moment::Between => true,
        }
    }
}

struct Thinker<'a, R: Reasoner> {
    job: &'a Job,
    reasoner: Arc<R>,
    outsiders: &'a Outsiders,
    seat: Seat<R>,
    /// Made at the first search, and again after one that failed.
    mind: Option<Mind<R>>,
    /// What its graphs may take.
    graph_bytes: usize,
    /// Our legal moves in the current state.
    legal: Vec<Move>,
    /// Where time is managed.
    bank: Option<Bank>,
    /// What the answer on the desk rests on.
    told: Ground,
    /// The same, of an answer that another reasoner or a search that failed has left there: less does not replace it.
    floor: Ground,
}

/// What became of a search.
enum Searched {
    /// There was none.
    Not,
    Failed,
    /// How long a thread worked at most, as far as that is limited.
    Worked(Duration),
}

impl<'a, R: Reasoner> Thinker<'a, R> {
    /// Thinks and answers from some moment of the match until it is over or there are news. The moment goes along.
    fn go_on(&mut self, moment: &mut Moment) -> Pause {
        let job = self.job;
        loop {
            match *moment {
                Moment::Start => {
                    self.search(job.brain.budget(Some(job.deadlines.search)), false);
                }
                Moment::Turn(deadlines) if self.legal.len() > 1 => self.take_turn(deadlines.search),
                // A forced move is answered at once, whatever is new: the search goes on while the manager waits for the others.
                Moment::Turn(_) => job.desk.settle(),
                Moment::Between if job.brain.ponders && !job.brain.is_limited() => {
                    // Where others choose, they may miss what is proven.
                    let is_past_proofs = self.legal.len() == 1 && self.reasoner.n_roles() > 1;
                    self.search(Budget { is_past_proofs, ..job.brain.budget(None) }, false);
                }
                Moment::Between => {}
            }
            if !matches!(moment, Moment::Between) {
                if moment.is_worth_changing() && job.orders.take_news() {
                    return Pause::News;
                }
                job.desk.settle();
                self.tidy();
                *moment = Moment::Between;
                continue;
            }
            match job.orders.take() {
                Next::Order(order) => {
                    job.desk.open(order.turn);
                    let answered = job.desk.answer_to(order.turn - 1);
                    match self.follow(order.report.joint_move, answered) {
                        true => *moment = Moment::Turn(order.deadlines),
                        false => job.desk.settle(),
                    }
                }
                Next::News => return Pause::News,
                Next::Nothing => return Pause::Over,
            }
        }
    }

    /// A thinker with another reasoner in the same position. What this one has answered stands.
    ///
    /// # Errors
    /// If the other reasoner does not know the position, or sees it otherwise.
    fn successor<B: Reasoner>(&mut self, reasoner: Arc<B>) -> Result<Thinker<'a, B>, SeatError> {
        let job = self.job;
        let (mut seat, legal) = self.seat.with(&reasoner, &self.legal, job.brain.search.limits, &job.gone)?;
        let graph_bytes = job.brain.search.max_bytes;
        let mind = self.successor_mind(&reasoner, &mut seat, graph_bytes);
        let (outsiders, bank, told) = (self.outsiders, self.bank, self.told);
        Ok(Thinker { job, reasoner, outsiders, seat, mind, graph_bytes, legal, bank, told, floor: told })
    }

    /// A mind of the other reasoner that holds the line of this one, if there is a line; otherwise it is made when needed.
    fn successor_mind<B: Reasoner>(
        &mut self,
        reasoner: &Arc<B>,
        seat: &mut Seat<B>,
        graph_bytes: usize,
    ) -> Option<Mind<B>> {
        let line = self.mind.as_ref()?.line();
        if line.is_empty() {
            return None;
        }
        let terms = line.iter().map(|&a_move| self.seat.term(a_move)).collect::<Vec<_>>();
        let lost = |error: &dyn std::fmt::Display| warn!(%error, "the line of the reasoner before is lost");
        let moves = terms.iter().map(|term| seat.move_of(term)).collect::<Result<Vec<_>, _>>();
        let moves = moves.inspect_err(|error| lost(error)).ok()?;
        let mut mind = self.new_mind(reasoner, graph_bytes).inspect_err(|error| lost(error)).ok()?;
        let state = seat.state().clone();
        mind.adopt(seat.session(), &state, &moves);
        Some(mind)
    }

    fn new_mind<B: Reasoner>(&self, reasoner: &Arc<B>, graph_bytes: usize) -> Result<Mind<B>, String> {
        Mind::new(reasoner, &self.job.brain, graph_bytes, self.job.max_pause(), self.outsiders)
    }

    /// Lets graphs take so many bytes that are begun from now on.
    fn allow(&mut self, graph_bytes: usize) {
        self.graph_bytes = graph_bytes;
        if let Some(mind) = &mut self.mind {
            mind.set_max_bytes(graph_bytes);
        }
    }

    /// Follows what was played and offers a first move. Whether there is a turn to think about.
    fn follow(&mut self, joint_move: Option<JointTerms>, answered: Option<Term>) -> bool {
        self.legal.clear();
        (self.told, self.floor) = (Ground::Rules, Ground::Rules);
        if let Err(error) = self.seat.follow(joint_move, answered) {
            warn!(%error, "the reported moves cannot be followed");
            return false;
        }
        match self.seat.legal_moves() {
            Ok(legal) => self.legal = legal,
            Err(error) => warn!(%error, "the legal moves are not known"),
        }
        let first = self.legal.first().copied();
        first.into_iter().for_each(|first| self.offer(Thought { a_move: first, ground: Ground::Rules }));
        first.is_some()
    }

    /// Searches for an answer until the deadline at the latest. A search that fails is tried once more, with another mind, unless
    /// what it has used up is all that there is.
    fn take_turn(&mut self, deadline: Instant) {
        let (brain, role) = (&self.job.brain, self.seat.role());
        for _ in 0..2 {
            let budget = match self.bank {
                Some(bank) => bank.budget(brain, role, deadline),
                None => brain.budget(Some(deadline)),
            };
            match self.search(budget, true) {
                Searched::Not => return,
                Searched::Worked(worked) => {
                    self.bank = self.bank.map(|bank| bank.after(brain, worked));
                    return;
                }
                Searched::Failed => {
                    // What it has worked is not known; it may have been all.
                    self.bank = self.bank.map(|_| Bank::default());
                    self.floor = self.told;
                    if brain.is_limited() || Instant::now() >= deadline {
                        return;
                    }
                }
            }
        }
    }

    /// Searches, unless something else is to be done; offers what it finds, or what is known without a search, if that is
    /// wanted.
    fn search(&mut self, budget: Budget, offer: bool) -> Searched {
        if self.job.orders.make_way().is_raised() {
            if offer {
                self.recall();
            }
            return Searched::Not;
        }
        match self.seat.is_terminal() {
            Ok(false) => {}
            Ok(true) => return Searched::Not,
            Err(error) => {
                warn!(%error, "a state that cannot be judged is not searched");
                return Searched::Not;
            }
        }
        let kept = self.mind.take();
        let mut mind = match kept.map_or_else(|| self.new_mind(&self.reasoner, self.graph_bytes), Ok) {
            Ok(mind) => mind,
            Err(error) => {
                warn!(%error, "no search");
                return Searched::Not;
            }
        };
        let role = self.seat.role();
        let make_way = self.job.orders.make_way().clone();
        // A panic in a reasoner costs the mind, not the match.
        let result = catch_unwind(AssertUnwindSafe(|| {
            mind.set_root(self.seat.state());
            let mut tell = |best: Thought| {
                if offer {
                    self.offer(best);
                }
            };
            mind.think(role, &budget, &make_way, &mut tell)
        }));
        match result {
            Ok(Ok(worked)) => {
                self.mind = Some(mind);
                return Searched::Worked(worked);
            }
            Ok(Err(error)) => warn!(%error, "the search failed; it begins anew"),
            Err(_) => warn!("the search failed; it begins anew"),
        }
        Searched::Failed
    }

    /// Offers what is known of the position without a search.
    fn recall(&mut self) {
        let Some(mut mind) = self.mind.take() else { return };
        let role = self.seat.role();
        let known = catch_unwind(AssertUnwindSafe(|| {
            mind.set_root(self.seat.state());
            mind.known(role)
        }));
        match known {
            Ok(known) => {
                self.mind = Some(mind);
                known.into_iter().for_each(|known| self.offer(known));
            }
            Err(_) => warn!("what was known is lost"),
        }
    }

    /// Gives memory back, now that the answer has left.
    fn tidy(&mut self) {
        let Some(mut mind) = self.mind.take() else { return };
        let make_way = self.job.orders.make_way().clone();
        let tidied = catch_unwind(AssertUnwindSafe(|| mind.tidy(&make_way)));
        match tidied {
            Ok(()) => self.mind = Some(mind),
            Err(_) => warn!("the graph could not be tidied; it begins anew"),
        }
    }

    /// Lays a move on the desk, if it is legal, and rests on no less than what was left there.
    fn offer(&mut self, Thought { a_move, ground }: Thought) {
        if !self.legal.contains(&a_move) {
            warn!(?a_move, "the search wants an illegal move");
        } else if ground >= self.floor {
            let term = self.seat.term(a_move);
            self.job.desk.offer(term);
            self.told = ground;
        }
    }
}
