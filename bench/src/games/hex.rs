//! Hex on rhombi of any size.

use std::fmt;

use reasoner::{Move, Policy, Role, RolloutEnd, Value};

use super::choices::{Choices, Prepared};
use super::game::{FluentParts, Game};
use super::grid::{Colour, Content, Grid, MAX_SIZE, MIN_SIZE, N_INDICES, NOOP, Point, PointSet, move_to};
use super::name::{GameNameError, Parameters};

/// Hex: by turns each side puts a stone on an empty point; Black joins the first row to the last, White the first
/// column to the last, and exactly one of them does at some time. A point's neighbours are the two on its row, the two
/// on its column, and the two on one diagonal. No swap rule.
///
/// The paper on UCD (Saffidine, Cazenave and Méhat 2012, section 4.2) plays size 5 "with an initial stone on b2" as "a
/// compulsory mediocre first move", which is `hex:5,stone=b2` here. The paper does not say which way the sides go, whose
/// the stone is, or who moves then; as a first move it is Black's here, who moves first, and White moves next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hex {
    grid: Grid,
    stone: Option<Point>,
}

/// The stones and who moves next. There is one more stone after every move, so that no position comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HexState {
    stones: [PointSet; 2],
    mover: Colour,
    /// Who has joined its sides; it follows from the stones.
    winner: Option<Colour>,
}

impl Hex {
    /// The size of a name without one: that of most programs' matches.
    pub const DEFAULT_SIZE: u16 = 11;

    /// The game on `size` by `size` points, 2 to 19.
    ///
    /// # Panics
    /// If there is no board of that size.
    pub fn new(size: u16) -> Hex {
        Hex { grid: Grid::new(size, Grid::ALL_LETTERS), stone: None }
    }

    /// The same game with a stone of Black at a point, and White to move.
    #[must_use]
    pub fn with_stone(self, name: &str) -> Option<Hex> {
        let stone = self.grid.named(name)?;
        Some(Hex { stone: Some(stone), ..self })
    }

    /// As a name says.
    ///
    /// # Errors
    /// If the name has other parameters, or their values cannot be.
    pub(super) fn from_parameters(parameters: &Parameters<'_>) -> Result<Hex, GameNameError> {
        parameters.only(&["stone"])?;
        let hex = Hex::new(parameters.size(Hex::DEFAULT_SIZE, MIN_SIZE..=MAX_SIZE)?);
        let Some(stone) = parameters.value("stone") else { return Ok(hex) };
        let corner = hex.grid.name(hex.grid.point(hex.grid.size(), hex.grid.size()));
        let hint = format!("a point of the board, a1 to {corner}");
        hex.with_stone(stone).ok_or_else(|| parameters.wrong(stone, "stone", &hint))
    }

    /// The state after `mover` has put a stone, or nothing if the move is not legal, on the board of `before`.
    fn after(&self, before: &HexState, board: &Board, a_move: Move) -> HexState {
        let mut state = HexState { mover: before.mover.other(), ..*before };
        if let Some(point) = self.grid.point_of(a_move).filter(|&point| board.is_empty(point)) {
            state.stones[before.mover.idx()].insert(point);
            let wins = board.clone().put(point, before.mover);
            state.winner = before.winner.or(wins.then_some(before.mover));
        }
        state
    }
}

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hex:{}", self.grid.size())?;
        self.stone.map_or(Ok(()), |stone| write!(f, ",stone={}", self.grid.name(stone)))
    }
}

impl Game for Hex {
    type State = HexState;
    type Memory = Prepared<HexState, Board>;

