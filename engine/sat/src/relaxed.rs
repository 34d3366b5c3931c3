//! How many moves a goal takes if no move undoes anything.
//!
//! In go the net, a state and a goal; out comes how many moves a plan has in which everything that was true, or false, once may be
//! taken to be so for ever (Hoffmann and Nebel 2001, "The FF planning system", the relaxed plan). A sudoku's is as long as its
//! cells are empty, so that it is known of which length its lines must be although most random ones are stuck before.

use reasoner_native::{Gate, Netlist, Signal};

use crate::unrolling::Truth;

/// Layers of states, at most; a goal that is further off has no estimate.
const MAX_LAYERS: u32 = 1000;
/// Gates that are looked at, at most: some tenths of a second.
const MAX_LOOKS: usize = 50_000_000;
/// In no layer so far.
const NEVER: u32 = u32::MAX;

/// When what can be so, if nothing is undone.
struct Layers<'a> {
    netlist: &'a Netlist,
    /// By gate, and for each of false and true: the first layer in which it can be that, or [`NEVER`].
    first: Vec<[u32; 2]>,
    /// By fluent: its gate, if anything depends on it.
    gate_of_fluent: Vec<Option<usize>>,
    /// The gates of moves, and which moves they are.
    move_gates: Vec<(usize, usize)>,
}

/// A gate, and whether it is to hold.
type Wish = (usize, bool);

fn wish(signal: Signal, holds: bool) -> Wish {
    (signal.gate_number(), holds != signal.is_negated())
}

