//! The families of selection and backup rules, by the names that the papers and the command line use.

use std::fmt;
use std::str::FromStr;

/// How deep an adapted value looks below its edge (Saffidine, Cazenave and Méhat 2012, section 3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Depth {
    /// So many edges, at most [`MAX_DEPTH`]; 0 is the edge itself.
    Finite(u8),
    /// All the way down.
    Infinite,
}

/// The deepest finite [`Depth`]; graphs that are deeper have use for [`Depth::Infinite`].
pub const MAX_DEPTH: u8 = 16;

impl Depth {
    /// One level less.
    pub(crate) fn below(self) -> Depth {
        match self {
            Depth::Finite(depth) => Depth::Finite(depth.saturating_sub(1)),
            Depth::Infinite => Depth::Infinite,
        }
    }
}

impl fmt::Display for Depth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Depth::Finite(depth) => write!(f, "{depth}"),
            Depth::Infinite => f.write_str("inf"),
        }
    }
}

impl FromStr for Depth {
    type Err = ();

    fn from_str(text: &str) -> Result<Depth, ()> {
        match text.trim() {
            "inf" | "infinity" | "∞" => Ok(Depth::Infinite),
            number => match number.parse() {
                Ok(depth) if depth <= MAX_DEPTH => Ok(Depth::Finite(depth)),
                _ => Err(()),
            },
        }
    }
}

/// The three depths of UCD: of the mean, of the parent's visits, of the child's visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Depths {
    /// d1, of the mean.
    pub mean: Depth,
    /// d2, of what the parent's visits are summed up from.
    pub parent: Depth,
    /// d3, of the child's visits.
    pub child: Depth,
}

impl Depths {
    const fn finite(mean: u8, parent: u8, child: u8) -> Depths {
        Depths { mean: Depth::Finite(mean), parent: Depth::Finite(parent), child: Depth::Finite(child) }
    }

    fn has_zero(self) -> bool {
        [self.mean, self.parent, self.child].contains(&Depth::Finite(0))
    }
}

impl fmt::Display for Depths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({},{},{})", self.mean, self.parent, self.child)
    }
}

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

/// Where playouts are added, for the families that leave it open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Payoffs {
    /// On the edges that were passed.
    Edges,
    /// On the nodes that were passed, so that an edge shares its child's results with the other edges to it.
    Nodes,
}

/// What a role of a two-role game wants; with any other number of roles, always its own goal (Finnsson and
/// Björnsson 2008).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Aim {
    /// A high goal.
    #[default]
    Own,
    /// A high difference to the other's goal; an even end is worth half.
    Difference,
    /// A high goal, and of equal ones that where the other's is low.
    OwnThenOther,
}

/// How the first way out of a node is chosen, and the moves of rollouts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Unexplored {
    /// All with the same probability.
    #[default]
    Uniform,
    /// By Gibbs sampling over what the move was worth elsewhere (Finnsson and Björnsson 2008).
    Gibbs {
        /// The temperature tau, in goal points.
        tau: f64,
    },
}

/// How playouts under way keep others from the same path.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum InFlight {
    /// They count as visits in the exploration term (Liu et al. 2020, WU-UCT).
    #[default]
    Count,
    /// Each counts as so many lost playouts (Chaslot, Winands and van den Herik 2008).
    VirtualLoss(f64),
}

/// How each role of a simultaneous position chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Simultaneous {
    /// UCB1, as if it were alone (decoupled UCT).
    #[default]
    Ucb1,
    /// In proportion to its positive regrets (Hart and Mas-Colell 2000), a tenth of the time uniformly.
    RegretMatching,
}

/// What the move to play has most of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FinalMove {
    /// Visits.
    Visits,
    /// The mean.
    Mean,
    /// The best value that a playout through it ever had.
    Top,
}

