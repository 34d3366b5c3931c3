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

#[test]
fn nothing_grows() {
    const ONE_MEGABYTE: usize = 1 << 20;
    // By then every structure is as large as it gets.
    (0..200).for_each(play);
    let before = (resident(), n_threads());
    (0..200).for_each(play);
    let after = (resident(), n_threads());
    println!("200 matches: {before:?} to {after:?}");
    assert!(after.0 < before.0 + ONE_MEGABYTE, "200 matches: {} bytes more", after.0 - before.0);
    assert_eq!(after.1, before.1, "threads stay behind");

    let prolog = Arc::new(Prolog::new(rules(0), Update::Difference).unwrap());
    let sessions = |n: usize| {
        for idx in 0..n {
            let make = || {
                let mut session = prolog.session(Limits::default(), &Interrupt::new()).unwrap();
                let state = session.initial_state().unwrap();
                assert!(!session.is_terminal(&state).unwrap());
            };
            if idx % 2 == 0 { make() } else { std::thread::scope(|scope| _ = scope.spawn(make)) }
        }
    };
    sessions(100);
    let before = (resident(), n_threads());
    sessions(1000);
    let after = (resident(), n_threads());
    println!("1000 sessions: {before:?} to {after:?}");
    assert!(after.0 < before.0 + ONE_MEGABYTE, "1000 sessions: {} bytes more", after.0 - before.0);
    assert_eq!(after.1, before.1, "threads stay behind");
}