impl<'a> Layers<'a> {
    fn new(netlist: &'a Netlist, start: &[Truth]) -> Layers<'a> {
        let mut first = vec![[NEVER; 2]; netlist.n_gates()];
        let mut gate_of_fluent = vec![None; netlist.fluents().len()];
        let mut move_gates = Vec::new();
        for (number, first) in first.iter_mut().enumerate() {
            match netlist.gate(number) {
                Gate::False => first[0] = 0,
                Gate::Fluent(fluent) => {
                    first[usize::from(start[fluent] == Truth::Known(true))] = 0;
                    gate_of_fluent[fluent] = Some(number);
                }
                Gate::Move(a_move) => {
                    first[0] = 0;
                    move_gates.push((number, a_move));
                }
                Gate::And(_) => {}
            }
        }
        Layers { netlist, first, gate_of_fluent, move_gates }
    }

    fn first(&self, (gate, holds): Wish) -> u32 {
        self.first[gate][usize::from(holds)]
    }

    /// Notes that something can be so from a layer on; whether that is new.
    fn reach(&mut self, (gate, holds): Wish, layer: u32) -> bool {
        let first = &mut self.first[gate][usize::from(holds)];
        let is_new = *first == NEVER;
        *first = (*first).min(layer);
        is_new
    }

    /// Finds out what gates can be in a layer, from its fluents and moves.
    fn evaluate(&mut self, layer: u32) {
        for number in 0..self.netlist.n_gates() {
            let Gate::And(inputs) = self.netlist.gate(number) else { continue };
            if inputs.iter().all(|&input| self.first(wish(input, true)) <= layer) {
                self.reach((number, true), layer);
            }
            if inputs.iter().any(|&input| self.first(wish(input, false)) <= layer) {
                self.reach((number, false), layer);
            }
        }
    }

    /// Adds layers until all wishes can be had together; false if that never happens.
    fn grow(&mut self, wishes: &[Wish]) -> bool {
        let max_layers = MAX_LOOKS / self.netlist.n_gates().max(1) / 2;
        for layer in 0..MAX_LAYERS.min(u32::try_from(max_layers).unwrap_or(MAX_LAYERS)) {
            self.evaluate(layer);
            for at in 0..self.move_gates.len() {
                let (number, a_move) = self.move_gates[at];
                if self.first(wish(self.netlist.moves()[a_move].legal, true)) <= layer {
                    self.reach((number, true), layer);
                }
            }
            self.evaluate(layer);
            if wishes.iter().all(|&wish| self.first(wish) <= layer) {
                return true;
            }
            let mut is_more = false;
            for (fluent, of_net) in self.netlist.fluents().iter().enumerate() {
                let Some(gate) = self.gate_of_fluent[fluent] else { continue };
                for holds in [false, true] {
                    if self.first(wish(of_net.next, holds)) <= layer {
                        is_more |= self.reach((gate, holds), layer + 1);
                    }
                }
            }
            if !is_more {
                return false;
            }
        }
        false
    }

    /// The moves that bring the wishes about, each once. Of several ways to one of them those are preferred that are near, then those
    /// that serve another, then those that are of the net first.
    fn n_moves(&self, wishes: &[Wish]) -> usize {
        let mut is_had = vec![[false; 2]; self.first.len()];
        let mut open = wishes.to_vec();
        let mut n_moves = 0;
        while let Some((gate, holds)) = open.pop() {
            if std::mem::replace(&mut is_had[gate][usize::from(holds)], true) {
                continue;
            }
            match self.netlist.gate(gate) {
                Gate::False => {}
                Gate::Fluent(_) if self.first((gate, holds)) == 0 => {}
                Gate::Fluent(fluent) => open.push(wish(self.netlist.fluents()[fluent].next, holds)),
                Gate::Move(a_move) => {
                    if holds {
                        n_moves += 1;
                        open.push(wish(self.netlist.moves()[a_move].legal, true));
                    }
                }
                Gate::And(inputs) if holds => open.extend(inputs.iter().map(|&input| wish(input, true))),
                Gate::And(inputs) => {
                    let cost = |&(gate, holds): &Wish| {
                        (self.first((gate, holds)), !is_had[gate][usize::from(holds)])
                    };
                    open.extend(inputs.iter().map(|&input| wish(input, false)).min_by_key(cost));
                }
            }
        }
        n_moves
    }
}

/// How many moves it takes from the state in which these fluents are true until the game is over with this goal, if no move undoes
/// anything; nothing if that cannot happen, or is too far off.
pub(crate) fn steps_to(netlist: &Netlist, start: &[Truth], goal: Signal) -> Option<usize> {
    let wishes = [wish(goal, true), wish(netlist.terminal(), true)];
    let mut layers = Layers::new(netlist, start);
    if !layers.grow(&wishes) {
        return None;
    }
    let n_layers = wishes.iter().map(|&wish| layers.first(wish)).max().unwrap_or(0);
    Some(layers.n_moves(&wishes).max(n_layers as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nets::{ENDLESS, of_text, shipped, start};

    fn steps(netlist: &Netlist, value: u32) -> Option<usize> {
        let goal = netlist.goals().iter().find(|goal| goal.value == value).expect("such a goal");
        steps_to(netlist, &start(netlist), goal.holds)
    }

    /// A Latin square of three rows, one number of which is given.
    const SQUARE: &str = "(role one) (index 1) (index 2) (index 3) (init (has 1 1 1)) (init (filled 1 1))
        (<= (row_has ?r ?n) (true (has ?r ?c ?n)))
        (<= (column_has ?c ?n) (true (has ?r ?c ?n)))
        (<= (legal one (write ?r ?c ?n)) (index ?r) (index ?c) (index ?n)
            (not (true (filled ?r ?c))) (not (row_has ?r ?n)) (not (column_has ?c ?n)))
        (<= (next (has ?r ?c ?n)) (does one (write ?r ?c ?n)))
        (<= (next (has ?r ?c ?n)) (true (has ?r ?c ?n)))
        (<= (next (filled ?r ?c)) (does one (write ?r ?c ?n)))
        (<= (next (filled ?r ?c)) (true (filled ?r ?c)))
        (<= open (index ?r) (index ?c) (not (true (filled ?r ?c))))
        (<= can_write (legal one ?m))
        (<= terminal (not open))
        (<= (goal one 100) (not open))
        (<= (goal one 50) open)";

    #[test]
    fn every_empty_cell_takes_a_move() {
        assert_eq!(steps(&of_text(SQUARE), 100), Some(8));
    }

    #[test]
    fn a_goal_is_no_nearer_than_its_layer() {
        let text = "(role one) (init (at 0)) (next_to 0 1) (next_to 1 2) (next_to 2 3)
            (legal one walk)
            (<= (next (at ?b)) (does one walk) (true (at ?a)) (next_to ?a ?b))
            (<= terminal (true (at 3)))
            (<= (goal one 100) (true (at 3)))
            (<= (goal one 0) (true (at 3)) (true (at 9)))";
        assert_eq!(steps(&of_text(text), 100), Some(3));
    }

    #[test]
    fn what_never_ends_has_no_plan() {
        assert_eq!(steps(&of_text(ENDLESS), 100), None);
    }

    #[test]
    fn a_disc_that_is_moved_once_stays_there() {
        // Five discs take 31 moves; to have each where it belongs takes one of them, and some make room.
        let steps = steps(&shipped("hanoi"), 100).expect("a goal within reach");
        assert!((5..31).contains(&steps), "{steps}");
    }
}
