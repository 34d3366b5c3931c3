//! The rules as the machine runs them: predicates by binding pattern, each with a plan per clause.
//!
//! A predicate is a relation together with the set of argument positions that are bound when it is called
//! (its *mask*, the "adornment" of the magic-set literature: Bancilhon, Maier, Sagiv and Ullman 1986), and the
//! set of those whose values the caller does not care for. A plan is the clause's body in the order of
//! evaluation, with every variable a slot of a frame.

use gdl::{Dependence, RelationId, Symbol};

use super::facts::FactsId;
use crate::terms::TermId;

/// Bound argument positions, one bit each; positions from 64 on are never bound.
pub(super) type Mask = u64;

/// A predicate, by index in [`Program::predicates`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PredicateId(pub(super) u32);

/// A slot of a frame.
pub(super) type Slot = u32;

/// A value known when it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operand {
    Constant(TermId),
    Slot(Slot),
}

/// What to do with a value that comes out of a fact, an answer or a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Accept {
    /// The variable's first occurrence.
    Bind(Slot),
    /// Go on only if it is this value.
    Same(Operand),
    /// Go on only if it is such a term.
    Compound(Symbol, Box<[Accept]>),
}

impl Accept {
    /// Whether the value of a variable is compared with.
    pub(super) fn looks_at(&self, var: Slot) -> bool {
        match self {
            Accept::Bind(_) => false,
            Accept::Same(operand) => *operand == Operand::Slot(var),
            Accept::Compound(_, parts) => parts.iter().any(|part| part.looks_at(var)),
        }
    }
}

/// A value by position, and what to do with it.
pub(super) type Out = (u32, Accept);

/// One step of a plan. Steps that find several matches run the rest of the plan once for each, or only for
/// the first where nothing that they bind is used later (`once`).
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Rows of a table of facts.
    Facts { facts: FactsId, index: Option<u32>, key: Box<[Operand]>, outs: Box<[Out]>, once: bool },
    /// True fluents of one functor.
    Fluents {
        functor: u32,
        index: Option<u32>,
        mask: Mask,
        key: Box<[Operand]>,
        outs: Box<[Out]>,
        once: bool,
    },
    /// A fluent whose arguments are all known.
    Fluent { functor: Symbol, key: Box<[Operand]> },
    /// A fluent known as a whole.
    WholeFluent { term: Operand },
    /// Every true fluent.
    AnyFluent { accept: Accept, once: bool },
    /// The moves being made; without a role, all roles'.
    Does { role: Accept, a_move: Accept, once: bool },
    /// Answers of a predicate.
    Call { predicate: PredicateId, key: Box<[Operand]>, outs: Box<[Out]>, once: bool },
    /// No match for these steps.
    Not(Box<[Step]>),
    /// The values differ.
    Distinct(Operand, Operand),
    /// The values are the same.
    Equal(Operand, Operand),
    /// The value is accepted.
    Take(Operand, Accept),
    /// A slot gets a term put together from known values.
    Build { slot: Slot, functor: Symbol, args: Box<[Operand]> },
}

/// A clause, for one binding pattern.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    /// What the values of the call's key must be.
    pub(super) heads: Box<[Accept]>,
    pub(super) steps: Box<[Step]>,
    /// The values of the unbound positions of the head that the caller wants, in order.
    pub(super) answer: Box<[Operand]>,
    pub(super) n_slots: u32,
}

/// A relation with a binding pattern.
#[derive(Debug, Clone)]
pub(super) struct Predicate {
    pub(super) relation: RelationId,
    /// Positions bound by the caller.
    pub(super) mask: Mask,
    /// Unbound positions whose values the caller does not want.
    pub(super) dropped: Mask,
    /// How long answers stay valid.
    pub(super) dependence: Dependence,
    /// Whether answers are kept for calls with the same key; always so where a call can lead to itself.
    pub(super) tabled: bool,
    /// Unbound positions that the caller wants; none means a yes-no question.
    pub(super) n_outs: u32,
    pub(super) plans: Vec<Plan>,
}

/// Fluents of one name and number of arguments.
#[derive(Debug, Clone)]
pub(super) struct FluentFunctor {
    pub(super) functor: Symbol,
    pub(super) n_args: u32,
    /// The binding patterns that plans look up, in the order of the indexes that sessions keep.
    pub(super) masks: Vec<Mask>,
}

/// All that the machine needs to answer the questions it was compiled for.
#[derive(Debug, Clone, Default)]
pub(super) struct Program {
    pub(super) predicates: Vec<Predicate>,
    pub(super) fluent_functors: Vec<FluentFunctor>,
}