/// All names, for messages and help.
pub const CONFIG_NAMES: &str = "uct, uct+t, ucd(d1,d2,d3), ucd-incremental(d1,d2,d3), ucd-paper(d1,d2,d3), uct1, uct2, \
    uct3, update-all, update-descent, rave, rave-ucd(d-rave,d-mean), credited, mc, mc-memory";

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

    /// Whether nodes must know the edges that lead to them.
    pub(crate) fn has_parent_links(self) -> bool {
        matches!(self, Config::UcdIncremental(_) | Config::UcdPaper(_) | Config::UpdateAll)
    }

    /// Whether it needs the moves of rollouts.
    pub(crate) fn has_later_moves(self) -> bool {
        matches!(self, Config::Rave | Config::RaveUcd { .. })
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

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Config::Uct => "uct",
            Config::UctT => "uct+t",
            Config::Ucd(depths) => return f.pad(&format!("ucd{depths}")),
            Config::UcdIncremental(depths) => return f.pad(&format!("ucd-incremental{depths}")),
            Config::UcdPaper(depths) => return f.pad(&format!("ucd-paper{depths}")),
            Config::UpdateAll => "update-all",
            Config::UpdateDescent => "update-descent",
            Config::Rave => "rave",
            Config::RaveUcd { rave, mean } => return f.pad(&format!("rave-ucd({rave},{mean})")),
            Config::Credited => "credited",
            Config::Mc => "mc",
            Config::McMemory => "mc-memory",
        };
        f.pad(name)
    }
}

/// A text that names no configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// No family has this name.
    #[error("{0:?} is no search configuration; known are {CONFIG_NAMES}")]
    Unknown(String),
    /// The family has depths, other ones.
    #[error(
        "{name} takes {n} depths in parentheses, each 0 to {MAX_DEPTH} or inf, not {found:?}; such as {example}"
    )]
    Depths {
        /// The family.
        name: String,
        /// How many depths it has.
        n: usize,
        /// What stands in their place.
        found: String,
        /// How it is done.
        example: &'static str,
    },
}

impl FromStr for Config {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Config, ConfigError> {
        let (name, arguments) = match text.split_once('(') {
            Some((name, rest)) => (name, rest.strip_suffix(')').or(Some(rest))),
            None => (text, None),
        };
        let depths = |n: usize, example: &'static str| {
            let found = arguments.unwrap_or_default();
            let read: Result<Vec<Depth>, ()> = found.split(',').map(str::parse).collect();
            let is_closed = text.ends_with(')');
            read.ok().filter(|read| read.len() == n && is_closed).ok_or_else(|| ConfigError::Depths {
                name: name.to_owned(),
                n,
                found: text[name.len()..].to_owned(),
                example,
            })
        };
        let three = |example| {
            let read = depths(3, example)?;
            Ok(Depths { mean: read[0], parent: read[1], child: read[2] })
        };
        let config = match (name, arguments) {
            ("ucd", _) => Config::Ucd(three("ucd(1,0,1)")?),
            ("ucd-incremental", _) => Config::UcdIncremental(three("ucd-incremental(1,0,1)")?),
            ("ucd-paper", _) => Config::UcdPaper(three("ucd-paper(1,0,1)")?),
            ("rave-ucd", _) => {
                let read = depths(2, "rave-ucd(1,0)")?;
                Config::RaveUcd { rave: read[0], mean: read[1] }
            }
            (_, Some(_)) => return Err(ConfigError::Unknown(text.to_owned())),
            // Childs, Brodeur and Kocsis 2008, as the paper of 2012 places them.
            ("uct1", None) => Config::Ucd(Depths::finite(0, 0, 0)),
            ("uct2", None) => Config::Ucd(Depths::finite(1, 0, 0)),
            ("uct3", None) => Config::Ucd(Depths { mean: Depth::Infinite, ..Depths::finite(0, 0, 0) }),
            ("uct", None) => Config::Uct,
            ("uct+t", None) => Config::UctT,
            ("update-all", None) => Config::UpdateAll,
            ("update-descent", None) => Config::UpdateDescent,
            ("rave", None) => Config::Rave,
            ("credited", None) => Config::Credited,
            ("mc", None) => Config::Mc,
            ("mc-memory", None) => Config::McMemory,
            _ => return Err(ConfigError::Unknown(text.to_owned())),
        };
        Ok(config)
    }
}

/// An option whose text is none of its values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not one of {known}")]
pub struct ChoiceError {
    found: String,
    known: &'static str,
}

/// Texts for the values of an option, both ways.
macro_rules! choices {
    ($type:ty, $known:literal, $($text:literal => $value:path,)*) => {
        impl FromStr for $type {
            type Err = ChoiceError;

            fn from_str(text: &str) -> Result<$type, ChoiceError> {
                match text {
                    $($text => Ok($value),)*
                    _ => Err(ChoiceError { found: text.to_owned(), known: $known }),
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self {
                    $($value => $text,)*
                })
            }
        }
    };
}

