//! How deep adapted values look.

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
    pub(super) const fn finite(mean: u8, parent: u8, child: u8) -> Depths {
        Depths { mean: Depth::Finite(mean), parent: Depth::Finite(parent), child: Depth::Finite(child) }
    }

    pub(super) fn has_zero(self) -> bool {
        [self.mean, self.parent, self.child].contains(&Depth::Finite(0))
    }
}

impl fmt::Display for Depths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({},{},{})", self.mean, self.parent, self.child)
    }
}
