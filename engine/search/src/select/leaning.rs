//! A bias to moves whose proofs are near: the term that UCT-PN adds to UCB1.
//!
//! Kowalski, Doe, Winands, Górski and Soemers (2024, "Proof Number-Based Monte-Carlo Tree Search") add
//! `C_pn (1 - rank / n)` to the bound of each of n moves, ranked by their proof numbers. Here each role goes by its own numbers, as
//! Kowalski, Soemers, Kosakowski and Winands do (2025, "Generalized Proof-Number Monte-Carlo Tree Search"), so that
//! nobody needs disproof numbers and any number of roles will do. They also weigh numbers by their sum or their
//! largest; ranks are what their program takes if nothing is said, and do not depend on how large the numbers have become.

use std::hash::Hash;

use super::{Account, Viewpoint};
use crate::graph::Graph;
use crate::orders::Orders;
use crate::scheme::Scheme;

/// Memory for the numbers of one node.
#[derive(Debug, Default)]
pub(super) struct Leaning {
    /// The chooser's proof number behind each move.
    numbers: Vec<u32>,
    ranked: Vec<u32>,
}

impl Leaning {
    /// Gives the accounts of a role's moves their bias, `X (1 - rank / n)` goal points. The smallest number has rank 1; equal
    /// numbers share the rank of their first, so what is equally far from a proof is treated alike. Where several roles choose
    /// nothing is said, since a role's move leads to no single position there, and neither for a role without bounds.
    pub(super) fn bias<S: Eq + Hash, O: Orders>(
        &mut self,
        graph: &Graph<S, O>,
        scheme: &Scheme,
        view: &Viewpoint,
        accounts: &mut [Account],
    ) {
        let Some(solver) = scheme.solver.as_ref().filter(|_| scheme.pn_bias > 0.0) else { return };
        if view.is_simultaneous || view.role_idx >= solver.layout.n_bounded {
            return;
        }
        let opening = graph.node(view.id).opening();
        solver.gather_proof_numbers(graph, opening, view.role_idx, &mut self.numbers);
        self.ranked.clear();
        self.ranked.extend_from_slice(&self.numbers);
        self.ranked.sort_unstable();
        let n_moves = self.ranked.len() as f64;
        for (account, &number) in accounts.iter_mut().zip(&self.numbers) {
            let rank = 1 + self.ranked.partition_point(|&other| other < number);
            account.bias = scheme.pn_bias * (1.0 - rank as f64 / n_moves);
        }
    }
}