choices!(Payoffs, "edges, nodes", "edges" => Payoffs::Edges, "nodes" => Payoffs::Nodes,);
choices!(
    Aim,
    "own, difference, own-then-other",
    "own" => Aim::Own,
    "difference" => Aim::Difference,
    "own-then-other" => Aim::OwnThenOther,
);
choices!(
    Simultaneous,
    "ucb1, regret-matching",
    "ucb1" => Simultaneous::Ucb1,
    "regret-matching" => Simultaneous::RegretMatching,
);
choices!(
    FinalMove,
    "visits, mean, top",
    "visits" => FinalMove::Visits,
    "mean" => FinalMove::Mean,
    "top" => FinalMove::Top,
);

/// Splits `name(argument)`; the argument, if there is one, is a number above 0 and at most `most`.
fn name_and_number(text: &str, most: f64) -> Option<(&str, Option<f64>)> {
    let Some((name, rest)) = text.split_once('(') else { return Some((text, None)) };
    let number: f64 = rest.strip_suffix(')')?.parse().ok()?;
    (number > 0.0 && number <= most).then_some((name, Some(number)))
}

/// Cadia's temperature, in goal points (Finnsson and Björnsson 2008, "Choosing among unexplored actions").
const TAU: f64 = 10.0;

impl FromStr for Unexplored {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Unexplored, ChoiceError> {
        match name_and_number(text, 1e6) {
            Some(("uniform", None)) => Ok(Unexplored::Uniform),
            Some(("gibbs", tau)) => Ok(Unexplored::Gibbs { tau: tau.unwrap_or(TAU) }),
            _ => Err(ChoiceError {
                found: text.to_owned(),
                known: "uniform, gibbs, gibbs(TAU) with TAU above 0",
            }),
        }
    }
}

impl fmt::Display for Unexplored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unexplored::Uniform => f.pad("uniform"),
            Unexplored::Gibbs { tau } => f.pad(&format!("gibbs({tau})")),
        }
    }
}

impl FromStr for InFlight {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<InFlight, ChoiceError> {
        match name_and_number(text, 1e6) {
            Some(("count", None)) => Ok(InFlight::Count),
            Some(("loss", weight)) => Ok(InFlight::VirtualLoss(weight.unwrap_or(1.0))),
            _ => Err(ChoiceError {
                found: text.to_owned(),
                known: "count, loss, loss(WEIGHT) with WEIGHT above 0",
            }),
        }
    }
}

impl fmt::Display for InFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InFlight::Count => f.pad("count"),
            InFlight::VirtualLoss(weight) => f.pad(&format!("loss({weight})")),
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for config in Config::ALL {
            assert_eq!(config.to_string().parse(), Ok(config));
        }
        for text in ["uniform", "gibbs(2.5)"] {
            assert_eq!(text.parse::<Unexplored>().map(|it| it.to_string()).as_deref(), Ok(text));
        }
        for text in ["count", "loss(3)"] {
            assert_eq!(text.parse::<InFlight>().map(|it| it.to_string()).as_deref(), Ok(text));
        }
        for text in ["own", "difference", "own-then-other"] {
            assert_eq!(text.parse::<Aim>().map(|it| it.to_string()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn other_names_of_the_papers_are_known() {
        assert_eq!("uct1".parse::<Config>(), "ucd(0,0,0)".parse());
        assert_eq!("uct2".parse::<Config>(), "ucd(1,0,0)".parse());
        assert_eq!("uct3".parse::<Config>(), "ucd(inf,0,0)".parse());
        assert_eq!("ucd(infinity, 0, 1)".parse::<Config>(), "ucd(∞,0,1)".parse());
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = "ucb".parse::<Config>().expect_err("there is no ucb");
        assert!(
            error.to_string().starts_with("\"ucb\" is no search configuration; known are uct, uct+t, ucd(")
        );
    }

    #[test]
    fn wrong_depths_are_answered_with_an_example() {
        for text in [
            "ucd",
            "ucd()",
            "ucd(1,2)",
            "ucd(1,2,3",
            "ucd(1,2,17)",
            "ucd(1,2,-1)",
            "ucd(1,2,3,4)",
            "ucd(1,2,3)x",
        ] {
            let error = text.parse::<Config>().expect_err(text).to_string();
            assert!(error.ends_with("such as ucd(1,0,1)"), "{error}");
        }
        for text in ["uct(1)", "gibbs", "mc()"] {
            assert!(matches!(text.parse::<Config>(), Err(ConfigError::Unknown(_))), "{text}");
        }
        for text in ["gibbs(0)", "gibbs(-1)", "gibbs(nan)", "gibbs(", "uniform(1)", "gibbs(inf)"] {
            assert!(text.parse::<Unexplored>().is_err(), "{text}");
        }
    }

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
