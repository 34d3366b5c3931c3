//! From statements to clauses: names interned, `or`, `and` and nested `not` gone.
//!
//! A disjunction becomes one clause per combination of branches; where that would be more than
//! [`MAX_COMBINATIONS`] per statement, each `or` becomes a relation of its own. Takes time linear in the length
//! of the text, but for nesting.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::description::{Description, Keyword};
use crate::rules::{Atom, Dependence, Literal, Relation, RelationId, Rule, RuleTerm, Rules};
use crate::sexpr::{Position, Sexpr, SexprKind, Span};
use crate::symbol::{Symbol, Symbols};

/// How many clauses one statement may become by multiplying out its disjunctions.
const MAX_COMBINATIONS: usize = 32;

/// Why a description has no meaning as rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{position}: {what}; {hint}")]
pub struct LowerError {
    /// Where.
    pub position: Position,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub hint: &'static str,
}

/// A condition before disjunctions are multiplied out; negation stands on atoms only.
enum Formula {
    Literal(Literal),
    All(Vec<Formula>),
    Any(Vec<Formula>),
}

pub(crate) fn lower(description: &Description) -> Result<Rules, LowerError> {
    let mut lowering = Lowering::new(description);
    for statement in description.statements() {
        let Some(head) = statement.head() else {
            return Err(lowering.error(
                statement.sexpr(),
                "a rule without a head".into(),
                "write what follows after \"<=\"",
            ));
        };
        lowering.statement(head, statement.body(), statement.span())?;
    }
    let mut rules = lowering.rules;
    collect_roles(&mut rules);
    if rules.roles.is_empty() {
        return Err(LowerError {
            position: Position { line: 1, column: 1 },
            what: "no role is defined".into(),
            hint: "add a fact such as (role player) for every player",
        });
    }
    find_dependences(&mut rules);
    Ok(rules)
}

struct Lowering {
    rules: Rules,
    relations: FxHashMap<(Symbol, u32), RelationId>,
    n_auxiliary: u32,
    /// The variables of the statement at hand.
    variables: Vec<Box<str>>,
    /// Their indices.
    var_index: FxHashMap<Box<str>, u32>,
}

impl Lowering {
    fn new(description: &Description) -> Lowering {
        let rules = Rules {
            text: description.text().clone(),
            symbols: Symbols::default(),
            in_parentheses: FxHashMap::default(),
            relations: Vec::new(),
            facts: Vec::new(),
            rules: Vec::new(),
            roles: Vec::new(),
            case_ignored: description.case_ignored(),
        };
        let mut lowering = Lowering {
            rules,
            relations: FxHashMap::default(),
            n_auxiliary: 0,
            variables: Vec::new(),
            var_index: FxHashMap::default(),
        };
        for (name, arity) in RelationId::KEYWORDS {
            let symbol = lowering.rules.symbols.intern(name);
            lowering.relation(symbol, arity);
        }
        lowering
    }

    fn error(&self, at: &Sexpr, what: String, hint: &'static str) -> LowerError {
        LowerError { position: at.span.position(&self.rules.text), what, hint }
    }

    fn relation(&mut self, name: Symbol, arity: u32) -> RelationId {
        *self.relations.entry((name, arity)).or_insert_with(|| {
            let id = RelationId(
                u32::try_from(self.rules.relations.len()).expect("fewer relations than bytes of text"),
            );
            self.rules.relations.push(Relation {
                name,
                arity,
                dependence: Dependence::Static,
                rules: Vec::new(),
                facts: Vec::new(),
            });
            id
        })
    }

