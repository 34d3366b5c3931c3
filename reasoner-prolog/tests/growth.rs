//! A process that plays for days: sessions and matches leave no memory and no thread behind.
//!
//! Alone in its file, since it looks at the memory and the threads of the whole process.

#![cfg(all(feature = "prolog", target_os = "linux"))]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and tells what it measured"
)]

use std::fs;
use std::sync::Arc;

use gdl::{Description, ReadOptions, Rules};
use reasoner::{Interrupt, Limits, Reasoner, Rollouts, Session};
use reasoner_prolog::{Prolog, Update};

/// Bytes in memory.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

fn n_threads() -> usize {
    fs::read_dir("/proc/self/task").unwrap().count()
}

/// The rules of the `idx`th match: the shipped games in turn.
fn rules(idx: usize) -> Arc<Rules> {
    let games = games::all();
    let description = Description::read(games[idx % games.len()].text, ReadOptions::default()).unwrap();
    Arc::new(Rules::from_description(&description).unwrap())
}

/// Plays two rollouts, as two threads.
fn play(idx: usize) {
    let prolog = Arc::new(Prolog::new(rules(idx), Update::Difference).unwrap());
    std::thread::scope(|scope| {
        for seed in 0..2 {
            let prolog = &prolog;
            scope.spawn(move || {
                let mut session = prolog.session(Limits::default(), &Interrupt::new()).unwrap();
                let root = session.initial_state().unwrap();
                session.rollouts(&[root], &[seed], &mut Rollouts::default()).unwrap();
            });
        }
    });
}

/// Does the work in rounds until one of them adds less than a megabyte: a leak adds to each of them, a structure
/// that reaches its size only to the first ones.
fn grows_no_more(what: &str, mut round: impl FnMut()) {
    const ONE_MEGABYTE: usize = 1 << 20;
    let n_threads_before = n_threads();
    let grown: Vec<usize> = (0..4)
        .map(|_| {
            let before = resident();
            round();
            resident().saturating_sub(before)
        })
        .scan(false, |is_over, grown| (!std::mem::replace(is_over, grown < ONE_MEGABYTE)).then_some(grown))
        .collect();
    println!("{what}: {grown:?} bytes more, round by round");
    assert!(grown.last().is_some_and(|&grown| grown < ONE_MEGABYTE), "{what}: {grown:?} bytes more");
    // The system may list a joined thread for a moment.
    let is_back = (0..1000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        n_threads() <= n_threads_before
    });
    assert!(is_back, "{what}: {} threads stay behind", n_threads() - n_threads_before);
}

#[test]
fn nothing_grows() {
    grows_no_more("200 matches", || (0..200).for_each(play));
    let prolog = Arc::new(Prolog::new(rules(0), Update::Difference).unwrap());
    grows_no_more("1000 sessions", || {
        for idx in 0..1000 {
            let make = || {
                let mut session = prolog.session(Limits::default(), &Interrupt::new()).unwrap();
                let state = session.initial_state().unwrap();
                assert!(!session.is_terminal(&state).unwrap());
            };
            if idx % 2 == 0 { make() } else { std::thread::scope(|scope| _ = scope.spawn(make)) }
        }
    });
}
