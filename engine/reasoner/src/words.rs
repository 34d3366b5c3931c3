//! The ids that stand for roles, moves and fluents between the two ends.

/// A seat, by index in the order of the role facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Role(pub u32);

impl Role {
    /// The index among the roles.
    pub fn idx(self) -> usize {
        self.0 as usize
    }

    /// The roles of a game with `n_roles` of them, in order.
    pub fn all(n_roles: usize) -> impl Iterator<Item = Role> {
        (0u32..).take(n_roles).map(Role)
    }
}

/// One role's choice. Equal ids are equal terms, whichever role plays them; an id is valid for the reasoner
/// that gave it, in all its sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Move(pub u32);

/// What stands under `true`; valid for the reasoner that gave it, in all its sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fluent(pub u32);

/// A goal as a number: 0 to [`Reasoner::max_goal`](crate::Reasoner::max_goal), which is 100 for GDL.
pub type Value = u32;

/// What the rules say of one role's goal in one state. Outside terminal states anything may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum GoalAnswer {
    /// No goal holds (goals that are no number in range do not count).
    #[default]
    None,
    /// Exactly one goal holds.
    One(Value),
    /// Several hold; the largest of them.
    Several(Value),
}

impl GoalAnswer {
    /// The answer after one more goal is found to hold.
    #[must_use]
    pub fn with(self, value: Value) -> GoalAnswer {
        match self {
            GoalAnswer::None => GoalAnswer::One(value),
            GoalAnswer::One(known) if known == value => self,
            GoalAnswer::One(known) | GoalAnswer::Several(known) => GoalAnswer::Several(known.max(value)),
        }
    }

    /// The value in a terminal state: the largest, as competition servers took it.
    pub fn at_end(self) -> Option<Value> {
        match self {
            GoalAnswer::None => None,
            GoalAnswer::One(value) | GoalAnswer::Several(value) => Some(value),
        }
    }

    /// The value if it is the only one.
    pub fn only(self) -> Option<Value> {
        match self {
            GoalAnswer::One(value) => Some(value),
            GoalAnswer::None | GoalAnswer::Several(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_goals_keep_the_largest() {
        let answer = GoalAnswer::None.with(30).with(30);
        assert_eq!(answer, GoalAnswer::One(30));
        assert_eq!(answer.with(10), GoalAnswer::Several(30));
        assert_eq!(answer.with(10).with(90).at_end(), Some(90));
        assert_eq!(answer.with(10).only(), None);
    }
}