    fn statement(&mut self, head: &Sexpr, body: &[Sexpr], span: Span) -> Result<(), LowerError> {
        self.variables.clear();
        self.var_index.clear();
        let head = self.atom(head)?;
        let formulas =
            body.iter().map(|literal| self.formula(literal, false)).collect::<Result<Vec<_>, _>>()?;
        let formula = Formula::All(formulas);
        if combinations(&formula) <= MAX_COMBINATIONS {
            for body in multiply(&formula) {
                self.add_clause(head.clone(), body, span);
            }
            return Ok(());
        }
        // Too many combinations: each `or` is named by a relation over the variables it shares.
        let mut occurrences = Occurrences::default();
        head.for_each_var(&mut |var| *occurrences.entry(var).or_default() += 1);
        count_vars(&formula, &mut occurrences);
        let body = self.name_disjunctions(formula, &occurrences, span);
        self.add_clause(head, body, span);
        Ok(())
    }

    /// Replaces every disjunction by an atom of a new relation; `occurrences` counts each variable in the
    /// whole statement.
    fn name_disjunctions(&mut self, formula: Formula, occurrences: &Occurrences, span: Span) -> Vec<Literal> {
        match formula {
            Formula::Literal(literal) => vec![literal],
            Formula::All(parts) => {
                parts.into_iter().flat_map(|part| self.name_disjunctions(part, occurrences, span)).collect()
            }
            Formula::Any(branches) => {
                let mut inside = Occurrences::default();
                branches.iter().for_each(|branch| count_vars(branch, &mut inside));
                let mut shared: Vec<u32> = inside
                    .into_iter()
                    .filter(|(var, n_inside)| *n_inside < occurrences[var])
                    .map(|(var, _)| var)
                    .collect();
                shared.sort_unstable();
                let args: Box<[RuleTerm]> = shared.into_iter().map(RuleTerm::Var).collect();
                self.n_auxiliary += 1;
                // A blank inside the name: no name of a text can be the same.
                let name = self.rules.symbols.intern(&format!("or {}", self.n_auxiliary));
                let arity = u32::try_from(args.len()).expect("fewer variables than bytes of text");
                let atom = Atom { relation: self.relation(name, arity), args };
                for branch in branches {
                    let body = self.name_disjunctions(branch, occurrences, span);
                    self.add_clause(atom.clone(), body, span);
                }
                vec![Literal::Holds(atom)]
            }
        }
    }

    fn add_clause(&mut self, mut head: Atom, mut body: Vec<Literal>, span: Span) {
        let relation = head.relation.idx();
        if body.is_empty() && head.args.iter().all(RuleTerm::is_ground) {
            let fact = u32::try_from(self.rules.facts.len()).expect("fewer facts than bytes of text");
            self.rules.relations[relation].facts.push(fact);
            self.rules.facts.push(head);
        } else {
            let variables = self.renumber(&mut head, &mut body);
            let rule = u32::try_from(self.rules.rules.len()).expect("clauses are bounded by the text");
            self.rules.relations[relation].rules.push(rule);
            self.rules.rules.push(Rule { head, body, variables, span });
        }
    }

    /// Numbers the variables of a clause by their first occurrence, since it may hold few of those of its
    /// statement, and returns their names.
    fn renumber(&self, head: &mut Atom, body: &mut [Literal]) -> Vec<Box<str>> {
        let mut new_index: FxHashMap<u32, u32> = FxHashMap::default();
        let mut names = Vec::new();
        let mut renumber = |var: &mut u32| {
            *var = *new_index.entry(*var).or_insert_with(|| {
                names.push(self.variables[*var as usize].clone());
                u32::try_from(names.len() - 1).expect("fewer variables than bytes of text")
            });
        };
        head.args.iter_mut().for_each(|arg| for_each_var_mut(arg, &mut renumber));
        for literal in body {
            match literal {
                Literal::Holds(atom) | Literal::Not(atom) => {
                    atom.args.iter_mut().for_each(|arg| for_each_var_mut(arg, &mut renumber));
                }
                Literal::Distinct(a, b) | Literal::Equal(a, b) => {
                    for_each_var_mut(a, &mut renumber);
                    for_each_var_mut(b, &mut renumber);
                }
            }
        }
        names
    }

