//! Safety: every variable of the head, under `not` and in `distinct` is bound by the body.
//!
//! A positive sentence binds all its variables, an `or` those that every branch binds (Love et al. 2008,
//! section on safety). What a branch binds is good inside that branch too.

use rustc_hash::FxHashSet;

use super::report::Report;
use super::sheet::{Clause, Condition, Sheet, for_each_var};
use crate::sexpr::Sexpr;

type Vars<'a> = FxHashSet<&'a str>;

/// Reports unsafe rules, once for each part with unbound variables.
pub(super) fn check(sheet: &Sheet, report: &mut Report) {
    for clause in sheet.clauses.iter().filter(|clause| clause.is_rule) {
        let mut bound = Vars::default();
        for condition in &clause.body {
            bound.extend(binds(condition));
        }
        let mut safety = Safety { clause, report };
        if let Some(head) = &clause.head {
            safety.demand(head.sexpr, head.args, "the head", &bound);
        }
        clause.body.iter().for_each(|condition| safety.condition(condition, &bound));
    }
}

/// The variables that a condition binds where it holds.
fn binds<'a>(condition: &Condition<'a>) -> Vars<'a> {
    let mut vars = Vars::default();
    match condition {
        Condition::Sentence(sentence) => {
            for arg in sentence.args {
                for_each_var(arg, &mut |name| {
                    vars.insert(name);
                });
            }
        }
        Condition::And(_, parts) => parts.iter().for_each(|part| vars.extend(binds(part))),
        Condition::Or(_, branches) => {
            let mut branches = branches.iter().map(binds);
            vars = branches.next().unwrap_or_default();
            branches.for_each(|branch| vars.retain(|name| branch.contains(name)));
        }
        Condition::Not(..) | Condition::Distinct(..) | Condition::Broken(_) => {}
    }
    vars
}

struct Safety<'r, 's, 'a> {
    clause: &'s Clause<'a>,
    report: &'r mut Report,
}

impl<'a> Safety<'_, '_, 'a> {
    fn condition(&mut self, condition: &Condition<'a>, bound: &Vars<'a>) {
        match condition {
            Condition::Sentence(_) | Condition::Broken(_) => {}
            Condition::Not(sexpr, _) => self.demand(sexpr, std::slice::from_ref(sexpr), "not", bound),
            Condition::Distinct(sexpr, terms) => self.demand(sexpr, terms, "distinct", bound),
            Condition::And(_, parts) => parts.iter().for_each(|part| self.condition(part, bound)),
            Condition::Or(_, branches) => {
                for branch in branches {
                    match branch {
                        // Only a conjunction binds something for a neighbour inside the branch.
                        Condition::And(..) => {
                            let mut inside = binds(branch);
                            inside.extend(bound);
                            self.condition(branch, &inside);
                        }
                        _ => self.condition(branch, bound),
                    }
                }
            }
        }
    }

    fn demand(&mut self, at: &Sexpr, terms: &[Sexpr], place: &str, bound: &Vars) {
        let mut unbound = Vec::new();
        for term in terms {
            for_each_var(term, &mut |name| {
                if !bound.contains(name) && !unbound.contains(&name) && unbound.len() < 8 {
                    unbound.push(name);
                }
            });
        }
        if unbound.is_empty() {
            return;
        }
        let (noun, verb) = if unbound.len() == 1 { ("variable", "is") } else { ("variables", "are") };
        self.report.error(
            self.clause.statement,
            at,
            format!(
                "unsafe rule: the {noun} {} of {place} {verb} not bound by a positive sentence of the body",
                unbound.join(", ")
            ),
            "add a sentence that lists the values, such as (role ?r), in every branch of an or",
        );
    }
}
