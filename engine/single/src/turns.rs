//! Whose turn it is: several solvers share the cores, each on a thread of its own, and only so many run at once.
//!
//! In go the turns that solvers have had and what they found in them; out comes who goes on next. Who has had the least
//! for its weight is next, and the weight grows with what it finds and shrinks again while it finds nothing, so cores go
//! where lines get better. Between runs from the same root all are paused, and go on where they were. It knows nothing of
//! what the solvers do.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use search::Budget;

/// How long a turn takes where time counts. A turn of a graph search costs it some milliseconds to begin and end.
const TURN: Duration = Duration::from_millis(20);
/// How many playouts a turn has where those are counted.
const TURN_PLAYOUTS: u64 = 2048;
/// What a better line adds to the weight of whoever found it.
const REWARD: f64 = 3.0;
/// What is left of that after another turn without one.
const FADING: f64 = 0.8;

/// Shared by all solvers of a root.
///
/// # Orderings
/// `is_over` and `is_paused` are `Relaxed`: they carry no data, and whoever sees them late stops late.
#[derive(Debug)]
pub(crate) struct Turns {
    sharing: Mutex<Sharing>,
    changed: Condvar,
    /// For good.
    is_over: AtomicBool,
    /// Until the next run, as at the beginning.
    is_paused: AtomicBool,
    /// Whether finds are rewarded.
    has_rewards: bool,
}

#[derive(Debug)]
struct Sharing {
    n_at_once: usize,
    seats: Vec<Seat>,
    /// Without those that running turns were given.
    playouts_left: Option<u64>,
    work_left: Option<Duration>,
    worked: Option<fn() -> Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Its thread has not come yet; nobody begins before all have.
    Awaited,
    Waiting,
    Running,
    Finished,
}

#[derive(Debug, Clone)]
struct Seat {
    phase: Phase,
    /// Seconds, or playouts where those are counted.
    had: f64,
    /// Its weight while it finds nothing.
    base: f64,
    weight: f64,
    used: Used,
}

/// What a solver has had and found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Used {
    /// Time in its turns.
    pub time: Duration,
    /// Its playouts: rollouts, or states expanded where it makes no rollouts.
    pub playouts: u64,
    /// How often it found the best line so far.
    pub gains: u32,
}

impl Sharing {
    /// Who goes on, if anyone can.
    fn next(&self) -> Option<usize> {
        let in_phase = |phase| self.seats.iter().filter(move |seat| seat.phase == phase).count();
        let is_full = in_phase(Phase::Running) >= self.n_at_once;
        if in_phase(Phase::Awaited) > 0 || is_full || self.playouts_left == Some(0) {
            return None;
        }
        let due = |seat: &Seat| seat.had / seat.weight;
        let waiting = self.seats.iter().enumerate().filter(|(_, seat)| seat.phase == Phase::Waiting);
        waiting.min_by(|(_, a), (_, b)| due(a).total_cmp(&due(b))).map(|(idx, _)| idx)
    }
}

impl Turns {
    /// For solvers of these weights, of which `n_at_once` run, once they may; with rewards those that find more get more.
    pub(crate) fn new(weights: &[f64], n_at_once: usize, has_rewards: bool) -> Turns {
        let seat =
            |&base: &f64| Seat { phase: Phase::Awaited, had: 0.0, base, weight: base, used: Used::default() };
        let sharing = Sharing {
            n_at_once,
            seats: weights.iter().map(seat).collect(),
            playouts_left: None,
            work_left: None,
            worked: None,
        };
        Turns {
            sharing: Mutex::new(sharing),
            changed: Condvar::new(),
            is_over: AtomicBool::new(false),
            is_paused: AtomicBool::new(true),
            has_rewards,
        }
    }

