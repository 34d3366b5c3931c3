//! The families of selection and backup rules, and the rules that are chosen beside them, by the names that the papers
//! and the command line use.
//!
//! In go texts, out come values, and the other way round. [`names`] reads a family's name, [`choices`] and [`weighed`]
//! the values of the other options.

mod choices;
mod depth;
mod names;
mod weighed;

pub use self::choices::{Aim, ChoiceError, FinalMove, Payoffs, Simultaneous};
pub use self::depth::{Depth, Depths, MAX_DEPTH};
pub use self::names::{CONFIG_NAMES, ConfigError, plain_name};
pub use self::weighed::{InFlight, Unexplored};

/// A family of selection and backup rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Config {
    /// A tree, UCB1 on its edges (Finnsson and Björnsson 2008; Méhat and Cazenave 2010, "UCT-T").
    Uct,
    /// A graph: equal states are one node, results are kept on nodes, and a parent's visits are the sum of
    /// its children's (Méhat and Cazenave 2010, section 3.2).
    #[default]
    UctT,
    /// Mean and visits adapted by looking below the edge when they are asked for (Saffidine, Cazenave and
    /// Méhat 2012, equations 9 to 13).
    Ucd(Depths),
    /// The same numbers kept on the edges and corrected by every backup, exactly.
    UcdIncremental(Depths),
    /// Kept and corrected as the paper prints it (equation 15), which leaves out that counts change too.
    UcdPaper(Depths),
    /// Every playout is added to all edges above its end, each once (section 3.2).
    UpdateAll,
    /// Every playout is added to its path, and edges are compared by what they were given (section 3.2).
    UpdateDescent,
    /// Means mixed with those of all playouts in which the move came later (Gelly and Silver 2007).
    Rave,
    /// The same with the later playouts of the children as deep as `rave`, and means of depth `mean`
    /// (Saffidine, Cazenave and Méhat 2012, section 4.3).
    RaveUcd {
        /// The depth of what moves were worth later.
        rave: Depth,
        /// The depth of the mean.
        mean: Depth,
    },
    /// Each edge credits its node with the child's mean, as often as it was passed (this project; see GRAPH.md).
    Credited,
    /// Uniform choice from the root on, no memory but the means of the root's moves (Finnsson and Björnsson
    /// 2008, "MC_org").
    Mc,
    /// Uniform choice too, but the tree is built, one node a playout, and kept from move to move ("MC_mem").
    McMemory,
}

impl Config {
    /// One of each family, for those who want to see all of them.
    pub const ALL: [Config; 13] = [
        Config::Uct,
        Config::UctT,
        Config::Ucd(Depths::finite(1, 0, 1)),
        Config::Ucd(Depths { mean: Depth::Infinite, parent: Depth::Finite(0), child: Depth::Finite(1) }),
        Config::UcdIncremental(Depths::finite(2, 1, 2)),
        Config::UcdPaper(Depths::finite(1, 0, 1)),
        Config::UpdateAll,
        Config::UpdateDescent,
        Config::Rave,
        Config::RaveUcd { rave: Depth::Finite(1), mean: Depth::Finite(0) },
        Config::Credited,
        Config::Mc,
        Config::McMemory,
    ];

    /// Whether equal states are one node.
    pub(crate) fn has_transpositions(self) -> bool {
        !matches!(self, Config::Uct | Config::Mc | Config::McMemory)
    }

    /// Whether anything below the root is kept.
    pub(crate) fn has_memory(self) -> bool {
        self != Config::Mc
    }

    /// Whether moves are chosen by their statistics; otherwise they are chosen uniformly.
    pub(crate) fn is_guided(self) -> bool {
        !matches!(self, Config::Mc | Config::McMemory)
    }

    /// Whether all backups of a graph are made under one lock, one at a time.
    pub fn has_backup_lock(self) -> bool {
        matches!(self, Config::UcdIncremental(_) | Config::UcdPaper(_))
    }

    /// Whether nodes must know the edges that lead to them.
    pub(crate) fn has_parent_links(self) -> bool {
        matches!(self, Config::UcdIncremental(_) | Config::UcdPaper(_) | Config::UpdateAll)
    }

    /// Whether it needs the moves of rollouts.
    pub(crate) fn has_later_moves(self) -> bool {
        matches!(self, Config::Rave | Config::RaveUcd { .. })
    }

    /// Whether it needs the moves of rollouts, or those of a policy of this kind are wanted: such rollouts are made one
    /// by one, from one leaf at a time.
    pub(crate) fn wants_moves(self, unexplored: Unexplored) -> bool {
        self.has_later_moves() || unexplored != Unexplored::Uniform
    }

    /// Whether a playout is added to what it came by, as it is, and to nothing else.
    pub(crate) fn adds_along_path(self) -> bool {
        matches!(self, Config::Uct | Config::UctT | Config::UpdateDescent)
    }

    /// Whether edges are compared by counts and sums as they are, their own or their children's.
    pub(crate) fn has_columns(self) -> bool {
        matches!(self, Config::Uct | Config::UctT | Config::UpdateAll | Config::UpdateDescent)
    }

    /// Whether edges are compared by the counts and sums of their children.
    pub(crate) fn is_by_children(self, payoffs: Payoffs) -> bool {
        let has_choice = matches!(self, Config::UpdateAll | Config::UpdateDescent);
        self == Config::UctT || (has_choice && payoffs == Payoffs::Nodes)
    }

    /// Whether playouts can be added on nodes as well as on edges, and where they are if nobody says.
    ///
    /// # Errors
    /// If this family has them elsewhere, or a depth is 0, which nodes do not have; the message says which.
    pub(crate) fn payoffs(self, wanted: Option<Payoffs>) -> Result<Payoffs, String> {
        let usual = if self == Config::UctT { Payoffs::Nodes } else { Payoffs::Edges };
        match (self, wanted) {
            (_, None) => Ok(usual),
            (_, Some(wanted)) if wanted == usual => Ok(usual),
            (Config::Ucd(depths), Some(Payoffs::Nodes)) if depths.has_zero() => Err(format!(
                "{self} has a depth of 0, and nodes have results from depth 1 on; keep payoffs on edges"
            )),
            (Config::Ucd(_) | Config::UpdateAll | Config::UpdateDescent, Some(wanted)) => Ok(wanted),
            _ => Err(format!(
                "{self} keeps its payoffs in one way only; ucd(d1,d2,d3), update-all and update-descent have a choice"
            )),
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn payoffs_have_their_place() {
        let place = |text: &str, wanted| text.parse::<Config>().expect(text).payoffs(wanted);
        assert_eq!(place("uct+t", None), Ok(Payoffs::Nodes));
        assert_eq!(place("ucd(1,0,1)", None), Ok(Payoffs::Edges));
        assert_eq!(place("ucd(1,1,1)", Some(Payoffs::Nodes)), Ok(Payoffs::Nodes));
        assert!(place("ucd(1,0,1)", Some(Payoffs::Nodes)).is_err());
        assert!(place("uct", Some(Payoffs::Nodes)).is_err());
    }
}
