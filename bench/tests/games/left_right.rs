//! LeftRight has the values of the paper's definition, and is the shipped rulesheet with another number of steps.

use std::collections::BTreeMap;
use std::sync::Arc;

use bench::games::{InRust, LEFT, LeftRight, RIGHT};
use gdl::{Description, ReadOptions, Rules};
use reasoner::{Reasoner, Role, Session, Uniform};
use reasoner_native::Interpreter;
use testkit::cross_check;

use crate::common::{demand_same_distribution, final_goals, legal_names, perft_of, session};

#[test]
fn there_are_as_many_positions_as_pairs_of_steps_and_steps_to_the_left() {
    for n_steps in [1, 2, 7, 60] {
        let counts = perft_of(LeftRight::new(n_steps), 1000);
        assert_eq!(counts.leaves.len(), usize::from(n_steps));
        for (depth, (&leaves, &distinct)) in (1u32..).zip(counts.leaves.iter().zip(&counts.distinct)) {
            assert_eq!((leaves, distinct), (1 << depth, u64::from(depth) + 1));
        }
        let n_positions = 1 + counts.distinct.iter().sum::<u64>();
        let h = u64::from(n_steps);
        assert_eq!(n_positions, (h + 1) * (h + 2) / 2);
        assert_eq!(counts.distinct_terminal.last(), Some(&(h + 1)), "all goals from 0 to h occur");
    }
}

#[test]
fn the_goal_is_the_number_of_steps_to_the_left() {
    let game = Arc::new(InRust::new(LeftRight::new(300)));
    assert_eq!(game.max_goal(), 300);
    let mut session = session(LeftRight::new(300));
    for n_left in [0, 1, 150, 299, 300] {
        let mut state = session.initial_state().unwrap();
        for step in 0..300 {
            assert_eq!(session.is_terminal(&state), Ok(false));
            assert_eq!(legal_names(&mut session, &state, Role(0)), ["left", "right"]);
            let a_move = if step < n_left { LEFT } else { RIGHT };
            state = session.next_state(&state, &[a_move]).unwrap();
        }
        assert_eq!(final_goals(&mut session, &state), [n_left]);
    }
}

#[test]
fn the_order_of_steps_does_not_matter() {
    let mut session = session(LeftRight::new(5));
    let mut ends: BTreeMap<u32, usize> = BTreeMap::new();
    for ways in 0..32u32 {
        let mut state = session.initial_state().unwrap();
        for step in 0..5 {
            let a_move = if ways >> step & 1 == 1 { LEFT } else { RIGHT };
            state = session.next_state(&state, &[a_move]).unwrap();
        }
        *ends.entry(final_goals(&mut session, &state)[0]).or_default() += 1;
    }
    assert_eq!(ends.into_values().collect::<Vec<_>>(), [1, 5, 10, 10, 5, 1]);
}

#[test]
fn the_shipped_rulesheet_is_the_game_of_a_hundred_steps() {
    let text = games::find("left-right").unwrap().text;
    let description = Description::read(text, ReadOptions::default()).unwrap();
    let rules = Arc::new(Rules::from_description(&description).unwrap());
    let rulesheet = Arc::new(Interpreter::new(rules).unwrap());
    let positions = cross_check(&Arc::new(InRust::new(LeftRight::new(100))), &rulesheet, 1, 1000);
    assert_eq!(positions.map_err(|mismatch| mismatch.to_string()), Ok(1010));
    assert!(cross_check(&Arc::new(InRust::new(LeftRight::new(99))), &rulesheet, 1, 1000).is_err());
}

#[test]
fn rollouts_come_to_the_goals_of_play_move_by_move() {
    let mut ours = session(LeftRight::new(30));
    let mut plain = session(LeftRight::new(30));
    let root = ours.initial_state().unwrap();
    let rollouts =
        (0..20_000).map(|seed| ours.rollout_with(&root, seed, &mut Uniform, None).unwrap().goals[0]);
    let steps = (20_000..40_000)
        .map(|seed| reasoner::rollout(&mut plain, &root, seed, &mut Uniform, None).unwrap().goals[0]);
    demand_same_distribution(rollouts, steps);
}
