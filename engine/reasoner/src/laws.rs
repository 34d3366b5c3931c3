//! What holds for every game that is well formed, and so for every reasoner that reads it right.

use gdl::Term;

use crate::{Dice, Expansion, GoalAnswer, MAX_ROLLOUT_STEPS, ReasonerError, Role, Session, Value};

/// A law that a game breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Breach {
    /// "Playable": every role has a move in every state that is not terminal.
    #[error("role {role} has no legal move after {step} steps, in a state that is not terminal")]
    NotPlayable {
        /// The role's name.
        role: Term,
        /// Joint moves made before.
        step: u32,
    },
    /// "Terminating": every playout ends.
    #[error("no terminal state within {steps} steps")]
    NotTerminating {
        /// Where the playout was cut off.
        steps: u32,
    },
    /// One goal for each role at the end.
    #[error("role {role} has {} in a terminal state", match answer { GoalAnswer::Several(_) => "several goal values", _ => "no goal value" })]
    NotOneGoal {
        /// The role's name.
        role: Term,
        /// What the rules give.
        answer: GoalAnswer,
    },
    /// A reasoner gave the same move twice.
    #[error("the legal move {a_move} of role {role} was given twice")]
    Repeated {
        /// The role's name.
        role: Term,
        /// The move.
        a_move: Term,
    },
    /// A goal beyond the maximum.
    #[error("role {role} has the goal {value}, above the maximum of {max}")]
    GoalTooLarge {
        /// The role's name.
        role: Term,
        /// The goal.
        value: Value,
        /// The maximum.
        max: Value,
    },
}

/// Plays one random game of at most `max_steps` (and [`MAX_ROLLOUT_STEPS`]) joint moves and reports every
/// law broken on the way. `max_goal` is the reasoner's.
///
/// # Errors
/// As every question of a session.
pub fn check_playout<S: Session>(
    session: &mut S,
    seed: u64,
    max_steps: u32,
    max_goal: Value,
) -> Result<Vec<Breach>, ReasonerError> {
    let mut breaches = Vec::new();
    let roles = session.roles().to_vec();
    let mut dice = Dice::new(seed);
    let mut state = session.initial_state()?;
    let mut expansion = Expansion::default();
    let max_steps = max_steps.min(MAX_ROLLOUT_STEPS);
    for step in 0..=max_steps {
        match session.expand(&state, &mut expansion) {
            Err(ReasonerError::NotPlayable { role: name }) => {
                let role = roles.iter().find(|role| role.to_string() == name).cloned();
                breaches.extend(role.map(|role| Breach::NotPlayable { role, step }));
                return Ok(breaches);
            }
            answer => answer?,
        }
        if expansion.terminal {
            for (role, &answer) in roles.iter().zip(&expansion.goals) {
                match answer {
                    GoalAnswer::One(value) if value > max_goal => {
                        breaches.push(Breach::GoalTooLarge { role: role.clone(), value, max: max_goal });
                    }
                    GoalAnswer::One(_) => {}
                    _ => breaches.push(Breach::NotOneGoal { role: role.clone(), answer }),
                }
            }
            return Ok(breaches);
        }
        if step == max_steps {
            break;
        }
        let mut joint_move = Vec::with_capacity(roles.len());
        for role in Role::all(roles.len()) {
            let legal = expansion.moves_of(role);
            let mut sorted = legal.to_vec();
            sorted.sort_unstable();
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                let a_move = session.move_term(pair[0]);
                breaches.push(Breach::Repeated { role: roles[role.idx()].clone(), a_move });
            }
            joint_move.push(legal[dice.below(legal.len())]);
        }
        state = session.next_state(&state, &joint_move)?;
    }
    breaches.push(Breach::NotTerminating { steps: max_steps });
    Ok(breaches)
}
