//! What an edge's record holds beyond its count and sum, which depends on the configuration.
//!
//! How many words that are depends on the number of roles too, so it is no type: the words of all edges lie in
//! an arena of their own, under the edge's index, and a family that needs none of them has none.

use crate::config::{Config, FinalMove, Simultaneous};
use crate::incremental;
use crate::options::Options;

/// The first word of a part, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Part {
    pub(crate) first: usize,
    pub(crate) len: usize,
}

/// Where the words of an edge are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct EdgeLayout {
    /// Each role's sum of values, where adapted values ask for roles other than the chooser.
    pub(crate) sums: Part,
    /// n', the playouts that ended right behind the edge, and the sum of each role's values over them.
    pub(crate) own: Part,
    /// What backups keep of adapted values, level by level; see [`incremental`](crate::incremental).
    pub(crate) adapted: Part,
    /// Each role's credit: how often it was given, and what was given each time.
    pub(crate) credits: Part,
    /// The chooser's regret in a simultaneous position, a signed sum.
    pub(crate) regret: Part,
    /// The best value of the chooser, plus one.
    pub(crate) top: Part,
    /// Words of an edge, a power of two, or 0.
    pub(crate) stride: usize,
}

impl EdgeLayout {
    /// For these options and so many roles.
    pub(crate) fn new(options: &Options, n_roles: usize) -> EdgeLayout {
        let mut layout = EdgeLayout::default();
        let mut n_words = 0;
        let mut take = |is_wanted: bool, len: usize| {
            let part = Part { first: n_words, len: if is_wanted { len } else { 0 } };
            n_words += part.len;
            part
        };
        let config = options.config;
        let is_ucd = matches!(
            config,
            Config::Ucd(_) | Config::UcdIncremental(_) | Config::UcdPaper(_) | Config::RaveUcd { .. }
        );
        layout.sums = take(is_ucd, n_roles);
        layout.own = take(is_ucd, 1 + n_roles);
        layout.adapted = take(is_ucd, incremental::n_words(config, n_roles));
        layout.credits = take(config == Config::Credited, n_roles);
        layout.regret = take(options.simultaneous == Simultaneous::RegretMatching, 1);
        layout.top = take(options.rule_of_final_move() == FinalMove::Top, 1);
        layout.stride = if n_words == 0 { 0 } else { n_words.next_power_of_two() };
        layout
    }
}