    /// Lets the solvers work until the budget's playouts or work are used up; its deadline is for others to keep.
    pub(crate) fn resume(&self, budget: &Budget) {
        let mut sharing = self.sharing.lock();
        let n_cores = u32::try_from(sharing.n_at_once).unwrap_or(u32::MAX);
        sharing.playouts_left = budget.playouts;
        sharing.work_left = budget.work.map(|work| work.limit.saturating_mul(n_cores));
        sharing.worked = budget.work.map(|work| work.worked);
        for seat in &mut sharing.seats {
            seat.had = 0.0;
        }
        self.is_paused.store(false, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Lets nobody go on after their next look.
    pub(crate) fn pause(&self) {
        let _sharing = self.sharing.lock();
        self.is_paused.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Whether nobody works until the next run, and everybody has seen it.
    pub(crate) fn is_quiet(&self) -> bool {
        let sharing = self.sharing.lock();
        let is_at_rest = |seat: &Seat| matches!(seat.phase, Phase::Waiting | Phase::Finished);
        self.is_paused.load(Ordering::Relaxed) && sharing.seats.iter().all(is_at_rest)
    }

    /// The seats that have no more turns.
    pub(crate) fn finished(&self) -> impl Iterator<Item = usize> {
        let sharing = self.sharing.lock();
        let is_finished = |(_, seat): &(usize, &Seat)| seat.phase == Phase::Finished;
        let finished: Vec<usize> =
            sharing.seats.iter().enumerate().filter(is_finished).map(|it| it.0).collect();
        finished.into_iter()
    }

    /// Ends all turns for good.
    pub(crate) fn end(&self) {
        let _sharing = self.sharing.lock();
        self.is_over.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Whether the run is over, or all of them.
    pub(crate) fn has_stopped(&self) -> bool {
        self.is_over() || self.is_paused.load(Ordering::Relaxed)
    }

    /// Whether they have ended.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// What each solver has had.
    pub(crate) fn used(&self) -> Vec<Used> {
        self.sharing.lock().seats.iter().map(|seat| seat.used).collect()
    }

    /// Waits for a seat's first turn, to be called by its thread; none if there will be none.
    pub(crate) fn first(&self, seat: usize) -> Option<Turn<'_>> {
        let began = self.wait(self.sharing.lock(), seat)?;
        Some(Turn { turns: self, seat, began, playouts: 0, gains: 0 })
    }

    /// The seat has no more turns, and had none if its thread did not come so far.
    pub(crate) fn leave(&self, seat: usize) {
        self.sharing.lock().seats[seat].phase = Phase::Finished;
        self.changed.notify_all();
    }

    /// Waits until the seat is next.
    fn wait(&self, mut sharing: MutexGuard<'_, Sharing>, seat: usize) -> Option<Began> {
        sharing.seats[seat].phase = Phase::Waiting;
        self.changed.notify_all();
        while !self.is_over() && (self.has_stopped() || sharing.next() != Some(seat)) {
            self.changed.wait(&mut sharing);
        }
        if self.is_over() {
            sharing.seats[seat].phase = Phase::Finished;
            return None;
        }
        sharing.seats[seat].phase = Phase::Running;
        // There may be a core for another one too.
        self.changed.notify_all();
        let playouts = sharing.playouts_left.as_mut().map(|left| {
            let given = TURN_PLAYOUTS.min(*left);
            *left -= given;
            given
        });
        let worked = sharing.worked;
        drop(sharing);
        Some(Began { at: Instant::now(), playouts, worked: worked.map(|worked| (worked, worked())) })
    }
}

#[derive(Debug, Clone, Copy)]
struct Began {
    at: Instant,
    /// How many playouts it may make, where those count and no time, so that a run can be made again.
    playouts: Option<u64>,
    /// The measure of work, and where it stood.
    worked: Option<(fn() -> Duration, Duration)>,
}

/// A seat's turn. Once it is dropped the seat has no more of them in this run.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    seat: usize,
    began: Began,
    playouts: u64,
    gains: u32,
}

/// All turns are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Over;

impl Turn<'_> {
    /// Takes note of playouts.
    pub(crate) fn note(&mut self, n_playouts: u64) {
        self.playouts += n_playouts;
    }

    /// The time since the turn began is not held against its seat.
    pub(crate) fn forgive(&mut self) {
        let so_far = self.began.at.elapsed();
        self.turns.sharing.lock().seats[self.seat].used.time += so_far;
        self.began.at += so_far;
    }

    /// How many more playouts the turn may make, where those count.
    pub(crate) fn playouts_left(&self) -> Option<u64> {
        self.began.playouts.map(|given| given.saturating_sub(self.playouts))
    }

    /// Takes note of playouts, and waits for the next turn if this one is used up.
    pub(crate) fn go_on(&mut self, n_playouts: u64) -> Result<(), Over> {
        self.note(n_playouts);
        let is_used_up = match self.began.playouts {
            Some(given) => self.playouts >= given,
            None => self.began.at.elapsed() >= TURN,
        };
        if !is_used_up && !self.turns.has_stopped() {
            return Ok(());
        }
        let mut sharing = self.turns.sharing.lock();
        self.settle(&mut sharing);
        self.began = self.turns.wait(sharing, self.seat).ok_or(Over)?;
        Ok(())
    }

    /// Ends all turns for good, also those of others.
    pub(crate) fn end_all(&self) {
        self.turns.end();
    }

    /// The best line comes from this seat.
    pub(crate) fn reward(&mut self) {
        self.gains += 1;
    }

    /// What a search of its own may take that counts playouts in this turn's stead.
    pub(crate) fn rest(&self) -> Rest {
        match self.playouts_left() {
            Some(left) => Rest::Playouts(left.max(1)),
            None => Rest::Until(self.began.at + TURN),
        }
    }

    /// Another thread has worked for this turn.
    pub(crate) fn charge(&mut self, work: Duration) {
        if let Some((_, stood)) = &mut self.began.worked {
            *stood = stood.saturating_sub(work);
        }
    }

    /// Adds what the turn took to what the seat has had.
    fn settle(&mut self, sharing: &mut Sharing) {
        let time = self.began.at.elapsed();
        let seat = &mut sharing.seats[self.seat];
        seat.used.time += time;
        seat.used.playouts += self.playouts;
        seat.used.gains += self.gains;
        seat.had += if self.began.playouts.is_some() { self.playouts as f64 } else { time.as_secs_f64() };
        if self.turns.has_rewards {
            let reward = (seat.weight - seat.base) * FADING + REWARD * f64::from(self.gains.min(1));
            seat.weight = seat.base + reward;
        }
        if let (Some(left), Some(given)) = (&mut sharing.playouts_left, self.began.playouts.take()) {
            *left = (*left + given).saturating_sub(self.playouts);
        }
        if let (Some(left), Some((measure, stood))) = (&mut sharing.work_left, self.began.worked) {
            *left = left.saturating_sub(measure().saturating_sub(stood));
        }
        let others = sharing.seats.iter().enumerate().filter(|&(seat, _)| seat != self.seat);
        let is_last = others.filter(|(_, seat)| seat.phase == Phase::Running).count() == 0;
        let has_ended =
            (sharing.playouts_left == Some(0) && is_last) || sharing.work_left == Some(Duration::ZERO);
        if has_ended {
            self.turns.is_paused.store(true, Ordering::Relaxed);
        }
        (self.playouts, self.gains) = (0, 0);
    }
}

/// What is left of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Time.
    Until(Instant),
    /// Playouts.
    Playouts(u64),
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut sharing = self.turns.sharing.lock();
        self.settle(&mut sharing);
        sharing.seats[self.seat].phase = Phase::Finished;
        self.turns.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs solvers that do nothing but count, the first of which finds something in each turn.
    fn share(n_seats: usize, n_at_once: usize, playouts: u64) -> Vec<Used> {
        let turns = Turns::new(&vec![1.0; n_seats], n_at_once, true);
        turns.resume(&Budget { playouts: Some(playouts), ..Budget::default() });
        std::thread::scope(|scope| {
            for seat in 0..n_seats {
                let turns = &turns;
                scope.spawn(move || {
                    let Some(mut turn) = turns.first(seat) else { return };
                    while turn.go_on(TURN_PLAYOUTS / 4).is_ok() {
                        if seat == 0 {
                            turn.reward();
                        }
                    }
                });
            }
            while !turns.is_quiet() {
                std::thread::yield_now();
            }
            turns.end();
        });
        turns.used()
    }

