//! How names are spelled: capitals that waver, and characters that some players cannot read.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Severity;
use super::report::Report;
use super::sheet::Sheet;
use crate::description::Keyword;
use crate::sexpr::{Sexpr, SexprKind};

/// Reports each unusual name once, and each further spelling of a name once.
pub(super) fn check(sheet: &Sheet, report: &mut Report) {
    let text = sheet.description.text();
    let mut spelling = Spelling {
        text,
        case_ignored: sheet.description.case_ignored(),
        wavers: false,
        names: Spellings::default(),
        unusual: FxHashSet::default(),
        report,
    };
    for (statement, source) in sheet.description.statements().iter().enumerate() {
        // Variables are local to their rule.
        let mut variables = Spellings::default();
        spelling.walk(statement, source.sexpr(), &mut variables);
    }
    if spelling.wavers && spelling.case_ignored {
        report.whole(
            Severity::Warning,
            "most names are spelled in several ways that differ by case; they are read without case".into(),
            "spell each name one way",
        );
    }
}

/// For each name, by its lower-case letters: the first spelling, which is the one to keep to, and all.
type Spellings<'a> = FxHashMap<String, (&'a str, FxHashSet<&'a str>)>;

struct Spelling<'r, 'a> {
    text: &'a str,
    case_ignored: bool,
    /// Whether a name was found in two spellings.
    wavers: bool,
    names: Spellings<'a>,
    /// The unusual names reported.
    unusual: FxHashSet<&'a str>,
    report: &'r mut Report,
}

impl<'a> Spelling<'_, 'a> {
    fn walk(&mut self, statement: usize, sexpr: &'a Sexpr, variables: &mut Spellings<'a>) {
        match &sexpr.kind {
            SexprKind::List(items) => items.iter().for_each(|item| self.walk(statement, item, variables)),
            SexprKind::Atom(name) if Keyword::of(name).is_some() => {}
            SexprKind::Atom(name) => {
                self.capitals(statement, sexpr, name, variables);
                self.characters(statement, sexpr, name);
            }
        }
    }

    fn capitals(&mut self, statement: usize, at: &Sexpr, name: &'a str, variables: &mut Spellings<'a>) {
        if !name.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            return;
        }
        // A sheet that is read without case shows its spellings only in the text.
        let written = at.span.of(self.text);
        let written = if written.eq_ignore_ascii_case(name) { written } else { name };
        let table = if name.starts_with('?') { variables } else { &mut self.names };
        let (first, spellings) =
            table.entry(name.to_ascii_lowercase()).or_insert((written, FxHashSet::default()));
        if spellings.insert(written) && *first != written {
            self.wavers = true;
            if !self.case_ignored {
                self.report.warning(
                    statement,
                    at,
                    format!("{written} is spelled {first} elsewhere; players that ignore case take them for one name"),
                    "spell the name one way, or choose another",
                );
            }
        }
    }

    /// Letters, digits, `_` and `-` are read by every player.
    fn characters(&mut self, statement: usize, at: &Sexpr, name: &'a str) {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let bare = name.strip_prefix('?').unwrap_or(name);
        if bare.chars().all(plain) || !self.unusual.insert(name) {
            return;
        }
        let mut odd: Vec<char> = bare.chars().filter(|&c| !plain(c)).collect();
        odd.sort_unstable();
        odd.dedup();
        let odd: Vec<String> = odd.into_iter().take(8).map(|c| format!("{c:?}")).collect();
        self.report.warning(
            statement,
            at,
            format!("the name {name} holds {}, which not every player reads", odd.join(", ")),
            "use letters, digits, \"_\" and \"-\"",
        );
    }
}
