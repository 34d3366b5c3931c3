//! From the goals that the rules give to the values that the search adds up.

use reasoner::Value;

use crate::config::Aim;

/// The largest value, in units: sums over 2^40 playouts fit 64 bits, and so does a count beside a mean in one word.
pub(crate) const MAX_UNITS: u64 = (1 << 24) - 1;

/// How goals become values: integers in fixed point, so that sums are exact in any order.
#[derive(Debug, Clone)]
pub(crate) struct Valuation {
    aim: Aim,
    max_goal: u64,
    units_per_goal: u64,
    goals_per_unit: f64,
    /// What a value is worth one step earlier, 1 if it is worth the same.
    pub(crate) discount: f64,
    /// The powers of the discount, from the 0th on, as far as most games go.
    powers: Vec<f64>,
}

/// Powers of the discount that are kept: more steps than most games have.
const N_POWERS: i32 = 512;

impl Valuation {
    /// For a game whose goals are at most `max_goal` and of `n_roles` roles; an aim at an opponent needs exactly one.
    pub(crate) fn new(aim: Aim, discount: f64, max_goal: Value, n_roles: usize) -> Valuation {
        let max_goal = u64::from(max_goal).clamp(1, MAX_UNITS);
        let aim = if n_roles == 2 { aim } else { Aim::Own };
        let units_per_goal = MAX_UNITS / max_goal;
        let goals_per_unit = 1.0 / units_per_goal as f64;
        let powers = (0..N_POWERS).map(|steps| discount.powi(steps)).collect();
        Valuation { aim, max_goal, units_per_goal, goals_per_unit, discount, powers }
    }

    /// The largest value.
    pub(crate) fn full(&self) -> u64 {
        self.max_goal * self.units_per_goal
    }

    /// The value of one goal by itself; goals beyond the largest count as that.
    pub(crate) fn of_goal(&self, goal: u64) -> u64 {
        goal.min(self.max_goal) * self.units_per_goal
    }

    /// The largest rank: see [`Valuation::ranks_of_end`].
    pub(crate) fn most(&self) -> u64 {
        match self.aim {
            Aim::Own => self.max_goal,
            Aim::Difference => 2 * self.max_goal,
            Aim::OwnThenOther => (self.max_goal + 1) * (self.max_goal + 1) - 1,
        }
    }

    /// The least rank of an end that is won: with the highest goal, or where the difference is aimed at, the largest one.
    pub(crate) fn least_win(&self) -> u64 {
        match self.aim {
            Aim::Own | Aim::Difference => self.most(),
            Aim::OwnThenOther => self.max_goal * (self.max_goal + 1),
        }
    }

    /// What two roles' ranks always sum up to, where the aim alone says so.
    pub(crate) fn sum_of_two(&self) -> Option<u64> {
        (self.aim == Aim::Difference).then(|| self.most())
    }

    /// Replaces `ranks` by those of an end with these goals, one per role: whole numbers from 0 to [`Valuation::most`] in
    /// the order that the aim has of ends. Goals above the largest count as that.
    pub(crate) fn ranks_of_end(&self, goals: &[u64], ranks: &mut Vec<u64>) {
        ranks.clear();
        let max = self.max_goal;
        match (self.aim, goals) {
            // Half of the range is an even end.
            (Aim::Difference, &[a, b]) => {
                let (a, b) = (a.min(max), b.min(max));
                ranks.extend([a + max - b, b + max - a]);
            }
            // The own goal counts more than all that the other's can make up (Finnsson and Björnsson 2008).
            (Aim::OwnThenOther, &[a, b]) => {
                let (a, b) = (a.min(max), b.min(max));
                ranks.extend([a * (max + 1) + max - b, b * (max + 1) + max - a]);
            }
            _ => ranks.extend(goals.iter().map(|&goal| goal.min(max))),
        }
    }

    /// The value of a rank.
    pub(crate) fn of_rank(&self, rank: u64) -> u64 {
        if self.aim == Aim::Own {
            return self.of_goal(rank);
        }
        // The products pass 64 bits where goals are millions.
        let part = u128::from(rank) * u128::from(self.full()) / u128::from(self.most());
        u64::try_from(part).unwrap_or(u64::MAX).min(self.full())
    }

    /// Replaces `values` by those of these ranks.
    pub(crate) fn of_ranks(&self, ranks: &[u64], values: &mut Vec<u64>) {
        values.clear();
        values.extend(ranks.iter().map(|&rank| self.of_rank(rank)));
    }

    /// Replaces `values` by those of an end with these goals, one per role.
    pub(crate) fn of_end(&self, goals: &[u64], values: &mut Vec<u64>) {
        self.ranks_of_end(goals, values);
        for value in values {
            *value = self.of_rank(*value);
        }
    }

    /// What a value is worth `steps` joint moves before the end.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the value")]
    pub(crate) fn before(&self, value: u64, steps: u32) -> u64 {
        if self.discount == 1.0 {
            return value;
        }
        let power = self.powers.get(steps as usize).copied().unwrap_or_else(|| self.far_power(steps));
        // Rounded: for numbers that are not negative, this is what `round` gives without a call.
        (value as f64 * power + 0.5) as u64
    }

    /// A power of the discount that is not kept; apart, since compilers compute it in advance where it is in line.
    #[cold]
    #[inline(never)]
    fn far_power(&self, steps: u32) -> f64 {
        self.discount.powi(i32::try_from(steps).unwrap_or(i32::MAX))
    }

    /// A value in goal points.
    pub(crate) fn points(&self, value: f64) -> f64 {
        value * self.goals_per_unit
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn points(aim: Aim, goals: &[u64]) -> Vec<f64> {
        let valuation = Valuation::new(aim, 1.0, 100, goals.len());
        let mut values = Vec::new();
        valuation.of_end(goals, &mut values);
        values.iter().map(|&value| (valuation.points(value as f64) * 10.0).round() / 10.0).collect()
    }

    #[test]
    fn an_aim_orders_ends_as_it_says() {
        assert_eq!(points(Aim::Own, &[100, 30]), [100.0, 30.0]);
        assert_eq!(points(Aim::Difference, &[100, 30]), [85.0, 15.0]);
        assert_eq!(
            points(Aim::Difference, &[0, 100, 50]),
            [0.0, 100.0, 50.0],
            "three roles have no opponent"
        );
        let first = |goals: [u64; 2]| {
            let valuation = Valuation::new(Aim::OwnThenOther, 1.0, 100, 2);
            let mut values = Vec::new();
            valuation.of_end(&goals, &mut values);
            values[0]
        };
        assert!(first([50, 100]) < first([50, 99]));
        assert!(first([50, 0]) < first([51, 100]));
        assert_eq!((first([0, 100]), first([100, 0])), (0, Valuation::new(Aim::Own, 1.0, 100, 2).full()));
    }

    #[test]
    fn a_discount_makes_later_goals_worth_less() {
        let valuation = Valuation::new(Aim::Own, 0.99, 100, 1);
        let value = valuation.of_goal(100);
        assert_eq!(valuation.before(value, 0), value);
        let of_value = valuation.before(value, 100) as f64 / value as f64;
        assert!((of_value - 0.99f64.powi(100)).abs() < 1e-6, "{of_value}");
        assert!(valuation.before(value, u32::MAX) < 2);
    }
}
