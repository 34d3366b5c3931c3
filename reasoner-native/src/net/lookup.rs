//! Each role makes one move: what depends on the move alone is looked up once.
//!
//! A piece comes to a cell if a move goes there and the piece stands where the move begins: for each cell and each piece
//! a disjunction over moves, each with its condition. Since there is one move, "a move of these, and its
//! condition holds" is "a move of these" and "the condition of the move holds", whatever the move: the first
//! is the same for all pieces, the second for all cells.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::rows::Rows;
use super::{GateId, Gates, Kind, Signal};

/// Look-ups that a choice is tried to be put into for each of its conditions, and of all these those with most in
/// common, at most.
const MAX_CANDIDATES: usize = 16;

/// Moves with their condition in one disjunction.
type Conditions = FxHashMap<GateId, Vec<Signal>>;

/// A disjunction over moves.
struct Choice {
    /// The gate whose complement it is.
    gate: GateId,
    /// Inputs that are taken out.
    terms: Vec<Signal>,
    /// By role.
    of_role: Vec<(usize, Conditions)>,
}

/// Conditions of moves of a role, put together from several choices.
struct Lookup {
    role: usize,
    conditions: Conditions,
    choices: Vec<usize>,
}

impl Rows {
    /// Makes look-ups of disjunctions over moves, if that saves work.
    pub(super) fn look_up(&mut self, gates: &Gates) {
        let mut choices = self.choices(gates);
        let alone: FxHashSet<GateId> = lookups(&choices)
            .iter()
            .filter(|lookup| lookup.choices.len() < 2)
            .flat_map(|lookup| lookup.choices.iter().map(|&choice| choices[choice].gate))
            .collect();
        choices.retain(|choice| !alone.contains(&choice.gate));
        let lookups = lookups(&choices);
        if self.work_of(&choices) > work_of_lookups(&choices, &lookups) {
            self.make(&choices, &lookups);
        }
    }

    /// The disjunctions over moves with several conditions, of which none depends on moves.
    fn choices(&self, gates: &Gates) -> Vec<Choice> {
        let mut n_uses = self.n_roots.clone();
        self.rows.iter().flatten().for_each(|signal| n_uses[signal.gate().idx()] += 1);
        let mut depends_on_moves = vec![false; self.len()];
        for gate in gates.ids() {
            let mut inputs = gates.inputs(gate).iter();
            depends_on_moves[gate.idx()] = matches!(gates.kind(gate), Kind::Input(_) | Kind::Cycle)
                || inputs.any(|signal| depends_on_moves[signal.gate().idx()]);
        }
        let choice = |gate| {
            let mut choice = Choice { gate, terms: Vec::new(), of_role: Vec::new() };
            for &term in self.row(gate).iter().filter(|term| term.is_negated()) {
                let Some((moves, condition)) = self.conditional(gates, term.gate()) else { continue };
                let depends = condition.iter().any(|signal| depends_on_moves[signal.gate().idx()]);
                if depends || n_uses[term.gate().idx()] > 1 {
                    continue;
                }
                if !choice.add(gates, &moves, &condition) {
                    return None;
                }
                choice.terms.push(term);
            }
            choice.of_role.iter().any(|(_, conditions)| has_several(conditions)).then_some(choice)
        };
        self.ids().filter_map(choice).collect()
    }

    /// An And as moves, of which one is made, and a condition.
    fn conditional(&self, gates: &Gates, and: GateId) -> Option<(Vec<GateId>, Vec<Signal>)> {
        let row = self.row(and);
        let is_move = |signal: &Signal| matches!(gates.kind(signal.gate()), Kind::Input(_));
        let moves_of = |signal: &Signal| match signal.is_negated() {
            false => is_move(signal).then(|| vec![signal.gate()]),
            true => {
                let moves = self.row(signal.gate());
                let are_moves = !moves.is_empty() && moves.iter().all(|it| it.is_negated() && is_move(it));
                are_moves.then(|| moves.iter().map(|it| it.gate()).collect())
            }
        };
        let (place, moves) = row.iter().enumerate().find_map(|(place, it)| Some((place, moves_of(it)?)))?;
        let mut condition = row.to_vec();
        condition.remove(place);
        Some((moves, condition))
    }

    /// The work of the terms of choices.
    fn work_of(&self, choices: &[Choice]) -> usize {
        let terms = choices.iter().flat_map(|choice| &choice.terms);
        terms.map(|term| self.row(term.gate()).len() + 2).sum()
    }

