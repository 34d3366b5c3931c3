//! Ground terms as numbers, the same number for equal terms in all threads.
//!
//! [`SharedTerms`] holds every term that any session has met. A session works on its own [`LocalTerms`], a
//! copy that lags behind, so that nothing is locked unless a term is new.

use std::ops::Deref;
use std::sync::Arc;

use gdl::{RuleTerm, Rules, Symbol, Term};
use hashbrown::HashTable;
use parking_lot::RwLock;

use crate::key_index::hash_words;

/// A ground term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TermId(pub(crate) u32);

impl TermId {
    pub(crate) fn idx(self) -> usize {
        self.0 as usize
    }
}

#[derive(Debug, Clone, Copy)]
struct Node {
    functor: Symbol,
    args_start: u32,
    n_args: u32,
    /// Levels of nesting below; 0 for a name.
    depth: u32,
}

/// Terms by number. A number is given once and stays.
#[derive(Debug, Clone, Default)]
pub(crate) struct Terms {
    nodes: Vec<Node>,
    args: Vec<u32>,
    index: HashTable<u32>,
}

impl Terms {
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + (self.args.capacity() + self.index.capacity()) * 5
    }

    pub(crate) fn functor(&self, term: TermId) -> Symbol {
        self.nodes[term.idx()].functor
    }

    pub(crate) fn n_args(&self, term: TermId) -> usize {
        self.nodes[term.idx()].n_args as usize
    }

    pub(crate) fn args(&self, term: TermId) -> &[u32] {
        let node = self.nodes[term.idx()];
        &self.args[node.args_start as usize..][..node.n_args as usize]
    }

    /// Levels of nesting; 0 for a name.
    pub(crate) fn depth(&self, term: TermId) -> usize {
        self.nodes[term.idx()].depth as usize
    }

    fn hash(functor: Symbol, args: &[u32]) -> u64 {
        hash_words(functor.0, args)
    }

    pub(crate) fn find(&self, functor: Symbol, args: &[u32]) -> Option<TermId> {
        let same = |&id: &u32| self.functor(TermId(id)) == functor && self.args(TermId(id)) == args;
        self.index.find(Self::hash(functor, args), same).map(|&id| TermId(id))
    }

    fn push(&mut self, functor: Symbol, args: &[u32]) -> TermId {
        let narrow = |n: usize| u32::try_from(n).expect("memory ends before 2^32 terms");
        let id = narrow(self.nodes.len());
        let depth = args.iter().map(|&arg| self.nodes[arg as usize].depth + 1).max().unwrap_or(0);
        let node = Node { functor, args_start: narrow(self.args.len()), n_args: narrow(args.len()), depth };
        self.args.extend_from_slice(args);
        self.nodes.push(node);
        let Terms { nodes, args: all_args, index } = self;
        index.insert_unique(Self::hash(functor, args), id, |&other| {
            let node = nodes[other as usize];
            Self::hash(node.functor, &all_args[node.args_start as usize..][..node.n_args as usize])
        });
        TermId(id)
    }

    /// The number of a term, new if it has none yet.
    pub(crate) fn intern(&mut self, functor: Symbol, args: &[u32]) -> TermId {
        match self.find(functor, args) {
            Some(known) => known,
            None => self.push(functor, args),
        }
    }

    /// The number of a ground term of the rules.
    pub(crate) fn intern_rule_term(&mut self, term: &RuleTerm) -> TermId {
        match term {
            RuleTerm::Var(_) => unreachable!("the term is ground"),
            RuleTerm::Name(symbol) => self.intern(*symbol, &[]),
            RuleTerm::Compound(symbol, args) => {
                let args: Vec<u32> = args.iter().map(|arg| self.intern_rule_term(arg).0).collect();
                self.intern(*symbol, &args)
            }
        }
    }

    /// The number of a text-level term, if it is known. Names that the rules do not have are compared without case.
    pub(crate) fn find_term(&self, rules: &Rules, term: &Term) -> Option<TermId> {
        let functor = rules.symbols().find_in_any_case(term.name())?;
        let args: Option<Vec<u32>> =
            term.args().iter().map(|arg| self.find_term(rules, arg).map(|arg| arg.0)).collect();
        self.find(functor, &args?)
    }

    /// The number of a text-level term, new if it has none yet; none if a name does not occur in the rules.
    pub(crate) fn intern_term(&mut self, rules: &Rules, term: &Term) -> Option<TermId> {
        let functor = rules.symbols().find_in_any_case(term.name())?;
        let args: Option<Vec<u32>> =
            term.args().iter().map(|arg| self.intern_term(rules, arg).map(|arg| arg.0)).collect();
        Some(self.intern(functor, &args?))
    }

    /// The text-level term.
    pub(crate) fn to_term(&self, rules: &Rules, term: TermId) -> Term {
        match self.args(term) {
            [] => rules.name_term(self.functor(term)),
            args => Term::Compound(
                rules.symbols().name(self.functor(term)).into(),
                args.iter().map(|&arg| self.to_term(rules, TermId(arg))).collect(),
            ),
        }
    }

    /// Appends what `longer` has beyond this copy of its beginning.
    fn catch_up(&mut self, longer: &Terms) {
        for idx in self.len()..longer.len() {
            let term = TermId(u32::try_from(idx).expect("ids are 32 bits"));
            self.push(longer.functor(term), longer.args(term));
        }
    }
}

