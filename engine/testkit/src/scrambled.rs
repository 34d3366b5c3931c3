//! Rulesheets with names replaced and awkward layout, as servers send them.

use std::sync::Arc;
use std::time::Duration;

use gdl::{Description, ReadOptions, Rules, Sexpr, Term};
use reasoner::{Interrupt, Limits, Reasoner, Session};
use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::golden::{Golden, Thoroughness};
use crate::outcome::{Mismatch, Outcome, judge};
use crate::replay::check_golden_as;
use crate::shared::{Shared, SharedError};

/// The layouts, by the ends of the files' names. `start` is a whole START message.
const LAYOUTS: [&str; 4] = ["upper", "messy", "anycase", "start"];

/// `G.map.json`.
#[derive(Debug, Deserialize)]
struct MapFile {
    mapping: FxHashMap<String, String>,
}

/// One text of a scrambled game.
#[derive(Debug, Clone)]
pub struct ScrambledSheet {
    game: String,
    layout: &'static str,
    text: String,
    /// From new names to original ones, all in lower case.
    originals: Arc<FxHashMap<String, String>>,
    golden: Option<Arc<Golden>>,
}

impl ScrambledSheet {
    /// All texts of all scrambled games.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn all(shared: &Shared) -> Result<Vec<ScrambledSheet>, SharedError> {
        let mut sheets = Vec::new();
        for game in shared.names("scrambled", ".map.json")? {
            let map: MapFile = shared.json(format!("scrambled/{game}.map.json"))?;
            let originals = map
                .mapping
                .iter()
                .map(|(original, new)| (new.to_ascii_lowercase(), original.to_ascii_lowercase()))
                .collect();
            let originals = Arc::new(originals);
            let golden = format!("golden/{game}.json");
            let golden = match shared.path(&golden).is_file() {
                true => Some(Arc::new(shared.json(&golden)?)),
                false => None,
            };
            for layout in LAYOUTS {
                let text = shared.text(format!("scrambled/{game}.{layout}.kif"))?;
                let (game, originals, golden) = (game.clone(), Arc::clone(&originals), golden.clone());
                sheets.push(ScrambledSheet { game, layout, text, originals, golden });
            }
        }
        Ok(sheets)
    }

    /// `game.layout`
    pub fn name(&self) -> String {
        format!("{}.{}", self.game, self.layout)
    }

    /// The rules, read as a player reads what a server sends.
    ///
    /// # Errors
    /// If they cannot be read; in words.
    pub fn rules(&self) -> Result<Rules, String> {
        let options = ReadOptions::default();
        let description = match self.layout {
            "start" => {
                let message = gdl::read_one(&self.text).map_err(|error| error.to_string())?;
                // (START MATCH ROLE RULES STARTCLOCK PLAYCLOCK)
                let rules = message.list().and_then(|parts| parts.get(3)).and_then(Sexpr::list);
                let rules = rules.ok_or("the START message has no rules")?;
                Description::from_sexprs(&self.text, rules.to_vec(), options)
            }
            _ => Description::read(&self.text, options).map_err(|error| error.to_string())?,
        };
        Rules::from_description(&description).map_err(|error| error.to_string())
    }

    /// The golden data's text of a term of this sheet.
    fn original_text(&self, term: &Term) -> String {
        self.original(term).to_lower_case()
    }

    fn original(&self, term: &Term) -> Term {
        let name = |name: &str| -> Box<str> {
            let name = name.to_ascii_lowercase();
            self.originals.get(&name).cloned().unwrap_or(name).into()
        };
        match term {
            Term::Name(text) => Term::Name(name(text)),
            Term::Compound(text, args) => {
                Term::Compound(name(text), args.iter().map(|arg| self.original(arg)).collect())
            }
        }
    }
}

/// Replays the original's golden traces on a reasoner made from a scrambled sheet; without golden data, asks
/// for the initial state only.
pub fn check_scrambled<R: Reasoner>(reasoner: &Arc<R>, sheet: &ScrambledSheet, budget: Duration) -> Outcome {
    match &sheet.golden {
        Some(golden) => {
            // The counts say nothing that the traces do not.
            let thoroughness = Thoroughness { n_leaves: 0, budget, ..Thoroughness::WHOLE };
            check_golden_as(reasoner, golden, thoroughness, &|term| sheet.original_text(term))
        }
        None => judge(budget, |interrupt: &Interrupt, _| {
            let fail = |error| Mismatch::of_error("initial state", &error);
            let mut session = reasoner.session(Limits::default(), interrupt).map_err(fail)?;
            session.initial_state().map(drop).map_err(fail)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(layout: &'static str, text: &str) -> ScrambledSheet {
        let originals = [("foo", "cell"), ("bar", "b")].map(|(new, old)| (new.to_string(), old.to_string()));
        ScrambledSheet {
            game: "g".into(),
            layout,
            text: text.into(),
            originals: Arc::new(originals.into_iter().collect()),
            golden: None,
        }
    }

    #[test]
    fn names_are_translated_back_at_every_depth() {
        let term = Term::parse("(FOO 1 (Foo baR) noop)").unwrap();
        assert_eq!(sheet("upper", "").original_text(&term), "(cell 1 (cell b) noop)");
    }

    #[test]
    fn the_rules_of_a_start_message_are_found() {
        let rules = sheet("start", "(START m A ((ROLE A) (ROLE B)) 30 10)").rules().unwrap();
        assert_eq!(rules.roles().len(), 2);
    }
}
