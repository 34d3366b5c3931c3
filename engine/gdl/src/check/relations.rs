//! Names of relations and functions across the sheet: what is made and what is asked for.

use rustc_hash::{FxHashMap, FxHashSet};

use super::report::Report;
use super::sheet::{Clause, Condition, Sentence, Sheet};
use crate::description::Keyword;
use crate::sexpr::{Sexpr, SexprKind};

/// Reports relations that are asked for and never made, or made and never asked for, names with several
/// numbers of arguments, and names of both a relation and a function. Each name is reported once.
pub(super) fn check(sheet: &Sheet, report: &mut Report) {
    let mut made: FxHashSet<&str> = sheet.heads().map(|(_, head)| head.name).collect();
    made.extend(["true", "does"]);
    let mut asked: FxHashSet<&str> = FxHashSet::default();
    for clause in &sheet.clauses {
        clause.for_each_sentence(&mut |sentence, _| {
            // `init`, `next` and the like are errors in a body; being undefined too says nothing more.
            if asked.insert(sentence.name) && !made.contains(sentence.name) && sentence.keyword.is_none() {
                report.warning(
                    clause.statement,
                    sentence.sexpr,
                    format!("{} is asked for, but nothing makes it true", sentence.name),
                    "correct the name, or state facts or rules for it",
                );
            }
        });
    }
    for (clause, head) in sheet.heads() {
        if head.keyword.is_none() && asked.insert(head.name) {
            report.warning(
                clause.statement,
                head.sexpr,
                format!("{} is stated, but no rule asks for it", head.name),
                "remove it, or use it",
            );
        }
    }
    let mut names = Names { functions: Arities::default(), relations: Arities::default(), report };
    names.functions_of_sheet(sheet);
    names.relations_of_sheet(sheet);
}

/// The numbers of arguments that each name was seen with.
type Arities<'a> = FxHashMap<&'a str, Vec<usize>>;

struct Names<'r, 'a> {
    functions: Arities<'a>,
    relations: Arities<'a>,
    report: &'r mut Report,
}

impl<'a> Names<'_, 'a> {
    fn functions_of_sheet(&mut self, sheet: &Sheet<'a>) {
        for clause in &sheet.clauses {
            let head_args = clause.head.iter().flat_map(|head| head.args);
            head_args.for_each(|arg| self.functions_of_term(clause, arg));
            clause.body.iter().for_each(|condition| self.functions_of_condition(clause, condition));
        }
    }

    fn functions_of_condition(&mut self, clause: &Clause<'a>, condition: &Condition<'a>) {
        match condition {
            Condition::Sentence(Sentence { args, .. }) | Condition::Distinct(_, args) => {
                args.iter().for_each(|arg| self.functions_of_term(clause, arg));
            }
            Condition::Not(_, inner) => self.functions_of_condition(clause, inner),
            Condition::Or(_, parts) | Condition::And(_, parts) => {
                parts.iter().for_each(|part| self.functions_of_condition(clause, part));
            }
            Condition::Broken(_) => {}
        }
    }

    fn functions_of_term(&mut self, clause: &Clause<'a>, term: &'a Sexpr) {
        let SexprKind::List(items) = &term.kind else { return };
        let Some((head, args)) = items.split_first() else { return };
        if let Some(name) = head.atom().filter(|name| Keyword::of(name).is_none() && !name.starts_with('?')) {
            let arities = self.functions.entry(name).or_default();
            if !arities.contains(&args.len()) {
                if let Some(&first) = arities.first() {
                    several_arities(self.report, clause, term, ["function", name], [first, args.len()]);
                }
                arities.push(args.len());
            }
        }
        args.iter().for_each(|arg| self.functions_of_term(clause, arg));
    }

    fn relations_of_sheet(&mut self, sheet: &Sheet<'a>) {
        for clause in &sheet.clauses {
            if let Some(head) = &clause.head {
                self.relation(clause, head);
            }
            clause.for_each_sentence(&mut |sentence, _| self.relation(clause, sentence));
        }
    }

    fn relation(&mut self, clause: &Clause<'a>, sentence: &Sentence<'a>) {
        if sentence.keyword.is_some() {
            return;
        }
        let arities = self.relations.entry(sentence.name).or_default();
        if arities.contains(&sentence.args.len()) {
            return;
        }
        match arities.first() {
            Some(&first) => several_arities(
                self.report,
                clause,
                sentence.sexpr,
                ["relation", sentence.name],
                [first, sentence.args.len()],
            ),
            None if self.functions.contains_key(sentence.name) => self.report.warning(
                clause.statement,
                sentence.sexpr,
                format!("{} is the name of a relation here and of a function elsewhere", sentence.name),
                "check whether a true, init or next is missing around it, or choose another name",
            ),
            None => {}
        }
        arities.push(sentence.args.len());
    }
}

fn several_arities(report: &mut Report, clause: &Clause, at: &Sexpr, what: [&str; 2], n_args: [usize; 2]) {
    let ([kind, name], [first, here]) = (what, n_args);
    report.warning(
        clause.statement,
        at,
        format!("the {kind} {name} has {here} {} here and {first} elsewhere", plural(here)),
        "different numbers of arguments make different names: choose another, or correct the number",
    );
}

fn plural(n_args: usize) -> &'static str {
    if n_args == 1 { "argument" } else { "arguments" }
}
