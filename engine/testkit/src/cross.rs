//! Two reasoners in step along the same random playouts.

use std::sync::Arc;

use gdl::Term;
use reasoner::{Dice, Interrupt, Limits, Reasoner, Session};

use crate::outcome::{Mismatch, demand_equal};
use crate::position::Position;
use crate::text::list_difference;

/// Plays random games on two reasoners at once, until `n_steps` joint moves are made, and demands the same
/// roles, fluents, legal moves, ends and goals, as sets of texts. Returns the number of positions compared.
///
/// A game is left where a role has no move, and after 500 steps, so that endless rules are seen from the
/// start more than once.
///
/// # Errors
/// The first difference; an error of either reasoner is one.
pub fn cross_check<A: Reasoner, B: Reasoner>(
    a: &Arc<A>,
    b: &Arc<B>,
    seed: u64,
    n_steps: u64,
) -> Result<u64, Mismatch> {
    /// Longer than nearly all published games.
    const LONGEST: u64 = 500;
    let names = (a.name(), b.name());
    let interrupt = Interrupt::new();
    let fail_a = |place: &str, error| Mismatch::of_error(&format!("{}, {place}", names.0), &error);
    let fail_b = |place: &str, error| Mismatch::of_error(&format!("{}, {place}", names.1), &error);
    demand_equal("roles", names.0, &a.roles(), &b.roles(), String::new)?;
    let mut a = a.session(Limits::default(), &interrupt).map_err(|error| fail_a("session", error))?;
    let mut b = b.session(Limits::default(), &interrupt).map_err(|error| fail_b("session", error))?;
    let (mut n_made, mut n_positions, mut n_games) = (0, 0, 0);
    loop {
        let mut dice = Dice::new(Dice::child_seed(seed, n_games));
        let mut state_a = a.initial_state().map_err(|error| fail_a("initial state", error))?;
        let mut state_b = b.initial_state().map_err(|error| fail_b("initial state", error))?;
        for step in 0..=LONGEST {
            let place = format!("game {n_games} of seed {seed}, step {step}");
            let at_a =
                Position::ask(&mut a, state_a, Term::to_string).map_err(|error| fail_a(&place, error))?;
            let at_b =
                Position::ask(&mut b, state_b, Term::to_string).map_err(|error| fail_b(&place, error))?;
            demand_same(&place, names, &at_a, &at_b)?;
            n_positions += 1;
            if at_a.terminal || n_made == n_steps || at_a.legal.iter().any(Vec::is_empty) {
                break;
            }
            let (mut move_a, mut move_b) = (Vec::new(), Vec::new());
            for (legal_a, legal_b) in at_a.legal.iter().zip(&at_b.legal) {
                // Equal lists of texts: the same index is the same move.
                let move_idx = dice.below(legal_a.len());
                move_a.push(legal_a[move_idx].1);
                move_b.push(legal_b[move_idx].1);
            }
            state_a = a.next_state(&at_a.state, &move_a).map_err(|error| fail_a(&place, error))?;
            state_b = b.next_state(&at_b.state, &move_b).map_err(|error| fail_b(&place, error))?;
            n_made += 1;
        }
        n_games += 1;
        // A game that ends at once makes no step: it need not be seen again.
        if n_made >= n_steps || n_positions == n_games {
            return Ok(n_positions);
        }
    }
}

fn demand_same<S, T>(
    place: &str,
    names: (&str, &str),
    a: &Position<S>,
    b: &Position<T>,
) -> Result<(), Mismatch> {
    let differ = |what: &str, a: &[String], b: &[String]| {
        let difference = list_difference(a, b);
        Err(Mismatch::Differs(format!("{place}: {what} of {} and {}: {difference}", names.0, names.1)))
    };
    if a.facts != b.facts {
        return differ("facts", &a.facts, &b.facts);
    }
    demand_equal(place, &format!("terminal of {}", names.0), &a.terminal, &b.terminal, String::new)?;
    demand_equal(place, &format!("the goals of {}", names.0), &a.goals, &b.goals, String::new)?;
    for role in reasoner::Role::all(a.legal.len()) {
        let (ours, theirs) = (a.legal_texts(role), b.legal_texts(role));
        if ours != theirs {
            return differ(&format!("legal moves of role {}", role.0), &ours, &theirs);
        }
    }
    Ok(())
}