    #[test]
    fn who_finds_more_gets_more_and_nobody_starves() {
        let used = share(3, 1, 300 * TURN_PLAYOUTS);
        assert!(used[0].playouts > 5 * used[1].playouts, "{used:?}");
        assert!(used[1].playouts > 5 * TURN_PLAYOUTS && used[2].playouts > 5 * TURN_PLAYOUTS, "{used:?}");
        assert_eq!(used[1].gains, 0);
    }

    #[test]
    fn turns_of_one_at_a_time_that_count_playouts_are_the_same_every_time() {
        let counts = |_| share(4, 1, 57 * TURN_PLAYOUTS).iter().map(|it| (it.playouts, it.gains)).collect();
        let runs: Vec<Vec<(u64, u32)>> = (0..5).map(counts).collect();
        assert!(runs.iter().all(|run| *run == runs[0]), "{runs:?}");
    }

    #[test]
    fn the_others_go_on_when_one_has_finished() {
        let turns = Turns::new(&[1.0; 2], 1, true);
        turns.resume(&Budget::default());
        std::thread::scope(|scope| {
            scope.spawn(|| drop(turns.first(0)));
            scope.spawn(|| {
                let mut turn = turns.first(1).expect("a turn");
                assert!((0..100).all(|_| turn.go_on(TURN_PLAYOUTS).is_ok()));
                turns.end();
                assert_eq!(turn.go_on(1), Err(Over));
            });
        });
        assert!(turns.first(0).is_none(), "all is over");
    }

