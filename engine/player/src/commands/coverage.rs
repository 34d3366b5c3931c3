//! What only shows when a game is played: broken laws, moves that `input` leaves out, fluents that `base`
//! leaves out, goals that are no number in range.
//!
//! In goes a description, out come warnings. The relations `base`, `input` and `goal` are asked for through
//! derived rulesheets in which they stand in for `init` and `legal`, so that any reasoner can answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use gdl::check::Severity;
use gdl::{Description, Keyword, Rules, Sexpr, Statement, Term};
use reasoner::laws::check_playout;
use reasoner::{
    Dice, Expansion, Interrupt, Limits, MAX_ROLLOUT_STEPS, Reasoner, ReasonerError, Role, Session,
};

use super::check::Finding;
use crate::game_source::ReadingArgs;
use crate::golden_text;
use crate::reasoners::{ReasonerKind, SetUp, WithReasoner};

/// What one query may use: a check is no place for minutes of inference.
const LIMITS: Limits = Limits { steps: 50_000_000, bytes: 1 << 30 };
/// Longer playouts are taken not to end.
const MAX_STEPS: u32 = 2000;
/// More findings than anybody reads.
const MAX_FINDINGS: usize = 50;

/// Plays random games and returns what they show, each finding once.
pub fn simulate(
    description: &Description,
    reading: ReadingArgs,
    kind: ReasonerKind,
    n_playouts: u32,
    stop: &Interrupt,
) -> Vec<Finding> {
    let derived = |replaced: Keyword, statement: &str| {
        let kept = description.statements().iter().filter(|it| keyword_of(it) != Some(replaced));
        let text: String = kept.map(|it| format!("{it}\n")).collect::<String>() + statement;
        Description::read(&text, reading.options())
            .ok()
            .and_then(|it| Rules::from_description(&it).ok())
            .map(Arc::new)
    };
    let has = |keyword| description.statements().iter().any(|it| keyword_of(it) == Some(keyword));
    let (kind, set_up) = (kind.for_few_questions(), SetUp::until(stop));
    let mut found = BTreeSet::new();
    let base = has(Keyword::Base).then(|| derived(Keyword::Init, "(<= (init ?x) (base ?x))")).flatten();
    let base = base.and_then(|rules| kind.with(rules, &set_up, Bases { stop }).ok().flatten());
    let input =
        has(Keyword::Input).then(|| derived(Keyword::Legal, "(<= (legal ?r ?m) (input ?r ?m))")).flatten();
    let input = input.and_then(|rules| kind.with(rules, &set_up, Inputs { stop }).ok().flatten());
    let mut ends = Vec::new();
    let rules = match Rules::from_description(description) {
        Ok(rules) => Arc::new(rules),
        Err(error) => return vec![warning(&error.to_string())],
    };
    let playing = Playing { n_playouts, base, input, stop, found: &mut found, ends: &mut ends };
    match kind.with(rules, &set_up, playing) {
        Ok(Ok(())) | Ok(Err(ReasonerError::Interrupted)) => {}
        Ok(Err(error)) | Err(error) => {
            found.insert(format!("the rules cannot be played: {error}"));
        }
    }
    if let Some(rules) = derived(Keyword::Legal, "(<= (legal ?r ?v) (goal ?r ?v))") {
        // Only rules that ask for `legal` elsewhere may fail here, and then nothing is known.
        let _ = kind.with(rules, &set_up, Goals { ends: &ends, stop, found: &mut found });
    }
    let mut findings: Vec<Finding> = found.iter().take(MAX_FINDINGS).map(|text| warning(text)).collect();
    if found.len() > MAX_FINDINGS {
        findings.push(warning(&format!("{} more of the kind", found.len() - MAX_FINDINGS)));
    }
    findings
}

fn warning(text: &str) -> Finding {
    Finding {
        severity: Severity::Warning,
        place: None,
        text: text.to_owned(),
        hint: "a random playout showed it; `daggerboard replay` helps to look at single states".to_owned(),
        rule: String::new(),
    }
}

fn keyword_of(statement: &Statement) -> Option<Keyword> {
    statement.head().and_then(Sexpr::head).and_then(Keyword::of)
}

/// The facts of `base`.
struct Bases<'a> {
    stop: &'a Interrupt,
}

