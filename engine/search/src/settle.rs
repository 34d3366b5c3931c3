//! Whether the choice of a role at the root is settled before a run has used up its limits.
//!
//! In go what the role's moves came to and how far the run is, out comes a verdict; it knows no clock. A choice is
//! settled when visits cannot change it any more, or, later in the run, when visits and means agree on it (Huang, Coulom
//! and Lin 2010, and Baier and Winands 2016, have rules of both kinds for Go). It knows only choices that go by visits.

use crate::report::RoleReport;

/// The part of a run before which no choice is settled: so short a time measures no rate. Nor does one without playouts.
const LEAST_PART: f64 = 1.0 / 16.0;

/// How much faster than so far the rest of a run may be. Rates vary with the depth of the graph; a larger number only ends
/// runs a little later.
const FASTER: f64 = 1.25;

/// A clear choice has more than so many times the visits of any other.
const CLEAR_LEAD: u64 = 2;

/// How far a run is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Course {
    /// The part of the limits that is used up, 0 to 1.
    pub(crate) part: f64,
    /// What its playouts came to.
    pub(crate) visits: u64,
    /// The most visits that the graph does not tell of yet: under way, or kept by threads.
    pub(crate) untold: u64,
    /// Whether proofs may yet change the order of moves, whatever their visits.
    pub(crate) is_solving: bool,
}

impl Course {
    /// The most visits that a move can yet be given, at the rate so far. A playout gives a move its visits once at most; where
    /// counts are adapted to a depth (`ucd`) that is an estimate.
    fn rest(&self) -> f64 {
        self.visits as f64 * FASTER * (1.0 - self.part) / self.part + self.untold as f64
    }
}

/// Whether the first of a role's moves, best first by visits, may be played without waiting for the end of the run.
/// From `clear_from` of the limits on it suffices that the choice is clear: the most visited move has the best mean and more
/// than [`CLEAR_LEAD`] times the visits of any other.
pub(crate) fn is_settled(role: &RoleReport, course: &Course, clear_from: f64) -> bool {
    let [best, others @ ..] = &role.moves[..] else { return false };
    let Some(next) = others.iter().map(|it| it.visits).max() else { return true };
    // What is proven is in an order of its own, and ends the run by itself once it decides.
    if course.part < LEAST_PART || course.visits == 0 || role.moves.iter().any(|it| it.proven.is_some()) {
        return false;
    }
    let lead = best.visits.saturating_sub(next);
    let cannot_change = !course.is_solving && lead as f64 > course.rest();
    let is_clear = || best.visits > CLEAR_LEAD * next && others.iter().all(|it| it.value <= best.value);
    cannot_change || (course.part >= clear_from && is_clear())
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use reasoner::Move;

    use super::*;
    use crate::report::{MoveReport, Proven};

    /// A role with moves of these visits and values.
    fn role(moves: &[(u64, f64)]) -> RoleReport {
        let report =
            |(a_move, &(visits, value))| MoveReport { a_move, visits, value, top: None, proven: None };
        RoleReport { proven: None, moves: (0..).map(Move).zip(moves).map(report).collect() }
    }

    /// A run that has made 1000 visits in this part of its limits.
    fn course(part: f64) -> Course {
        Course { part, visits: 1000, untold: 8, is_solving: false }
    }

    /// Only a choice that cannot change ends the run.
    const NEVER_CLEAR: f64 = f64::INFINITY;

    #[test]
    fn a_lead_that_the_rest_cannot_make_up_settles_the_choice() {
        // At four fifths 1000 * 1.25 / 4 visits and the 8 untold may yet come: 320.5.
        let at = |lead: u64, part: f64| {
            is_settled(&role(&[(1000 + lead, 50.0), (1000, 60.0)]), &course(part), NEVER_CLEAR)
        };
        assert!(at(321, 0.8) && !at(320, 0.8));
        assert!(at(320, 0.81) && !at(321, 0.79));
        assert!(!at(8, 1.0) && at(9, 1.0));
    }

    #[test]
    fn what_was_found_before_the_run_counts_for_the_lead() {
        let kept = role(&[(100_000, 70.0), (5000, 30.0)]);
        assert!(is_settled(&kept, &course(0.07), NEVER_CLEAR));
        assert!(!is_settled(&kept, &course(0.06), NEVER_CLEAR), "no rate is known so early");
        let idle = Course { visits: 0, ..course(0.5) };
        assert!(
            !is_settled(&kept, &idle, NEVER_CLEAR) && !is_settled(&kept, &idle, 0.1),
            "nor without playouts"
        );
    }

    #[test]
    fn a_clear_choice_is_settled_from_the_part_on_that_was_asked_for() {
        let clear = role(&[(201, 60.0), (100, 60.0), (99, 10.0)]);
        assert!(is_settled(&clear, &course(0.6), 0.6));
        assert!(!is_settled(&clear, &course(0.59), 0.6));
    }

    #[test]
    fn what_is_close_or_not_best_by_its_mean_is_not_clear() {
        for unclear in [
            role(&[(200, 60.0), (100, 50.0)]),
            role(&[(900, 60.0), (100, 60.1)]),
            role(&[(0, 0.0), (0, 0.0)]),
        ] {
            assert!(!is_settled(&unclear, &course(0.6), 0.5), "{unclear:?}");
        }
    }

    #[test]
    fn a_single_move_is_settled_at_once_and_none_never() {
        assert!(is_settled(&role(&[(0, 0.0)]), &course(0.0), NEVER_CLEAR));
        assert!(!is_settled(&role(&[]), &course(1.0), 0.0));
    }

    #[test]
    fn visits_settle_nothing_against_proofs() {
        let mut moves = role(&[(5000, 60.0), (100, 50.0)]);
        assert!(is_settled(&moves, &course(0.8), NEVER_CLEAR));
        let solving = Course { is_solving: true, ..course(0.8) };
        assert!(!is_settled(&moves, &solving, NEVER_CLEAR), "the best move may be proven to lose");
        assert!(is_settled(&moves, &solving, 0.6), "a clear choice is one all the same");
        moves.moves[1].proven = Some(Proven { least: 0.0, most: 50.0, steps: None });
        assert!(!is_settled(&moves, &solving, 0.6));
    }
}