    fn formula(&mut self, sexpr: &Sexpr, negated: bool) -> Result<Formula, LowerError> {
        let connective = sexpr.list().and_then(|_| sexpr.head()).and_then(Keyword::of);
        let args = sexpr.list().and_then(|items| items.get(1..)).unwrap_or(&[]);
        match connective {
            Some(Keyword::Not) => match args {
                [inner] => self.formula(inner, !negated),
                _ => Err(self.error(sexpr, format!("not takes one condition, found {}", args.len()), {
                    "write (not (p ?x))"
                })),
            },
            Some(connective @ (Keyword::Or | Keyword::And)) => {
                let parts =
                    args.iter().map(|part| self.formula(part, negated)).collect::<Result<Vec<_>, _>>()?;
                // De Morgan: under a negation the two connectives change places.
                let any = (connective == Keyword::Or) != negated;
                Ok(if any { Formula::Any(parts) } else { Formula::All(parts) })
            }
            Some(Keyword::Distinct) => match args {
                [a, b] => {
                    let (a, b) = (self.term(a)?, self.term(b)?);
                    Ok(Formula::Literal(if negated { Literal::Equal(a, b) } else { Literal::Distinct(a, b) }))
                }
                _ => Err(self.error(sexpr, format!("distinct takes two terms, found {}", args.len()), {
                    "write (distinct ?x ?y)"
                })),
            },
            _ => {
                let atom = self.atom(sexpr)?;
                Ok(Formula::Literal(if negated { Literal::Not(atom) } else { Literal::Holds(atom) }))
            }
        }
    }

    fn atom(&mut self, sexpr: &Sexpr) -> Result<Atom, LowerError> {
        let Some(name) = sexpr.head() else {
            return Err(self.error(sexpr, format!("\"{sexpr}\" is no sentence"), {
                "a sentence is a name, or a list that begins with one"
            }));
        };
        if name.starts_with('?') {
            return Err(self.error(sexpr, format!("the variable {name} stands where a relation belongs"), {
                "name the relation"
            }));
        }
        let name = match Keyword::of(name) {
            Some(keyword) => self.rules.symbols.intern(keyword.text()),
            None => self.rules.symbols.intern(name),
        };
        let args = sexpr.list().and_then(|items| items.get(1..)).unwrap_or(&[]);
        let args = args.iter().map(|arg| self.term(arg)).collect::<Result<Box<[_]>, _>>()?;
        let arity = u32::try_from(args.len()).expect("fewer arguments than bytes of text");
        Ok(Atom { relation: self.relation(name, arity), args })
    }

    fn term(&mut self, sexpr: &Sexpr) -> Result<RuleTerm, LowerError> {
        match &sexpr.kind {
            SexprKind::Atom(name) if name.starts_with('?') => {
                if let Some(&var) = self.var_index.get(name) {
                    return Ok(RuleTerm::Var(var));
                }
                let var = u32::try_from(self.variables.len()).expect("fewer variables than bytes of text");
                self.variables.push(name.clone());
                self.var_index.insert(name.clone(), var);
                Ok(RuleTerm::Var(var))
            }
            SexprKind::Atom(name) => Ok(RuleTerm::Name(self.constant(name, false))),
            SexprKind::List(items) => match items
                .split_first()
                .and_then(|(head, args)| Some((head.atom()?, args)))
            {
                Some((name, [])) if !name.starts_with('?') => Ok(RuleTerm::Name(self.constant(name, true))),
                Some((name, args)) if !name.starts_with('?') => {
                    let symbol = self.rules.symbols.intern(name);
                    let args = args.iter().map(|arg| self.term(arg)).collect::<Result<Box<[_]>, _>>()?;
                    Ok(RuleTerm::Compound(symbol, args))
                }
                _ => Err(self.error(sexpr, format!("\"{sexpr}\" is no term"), {
                    "a term is a name, a variable, or a list that begins with a name"
                })),
            },
        }
    }