impl WithReasoner for Bases<'_> {
    type Output = Option<BTreeSet<String>>;

    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Self::Output {
        let mut session = reasoner.session(LIMITS, self.stop).ok()?;
        let state = session.initial_state().ok()?;
        Some(golden_text::facts(&mut session, &state).into_iter().collect())
    }
}

/// The facts of `input`, per role.
struct Inputs<'a> {
    stop: &'a Interrupt,
}

impl WithReasoner for Inputs<'_> {
    type Output = Option<Vec<BTreeSet<String>>>;

    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Self::Output {
        let mut session = reasoner.session(LIMITS, self.stop).ok()?;
        let state = session.initial_state().ok()?;
        let legal = golden_text::legal(&mut session, &state).ok()?;
        Some(legal.into_iter().map(|moves| moves.into_iter().collect()).collect())
    }
}

/// Random games.
struct Playing<'a> {
    n_playouts: u32,
    base: Option<BTreeSet<String>>,
    input: Option<Vec<BTreeSet<String>>>,
    stop: &'a Interrupt,
    found: &'a mut BTreeSet<String>,
    /// The terminal states, as facts.
    ends: &'a mut Vec<Vec<Term>>,
}

impl WithReasoner for Playing<'_> {
    type Output = Result<(), ReasonerError>;

    fn run<R: Reasoner>(mut self, reasoner: Arc<R>) -> Self::Output {
        let mut session = reasoner.session(LIMITS, self.stop)?;
        for playout in 0..self.n_playouts {
            let seed = Dice::child_seed(0, u64::from(playout));
            let breaches = check_playout(&mut session, seed, MAX_STEPS, reasoner.max_goal())?;
            self.found.extend(breaches.iter().map(ToString::to_string));
            self.walk(&mut session, seed)?;
        }
        Ok(())
    }
}

impl Playing<'_> {
    /// Plays one game and compares every state with `base` and `input`.
    fn walk<S: Session>(&mut self, session: &mut S, seed: u64) -> Result<(), ReasonerError> {
        let mut dice = Dice::new(seed);
        let mut state = session.initial_state()?;
        let mut expansion = Expansion::default();
        let roles = golden_text::roles(session.roles());
        for _ in 0..MAX_STEPS.min(MAX_ROLLOUT_STEPS) {
            if let Some(base) = &self.base {
                let facts = golden_text::facts(session, &state);
                let missing = facts.iter().filter(|fact| !base.contains(*fact));
                self.found.extend(missing.map(|fact| format!("the fluent {fact} is not covered by base")));
            }
            match session.expand(&state, &mut expansion) {
                Err(ReasonerError::NotPlayable { .. }) => return Ok(()),
                answer => answer?,
            }
            if expansion.terminal {
                let mut fluents = Vec::new();
                session.fluents(&state, &mut fluents);
                self.ends.push(fluents.into_iter().map(|it| session.fluent_term(it)).collect());
                return Ok(());
            }
            let mut joint_move = Vec::new();
            for role in Role::all(roles.len()) {
                let legal = expansion.moves_of(role);
                if let Some(input) = &self.input {
                    let texts = golden_text::moves(session, legal);
                    let missing = texts.iter().filter(|text| !input[role.idx()].contains(*text));
                    self.found.extend(missing.map(|text| {
                        format!("the legal move {text} of role {} is not covered by input", roles[role.idx()])
                    }));
                }
                joint_move.push(legal[dice.below(legal.len())]);
            }
            state = session.next_state(&state, &joint_move)?;
        }
        Ok(())
    }
}

/// The goals of the terminal states, as terms.
struct Goals<'a> {
    ends: &'a [Vec<Term>],
    stop: &'a Interrupt,
    found: &'a mut BTreeSet<String>,
}

impl WithReasoner for Goals<'_> {
    type Output = Result<(), ReasonerError>;

    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Self::Output {
        let mut session = reasoner.session(LIMITS, self.stop)?;
        let roles = golden_text::roles(session.roles());
        for facts in self.ends {
            let state = session.state_of(facts)?;
            for (role, values) in roles.iter().zip(golden_text::legal(&mut session, &state)?) {
                let odd =
                    values.into_iter().filter(|value| !value.parse().is_ok_and(|value: u32| value <= 100));
                self.found.extend(
                    odd.map(|value| format!("the goal {value} of role {role} is no integer from 0 to 100")),
                );
            }
        }
        Ok(())
    }
}
