//! What is proven of a node's values, in one word that only tightens.

/// Bits that are left for the distance to the end, whatever the bounds take.
const DISTANCE_BITS: u32 = 8;

/// Between what a role's value lies, both included, in ranks (see [`Valuation`](crate::valuation::Valuation)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) lo: u64,
    pub(crate) hi: u64,
}

impl Interval {
    /// Whether the value is known.
    pub(crate) fn is_exact(self) -> bool {
        self.lo >= self.hi
    }
}

/// How the bounds of a node's roles lie in its word.
///
/// A role has two fields of equal width, role after role from the low bits on: its lower bound, and by how much its upper
/// bound is below the largest rank. So a word of 0 proves nothing, fields only ever grow, and what two threads have
/// proven is joined by taking the larger of each field. The bits above hold one more than the number of joint moves to
/// the end, or 0 where no end is known; the first number stays.
///
/// Goals of 0 to 100 take 14 bits a role, so the first four roles of such a game are bounded, and those behind them are not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoundsLayout {
    n_roles: usize,
    /// The first roles, as many as have bounds.
    pub(crate) n_bounded: usize,
    width: u32,
    /// The largest rank.
    pub(crate) most: u64,
}

impl BoundsLayout {
    /// For ranks up to `most`; none if not even one role's bounds fit the word.
    pub(crate) fn new(n_roles: usize, most: u64) -> Option<BoundsLayout> {
        let width = u64::BITS - most.leading_zeros();
        let room = ((u64::BITS - DISTANCE_BITS) / (2 * width.max(1))) as usize;
        let n_bounded = n_roles.min(room);
        (n_bounded > 0).then_some(BoundsLayout { n_roles, n_bounded, width, most })
    }

    fn field(self, word: u64, idx: usize) -> u64 {
        (word >> self.shift(idx)) & ((1 << self.width) - 1)
    }

    #[allow(clippy::cast_possible_truncation, reason = "fields are at most 56")]
    fn shift(self, idx: usize) -> u32 {
        idx as u32 * self.width
    }

    /// What a word says of a role.
    pub(crate) fn interval(self, word: u64, role_idx: usize) -> Interval {
        if role_idx >= self.n_bounded {
            return Interval { lo: 0, hi: self.most };
        }
        let slack = self.field(word, 2 * role_idx + 1);
        Interval { lo: self.field(word, 2 * role_idx), hi: self.most.saturating_sub(slack) }
    }

    /// A word with a role's bounds added; nothing if the role has no place in it.
    pub(crate) fn with(self, word: u64, role_idx: usize, interval: Interval) -> u64 {
        if role_idx >= self.n_bounded {
            return word;
        }
        let slack = self.most - interval.hi.min(self.most);
        word | interval.lo.min(self.most) << self.shift(2 * role_idx) | slack << self.shift(2 * role_idx + 1)
    }

    /// Joint moves to the end, if an end is known.
    pub(crate) fn distance(self, word: u64) -> Option<u64> {
        (word >> self.shift(2 * self.n_bounded)).checked_sub(1)
    }

    /// A word without a distance, with this one; beyond what fits, the largest.
    pub(crate) fn with_distance(self, word: u64, distance: u64) -> u64 {
        let shift = self.shift(2 * self.n_bounded);
        word | (distance + 1).min(u64::MAX >> shift) << shift
    }

    /// All that either word says.
    pub(crate) fn join(self, held: u64, new: u64) -> u64 {
        let mut joined = 0;
        for idx in 0..2 * self.n_bounded {
            joined |= self.field(held, idx).max(self.field(new, idx)) << self.shift(idx);
        }
        match self.distance(held).or_else(|| self.distance(new)) {
            Some(distance) => self.with_distance(joined, distance),
            None => joined,
        }
    }

    /// Whether every role's value is known.
    pub(crate) fn is_exact(self, word: u64) -> bool {
        // A word of 0 is the usual case.
        word != 0
            && self.n_bounded == self.n_roles
            && (0..self.n_roles).all(|role_idx| self.interval(word, role_idx).is_exact())
    }

