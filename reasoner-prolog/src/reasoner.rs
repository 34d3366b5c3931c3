//! Embedded SWI-Prolog as a [`Reasoner`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gdl::{Recursion, RelationId, Rules, Term};
use parking_lot::{Mutex, RwLock};
use reasoner::{Interrupt, Limits, Reasoner, ReasonerError};

use crate::engine::{Engine, Kept, PrologError};
use crate::listing::listing;
use crate::program::{Program, Update};
use crate::session::PrologSession;
use crate::state::FactSet;
use crate::terms::{LocalTerms, SharedTerms, TermId, intern_term};
use crate::translate::{self, Choices, Listing};
use crate::watchdog::Watchdog;

/// Inferences of a question before recursive relations are answered from tables: some tenths of a second.
/// The dearest question of a published game that plain resolution answers takes a tenth of it.
pub(crate) const PLAIN_STEPS: u64 = 4_000_000;

/// Groups of recursive relations that are tried one by one, each for as many inferences again. No published game has
/// more than 10.
const MAX_TRIALS: usize = 16;

/// The rules of one game in SWI-Prolog.
#[derive(Debug)]
pub struct Prolog {
    rules: Arc<Rules>,
    pub(crate) role_ids: Vec<TermId>,
    pub(crate) terms: Arc<Kept<SharedTerms>>,
    pub(crate) update: Update,
    /// Groups of recursive relations that can be answered from tables.
    groups: Vec<BTreeSet<RelationId>>,
    current: RwLock<Arc<Program>>,
    changing: Mutex<()>,
    pub(crate) watchdog: Watchdog,
}

impl Prolog {
    /// Loads rules into Prolog, which is started if it does not run yet; takes some ten milliseconds.
    ///
    /// # Errors
    /// If Prolog does not start, or [does not take the rules](ReasonerError::NotGrounded).
    pub fn new(rules: Arc<Rules>, update: Update) -> Result<Prolog, ReasonerError> {
        translate::check(&rules).map_err(ReasonerError::NotGrounded)?;
        let engine = Engine::of_this_thread().map_err(ReasonerError::Engine)?;
        let terms = Arc::new(Kept::new(SharedTerms::new(&engine, &rules)));
        let failed = |error: PrologError| {
            ReasonerError::NotGrounded(format!("SWI-Prolog does not take the rules: {error}"))
        };
        let mut program = Program::load(&engine, &rules, Choices::default()).map_err(failed)?;
        let listed = listing(&engine, &rules, &terms, &program).map_err(failed)?;
        let groups = recursive_groups(&rules, &listed);
        if !listed.is_empty() {
            program =
                Program::load(&engine, &rules, Choices { listed, ..Choices::default() }).map_err(failed)?;
        }
        let mut local = LocalTerms::default();
        let role_ids = rules
            .roles()
            .iter()
            .map(|role| intern_term(&mut local, &terms, &engine, role, "role"))
            .collect::<Result<_, _>>()?;
        terms.give_back(local);
        let watchdog = Watchdog::start().map_err(ReasonerError::Engine)?;
        Ok(Prolog {
            role_ids,
            terms,
            update,
            groups,
            current: RwLock::new(Arc::new(program)),
            changing: Mutex::new(()),
            watchdog,
            rules,
        })
    }

    /// The version of the SWI-Prolog that runs, such as `9.0.4`.
    ///
    /// # Errors
    /// If Prolog does not start.
    pub fn swi_version() -> Result<String, ReasonerError> {
        Engine::of_this_thread().map(|engine| engine.version()).map_err(ReasonerError::Engine)
    }

    /// The rules.
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// The relations answered from tables at present, as `name/arity`.
    pub fn tabled(&self) -> Vec<String> {
        self.program().choices.tabled.iter().map(|&relation| self.rules.relation_name(relation)).collect()
    }

    /// How the rules are evaluated at present.
    pub fn choices(&self) -> Choices {
        self.program().choices.clone()
    }

    /// The program at present.
    pub(crate) fn program(&self) -> Arc<Program> {
        Arc::clone(&self.current.read())
    }

    /// Whether there are recursive relations without tables.
    pub(crate) fn can_table_more(&self, program: &Program) -> bool {
        self.groups.iter().any(|group| !group.is_subset(&program.choices.tabled))
    }

    /// Answers more relations from tables, after a question to `program` took too long: one group of relations
    /// that depend on each other if that is enough and there are few, otherwise all. `works` asks the question again.
    ///
    /// # Errors
    /// If a program cannot be loaded, or the question is interrupted.
    pub(crate) fn table_more(
        &self,
        program: &Arc<Program>,
        engine: &Engine,
        mut works: impl FnMut(&Arc<Program>) -> Result<bool, ReasonerError>,
    ) -> Result<(), ReasonerError> {
        let _changing = self.changing.lock();
        if !Arc::ptr_eq(&self.program(), program) {
            // Another session was first.
            return Ok(());
        }
        let missing: Vec<_> =
            self.groups.iter().filter(|group| !group.is_subset(&program.choices.tabled)).collect();
        let with = |groups: &[&BTreeSet<RelationId>]| {
            let mut choices = program.choices.clone();
            groups.iter().for_each(|group| choices.tabled.extend(group.iter()));
            Program::load(engine, &self.rules, choices)
                .map(Arc::new)
                .map_err(|error| ReasonerError::Engine(error.to_string()))
        };
        if (2..=MAX_TRIALS).contains(&missing.len()) {
            for group in &missing {
                let candidate = with(&[group])?;
                if works(&candidate)? {
                    *self.current.write() = candidate;
                    return Ok(());
                }
            }
        }
        *self.current.write() = with(&missing)?;
        Ok(())
    }
}

/// The groups of relations that depend on themselves and that a question leads to, but for those given as facts.
fn recursive_groups(rules: &Rules, listed: &BTreeMap<RelationId, Listing>) -> Vec<BTreeSet<RelationId>> {
    let recursion = Recursion::of(rules);
    let mut groups: Vec<(usize, BTreeSet<RelationId>)> = Vec::new();
    for relation in translate::relations_asked(rules) {
        if !recursion.is_recursive(relation) || listed.contains_key(&relation) {
            continue;
        }
        let component = recursion.component(relation);
        match groups.iter_mut().find(|(known, _)| *known == component) {
            Some((_, group)) => _ = group.insert(relation),
            None => groups.push((component, BTreeSet::from([relation]))),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

impl Reasoner for Prolog {
    type State = FactSet;
    type Session = PrologSession;

    fn name(&self) -> &'static str {
        match self.update {
            Update::Difference => "prolog",
            Update::Everything => "prolog-full",
        }
    }

    fn roles(&self) -> &[Term] {
        self.rules.roles()
    }

    fn session(
        self: &Arc<Self>,
        limits: Limits,
        interrupt: &Interrupt,
    ) -> Result<PrologSession, ReasonerError> {
        PrologSession::new(Arc::clone(self), limits, interrupt)
    }

    fn heap_bytes(&self, state: &FactSet) -> usize {
        state.heap_bytes()
    }
}