    fn make(&mut self, choices: &[Choice], lookups: &[Lookup]) {
        let mut selectors: FxHashMap<Vec<GateId>, Signal> = FxHashMap::default();
        let mut terms: Vec<Vec<Signal>> = vec![Vec::new(); choices.len()];
        for lookup in lookups {
            let mut none = Vec::new();
            for (mut condition, moves) in by_condition(&lookup.conditions) {
                let one_of_them = self.selector(&mut selectors, moves);
                if let Err(place) = condition.binary_search(&one_of_them) {
                    condition.insert(place, one_of_them);
                }
                none.push(!Signal::of(self.add(condition)));
            }
            none.sort_unstable();
            let looked_up = !Signal::of(self.add(none));
            for &choice in &lookup.choices {
                let moves = moves_of(&choices[choice], lookup.role);
                let mut both = vec![looked_up, self.selector(&mut selectors, moves)];
                both.sort_unstable();
                terms[choice].push(!Signal::of(self.add(both)));
            }
        }
        for (choice, terms) in choices.iter().zip(terms) {
            self.change(choice.gate, &choice.terms, terms);
            choice.terms.iter().for_each(|term| _ = self.take(term.gate()));
        }
    }

    /// That one of some moves is made.
    fn selector(&mut self, selectors: &mut FxHashMap<Vec<GateId>, Signal>, moves: Vec<GateId>) -> Signal {
        if let [only] = moves[..] {
            return Signal::of(only);
        }
        if let Some(&known) = selectors.get(&moves) {
            return known;
        }
        let none = moves.iter().map(|&a_move| !Signal::of(a_move)).collect();
        let selector = !Signal::of(self.add(none));
        selectors.insert(moves, selector);
        selector
    }
}

impl Choice {
    /// Adds a condition of moves; false if one of them has another.
    fn add(&mut self, gates: &Gates, moves: &[GateId], condition: &[Signal]) -> bool {
        let roles: Vec<usize> = moves.iter().filter_map(|&gate| gates.role_of(Signal::of(gate))).collect();
        let has = |(&role, a_move): (&usize, &GateId)| {
            self.of_role.iter().any(|(of, conditions)| *of == role && conditions.contains_key(a_move))
        };
        if roles.iter().zip(moves).any(has) {
            return false;
        }
        for (&role, &a_move) in roles.iter().zip(moves) {
            let place = self.of_role.iter().position(|(of, _)| *of == role).unwrap_or_else(|| {
                self.of_role.push((role, Conditions::default()));
                self.of_role.len() - 1
            });
            self.of_role[place].1.insert(a_move, condition.to_vec());
        }
        true
    }
}

/// Choices put together: those of one look-up have some condition in common, and none has another condition for a
/// move that another one has.
fn lookups(choices: &[Choice]) -> Vec<Lookup> {
    let mut lookups: Vec<Lookup> = Vec::new();
    let mut with: FxHashMap<(usize, &[Signal]), Vec<usize>> = FxHashMap::default();
    for (choice_idx, choice) in choices.iter().enumerate() {
        for (role, conditions) in &choice.of_role {
            let distinct: FxHashSet<&[Signal]> = conditions.values().map(Vec::as_slice).collect();
            let mut shared: FxHashMap<usize, usize> = FxHashMap::default();
            for condition in &distinct {
                let known = with.get(&(*role, *condition)).into_iter().flatten();
                known.for_each(|&lookup| *shared.entry(lookup).or_default() += 1);
            }
            let fits = |&(_, Reverse(lookup)): &(usize, Reverse<usize>)| {
                let known = &lookups[lookup].conditions;
                conditions
                    .iter()
                    .all(|(a_move, condition)| known.get(a_move).is_none_or(|known| known == condition))
            };
            let mut candidates: BinaryHeap<(usize, Reverse<usize>)> =
                shared.into_iter().map(|(lookup, n)| (n, Reverse(lookup))).collect();
            let mut best_first = std::iter::from_fn(|| candidates.pop()).take(MAX_CANDIDATES);
            let best = best_first.find(fits).map(|(_, Reverse(lookup))| lookup);
            let lookup = best.unwrap_or(lookups.len());
            if lookup == lookups.len() {
                let (conditions, choices) = (Conditions::default(), Vec::new());
                lookups.push(Lookup { role: *role, conditions, choices });
            }
            let of_lookup = &mut lookups[lookup];
            of_lookup.choices.push(choice_idx);
            of_lookup.conditions.extend(conditions.iter().map(|(&a_move, it)| (a_move, it.clone())));
            for condition in distinct {
                let known = with.entry((*role, condition)).or_default();
                if known.len() < MAX_CANDIDATES && !known.contains(&lookup) {
                    known.push(lookup);
                }
            }
        }
    }
    lookups
}

