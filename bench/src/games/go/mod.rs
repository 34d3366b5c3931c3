//! Go on boards of any size, with area scoring.

mod board;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;

use reasoner::{Dice, MAX_ROLLOUT_STEPS, Move, Policy, Role, RolloutEnd, Value};

use self::board::Board;
use super::choices::{Choices, Prepared};
use super::game::{FluentParts, Game};
use super::grid::{BEYOND_POINTS, Colour, Grid, MAX_SIZE, MIN_SIZE, NOOP, Point, PointSet, move_to};
use super::name::{GameNameError, Parameters};

/// The move that plays nowhere.
pub const PASS: Move = Move(BEYOND_POINTS + 1);

/// Go by area rules: a side's points are its stones and the empty points that only its stones can be reached from (Tromp
/// and Taylor's rules; Chinese counting), suicide is forbidden, a single stone may not be taken back at once (ko), and
/// two passes in a row end the game. Longer cycles are not forbidden, but a limit of moves ends every game, which is
/// counted as it stands then.
///
/// Goals are 100 for the side with more points, komi included, and 50 for both where they are equal.
///
/// # Rollouts
/// Moves that fill one's own eye are legal, but rollouts leave them out, and pass only where nothing else is left: with
/// them, a random game would fill its territories until one side is captured, and come to no sensible end. Whatever
/// policy guides a rollout chooses among those *sensible* moves, uniformly or not. [`reasoner::rollout`], which knows no
/// Go, chooses among all legal ones.
///
/// # Transpositions
/// The number of moves is a part of the state. Without it the graph of positions had cycles (two stones thrown in and
/// taken, or three kos), and the limit would mean nothing. It costs hardly any transpositions: two ways to the same
/// stones take equally many moves, unless they capture or pass differently. What was on the board before is not a part,
/// since nothing but ko depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Go {
    grid: Grid,
    /// White's points for moving second, in halves.
    half_komi: i16,
    limit: u16,
}

/// A position: stones, a ko, who moves, how many passed just now, and the number of moves made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoState {
    stones: [PointSet; 2],
    ko: Option<Point>,
    mover: Colour,
    n_passes: u8,
    n_made: u16,
    /// Of the stones alone (Zobrist 1970): the exclusive or of a random number for each.
    stones_hash: u64,
}

impl Hash for GoState {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let rest = u64::from(self.n_made) << 32
            | u64::from(self.ko.unwrap_or(0)) << 16
            | u64::from(self.n_passes) << 1
            | u64::from(self.mover == Colour::White);
        hasher.write_u64(self.stones_hash ^ Dice::child_seed(0, rest));
    }
}

/// The hash of all stones that are on one of two boards alone.
fn hash_of_difference(before: &[PointSet; 2], after: &[PointSet; 2]) -> u64 {
    /// Any seed will do, as long as it is not that of the rest of a state.
    const SEED: u64 = 0x60;
    let mut hash = 0;
    for ((before, after), colour) in before.iter().zip(after).zip([0, 1]) {
        for point in before.difference(after).iter() {
            hash ^= Dice::child_seed(SEED, u64::from(point) << 1 | colour);
        }
    }
    hash
}

impl Go {
    /// The size of a name without one.
    pub const DEFAULT_SIZE: u16 = 9;
    /// 7.5 points, in halves: what Chinese rules give.
    pub const DEFAULT_HALF_KOMI: i16 = 15;
    /// A rollout is cut off after as many moves.
    #[allow(clippy::cast_possible_truncation, reason = "20 000 fits")]
    pub const LIMITS: RangeInclusive<u16> = 1..=MAX_ROLLOUT_STEPS as u16;
    /// The default limit, in moves for each point of the board: random games are hardly ever half as long (the mean of
    /// `daggerboard-bench games go:9` is about 1.4).
    const LIMIT_PER_POINT: u16 = 3;
    /// The most that komi can be, in halves: more than all points decides every game.
    #[allow(clippy::cast_possible_wrap, reason = "722 fits")]
    const MAX_HALF_KOMI: i16 = 2 * (MAX_SIZE * MAX_SIZE) as i16;

    /// The game on `size` by `size` points, 2 to 19, with 7.5 points of komi and a limit of three moves a point.
    ///
    /// # Panics
    /// If there is no board of that size.
    pub fn new(size: u16) -> Go {
        let grid = Grid::new(size, Grid::LETTERS_WITHOUT_I);
        Go { grid, half_komi: Go::DEFAULT_HALF_KOMI, limit: Go::default_limit(size) }
    }