    /// A name as a constant; its first spelling decides how it is printed.
    fn constant(&mut self, name: &str, in_parentheses: bool) -> Symbol {
        let symbol = self.rules.symbols.intern(name);
        self.rules.in_parentheses.entry(symbol).or_insert(in_parentheses);
        symbol
    }
}

fn combinations(formula: &Formula) -> usize {
    match formula {
        Formula::Literal(_) => 1,
        Formula::All(parts) => parts.iter().map(combinations).fold(1, usize::saturating_mul),
        Formula::Any(branches) => branches.iter().map(combinations).fold(0, usize::saturating_add),
    }
}

/// The bodies that a formula becomes, as many as [`combinations`] says.
fn multiply(formula: &Formula) -> Vec<Vec<Literal>> {
    match formula {
        Formula::Literal(literal) => vec![vec![literal.clone()]],
        Formula::Any(branches) => branches.iter().flat_map(multiply).collect(),
        // An empty `or` among the parts: nothing, however many combinations the other parts have.
        Formula::All(_) if combinations(formula) == 0 => Vec::new(),
        Formula::All(parts) => {
            let mut bodies = vec![Vec::new()];
            for part in parts {
                match multiply(part).as_slice() {
                    // The common case, and the long one: no copies.
                    [only] => bodies.iter_mut().for_each(|body| body.extend_from_slice(only)),
                    branches => {
                        let joined =
                            |body: &Vec<Literal>, branch: &Vec<Literal>| [&body[..], branch].concat();
                        bodies = bodies
                            .iter()
                            .flat_map(|body| branches.iter().map(move |branch| joined(body, branch)))
                            .collect();
                    }
                }
            }
            bodies
        }
    }
}

fn for_each_var_mut(term: &mut RuleTerm, visit: &mut impl FnMut(&mut u32)) {
    match term {
        RuleTerm::Var(var) => visit(var),
        RuleTerm::Name(_) => {}
        RuleTerm::Compound(_, args) => args.iter_mut().for_each(|arg| for_each_var_mut(arg, visit)),
    }
}

/// How often each variable occurs.
type Occurrences = FxHashMap<u32, u32>;

fn count_vars(formula: &Formula, counts: &mut Occurrences) {
    match formula {
        Formula::Literal(literal) => literal.for_each_var(&mut |var| *counts.entry(var).or_default() += 1),
        Formula::All(parts) | Formula::Any(parts) => parts.iter().for_each(|part| count_vars(part, counts)),
    }
}

/// The roles in the order of their facts, each once.
fn collect_roles(rules: &mut Rules) {
    let mut roles = Vec::new();
    let mut known = FxHashSet::default();
    for &fact in &rules.relations[RelationId::ROLE.idx()].facts {
        let role = rules.term(&rules.facts[fact as usize].args[0]);
        if known.insert(role.clone()) {
            roles.push(role);
        }
    }
    rules.roles = roles;
}

