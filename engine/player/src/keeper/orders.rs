//! What the connections want of the thinker, one after the other.
//!
//! Giving an order raises the interrupt of the search that may be running on the opponents' time; taking the
//! last one lowers it, both under one lock, so that no order is slept through and none stops the next search.

use std::collections::VecDeque;

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

/// A queue of orders. Once closed, it gives out none.
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
        state.waiting.push_back(Order { turn, report, deadlines });
        self.make_way.raise();
        self.given.notify_all();
        turn
    }

    /// Takes the next order, waiting for it; none once the queue is closed.
    pub fn take(&self) -> Option<Order> {
        let mut state = self.state.lock();
        while state.waiting.is_empty() && !state.closed {
            self.given.wait(&mut state);
        }
        if state.closed {
            return None;
        }
        let order = state.waiting.pop_front();
        if state.waiting.is_empty() {
            self.make_way.lower();
        }
        order
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
    use std::time::Instant;

    use super::*;

    fn give(orders: &Orders) -> u64 {
        let now = Instant::now();
        let report = Report { id: "m".into(), joint_move: None };
        orders.give(report, Deadlines { search: now, answer: now })
    }

    #[test]
    fn the_interrupt_is_raised_while_orders_wait() {
        let orders = Orders::default();
        assert_eq!((give(&orders), give(&orders)), (1, 2));
        assert_eq!(orders.take().map(|order| order.turn), Some(1));
        assert!(orders.make_way().is_raised());
        assert_eq!(orders.take().map(|order| order.turn), Some(2));
        assert!(!orders.make_way().is_raised());
    }

    #[test]
    fn a_closed_queue_gives_nothing() {
        let orders = Orders::default();
        give(&orders);
        orders.close();
        assert!(orders.take().is_none() && orders.make_way().is_raised());
    }
}