    /// The same game with another komi, in half points.
    #[must_use]
    pub fn with_half_komi(self, half_komi: i16) -> Go {
        Go { half_komi, ..self }
    }

    /// The same game that ends after `limit` moves, one of [`Go::LIMITS`].
    ///
    /// # Panics
    /// If there is no such limit.
    #[must_use]
    pub fn with_limit(self, limit: u16) -> Go {
        assert!(Go::LIMITS.contains(&limit), "no game is limited to {limit} moves");
        Go { limit, ..self }
    }

    fn default_limit(size: u16) -> u16 {
        size * size * Go::LIMIT_PER_POINT
    }

    /// As a name says.
    ///
    /// # Errors
    /// If the name has other parameters, or their values cannot be.
    pub(super) fn from_parameters(parameters: &Parameters<'_>) -> Result<Go, GameNameError> {
        parameters.only(&["komi", "limit"])?;
        let mut go = Go::new(parameters.size(Go::DEFAULT_SIZE, MIN_SIZE..=MAX_SIZE)?);
        if let Some(komi) = parameters.value("komi") {
            let most = Go::MAX_HALF_KOMI / 2;
            let hint = format!("points in halves, at most {most}, as in komi=6.5");
            let half_komi = half_points(komi).filter(|komi| komi.abs() <= Go::MAX_HALF_KOMI);
            go = go.with_half_komi(half_komi.ok_or_else(|| parameters.wrong(komi, "komi", &hint))?);
        }
        Ok(match parameters.whole("limit", Go::LIMITS)? {
            Some(limit) => go.with_limit(limit),
            None => go,
        })
    }

    /// Black's goal for a margin on the board.
    fn goals(&self, margin: i32) -> [Value; 2] {
        match (2 * margin).cmp(&i32::from(self.half_komi)) {
            std::cmp::Ordering::Greater => [100, 0],
            std::cmp::Ordering::Equal => [50, 50],
            std::cmp::Ordering::Less => [0, 100],
        }
    }

    /// The state after a pass, which is also what a move comes to that is not legal.
    fn after_pass(before: &GoState) -> GoState {
        GoState {
            ko: None,
            mover: before.mover.other(),
            n_passes: (before.n_passes + 1).min(2),
            n_made: before.n_made.saturating_add(1),
            ..*before
        }
    }

    fn is_over(&self, n_passes: u8, n_made: u16) -> bool {
        n_passes >= 2 || n_made >= self.limit
    }
}

/// A number of points in halves, from its decimal text.
fn half_points(text: &str) -> Option<i16> {
    let halves = text.parse::<f64>().ok()? * 2.0;
    let is_whole = halves.fract() == 0.0 && halves.abs() <= f64::from(i16::MAX);
    #[allow(clippy::cast_possible_truncation, reason = "it is a whole number in range")]
    is_whole.then_some(halves as i16)
}

impl fmt::Display for Go {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "go:{},komi={}", self.grid.size(), f64::from(self.half_komi) / 2.0)?;
        if self.limit == Go::default_limit(self.grid.size()) {
            Ok(())
        } else {
            write!(f, ",limit={}", self.limit)
        }
    }
}

impl Game for Go {
    type State = GoState;
    type Memory = Prepared<GoState, Board>;

