//! What makes a sheet a game: roles, moves, an end and goals.

use rustc_hash::FxHashMap;

use super::Severity;
use super::report::{Report, quoted};
use super::sheet::{Sheet, is_ground};
use crate::description::Keyword;
use crate::sexpr::Sexpr;

/// The role that the game manager plays.
const RANDOM: &str = "random";

/// Reports a missing `role`, `legal`, `goal` or `terminal`, and goals that no game manager can pay.
pub(super) fn check(sheet: &Sheet, report: &mut Report) {
    for (keyword, what, hint) in [
        (Keyword::Role, "no role is defined", "add a fact such as (role player) for every player"),
        (Keyword::Legal, "no legal move is defined", "add rules such as (<= (legal ?r noop) (role ?r))"),
        (
            Keyword::Goal,
            "no goal is defined",
            "add a goal of 0 to 100 for every role, as in (goal player 100)",
        ),
        (Keyword::Terminal, "no end is defined", "add a rule such as (<= terminal (true done))"),
    ] {
        if !sheet.heads().any(|(_, head)| head.keyword == Some(keyword)) {
            report.whole(Severity::Error, what.into(), hint);
        }
    }
    check_goals(sheet, report);
}

fn check_goals(sheet: &Sheet, report: &mut Report) {
    // For each role that a fact names, its fact and whether a goal is stated for it.
    let mut roles: FxHashMap<String, (usize, &Sexpr, bool)> = FxHashMap::default();
    for (clause, head) in sheet.heads() {
        if let (Some(Keyword::Role), [role]) = (head.keyword, head.args)
            && is_ground(role)
        {
            roles.entry(role.to_string()).or_insert((clause.statement, role, false));
        }
    }
    let (mut any_goal, mut every_role) = (false, false);
    for (clause, head) in sheet.heads() {
        let (Some(Keyword::Goal), [role, value]) = (head.keyword, head.args) else { continue };
        any_goal = true;
        match role.atom() {
            Some(name) if name.starts_with('?') => every_role = true,
            _ => {
                if let Some((_, _, has_goal)) = roles.get_mut(&role.to_string()) {
                    *has_goal = true;
                }
            }
        }
        if value.atom().is_some_and(|name| name.starts_with('?')) {
            continue;
        }
        let points = value.atom().and_then(goal_value);
        if points.is_none() {
            report.warning(
                clause.statement,
                value,
                format!("the goal {} is no whole number of 0 to 100", quoted(value)),
                "write a number of 0 to 100",
            );
        }
        if role.atom().is_some_and(|name| name.eq_ignore_ascii_case(RANDOM))
            && roles.contains_key(&role.to_string())
            && points.is_some_and(|points| points != 100)
        {
            report.warning(
                clause.statement,
                value,
                format!("the role {role} has a goal other than 100"),
                "the game manager plays it; write (goal random 100)",
            );
        }
    }
    if every_role || !any_goal {
        return;
    }
    for (statement, role, has_goal) in roles.into_values() {
        if !has_goal {
            report.warning(
                statement,
                role,
                format!("no goal is defined for the role {}", quoted(role)),
                "add a goal of 0 to 100 for it",
            );
        }
    }
}

/// The number of 0 to 100 that a name spells.
fn goal_value(name: &str) -> Option<u8> {
    let digits = name.bytes().all(|byte| byte.is_ascii_digit());
    name.parse().ok().filter(|&value| digits && value <= 100)
}