    /// Whether no lower bound is above its upper one.
    pub(crate) fn is_consistent(self, word: u64) -> bool {
        (0..self.n_bounded).all(|role_idx| {
            let slack = self.field(word, 2 * role_idx + 1);
            self.field(word, 2 * role_idx) + slack <= self.most
        })
    }

    /// Whether all that `weak` bounds is bounded at least as well by `strong`.
    pub(crate) fn follows(self, weak: u64, strong: u64) -> bool {
        (0..2 * self.n_bounded).all(|idx| self.field(weak, idx) <= self.field(strong, idx))
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn the_roles_that_fit_are_bounded() {
        let n_bounded = |n_roles, most| BoundsLayout::new(n_roles, most).map(|layout| layout.n_bounded);
        assert_eq!((n_bounded(4, 100), n_bounded(6, 100)), (Some(4), Some(4)));
        // Own goals first, then the other's.
        assert_eq!(n_bounded(2, 101 * 101 - 1), Some(2));
        assert_eq!((n_bounded(1, (1 << 28) - 1), n_bounded(1, 1 << 28)), (Some(1), None));
    }

    #[test]
    fn a_word_gives_back_what_was_put_into_it() {
        for (n_roles, most) in [(1, 1), (1, 1 << 24), (2, 200), (3, 100), (4, 100)] {
            let layout = BoundsLayout::new(n_roles, most).expect("there is room");
            let interval = |role_idx: usize| Interval { lo: role_idx as u64 % (most + 1), hi: most };
            let word = (0..n_roles).fold(0, |word, role_idx| layout.with(word, role_idx, interval(role_idx)));
            let word = layout.with_distance(word, 17);
            for role_idx in 0..n_roles {
                assert_eq!(layout.interval(word, role_idx), interval(role_idx), "{n_roles} roles of {most}");
            }
            assert_eq!(layout.distance(word), Some(17));
            assert!(layout.distance(layout.with_distance(0, u64::MAX - 1)).is_some_and(|it| it > 100));
            assert!(layout.is_consistent(word) && !layout.is_exact(0));
        }
    }

    #[test]
    fn joined_words_hold_the_tighter_bounds_and_the_first_distance() {
        let layout = BoundsLayout::new(2, 100).expect("there is room");
        let one = layout.with_distance(layout.with(0, 0, Interval { lo: 50, hi: 100 }), 3);
        let other = layout.with(0, 0, Interval { lo: 20, hi: 50 });
        let other = layout.with_distance(layout.with(other, 1, Interval { lo: 0, hi: 40 }), 5);
        let joined = layout.join(one, other);
        assert_eq!(layout.interval(joined, 0), Interval { lo: 50, hi: 50 });
        assert_eq!(layout.interval(joined, 1), Interval { lo: 0, hi: 40 });
        assert_eq!(layout.distance(joined), Some(3));
        assert!(layout.follows(one, joined) && layout.follows(other, joined) && !layout.follows(joined, one));
        let contradicted = layout.join(joined, layout.with(0, 0, Interval { lo: 51, hi: 100 }));
        assert!(!layout.is_consistent(contradicted));
    }

    #[test]
    fn a_value_is_known_when_every_role_s_is() {
        let layout = BoundsLayout::new(2, 100).expect("there is room");
        let half = layout.with(0, 0, Interval { lo: 100, hi: 100 });
        assert!(!layout.is_exact(half));
        assert!(layout.is_exact(layout.with(half, 1, Interval { lo: 0, hi: 0 })));
        // Of six roles two are not bounded, so nothing is ever known of all.
        let many = BoundsLayout::new(6, 100).expect("there is room");
        let all = (0..6).fold(0, |word, role_idx| many.with(word, role_idx, Interval { lo: 1, hi: 1 }));
        assert!(!many.is_exact(all));
        assert_eq!(many.interval(all, 5), Interval { lo: 0, hi: 100 });
    }
}
