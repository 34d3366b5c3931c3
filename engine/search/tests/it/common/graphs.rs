//! Games that are graphs, made up or drawn.

use std::fmt::Debug;
use std::hash::Hash;

use reasoner::Dice;

use super::{Game, NOOP};

/// A random graph in layers: from each of `width` places in a layer `n_moves` moves lead to places in the next, and
/// the last layer has random goals. The roles choose by turns.
#[derive(Debug)]
pub struct Layers {
    pub seed: u64,
    pub n_roles: usize,
    pub n_layers: u8,
    pub width: u64,
    pub n_moves: u32,
}

impl Layers {
    fn draw(&self, layer: u8, place: u64, what: u64) -> u64 {
        Dice::child_seed(Dice::child_seed(self.seed, u64::from(layer) << 32 | place), what)
    }
}

impl Game for Layers {
    type State = (u8, u64);

    fn n_roles(&self) -> usize {
        self.n_roles
    }

    fn initial(&self) -> Self::State {
        (0, 0)
    }

    /// Some ways end early.
    fn is_terminal(&self, &(layer, place): &Self::State) -> bool {
        layer == self.n_layers || (layer > 1 && self.draw(layer, place, 1000).is_multiple_of(16))
    }

    fn legal(&self, (layer, _): &Self::State, role: usize, moves: &mut Vec<u32>) {
        if usize::from(*layer) % self.n_roles == role {
            moves.extend(0..self.n_moves)
        } else {
            moves.push(NOOP)
        }
    }

    fn next(&self, &(layer, place): &Self::State, joint_move: &[u32]) -> Self::State {
        let a_move = joint_move[usize::from(layer) % self.n_roles];
        (layer + 1, self.draw(layer, place, u64::from(a_move)) % self.width)
    }

    fn goal(&self, &(layer, place): &Self::State, role: usize) -> u32 {
        (self.draw(layer, place, 2000 + role as u64) % 101) as u32
    }
}

/// A game whose states remember how they came about, so that no two ways lead to the same.
#[derive(Debug)]
pub struct Remembered<G>(pub G);

impl<G: Game> Game for Remembered<G>
where
    G::State: Clone + Eq + Hash + Debug,
{
    type State = (G::State, Vec<u32>);

    fn n_roles(&self) -> usize {
        self.0.n_roles()
    }

    fn initial(&self) -> Self::State {
        (self.0.initial(), Vec::new())
    }

    fn is_terminal(&self, (state, _): &Self::State) -> bool {
        self.0.is_terminal(state)
    }

    fn legal(&self, (state, _): &Self::State, role: usize, moves: &mut Vec<u32>) {
        self.0.legal(state, role, moves);
    }

    fn next(&self, (state, before): &Self::State, joint_move: &[u32]) -> Self::State {
        (self.0.next(state, joint_move), [before, joint_move].concat())
    }

    fn goal(&self, (state, _): &Self::State, role: usize) -> u32 {
        self.0.goal(state, role)
    }
}

/// A small graph that is written down: from each place moves lead to places; a place without moves is an end. The role
/// of a place chooses there.
#[derive(Debug)]
pub struct Drawn {
    pub n_roles: usize,
    /// By place: who chooses, and where the moves lead.
    pub places: Vec<(usize, Vec<usize>)>,
    /// By place: each role's goal.
    pub goals: fn(usize, usize) -> u32,
}

impl Game for Drawn {
    type State = usize;

    fn n_roles(&self) -> usize {
        self.n_roles
    }

    fn initial(&self) -> usize {
        0
    }

    fn is_terminal(&self, &place: &usize) -> bool {
        self.places[place].1.is_empty()
    }

    fn legal(&self, &place: &usize, role: usize, moves: &mut Vec<u32>) {
        let (chooser, ways) = &self.places[place];
        if *chooser == role { moves.extend(0..ways.len() as u32) } else { moves.push(NOOP) }
    }

    fn next(&self, &place: &usize, joint_move: &[u32]) -> usize {
        let (chooser, ways) = &self.places[place];
        ways[joint_move[*chooser] as usize]
    }

    fn goal(&self, &place: &usize, role: usize) -> u32 {
        (self.goals)(place, role)
    }
}

/// Figure 1 of Saffidine, Cazenave and Méhat 2012. From the root a move leads to a node with the sure end of 50 alone,
/// another to one with that end and a gamble worth 80 on average: who gambles has no stake in it.
pub fn figure_of_ucd() -> Drawn {
    const SURE: usize = 3;
    const GAMBLE: usize = 4;
    let mut places =
        vec![(0, vec![1, 2]), (0, vec![SURE]), (0, vec![SURE, GAMBLE]), (0, vec![]), (1, (5..15).collect())];
    places.resize(15, (0, vec![]));
    // Eight of ten ends of the gamble are won.
    let goals = |place: usize, role: usize| match (role, place) {
        (1, _) => 50,
        (_, SURE) => 50,
        (_, 5..=12) => 100,
        _ => 0,
    };
    Drawn { n_roles: 2, places, goals }
}

/// Figure 1 of Méhat and Cazenave 2010: s1 leads to s4, s2 to s4, s5 and s6, and s6 is the best.
pub fn figure_of_ary() -> Drawn {
    let places =
        vec![(0, vec![1, 2]), (0, vec![3]), (0, vec![3, 4, 5]), (0, vec![]), (0, vec![]), (0, vec![])];
    let goals = |place: usize, _: usize| match place {
        3 => 60,
        5 => 100,
        _ => 0,
    };
    Drawn { n_roles: 1, places, goals }
}
