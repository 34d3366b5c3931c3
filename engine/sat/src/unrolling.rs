//! A game unrolled: what holds in each step, as clauses.

use reasoner_native::{Gate, Netlist, Signal};

use crate::solver::{Lit, Solver};

/// What is known of a proposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Truth {
    /// It is this, whatever is played.
    Known(bool),
    /// It is as this literal.
    Lit(Lit),
}

impl Truth {
    /// Whether it holds in what the solver found last.
    pub(crate) fn holds(self, solver: &Solver) -> bool {
        match self {
            Truth::Known(holds) => holds,
            Truth::Lit(literal) => solver.holds(literal),
        }
    }
}

impl std::ops::Not for Truth {
    type Output = Truth;

    fn not(self) -> Truth {
        match self {
            Truth::Known(holds) => Truth::Known(!holds),
            Truth::Lit(literal) => Truth::Lit(!literal),
        }
    }
}

/// The steps of a game so far. Before the last one, moves are made, one in each.
#[derive(Debug)]
pub(crate) struct Unrolling<'a> {
    netlist: &'a Netlist,
    /// By gate: whether it depends on the moves of its step.
    depends_on_moves: Vec<bool>,
    /// The fluents of the last step.
    fluents: Vec<Truth>,
    /// The gates of the last step that depend on no move, then all of them.
    gates: Vec<Truth>,
    /// By step: the moves that can be made.
    moves: Vec<Vec<(usize, Truth)>>,
}

impl<'a> Unrolling<'a> {
    /// The first step, of a state in which these fluents are true.
    pub(crate) fn new(netlist: &'a Netlist, holds: impl Fn(usize) -> bool, solver: &mut Solver) -> Self {
        let mut depends_on_moves = Vec::with_capacity(netlist.n_gates());
        for number in 0..netlist.n_gates() {
            let depends = match netlist.gate(number) {
                Gate::False | Gate::Fluent(_) => false,
                Gate::Move(_) => true,
                Gate::And(inputs) => inputs.iter().any(|input| depends_on_moves[input.gate_number()]),
            };
            depends_on_moves.push(depends);
        }
        let fluents = (0..netlist.fluents().len()).map(|fluent| Truth::Known(holds(fluent))).collect();
        let gates = vec![Truth::Known(false); netlist.n_gates()];
        let mut unrolling = Unrolling { netlist, depends_on_moves, fluents, gates, moves: Vec::new() };
        unrolling.evaluate(false, &[], solver);
        unrolling
    }

    /// What is known of a signal that depends on no move, in the last step.
    pub(crate) fn truth(&self, signal: Signal) -> Truth {
        let truth = self.gates[signal.gate_number()];
        if signal.is_negated() { !truth } else { truth }
    }

    /// Adds a step: exactly one legal move is made in the last one, unless the game was over then. False if there is
    /// none.
    pub(crate) fn step(&mut self, solver: &mut Solver) -> bool {
        let netlist = self.netlist;
        let legal: Vec<(usize, Truth)> = (0..)
            .zip(netlist.moves())
            .map(|(a_move, of_net)| (a_move, self.truth(of_net.legal)))
            .filter(|&(_, legal)| legal != Truth::Known(false))
            .collect();
        let over = match self.truth(netlist.terminal()) {
            Truth::Known(true) => return false,
            Truth::Known(false) => None,
            Truth::Lit(terminal) => Some(terminal),
        };
        let mut moves = vec![Truth::Known(false); netlist.moves().len()];
        match legal[..] {
            [] => return false,
            [(a_move, legal)] => {
                moves[a_move] = Truth::Known(true);
                if let Truth::Lit(legal) = legal {
                    solver.demand(&over.into_iter().chain([legal]).collect::<Vec<_>>());
                }
            }
            _ => {
                let literals: Vec<Lit> = legal.iter().map(|_| solver.variable()).collect();
                for (&literal, &(a_move, legal)) in literals.iter().zip(&legal) {
                    moves[a_move] = Truth::Lit(literal);
                    if let Truth::Lit(legal) = legal {
                        solver.demand(&[!literal, legal]);
                    }
                }
                solver.demand(&over.into_iter().chain(literals.iter().copied()).collect::<Vec<_>>());
                demand_at_most_one(&literals, solver);
            }
        }
        self.moves.push(legal.iter().map(|&(a_move, _)| (a_move, moves[a_move])).collect());
        self.evaluate(true, &moves, solver);
        self.fluents = netlist.fluents().iter().map(|fluent| self.truth(fluent.next)).collect();
        self.evaluate(false, &[], solver);
        true
    }

    /// The moves of the line that the solver found, as far as `n_steps`.
    pub(crate) fn line(&self, n_steps: usize, solver: &Solver) -> Vec<usize> {
        let is_made = |truth: Truth| match truth {
            Truth::Known(holds) => holds,
            Truth::Lit(literal) => solver.holds(literal),
        };
        let made =
            |moves: &Vec<(usize, Truth)>| moves.iter().find(|(_, truth)| is_made(*truth)).map(|it| it.0);
        self.moves[..n_steps].iter().filter_map(made).collect()
    }

    /// Evaluates the needed gates that depend on moves, or those that do not.
    fn evaluate(&mut self, with_moves: bool, moves: &[Truth], solver: &mut Solver) {
        let mut literals = Vec::new();
        for number in 0..self.netlist.n_gates() {
            if self.depends_on_moves[number] != with_moves || !self.netlist.is_needed(number) {
                continue;
            }
            self.gates[number] = match self.netlist.gate(number) {
                Gate::False => Truth::Known(false),
                Gate::Fluent(fluent) => self.fluents[fluent],
                Gate::Move(a_move) => moves[a_move],
                Gate::And(inputs) => {
                    literals.clear();
                    let is_false = inputs.iter().any(|&input| match self.truth(input) {
                        Truth::Known(holds) => !holds,
                        Truth::Lit(literal) => {
                            literals.push(literal);
                            false
                        }
                    });
                    if is_false { Truth::Known(false) } else { all_of(&mut literals, solver) }
                }
            };
        }
    }
}

/// Whether all literals hold (Tseitin 1968).
pub(crate) fn all_of(literals: &mut Vec<Lit>, solver: &mut Solver) -> Truth {
    literals.sort_unstable();
    literals.dedup();
    if literals.windows(2).any(|pair| pair[0] == !pair[1]) {
        return Truth::Known(false);
    }
    match literals[..] {
        [] => Truth::Known(true),
        [only] => Truth::Lit(only),
        _ => {
            let all = solver.variable();
            literals.iter().for_each(|&literal| solver.demand(&[!all, literal]));
            literals.iter_mut().for_each(|literal| *literal = !*literal);
            literals.push(all);
            solver.demand(literals);
            Truth::Lit(all)
        }
    }
}

/// Up to so many literals, every two of them are told not to hold together; beyond, a counter takes fewer clauses.
const MAX_PAIRWISE: usize = 6;

/// Demands that at most one of the literals holds (Sinz 2005, sequential counter).
fn demand_at_most_one(literals: &[Lit], solver: &mut Solver) {
    if literals.len() <= MAX_PAIRWISE {
        for (idx, &one) in literals.iter().enumerate() {
            literals[..idx].iter().for_each(|&other| solver.demand(&[!one, !other]));
        }
        return;
    }
    let mut before: Option<Lit> = None;
    for &literal in literals {
        let so_far = solver.variable();
        solver.demand(&[!literal, so_far]);
        if let Some(before) = before {
            solver.demand(&[!before, so_far]);
            solver.demand(&[!before, !literal]);
        }
        before = Some(so_far);
    }
}
