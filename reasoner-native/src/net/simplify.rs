//! Makes a net smaller without changing what it says of reachable states.
//!
//! Passes over the gates in their order ([`rebuild`](super::rebuild)) simplify and factor; others look at all gates together, as
//! lists ([`rows`](super::rows)): [`lookup`](super::lookup), [`cascade`](super::cascade) and [`extract`](super::extract).
//! They only change how values are computed, by what holds whatever the state and by "each role makes one move".

use super::rebuild::{Manner, changed, rebuilt};
use super::{Net, Size};
use crate::ground::{Budget, GroundError};

/// Passes that only simplify; each removes constants that the one before made, and most nets need less.
const MAX_PLAIN_PASSES: usize = 30;
/// Passes that flatten and factor; later ones gain little.
const MAX_FACTOR_PASSES: usize = 6;
/// Passes that extract; later ones gain next to nothing.
const MAX_EXTRACT_PASSES: usize = 2;

/// The share of the work, one in so many, that a pass must save to be done again.
const WORTH: usize = 200;

/// Simplifies as long as it is worth the time.
///
/// # Errors
/// If the budget is used up.
pub(crate) fn simplify(net: Net, budget: &Budget) -> Result<Net, GroundError> {
    let mut net = until_same(net, budget)?;
    // Nets of whole clauses are larger by far before their gates are factored for the first time.
    net = factored(&net, budget)?;
    net = changed(&net, budget, |rows| {
        rows.look_up(&net.gates);
        rows.cascade(budget)
    })?;
    net = rebuilt(&net, Manner::Plain, budget)?;
    net = while_worth(net, MAX_FACTOR_PASSES, |net| factored(net, budget))?;
    while_worth(net, MAX_EXTRACT_PASSES, |net| {
        factored(&changed(net, budget, |rows| rows.extract(budget))?, budget)
    })
}

/// Simplifies a part of a net that was simplified: what its gates have in common was found before.
///
/// # Errors
/// If the budget is used up.
pub(super) fn simplify_part(net: Net, budget: &Budget) -> Result<Net, GroundError> {
    while_worth(until_same(net, budget)?, MAX_FACTOR_PASSES, |net| factored(net, budget))
}

fn until_same(mut net: Net, budget: &Budget) -> Result<Net, GroundError> {
    for _ in 0..MAX_PLAIN_PASSES {
        let before = net.size();
        net = rebuilt(&net, Manner::Plain, budget)?;
        if net.size() == before {
            break;
        }
    }
    Ok(net)
}

/// Does a pass again as long as it saves a share of the work, at most so many times.
fn while_worth(
    mut net: Net,
    n_passes: usize,
    pass: impl Fn(&Net) -> Result<Net, GroundError>,
) -> Result<Net, GroundError> {
    let mut work = net.size().work();
    for _ in 0..n_passes {
        net = pass(&net)?;
        let before = std::mem::replace(&mut work, net.size().work());
        if work + before / WORTH >= before {
            break;
        }
    }
    Ok(net)
}

fn factored(net: &Net, budget: &Budget) -> Result<Net, GroundError> {
    rebuilt(&rebuilt(net, Manner::Factored, budget)?, Manner::Plain, budget)
}

impl Size {
    /// What nets are compared by: the work of one evaluation.
    pub(crate) fn work(&self) -> usize {
        self.gate_inputs + self.gates + self.bases
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Signal;
    use super::super::testing::net;
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_smaller_net_says_the_same(
            gates in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<prop::sample::Index>(), 2..5)), 1..60),
        ) {
            let raw = net(5, &[5, 3], |given| {
                let mut signals: Vec<Signal> = given.bases.iter().chain(given.moves.iter().flatten()).copied().collect();
                for (is_or, inputs) in &gates {
                    // Twice as many, so that the complements are among them.
                    let input = |idx: &prop::sample::Index| {
                        let idx = idx.index(2 * signals.len());
                        signals[idx / 2].negated_if(idx % 2 == 1)
                    };
                    let inputs: Vec<Signal> = inputs.iter().map(input).collect();
                    signals.push(if *is_or { given.or(&inputs) } else { given.and(&inputs) });
                }
                signals.iter().rev().take(12).copied().collect()
            });
            let small = simplify(raw.clone(), &Budget::default()).unwrap();
            raw.demand_equal(&small, [5, 3]);
        }
    }
}