    const ROLES: &'static [&'static str] = &["black", "white"];
    const FLUENTS: &'static [&'static str] = &["black", "white", "ko", "control", "passes", "moves"];

    fn memory(&self) -> Self::Memory {
        Prepared::new(Board::new(self.grid))
    }

    fn initial_state(&self) -> GoState {
        let stones = Default::default();
        GoState { stones, ko: None, mover: Colour::Black, n_passes: 0, n_made: 0, stones_hash: 0 }
    }

    fn is_terminal(&self, state: &GoState) -> bool {
        self.is_over(state.n_passes, state.n_made)
    }

    fn legal_moves(&self, memory: &mut Self::Memory, state: &GoState, role: Role, moves: &mut Vec<Move>) {
        if Colour::of(role) != state.mover {
            return moves.push(NOOP);
        }
        let board = memory.board(state, Board::set_up);
        let is_legal = |&point: &Point| board.is_empty(point) && board.is_legal(point, state.mover);
        moves.extend(self.grid.points().filter(is_legal).map(move_to));
        moves.push(PASS);
    }

    /// A move that is not legal is a pass.
    fn next_state(&self, memory: &mut Self::Memory, state: &GoState, joint_move: &[Move]) -> GoState {
        let passed = Go::after_pass(state);
        let Some(point) = self.grid.point_of(joint_move[state.mover.idx()]) else { return passed };
        let board = memory.board(state, Board::set_up);
        if !board.is_empty(point) || !board.is_legal(point, state.mover) {
            return passed;
        }
        let mut board = board.clone();
        board.play(point, state.mover);
        let stones = board.stones();
        let stones_hash = state.stones_hash ^ hash_of_difference(&state.stones, &stones);
        GoState { stones, ko: board.ko(), n_passes: 0, stones_hash, ..passed }
    }

    fn goal(&self, memory: &mut Self::Memory, state: &GoState, role: Role) -> Value {
        self.goals(memory.board(state, Board::set_up).margin())[Colour::of(role).idx()]
    }

    fn rollout(
        &self,
        memory: &mut Self::Memory,
        state: &GoState,
        choices: &mut Choices<'_, impl Policy>,
    ) -> RolloutEnd {
        let mut board = memory.board(state, Board::set_up).clone();
        let (mut mover, mut n_passes, mut n_made) = (state.mover, state.n_passes, state.n_made);
        while !self.is_over(n_passes, n_made) {
            match board.choose(mover, |sensible| choices.turn(mover, sensible)) {
                Some(point) => {
                    board.play(point, mover);
                    n_passes = 0;
                }
                None => {
                    choices.turn(mover, &[PASS]);
                    board.pass();
                    n_passes += 1;
                }
            }
            mover = mover.other();
            n_made += 1;
        }
        let goals = self.goals(board.margin()).to_vec();
        RolloutEnd { length: u32::from(n_made - state.n_made), goals, terminal: true }
    }

    fn fluents(&self, state: &GoState, fluents: &mut Vec<FluentParts>) {
        for (kind, stones) in (0u16..).zip(&state.stones) {
            fluents.extend(stones.iter().map(|point| (kind, point)));
        }
        fluents.extend(state.ko.map(|point| (2, point)));
        let mover = u16::from(state.mover == Colour::White);
        fluents.extend([(3, mover), (4, u16::from(state.n_passes)), (5, state.n_made)]);
    }

    fn state_of(&self, fluents: &[FluentParts]) -> Option<GoState> {
        let mut stones: [PointSet; 2] = Default::default();
        let mut single = [None; 4];
        for &(kind, argument) in fluents {
            match stones.get_mut(usize::from(kind)) {
                Some(stones) => stones.insert(argument),
                None => {
                    let known: &mut Option<u16> = &mut single[usize::from(kind) - 2];
                    if *known.get_or_insert(argument) != argument {
                        return None;
                    }
                }
            }
        }
        let [ko, mover, n_passes, n_made] = single;
        let state = GoState {
            stones,
            ko,
            mover: Colour::BOTH[usize::from(mover?)],
            n_passes: u8::try_from(n_passes?).ok()?,
            n_made: n_made?,
            stones_hash: hash_of_difference(&Default::default(), &stones),
        };
        if !stones[0].is_disjoint(&stones[1]) {
            return None;
        }
        let mut board = Board::new(self.grid);
        board.set_up(&state);
        let ko_is_sound = ko.is_none_or(|point| board.is_empty(point) && !board.is_open(point));
        (board.is_sound() && board.stones() == stones && ko_is_sound).then_some(state)
    }

    fn argument_text(&self, (kind, argument): FluentParts) -> String {
        match kind {
            0..=2 => self.grid.name(argument),
            3 => Colour::BOTH[usize::from(argument & 1)].name().to_owned(),
            _ => argument.to_string(),
        }
    }

    fn argument_of(&self, kind: u16, text: &str) -> Option<u16> {
        match kind {
            0..=2 => self.grid.named(text),
            3 => (0u16..).zip(Colour::BOTH).find(|(_, colour)| colour.name() == text).map(|(idx, _)| idx),
            4 => text.parse().ok().filter(|&n| n <= 2),
            _ => text.parse().ok().filter(|&n| n <= self.limit),
        }
    }

    fn move_name(&self, a_move: Move) -> String {
        match (a_move, self.grid.point_of(a_move)) {
            (_, Some(point)) => self.grid.name(point),
            (PASS, None) => "pass".to_owned(),
            _ => "noop".to_owned(),
        }
    }

    fn move_named(&self, name: &str) -> Option<Move> {
        match name {
            "noop" => Some(NOOP),
            "pass" => Some(PASS),
            _ => self.grid.named(name).map(move_to),
        }
    }
}
