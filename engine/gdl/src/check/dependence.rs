//! What may not depend on the state or on the moves.
//!
//! `init`, `base` and `input` are the same throughout a match; `legal`, `goal` and `terminal` are asked
//! before any move is made.

use super::graph::RelationGraph;
use super::report::Report;
use super::sheet::Sheet;
use crate::description::Keyword;

/// Reports the conditions through which such a relation comes to depend on `true` or `does`.
pub(super) fn check(sheet: &Sheet, graph: &RelationGraph, report: &mut Report) {
    let on_state = graph.dependent_on(Keyword::True.text());
    let on_moves = graph.dependent_on(Keyword::Does.text());
    for (clause, head) in sheet.heads() {
        let (state_allowed, hint) = match head.keyword {
            Some(Keyword::Init | Keyword::Base | Keyword::Input) => {
                (false, "use only relations that are the same in every state")
            }
            Some(Keyword::Legal | Keyword::Goal | Keyword::Terminal) => {
                (true, "it is asked before a move is made; let next note what was done, and use true")
            }
            _ => continue,
        };
        clause.for_each_sentence(&mut |sentence, _| {
            let through = |keyword: Keyword| match sentence.keyword == Some(keyword) {
                true => String::new(),
                false => format!(" through {}", sentence.name),
            };
            if !state_allowed && graph.lookup(&on_state, sentence.key()) {
                let text =
                    format!("{} depends on true, the state of the game{}", head.name, through(Keyword::True));
                report.error(clause.statement, sentence.sexpr, text, hint);
            }
            if graph.lookup(&on_moves, sentence.key()) {
                let text = format!("{} depends on does, the moves made{}", head.name, through(Keyword::Does));
                report.error(clause.statement, sentence.sexpr, text, hint);
            }
        });
    }
}
