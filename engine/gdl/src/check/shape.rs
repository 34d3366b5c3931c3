//! The form of each statement by itself: sentences, terms, connectives, and where keywords may stand.

use super::report::{Report, quoted};
use super::sheet::{Condition, Sentence, Sheet, for_each_var, is_connective};
use crate::description::Keyword;
use crate::rules::RelationId;
use crate::sexpr::{Sexpr, SexprKind};

/// Reports what is wrong with the form of statements.
pub(super) fn check(sheet: &Sheet, report: &mut Report) {
    for clause in &sheet.clauses {
        let statement = clause.statement;
        let source = &sheet.description.statements()[statement];
        let mut shape = Shape { statement, report };
        match (source.head(), &clause.head) {
            (None, _) => shape.error(
                source.sexpr(),
                "a rule without a head".into(),
                "write what follows after \"<=\", as in (<= p q)",
            ),
            (Some(head), None) => shape.no_head(head),
            (Some(_), Some(head)) => {
                shape.sentence(head);
                shape.head(head, clause.is_rule);
                if !clause.is_rule {
                    shape.ground(head);
                }
            }
        }
        if clause.is_rule && clause.body.is_empty() && clause.head.is_some() {
            shape.warning(
                source.sexpr(),
                "a rule with an empty body".into(),
                "write the head alone, as a fact",
            );
        }
        clause.body.iter().for_each(|condition| shape.condition(condition, false));
    }
}

struct Shape<'r> {
    statement: usize,
    report: &'r mut Report,
}