    #[test]
    fn turns_make_no_more_playouts_than_the_run_may() {
        for (n_at_once, playouts) in [(1, 1), (1, TURN_PLAYOUTS + 7), (3, 5 * TURN_PLAYOUTS + 11)] {
            let turns = Turns::new(&[1.0; 3], n_at_once, false);
            turns.resume(&Budget { playouts: Some(playouts), ..Budget::default() });
            std::thread::scope(|scope| {
                for seat in 0..3 {
                    let turns = &turns;
                    scope.spawn(move || {
                        let Some(mut turn) = turns.first(seat) else { return };
                        while turn.go_on(1).is_ok() {}
                    });
                }
                while !turns.is_quiet() {
                    std::thread::yield_now();
                }
                turns.end();
            });
            assert_eq!(turns.used().iter().map(|used| used.playouts).sum::<u64>(), playouts);
        }
    }

    #[test]
    fn a_paused_solver_goes_on_in_the_next_run() {
        let turns = Turns::new(&[1.0], 1, true);
        let budget = Budget { playouts: Some(3 * TURN_PLAYOUTS), ..Budget::default() };
        let n_turns = std::thread::scope(|scope| {
            let solver = scope.spawn(|| {
                let Some(mut turn) = turns.first(0) else { return 0 };
                (0..).take_while(|_| turn.go_on(TURN_PLAYOUTS).is_ok()).count()
            });
            for _ in 0..2 {
                turns.resume(&budget);
                while !turns.is_quiet() {
                    std::thread::yield_now();
                }
            }
            turns.end();
            solver.join().expect("no panic")
        });
        assert_eq!(n_turns, 5, "the sixth was waited for");
    }
}