/// Every term that any session has met.
#[derive(Debug, Default)]
pub(crate) struct SharedTerms(RwLock<Terms>);

impl SharedTerms {
    pub(crate) fn new(terms: Terms) -> SharedTerms {
        SharedTerms(RwLock::new(terms))
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.read().bytes()
    }
}

/// One session's copy of the beginning of [`SharedTerms`].
#[derive(Debug, Clone, Default)]
pub(crate) struct LocalTerms {
    terms: Terms,
    /// None while a reasoner is being made: then nobody else knows any term.
    shared: Option<Arc<SharedTerms>>,
}

impl LocalTerms {
    /// Terms that are nobody else's.
    pub(crate) fn alone(terms: Terms) -> LocalTerms {
        LocalTerms { terms, shared: None }
    }

    /// A copy of what all sessions know.
    pub(crate) fn of(shared: &Arc<SharedTerms>) -> LocalTerms {
        LocalTerms { terms: shared.0.read().clone(), shared: Some(shared.clone()) }
    }

    pub(crate) fn into_terms(self) -> Terms {
        self.terms
    }

    /// Makes sure that `term`, met by some session, is known here.
    pub(crate) fn know(&mut self, term: TermId) {
        if let Some(shared) = self.shared.as_ref().filter(|_| term.idx() >= self.terms.len()) {
            self.terms.catch_up(&shared.0.read());
        }
    }

    /// The number of a term, the same in all sessions.
    pub(crate) fn intern(&mut self, functor: Symbol, args: &[u32]) -> TermId {
        if let Some(known) = self.terms.find(functor, args) {
            return known;
        }
        let Some(shared) = &self.shared else { return self.terms.push(functor, args) };
        let mut all = shared.0.write();
        self.terms.catch_up(&all);
        if let Some(known) = self.terms.find(functor, args) {
            return known;
        }
        all.push(functor, args);
        self.terms.push(functor, args)
    }
}

impl Deref for LocalTerms {
    type Target = Terms;

    fn deref(&self) -> &Terms {
        &self.terms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_agree_on_numbers() {
        let shared = Arc::new(SharedTerms::default());
        let (mut a, mut b) = (LocalTerms::of(&shared), LocalTerms::of(&shared));
        let (x, f) = (Symbol(0), Symbol(1));
        let of_a = a.intern(x, &[]);
        let nested = a.intern(f, &[of_a.0]);
        assert_eq!(b.intern(f, &[of_a.0]), nested);
        let of_b = b.intern(Symbol(2), &[]);
        assert_ne!(of_b, of_a);
        a.know(of_b);
        assert_eq!(a.find(Symbol(2), &[]), Some(of_b));
        assert_eq!(a.depth(nested), 1);
    }
}
