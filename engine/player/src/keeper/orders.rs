//! What the connections want of the thinker and the clerk, one after the other, and the news that the thinker waits for.
//!
//! Giving an order or news raises the interrupt of the search that may be running; taking the last of them lowers it,
//! both under one lock, so that nothing is slept through and nothing stops the next search.

use std::collections::VecDeque;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};
use reasoner::Interrupt;

use super::clock::Deadlines;
use crate::protocol::message::Report;

/// One turn that the thinker is to take.
#[derive(Debug, Clone)]
pub struct Order {
    /// Its number; START is 0.
    pub turn: u64,
    /// What was played before.
    pub report: Report,
    /// When to be done.
    pub deadlines: Deadlines,
}

/// What there is to do.
#[derive(Debug)]
pub enum Next {
    /// A turn.
    Order(Order),
    /// What was built beside the search is ready, or failed.
    News,
    /// Nothing, ever.
    Nothing,
}

/// A queue of orders, and whether there are news. Once closed, it gives out none.
#[derive(Debug, Default)]
pub struct Orders {
    state: Mutex<State>,
    given: Condvar,
    /// Raised while a search has to make way.
    make_way: Interrupt,
}

#[derive(Debug, Default)]
struct State {
    next_turn: u64,
    waiting: VecDeque<Order>,
    /// What the clerk has not taken.
    for_clerk: VecDeque<Order>,
    has_news: bool,
    closed: bool,
}

impl Orders {
    /// The interrupt for searches.
    pub fn make_way(&self) -> &Interrupt {
        &self.make_way
    }

    /// Gives an order and returns the number of its turn.
    pub fn give(&self, report: Report, deadlines: Deadlines) -> u64 {
        let mut state = self.state.lock();
        state.next_turn += 1;
        let turn = state.next_turn;
        let order = Order { turn, report, deadlines };
        state.for_clerk.push_back(order.clone());
        state.waiting.push_back(order);
        self.make_way.raise();
        self.given.notify_all();
        turn
    }

    /// Tells that there are news.
    pub fn announce(&self) {
        let mut state = self.state.lock();
        state.has_news = true;
        self.make_way.raise();
        self.given.notify_all();
    }

    /// Takes the next order, or the news, waiting for either. Orders come first: they have a clock.
    pub fn take(&self) -> Next {
        let mut state = self.state.lock();
        while state.waiting.is_empty() && !state.has_news && !state.closed {
            self.given.wait(&mut state);
        }
        if state.closed {
            return Next::Nothing;
        }
        let next = match state.waiting.pop_front() {
            Some(order) => Next::Order(order),
            None => {
                state.has_news = false;
                Next::News
            }
        };
        self.lower_if_idle(&state);
        next
    }

    /// Takes the next order for the clerk, waiting for it; none when the queue is closed.
    pub fn take_for_clerk(&self) -> Option<Order> {
        let mut state = self.state.lock();
        while state.for_clerk.is_empty() && !state.closed {
            self.given.wait(&mut state);
        }
        if state.closed { None } else { state.for_clerk.pop_front() }
    }

    /// Takes the news, if there are any.
    pub fn take_news(&self) -> bool {
        let mut state = self.state.lock();
        let had_news = std::mem::take(&mut state.has_news);
        self.lower_if_idle(&state);
        had_news
    }

    /// Waits until there is something to do, or it is over, or the time is.
    pub fn wait(&self, until: Instant) {
        let mut state = self.state.lock();
        let mut timed_out = false;
        while state.waiting.is_empty() && !state.has_news && !state.closed && !timed_out {
            timed_out = self.given.wait_until(&mut state, until).timed_out();
        }
    }

    fn lower_if_idle(&self, state: &State) {
        if state.waiting.is_empty() && !state.has_news && !state.closed {
            self.make_way.lower();
        }
    }

    /// Whether there are news that nobody has taken.
    #[cfg(test)]
    pub fn has_news(&self) -> bool {
        self.state.lock().has_news
    }

    /// Gives out no more orders, and stops the search for good.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        self.make_way.raise();
        self.given.notify_all();
    }

    /// Whether the queue is closed.
    pub fn is_closed(&self) -> bool {
        self.state.lock().closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn give(orders: &Orders) -> u64 {
        let now = Instant::now();
        let report = Report { id: "m".into(), joint_move: None };
        orders.give(report, Deadlines { search: now, answer: now })
    }

    fn turn_of(next: &Next) -> Option<u64> {
        if let Next::Order(order) = next { Some(order.turn) } else { None }
    }

    #[test]
    fn the_interrupt_is_raised_while_orders_wait() {
        let orders = Orders::default();
        assert_eq!((give(&orders), give(&orders)), (1, 2));
        assert_eq!(turn_of(&orders.take()), Some(1));
        assert!(orders.make_way().is_raised());
        assert_eq!(turn_of(&orders.take()), Some(2));
        assert!(!orders.make_way().is_raised());
    }

    #[test]
    fn news_come_after_orders_and_keep_the_interrupt_raised() {
        let orders = Orders::default();
        orders.announce();
        give(&orders);
        assert_eq!(turn_of(&orders.take()), Some(1));
        assert!(orders.make_way().is_raised());
        assert!(matches!(orders.take(), Next::News) && !orders.make_way().is_raised());
    }

    #[test]
    fn news_are_taken_once() {
        let orders = Orders::default();
        assert!(!orders.take_news());
        orders.announce();
        assert!(orders.take_news() && !orders.make_way().is_raised());
        assert!(!orders.take_news());
    }

    #[test]
    fn waiting_ends_with_whatever_there_is_to_do() {
        let far = || Instant::now() + std::time::Duration::from_secs(3600);
        let orders = Orders::default();
        orders.wait(Instant::now());
        orders.announce();
        orders.wait(far());
        orders.take_news();
        give(&orders);
        orders.wait(far());
        orders.take();
        orders.close();
        orders.wait(far());
    }

    #[test]
    fn the_clerk_has_every_order_too() {
        let orders = Orders::default();
        give(&orders);
        give(&orders);
        orders.take();
        let taken = |orders: &Orders| orders.take_for_clerk().map(|order| order.turn);
        assert_eq!((taken(&orders), taken(&orders)), (Some(1), Some(2)));
        assert_eq!(turn_of(&orders.take()), Some(2));
        give(&orders);
        orders.close();
        assert_eq!(taken(&orders), None);
    }

    #[test]
    fn a_closed_queue_gives_nothing() {
        let orders = Orders::default();
        give(&orders);
        orders.announce();
        orders.close();
        orders.take_news();
        assert!(matches!(orders.take(), Next::Nothing) && orders.make_way().is_raised());
    }
}