impl Shape<'_> {
    fn error(&mut self, at: &Sexpr, text: String, hint: &'static str) {
        self.report.error(self.statement, at, text, hint);
    }

    fn warning(&mut self, at: &Sexpr, text: String, hint: &'static str) {
        self.report.warning(self.statement, at, text, hint);
    }

    fn no_head(&mut self, head: &Sexpr) {
        match head.head().and_then(Keyword::of) {
            Some(keyword) if is_connective(keyword) => self.error(
                head,
                format!("{} stands where a fact or the head of a rule belongs", keyword.text()),
                "only a relation can be stated; connectives belong into the body of a rule",
            ),
            _ => self.no_sentence(head),
        }
    }

    fn no_sentence(&mut self, sexpr: &Sexpr) {
        self.error(
            sexpr,
            format!("{} is no sentence", quoted(sexpr)),
            "a sentence is a name, or a list that begins with one",
        );
    }

    fn head(&mut self, head: &Sentence, is_rule: bool) {
        let (what, hint) = match head.keyword {
            Some(Keyword::True) => ("true", "a state is made by init and next: state those"),
            Some(Keyword::Does) => ("does", "moves are chosen by the roles: state what is legal"),
            Some(Keyword::Role) if is_rule => {
                ("role", "roles are fixed: write one fact (role name) for each")
            }
            _ => return,
        };
        let place = if is_rule { "in the head of a rule" } else { "as a fact" };
        self.error(head.sexpr, format!("{what} stands {place}"), hint);
    }

    fn ground(&mut self, fact: &Sentence) {
        for arg in fact.args {
            let mut variable = None;
            for_each_var(arg, &mut |name| variable = variable.or(Some(name)));
            if let Some(name) = variable {
                self.error(
                    arg,
                    format!("the variable {name} stands in a fact"),
                    "make the fact a rule whose body binds the variable, or write a name",
                );
                return;
            }
        }
    }

    /// What holds for a sentence wherever it stands.
    fn sentence(&mut self, sentence: &Sentence) {
        if sentence.args.is_empty() && sentence.sexpr.list().is_some() {
            self.warning(
                sentence.sexpr,
                format!("{} has needless parentheses", quoted(sentence.sexpr)),
                "drop the parentheses",
            );
        }
        let keyword_arity = RelationId::KEYWORDS.iter().find(|(name, _)| *name == sentence.name);
        if let Some((name, arity)) = keyword_arity
            && sentence.args.len() != *arity as usize
        {
            self.error(
                sentence.sexpr,
                format!("{name} takes {}, found {}", n_terms(*arity as usize), sentence.args.len()),
                match (arity, sentence.keyword) {
                    (0, _) => "write the word alone",
                    (1, Some(Keyword::Role)) => "write one name, as in (role red)",
                    (1, _) => "put what it is about into one term, as in (true (cell 1 1 b))",
                    (_, _) => "write two terms, the role first, as in (legal red (mark 1 1))",
                },
            );
        }
        sentence.args.iter().for_each(|arg| self.term(arg));
    }

    fn term(&mut self, term: &Sexpr) {
        match &term.kind {
            SexprKind::Atom(name) => match Keyword::of(name) {
                // Not a word of the specification, so an ordinary name.
                None | Some(Keyword::And) => {}
                Some(keyword) if is_connective(keyword) => self.error(
                    term,
                    format!("the keyword {} stands as a constant", keyword.text()),
                    "check the parentheses around it, or choose another name",
                ),
                Some(keyword) => self.warning(
                    term,
                    format!("the keyword {} stands as a constant", keyword.text()),
                    "choose another name, since some players read it as the keyword",
                ),
            },
            SexprKind::List(items) => {
                let Some((head, args)) = items.split_first() else {
                    return self.no_term(term);
                };
                match head.atom() {
                    Some(name) if name.starts_with('?') => self.no_term(term),
                    None => self.no_term(term),
                    Some(name) => match Keyword::of(name) {
                        Some(keyword) if keyword != Keyword::And => self.error(
                            term,
                            format!("the keyword {} stands as a function", keyword.text()),
                            "sentences do not nest: check the parentheses, or choose another name",
                        ),
                        _ if args.is_empty() => self.warning(
                            term,
                            format!("{} has needless parentheses", quoted(term)),
                            "drop the parentheses",
                        ),
                        _ => {}
                    },
                }
                args.iter().for_each(|arg| self.term(arg));
            }
        }
    }

    fn no_term(&mut self, term: &Sexpr) {
        self.error(
            term,
            format!("{} is no term", quoted(term)),
            "a term is a name, a variable, or a list that begins with a name",
        );
    }

    fn condition(&mut self, condition: &Condition, inside_or: bool) {
        match condition {
            Condition::Sentence(sentence) => {
                self.sentence(sentence);
                let (Some(Keyword::Init | Keyword::Next | Keyword::Base | Keyword::Input), name) =
                    (sentence.keyword, sentence.name)
                else {
                    return;
                };
                self.error(
                    sentence.sexpr,
                    format!("{name} stands in a body"),
                    "ask for true, or for a relation of its own that both rules use",
                );
            }
            Condition::Not(sexpr, inner) => {
                let inner_name = match &**inner {
                    Condition::Sentence(_) | Condition::Broken(_) => None,
                    Condition::Not(..) => Some("not"),
                    Condition::Distinct(..) => Some("distinct"),
                    Condition::Or(..) => Some("or"),
                    Condition::And(..) => Some("and"),
                };
                if let Some(name) = inner_name {
                    self.error(
                        sexpr,
                        format!("not stands before {name}; only a sentence can be negated"),
                        "name the inner condition by a relation of its own and negate that",
                    );
                }
                self.condition(inner, false);
            }
            Condition::Distinct(_, terms) => terms.iter().for_each(|term| self.term(term)),
            Condition::Or(sexpr, parts) => {
                if parts.is_empty() {
                    self.error(sexpr, "an or without conditions".into(), "give it conditions or remove it");
                }
                if inside_or {
                    self.warning(
                        sexpr,
                        "an or directly inside an or".into(),
                        "move its conditions into the outer or",
                    );
                }
                parts.iter().for_each(|part| self.condition(part, true));
            }
            Condition::And(sexpr, parts) => {
                self.error(
                    sexpr,
                    "and is no word of the language".into(),
                    "write the conditions one after the other, or name them by a relation of their own",
                );
                parts.iter().for_each(|part| self.condition(part, false));
            }
            Condition::Broken(sexpr) => self.broken(sexpr),
        }
    }

    fn broken(&mut self, sexpr: &Sexpr) {
        let n_args = sexpr.list().map_or(0, |items| items.len().saturating_sub(1));
        match sexpr.head().and_then(Keyword::of) {
            Some(Keyword::Not) => {
                self.error(sexpr, format!("not takes one sentence, found {n_args}"), "write (not (p ?x))");
            }
            Some(Keyword::Distinct) => {
                self.error(
                    sexpr,
                    format!("distinct takes two terms, found {n_args}"),
                    "write (distinct ?x ?y)",
                );
            }
            Some(keyword) => self.error(
                sexpr,
                format!("the keyword {} stands where a condition belongs", keyword.text()),
                "check the parentheses around it",
            ),
            None => self.no_sentence(sexpr),
        }
    }
}

fn n_terms(n: usize) -> &'static str {
    match n {
        0 => "no terms",
        1 => "one term",
        _ => "two terms",
    }
}
