//! Joint moves read from a file: a plain list, a match record (ours or a published one), a golden trace.

use std::path::Path;

use gdl::Term;
use serde_json::Value;

use crate::failure::Failure;
use crate::game_source::read_json;

/// What a file says was played.
#[derive(Debug)]
pub struct Played {
    /// Joint moves, one term per role.
    pub moves: Vec<Vec<Term>>,
    /// The hash of the rulesheet, in records of ours.
    pub rules_hash: Option<String>,
}

/// Reads joint moves.
///
/// # Errors
/// If the file holds none of the known layouts.
pub fn read(path: &Path) -> Result<Played, Failure> {
    let wanted =
        "a JSON list of joint moves is wanted, such as [[\"(mark 1 1)\", \"noop\"]], or a match record";
    let failed = |error: &dyn std::fmt::Display| Failure::work(error).context(path.display()).hint(wanted);
    let json: Value = read_json(path, wanted)?;
    let steps: Vec<&Value> = match (&json, json.get("moves"), json.get("steps")) {
        (Value::Array(steps), ..) | (_, Some(Value::Array(steps)), _) => steps.iter().collect(),
        (.., Some(Value::Array(steps))) => {
            steps.iter().map(|step| step.get("m").unwrap_or(&Value::Null)).collect()
        }
        _ => return Err(failed(&"there are no moves in this file")),
    };
    let mut moves = Vec::with_capacity(steps.len());
    for (step_idx, step) in steps.into_iter().enumerate() {
        let at =
            |error: &dyn std::fmt::Display| failed(&format_args!("joint move {}: {error}", step_idx + 1));
        let texts = step.as_array().ok_or_else(|| at(&"it is no list"))?;
        let terms = texts.iter().map(|text| {
            let text = text.as_str().ok_or_else(|| at(&"a move is no text"))?;
            Term::parse(text).map_err(|error| at(&error))
        });
        moves.push(terms.collect::<Result<_, _>>()?);
    }
    let rules_hash = json.get("rules_hash").and_then(Value::as_str).map(str::to_owned);
    Ok(Played { moves, rules_hash })
}