/// Follows the rules from `true` and `does` to everything that depends on them.
fn find_dependences(rules: &mut Rules) {
    // For each relation, the heads of the rules that ask for it.
    let mut asked_by: Vec<Vec<RelationId>> = vec![Vec::new(); rules.relations.len()];
    for rule in &rules.rules {
        for literal in &rule.body {
            if let Literal::Holds(atom) | Literal::Not(atom) = literal {
                asked_by[atom.relation.idx()].push(rule.head.relation);
            }
        }
    }
    // The stronger dependence last: it may overwrite the weaker one.
    for (source, dependence) in [(RelationId::TRUE, Dependence::State), (RelationId::DOES, Dependence::Moves)]
    {
        let mut open = vec![source];
        while let Some(id) = open.pop() {
            let known = &mut rules.relations[id.idx()].dependence;
            if *known < dependence {
                *known = dependence;
                open.extend(&asked_by[id.idx()]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::ReadOptions;

    fn clauses(text: &str) -> Result<Vec<String>, String> {
        let description =
            Description::read(text, ReadOptions::default()).map_err(|error| error.to_string())?;
        let rules = Rules::from_description(&description).map_err(|error| error.to_string())?;
        Ok(rules.rules().iter().map(|rule| rules.rule_text(rule)).collect())
    }

    #[test]
    fn disjunctions_are_multiplied_out() {
        let text = "(role a) (<= (p ?x) (q ?x) (or (r ?x) (not (s ?x))) (NOT (or t (distinct ?x b))))";
        assert_eq!(
            clauses(text).unwrap(),
            [
                "(<= (p ?x) (q ?x) (r ?x) (not t) (not (distinct ?x b)))",
                "(<= (p ?x) (q ?x) (not (s ?x)) (not t) (not (distinct ?x b)))",
            ]
        );
    }

    #[test]
    fn many_disjunctions_become_relations() {
        let ors = "(or (a ?x ?l) (b ?x ?l))".to_owned() + &"(or (a ?x 1) (b ?x 2))".repeat(9);
        let all = clauses(&format!("(role a) (<= (p ?x) {ors})")).unwrap();
        assert_eq!(all.len(), 21);
        assert_eq!(all[0], "(<= (or 1 ?x) (a ?x ?l))");
    }

    #[test]
    fn an_empty_disjunction_is_never_true() {
        let many = "(or (a) (b))".repeat(100);
        assert_eq!(clauses(&format!("(role a) (<= p {many} (or))")).unwrap(), [""; 0]);
        assert_eq!(clauses("(role a) (<= p (not (or)) (q))").unwrap(), ["(<= p q)"]);
        assert_eq!(clauses("(role a) (<= p (or (and q (or)) r))").unwrap(), ["(<= p r)"]);
    }

    #[test]
    fn clauses_have_only_their_own_variables() {
        let text = "(role a) (<= (p ?x ?z) (or (q ?x ?y ?z) (r ?z ?x)))";
        let description = Description::read(text, ReadOptions::default()).unwrap();
        let rules = Rules::from_description(&description).unwrap();
        let names = |idx: usize| rules.rules()[idx].variables.join(" ");
        assert_eq!([names(0), names(1)], ["?x ?z ?y", "?x ?z"]);
        assert_eq!(rules.rule_text(&rules.rules()[1]), "(<= (p ?x ?z) (r ?z ?x))");
    }

    #[test]
    fn a_name_in_parentheses_is_the_name() {
        let text = "(role a) (init (over)) (<= (p) (true over) (q (f)) (q f))";
        let description = Description::read(text, ReadOptions::default()).unwrap();
        let rules = Rules::from_description(&description).unwrap();
        assert_eq!(rules.rule_text(&rules.rules()[0]), "(<= p (true (over)) (q (f)) (q (f)))");
        assert_eq!(rules.term(&rules.facts()[1].args[0]).to_string(), "(over)");
    }

    #[test]
    fn dependence_follows_the_rules() {
        let text = "(role a) (s 1) (<= p (s ?x)) (<= q (true ?x) p) (<= r (not q)) (<= u (does ?r ?m) r)";
        let description = Description::read(text, ReadOptions::default()).unwrap();
        let rules = Rules::from_description(&description).unwrap();
        let of = |name: &str| {
            let symbol = rules.symbols().find(name).unwrap();
            rules.relations().iter().find(|relation| relation.name == symbol).unwrap().dependence
        };
        assert_eq!(
            [of("p"), of("q"), of("r"), of("u")],
            [Dependence::Static, Dependence::State, Dependence::State, Dependence::Moves]
        );
    }

    #[test]
    fn nonsense_has_a_place_and_a_hint() {
        assert!(clauses("(role a)\n (<= ((p)) q)").unwrap_err().starts_with("2:6: \"((p))\" is no sentence"));
        assert!(clauses("(role a) (<= p (not))").unwrap_err().contains("not takes one condition"));
        assert!(clauses("(p)").unwrap_err().contains("no role"));
        assert!(clauses("(role a) (<=)").unwrap_err().contains("without a head"));
    }
}