fn has_several(conditions: &Conditions) -> bool {
    let first = conditions.values().next();
    conditions.values().any(|condition| Some(condition) != first)
}

/// The moves of a role in a choice, in ascending order.
fn moves_of(choice: &Choice, role: usize) -> Vec<GateId> {
    let of_role = choice.of_role.iter().filter(|(of, _)| *of == role);
    let mut moves: Vec<GateId> = of_role.flat_map(|(_, conditions)| conditions.keys().copied()).collect();
    moves.sort_unstable();
    moves
}

/// Conditions with the moves that have them, both in ascending order.
fn by_condition(conditions: &Conditions) -> Vec<(Vec<Signal>, Vec<GateId>)> {
    let mut by_condition: FxHashMap<&[Signal], Vec<GateId>> = FxHashMap::default();
    for (&a_move, condition) in conditions {
        by_condition.entry(condition).or_default().push(a_move);
    }
    let mut all: Vec<_> =
        by_condition.into_iter().map(|(condition, moves)| (condition.to_vec(), moves)).collect();
    all.iter_mut().for_each(|(_, moves)| moves.sort_unstable());
    all.sort_unstable();
    all
}

/// The work of look-ups and of choices made of them.
fn work_of_lookups(choices: &[Choice], lookups: &[Lookup]) -> usize {
    let mut selectors: FxHashSet<Vec<GateId>> = FxHashSet::default();
    let mut work = 0;
    for lookup in lookups {
        for (condition, moves) in by_condition(&lookup.conditions) {
            work += condition.len() + 3;
            selectors.insert(moves);
        }
        work += 1 + 4 * lookup.choices.len();
        selectors.extend(lookup.choices.iter().map(|&choice| moves_of(&choices[choice], lookup.role)));
    }
    let of_selector = |moves: &Vec<GateId>| if moves.len() > 1 { moves.len() + 1 } else { 0 };
    work + selectors.iter().map(of_selector).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::super::rebuild::changed;
    use super::super::testing::{Given, net};
    use super::*;
    use crate::ground::Budget;

    /// Cells, kinds of pieces; a move goes from any cell to any cell.
    const CELLS: usize = 3;
    const KINDS: usize = 4;

    /// For each kind and each cell: a move of the role goes there from a cell with such a piece, where `is_piece`
    /// gives the fluent or what is made of it.
    fn arrivals(given: &mut Given, is_piece: impl Fn(&mut Given, usize) -> Signal) -> Vec<Signal> {
        let moves = given.moves[0].clone();
        let places = (0..KINDS).flat_map(|kind| (0..CELLS).map(move |to| (kind, to)));
        let arrival = |(kind, to): (usize, usize)| {
            let ways: Vec<Signal> = (0..CELLS)
                .map(|from| {
                    let piece = is_piece(given, kind * CELLS + from);
                    given.and(&[moves[from * CELLS + to], piece])
                })
                .collect();
            given.or(&ways)
        };
        places.map(arrival).collect()
    }

    #[test]
    fn what_moves_is_looked_up_once_for_all_cells() {
        let raw = net(CELLS * KINDS, &[CELLS * CELLS, 1], |given| {
            arrivals(given, |given, place| given.bases[place])
        });
        let small = changed(&raw, &Budget::default(), |rows| {
            rows.look_up(&raw.gates);
            Ok(())
        })
        .unwrap();
        let selectors = 2 * CELLS * (CELLS + 1);
        let pieces = KINDS * (CELLS * 3 + CELLS + 1);
        assert_eq!(raw.work(), KINDS * CELLS * (CELLS * 3 + CELLS + 1));
        assert_eq!(small.work(), selectors + pieces + KINDS * CELLS * 3);
        raw.demand_equal(&small, [CELLS * CELLS, 1]);
    }

    #[test]
    fn conditions_that_depend_on_moves_are_not_looked_up() {
        // Otherwise what is looked up could depend on itself.
        let raw = net(CELLS * KINDS, &[CELLS * CELLS, 2], |given| {
            arrivals(given, |given, place| given.and(&[given.bases[place], given.moves[1][0]]))
        });
        let small = changed(&raw, &Budget::default(), |rows| {
            rows.look_up(&raw.gates);
            Ok(())
        })
        .unwrap();
        assert_eq!(small.work(), raw.work());
    }
}