    const ROLES: &'static [&'static str] = &["black", "white"];
    const FLUENTS: &'static [&'static str] = &["black", "white", "control"];

    fn memory(&self) -> Self::Memory {
        Prepared::new(Board::new(self.grid))
    }

    fn initial_state(&self) -> HexState {
        let empty = HexState { stones: Default::default(), mover: Colour::Black, winner: None };
        self.stone.map_or(empty, |stone| self.after(&empty, &Board::new(self.grid), move_to(stone)))
    }

    fn is_terminal(&self, state: &HexState) -> bool {
        state.winner.is_some()
    }

    fn legal_moves(&self, _: &mut Self::Memory, state: &HexState, role: Role, moves: &mut Vec<Move>) {
        if Colour::of(role) != state.mover {
            return moves.push(NOOP);
        }
        let [black, white] = &state.stones;
        let is_empty = |&point: &Point| !black.contains(point) && !white.contains(point);
        moves.extend(self.grid.points().filter(is_empty).map(move_to));
    }

    /// A move that is not legal puts no stone; then the other one moves.
    fn next_state(&self, memory: &mut Self::Memory, state: &HexState, joint_move: &[Move]) -> HexState {
        let board = memory.board(state, Board::set_up);
        self.after(state, board, joint_move[state.mover.idx()])
    }

    /// 100 for the winner; 0 while there is none.
    fn goal(&self, _: &mut Self::Memory, state: &HexState, role: Role) -> Value {
        if state.winner == Some(Colour::of(role)) { 100 } else { 0 }
    }

    fn rollout(
        &self,
        memory: &mut Self::Memory,
        state: &HexState,
        choices: &mut Choices<'_, impl Policy>,
    ) -> RolloutEnd {
        let (mut length, mut mover, mut winner) = (0, state.mover, state.winner);
        if winner.is_none() {
            let mut board = memory.board(state, Board::set_up).clone();
            while winner.is_none() && !board.empty.is_empty() {
                let move_idx = choices.turn(mover, &board.empty);
                winner = board.put_at(move_idx, mover).then_some(mover);
                mover = mover.other();
                length += 1;
            }
        }
        let goals = Colour::BOTH.map(|colour| if winner == Some(colour) { 100 } else { 0 });
        RolloutEnd { length, goals: goals.to_vec(), terminal: true }
    }

    fn fluents(&self, state: &HexState, fluents: &mut Vec<FluentParts>) {
        for (kind, stones) in (0u16..).zip(&state.stones) {
            fluents.extend(stones.iter().map(|point| (kind, point)));
        }
        fluents.push((2, u16::from(state.mover == Colour::White)));
    }

    fn state_of(&self, fluents: &[FluentParts]) -> Option<HexState> {
        let mut stones: [PointSet; 2] = Default::default();
        let mut mover = None;
        for &(kind, argument) in fluents {
            match kind {
                2 => {
                    let colour = Colour::BOTH[usize::from(argument)];
                    if *mover.get_or_insert(colour) != colour {
                        return None;
                    }
                }
                _ => stones[usize::from(kind)].insert(argument),
            }
        }
        let state = HexState { stones, mover: mover?, winner: None };
        let mut board = Board::new(self.grid);
        board.set_up(&state);
        let mut winners = Colour::BOTH.into_iter().filter(|&colour| board.has_joined(colour));
        let winner = winners.next();
        let is_sound = stones[0].is_disjoint(&stones[1]) && winners.next().is_none();
        is_sound.then_some(HexState { winner, ..state })
    }

    fn argument_text(&self, (kind, argument): FluentParts) -> String {
        match kind {
            2 => Colour::BOTH[usize::from(argument & 1)].name().to_owned(),
            _ => self.grid.name(argument),
        }
    }

    fn argument_of(&self, kind: u16, text: &str) -> Option<u16> {
        match kind {
            2 => (0u16..).zip(Colour::BOTH).find(|(_, colour)| colour.name() == text).map(|(idx, _)| idx),
            _ => self.grid.named(text),
        }
    }

    fn move_name(&self, a_move: Move) -> String {
        self.grid.point_of(a_move).map_or_else(|| "noop".to_owned(), |point| self.grid.name(point))
    }

    fn move_named(&self, name: &str) -> Option<Move> {
        if name == "noop" { Some(NOOP) } else { self.grid.named(name).map(move_to) }
    }
}

