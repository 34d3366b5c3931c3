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
    pub(crate) fn holds(self, solver: &Solver<'_>) -> bool {
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
#[derive(Debug, Clone)]
pub(crate) struct Unrolling<'a> {
    netlist: &'a Netlist,
    /// By gate: whether it depends on the moves of its step.
    depends_on_moves: Vec<bool>,
    /// By step, the last one too: its fluents.
    fluents: Vec<Vec<Truth>>,
    /// The gates of the last step that depend on no move, then all of them.
    gates: Vec<Truth>,
    /// The moves that may be legal in the last step.
    legal: Vec<(usize, Truth)>,
    /// That the game is over in the last step, or nobody can move there.
    over: Truth,
    /// By step: the moves that can be made.
    moves: Vec<Vec<(usize, Truth)>>,
    /// Where it holds, each move is behind the one before it in the net.
    in_order: Lit,
    /// Of the last step with a choice, by move: that the move made there is this one, or before it in the net.
    made_up_to: Vec<(usize, Lit)>,
}

impl<'a> Unrolling<'a> {
    /// The first step, of a state with these fluents.
    pub(crate) fn new(netlist: &'a Netlist, fluents: Vec<Truth>, solver: &mut Solver<'_>) -> Self {
        let mut depends_on_moves = Vec::with_capacity(netlist.n_gates());
        for number in 0..netlist.n_gates() {
            let depends = match netlist.gate(number) {
                Gate::False | Gate::Fluent(_) => false,
                Gate::Move(_) => true,
                Gate::And(inputs) => inputs.iter().any(|input| depends_on_moves[input.gate_number()]),
            };
            depends_on_moves.push(depends);
        }
        let mut unrolling = Unrolling {
            netlist,
            depends_on_moves,
            fluents: vec![fluents],
            gates: vec![Truth::Known(false); netlist.n_gates()],
            legal: Vec::new(),
            over: Truth::Known(false),
            moves: Vec::new(),
            in_order: solver.variable(),
            made_up_to: Vec::new(),
        };
        unrolling.settle(solver);
        unrolling
    }

    /// What is known of a signal that depends on no move, in the last step.
    pub(crate) fn truth(&self, signal: Signal) -> Truth {
        let truth = self.gates[signal.gate_number()];
        if signal.is_negated() { !truth } else { truth }
    }

    /// That the game is over in the last step, or nobody can move there, which ends it just as well.
    pub(crate) fn over(&self) -> Truth {
        self.over
    }

    /// The fluents of the last step.
    pub(crate) fn fluents(&self) -> &[Truth] {
        &self.fluents[self.fluents.len() - 1]
    }

    /// The fluents of all steps.
    pub(crate) fn fluents_by_step(&self) -> &[Vec<Truth>] {
        &self.fluents
    }

    /// That moves are made in the order of the net, as far as there is a choice.
    pub(crate) fn in_order(&self) -> Lit {
        self.in_order
    }

    /// The moves that may be legal in the last step.
    pub(crate) fn legal(&self) -> &[(usize, Truth)] {
        &self.legal
    }

    /// Goes on from the last step by a legal move, given by its place among them, where all is known and the game goes on. What was
    /// before is forgotten.
    pub(crate) fn step_by(&mut self, at: usize, solver: &mut Solver<'_>) {
        let mut moves = vec![Truth::Known(false); self.netlist.moves().len()];
        moves[self.legal[at].0] = Truth::Known(true);
        let next = self.next(&moves, solver);
        self.moves.clear();
        self.fluents.clear();
        self.fluents.push(next);
        self.settle(solver);
    }

    /// Whether two legal moves, where all is known, come to the same in either order; nothing if they exclude each other.
    pub(crate) fn come_to_the_same(&self, one: usize, other: usize, solver: &mut Solver<'_>) -> Option<bool> {
        let both_ways = [(one, other), (other, one)].map(|(first, second)| {
            let second = self.legal[second].0;
            let mut after = self.clone();
            after.step_by(first, solver);
            let at = after.legal.iter().position(|&(a_move, _)| a_move == second);
            at.filter(|_| after.over == Truth::Known(false)).map(|at| {
                after.step_by(at, solver);
                after.fluents.pop()
            })
        });
        both_ways.iter().any(Option::is_some).then(|| both_ways[0] == both_ways[1])
    }

