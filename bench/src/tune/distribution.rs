//! What samples are drawn from: a normal distribution for each parameter, cut at its bounds.

use reasoner::Dice;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

use super::plan::{Parameter, Plan};

/// One parameter's distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
}

impl Spread {
    /// The middle between the bounds and half their distance (Chaslot et al. 2008; Schadd et al. 2012, section 5).
    pub fn first(parameter: &Parameter) -> Spread {
        let Parameter { low, high, .. } = parameter;
        Spread { mean: f64::midpoint(*low, *high), deviation: (high - low) / 2.0 }
    }

    /// A value between the bounds, by the quantile of a share of what lies between them.
    fn draw(&self, parameter: &Parameter, dice: &mut Dice) -> f64 {
        let share = dice.unit();
        let Parameter { low, high, .. } = parameter;
        // No distribution where all elite samples are equal.
        let value = Normal::new(self.mean, self.deviation).map_or(self.mean, |normal| {
            let (below, up_to) = (normal.cdf(*low), normal.cdf(*high));
            normal.inverse_cdf(below + share * (up_to - below))
        });
        value.clamp(*low, *high)
    }
}

/// The samples of an iteration, each with a value for each parameter.
pub fn samples(plan: &Plan, spreads: &[Spread], iteration: usize) -> Vec<Vec<f64>> {
    // Behind the seeds of all iterations' games.
    let mut dice = Dice::new(Dice::child_seed(!plan.seed, iteration as u64));
    let draw = |dice: &mut Dice| {
        spreads.iter().zip(&plan.parameters).map(|(spread, parameter)| spread.draw(parameter, dice)).collect()
    };
    (0..plan.samples).map(|_| draw(&mut dice)).collect()
}

/// The next distribution, by the samples with the most; of equals the first.
pub fn next(plan: &Plan, spreads: &[Spread], samples: &[Vec<f64>], fitness: &[f64]) -> Vec<Spread> {
    let mut order: Vec<usize> = (0..samples.len()).collect();
    order.sort_by(|&one, &other| fitness[other].total_cmp(&fitness[one]));
    let elite = &order[..plan.elite];
    let n = elite.len() as f64;
    (0..)
        .zip(spreads)
        .map(|(idx, before): (usize, _)| {
            let values = || elite.iter().map(|&sample| samples[sample][idx]);
            let mean = values().sum::<f64>() / n;
            let deviation = (values().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
            let mix = |new: f64, old: f64| plan.smoothing * new + (1.0 - plan.smoothing) * old;
            Spread { mean: mix(mean, before.mean), deviation: mix(deviation, before.deviation) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn plan() -> Plan {
        Plan { samples: 50, elite: 10, ..toml::from_str(super::super::plan::EXAMPLE).unwrap() }
    }

    #[test]
    fn the_best_of_a_function_is_found() {
        let plan = plan();
        let mut spreads: Vec<Spread> = plan.parameters.iter().map(Spread::first).collect();
        assert_eq!(spreads[0], Spread { mean: 1000.0, deviation: 1000.0 });
        for iteration in 0..30 {
            let samples = samples(&plan, &spreads, iteration);
            assert!(samples.iter().all(|it| (0.0..=2000.0).contains(&it[0]) && (0.0..=0.2).contains(&it[1])));
            let fitness: Vec<f64> =
                samples.iter().map(|it| -(it[0] - 300.0).abs() - 1e4 * (it[1] - 0.15).abs()).collect();
            spreads = next(&plan, &spreads, &samples, &fitness);
        }
        assert!(
            (spreads[0].mean - 300.0).abs() < 5.0 && (spreads[1].mean - 0.15).abs() < 1e-3,
            "{spreads:?}"
        );
        assert!(spreads[0].deviation < 10.0);
    }

    #[test]
    fn equal_samples_are_drawn_again_and_again() {
        let plan = plan();
        let fixed = [Spread { mean: 7.0, deviation: 0.0 }, Spread { mean: 0.1, deviation: 0.0 }];
        assert!(samples(&plan, &fixed, 3).iter().all(|sample| *sample == [7.0, 0.1]));
    }

    #[test]
    fn the_elite_is_what_counts() {
        let plan = Plan { samples: 4, elite: 2, smoothing: 0.5, ..plan() };
        let samples = [[1.0, 0.1], [3.0, 0.1], [100.0, 0.1], [200.0, 0.1]].map(|it| it.to_vec());
        let before = [Spread { mean: 10.0, deviation: 4.0 }, Spread { mean: 0.1, deviation: 0.0 }];
        let after = next(&plan, &before, &samples, &[9.0, 8.0, 1.0, 2.0]);
        assert_eq!(after[0], Spread { mean: 6.0, deviation: 2.5 });
    }
}