/// A board that knows which stones hang together: union-find over the points, with the four sides as stones in the frame
/// (Tarjan and van Leeuwen 1984, path halving).
#[derive(Debug, Clone)]
pub struct Board {
    grid: Grid,
    content: [Content; N_INDICES],
    /// The way to the point that stands for the chain; that point's is itself.
    parent: [Point; N_INDICES],
    /// The empty points, in an order that depends on what was put before.
    empty: Vec<Move>,
}

impl Board {
    fn new(grid: Grid) -> Board {
        let (content, parent) = ([Content::Frame; N_INDICES], [0; N_INDICES]);
        let mut board = Board { grid, content, parent, empty: Vec::with_capacity(N_INDICES) };
        board.clear();
        board
    }

    /// Takes all stones away.
    fn clear(&mut self) {
        let grid = self.grid;
        (0..).zip(&mut self.parent).for_each(|(point, parent)| *parent = point);
        for colour in Colour::BOTH {
            let sides = self.sides(colour);
            for along in 1..=grid.size() {
                for (side, across) in sides.into_iter().zip([0, grid.size() + 1]) {
                    let point = match colour {
                        Colour::Black => grid.point(across, along),
                        Colour::White => grid.point(along, across),
                    };
                    self.content[usize::from(point)] = Content::Stone(colour);
                    self.parent[usize::from(point)] = side;
                }
            }
        }
        self.empty.clear();
        for point in grid.points() {
            self.content[usize::from(point)] = Content::Empty;
            self.empty.push(move_to(point));
        }
    }

    /// Puts the stones of a state on the board, in an order that depends on the state alone.
    fn set_up(&mut self, state: &HexState) {
        self.clear();
        for colour in Colour::BOTH {
            state.stones[colour.idx()].iter().for_each(|point| _ = self.put(point, colour));
        }
        self.empty.retain(|a_move| self.content[a_move.0 as usize] == Content::Empty);
    }

    fn is_empty(&self, point: Point) -> bool {
        self.content[usize::from(point)] == Content::Empty
    }

    /// The points of the frame that stand for the two sides that a colour joins.
    fn sides(&self, colour: Colour) -> [Point; 2] {
        let beyond = self.grid.size() + 1;
        match colour {
            Colour::Black => [self.grid.point(0, 1), self.grid.point(beyond, 1)],
            Colour::White => [self.grid.point(1, 0), self.grid.point(1, beyond)],
        }
    }

    /// Puts a stone on the `empty_idx`th empty point, and tells whether its colour has joined its sides.
    fn put_at(&mut self, empty_idx: usize, colour: Colour) -> bool {
        let a_move = self.empty.swap_remove(empty_idx);
        // Moves to points have their indices.
        self.put(Point::try_from(a_move.0).unwrap_or(0), colour)
    }

    /// As [`Board::put_at`] for a point, which stays in the list of the empty ones.
    fn put(&mut self, point: Point, colour: Colour) -> bool {
        self.content[usize::from(point)] = Content::Stone(colour);
        let stride = self.grid.stride();
        let neighbours =
            [point - stride, point - stride + 1, point - 1, point + 1, point + stride - 1, point + stride];
        for neighbour in neighbours {
            if self.content[usize::from(neighbour)] == Content::Stone(colour) {
                self.join(point, neighbour);
            }
        }
        self.has_joined(colour)
    }

    fn has_joined(&mut self, colour: Colour) -> bool {
        let [from, to] = self.sides(colour).map(|side| self.find(side));
        from == to
    }

    fn join(&mut self, point: Point, neighbour: Point) {
        let (stone, chain) = (self.find(point), self.find(neighbour));
        self.parent[usize::from(stone)] = chain;
    }

    /// The point that stands for a stone's chain.
    fn find(&mut self, mut point: Point) -> Point {
        loop {
            let parent = self.parent[usize::from(point)];
            if parent == point {
                return point;
            }
            let grandparent = self.parent[usize::from(parent)];
            self.parent[usize::from(point)] = grandparent;
            point = grandparent;
        }
    }
}