    /// Adds a step: exactly one legal move is made in the last one, unless the game was over then. False if it was.
    pub(crate) fn step(&mut self, solver: &mut Solver<'_>) -> bool {
        let over = match self.over {
            Truth::Known(true) => return false,
            Truth::Known(false) => None,
            Truth::Lit(over) => Some(over),
        };
        let legal = std::mem::take(&mut self.legal);
        let mut moves = vec![Truth::Known(false); self.netlist.moves().len()];
        if let [(a_move, _)] = legal[..] {
            // It is legal, or the game is over.
            moves[a_move] = Truth::Known(true);
        } else {
            let literals: Vec<Lit> = legal.iter().map(|_| solver.variable()).collect();
            for (&literal, &(a_move, legal)) in literals.iter().zip(&legal) {
                moves[a_move] = Truth::Lit(literal);
                if let Truth::Lit(legal) = legal {
                    solver.demand(&[!literal, legal]);
                }
            }
            solver.demand(&over.into_iter().chain(literals.iter().copied()).collect::<Vec<_>>());
            let up_to = demand_at_most_one(&literals, solver);
            self.demand_order(legal.iter().map(|&(a_move, _)| a_move).zip(up_to).collect(), solver);
        }
        let next = self.next(&moves, solver);
        self.moves.push(legal.iter().map(|&(a_move, _)| (a_move, moves[a_move])).collect());
        self.fluents.push(next);
        self.settle(solver);
        true
    }

    /// The fluents behind the last step, by what is known of its moves.
    fn next(&mut self, moves: &[Truth], solver: &mut Solver<'_>) -> Vec<Truth> {
        self.evaluate(true, moves, solver);
        self.netlist.fluents().iter().map(|fluent| self.truth(fluent.next)).collect()
    }

    /// Demands where moves are to be made in order that the move of the last step, of which it is known up to which move it
    /// is, is behind that of the last choice before.
    fn demand_order(&mut self, made_up_to: Vec<(usize, Lit)>, solver: &mut Solver<'_>) {
        let before = std::mem::take(&mut self.made_up_to);
        if !before.is_empty() {
            for &(a_move, is_made) in &made_up_to {
                let n_smaller = before.partition_point(|&(earlier, _)| earlier < a_move);
                let a_smaller = before[..n_smaller].last().map(|&(_, is_made)| is_made);
                solver.demand(&[!self.in_order, !is_made].into_iter().chain(a_smaller).collect::<Vec<_>>());
            }
        }
        self.made_up_to = made_up_to;
    }

    /// Finds out what follows from the fluents of the last step alone.
    fn settle(&mut self, solver: &mut Solver<'_>) {
        self.evaluate(false, &[], solver);
        let all = (0..).zip(self.netlist.moves());
        let truths = all.map(|(a_move, of_net)| (a_move, self.truth(of_net.legal)));
        self.legal = truths.filter(|&(_, legal)| legal != Truth::Known(false)).collect();
        let is_stuck = all_hold(self.legal.iter().map(|&(_, legal)| !legal), solver);
        let terminal = self.truth(self.netlist.terminal());
        self.over = !all_hold([!terminal, !is_stuck].into_iter(), solver);
    }

    /// The moves of the line that the solver found, as far as `n_steps`.
    pub(crate) fn line(&self, n_steps: usize, solver: &Solver<'_>) -> Vec<usize> {
        let made =
            |moves: &Vec<(usize, Truth)>| moves.iter().find(|(_, truth)| truth.holds(solver)).map(|it| it.0);
        self.moves[..n_steps].iter().filter_map(made).collect()
    }

    /// Evaluates the needed gates that depend on moves, or those that do not.
    fn evaluate(&mut self, with_moves: bool, moves: &[Truth], solver: &mut Solver<'_>) {
        for number in 0..self.netlist.n_gates() {
            if self.depends_on_moves[number] != with_moves || !self.netlist.is_needed(number) {
                continue;
            }
            self.gates[number] = match self.netlist.gate(number) {
                Gate::False => Truth::Known(false),
                Gate::Fluent(fluent) => self.fluents()[fluent],
                Gate::Move(a_move) => moves[a_move],
                Gate::And(inputs) => all_hold(inputs.iter().map(|&input| self.truth(input)), solver),
            };
        }
    }
}

/// Whether all of these hold.
pub(crate) fn all_hold(truths: impl Iterator<Item = Truth>, solver: &mut Solver<'_>) -> Truth {
    let mut literals = Vec::new();
    for truth in truths {
        match truth {
            Truth::Known(true) => {}
            Truth::Known(false) => return Truth::Known(false),
            Truth::Lit(literal) => literals.push(literal),
        }
    }
    all_of(&mut literals, solver)
}

/// Whether all literals hold (Tseitin 1968).
fn all_of(literals: &mut Vec<Lit>, solver: &mut Solver<'_>) -> Truth {
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

/// Demands that at most one of the literals holds, and tells for each whether it or one before it does (Sinz 2005, sequential
/// counter).
fn demand_at_most_one(literals: &[Lit], solver: &mut Solver<'_>) -> Vec<Lit> {
    let mut up_to: Vec<Lit> = Vec::with_capacity(literals.len());
    for &literal in literals {
        let so_far = solver.variable();
        solver.demand(&[!literal, so_far]);
        if let Some(&before) = up_to.last() {
            solver.demand(&[!before, so_far]);
            solver.demand(&[!before, !literal]);
        }
        up_to.push(so_far);
    }
    up_to
}
