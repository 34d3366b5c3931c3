//! SameGame, a puzzle of blocks that fall.

mod board;
mod boards;
mod mask;
mod policy;

use std::fmt;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use reasoner::{Move, Policy, Role, RolloutEnd, Value};
use testkit::Shared;

use self::board::{Board, CLEARED, Cell, Colour, Columns, Group, MAX_BLOCKS, MAX_SIDE, N_COLOURS, points_of};
pub use self::policy::Tabu;
use super::choices::{Choices, Prepared};
use super::game::{FluentParts, Game};
use super::name::{GameNameError, Parameters};

/// The colours' names, in the order of their numbers.
const COLOURS: [&str; N_COLOURS] = ["red", "green", "blue", "yellow", "violet"];
/// The fluent of the points, behind those of the colours.
const POINTS: u16 = 5;
/// Where the standard boards are in the reference data.
const STANDARD_BOARDS: &str = "samegame/standard20.txt";

/// SameGame: a move removes a group of at least two blocks of one colour that touch by their sides; blocks above fall,
/// and columns close up to the left. A group of n blocks is worth (n - 2)^2 points, a cleared board 1000 more; otherwise
/// the blocks that are left cost (n - 2)^2 for each colour with n of them (Schadd, Winands, Tak and Uiterwijk 2012,
/// "Single-player Monte-Carlo tree search for SameGame", section 2.1).
///
/// # Goals
/// Points may be below nothing, and goals may not: the goal is the number of points and [`SameGame::goal_of_nothing`],
/// which is what all blocks of the first board together cost. Differences of goals are those of points, so that no
/// search can tell them apart, but discounts can.
///
/// # Rollouts
/// They choose among all groups ([`Tabu::Random`]), or leave one colour alone while there are others; with probability
/// epsilon a step chooses among all. Whatever policy guides a rollout chooses among these.
#[derive(Debug, Clone, PartialEq)]
pub struct SameGame {
    side: u16,
    source: Source,
    start: Columns,
    /// The first board's blocks of each colour, by its number.
    counts: [u32; N_COLOURS + 1],
    tabu: Tabu,
    epsilon: f64,
}

/// Where the first board comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    Seed { n_colours: u16, seed: u16 },
    Standard { number: u16 },
    File { file: PathBuf, number: u16 },
}

/// The blocks, and the points made so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SameGameState {
    columns: Columns,
    points: u16,
}

/// What a session keeps: the board of the last state, and one to play on.
#[derive(Debug)]
pub struct SameGameMemory {
    prepared: Prepared<Columns, Board>,
    board: Board,
    offered: Vec<usize>,
    moves: Vec<Move>,
}

impl SameGame {
    /// Sides of boards.
    pub const SIDES: RangeInclusive<u16> = 2..=MAX_SIDE;
    /// How many colours random boards can have.
    pub const N_COLOURS: RangeInclusive<u16> = 2..=5;
    /// The paper's share of steps that leave no colour alone (section 4.1).
    pub const EPSILON: f64 = 0.003;

    /// A random board of `side` by `side` blocks, one of [`SameGame::SIDES`], in one of [`SameGame::N_COLOURS`].
    ///
    /// # Panics
    /// If there is no such board.
    pub fn random(side: u16, n_colours: u16, seed: u16) -> SameGame {
        assert!(SameGame::SIDES.contains(&side) && SameGame::N_COLOURS.contains(&n_colours), "no such board");
        SameGame::new(side, Source::Seed { n_colours, seed }, boards::random(side, n_colours, seed))
    }

    fn new(side: u16, source: Source, start: Columns) -> SameGame {
        let mut board = Board::new();
        board.set_up(&start);
        let counts = *board.counts();
        SameGame { side, source, start, counts, tabu: Tabu::TabuColorRandom, epsilon: SameGame::EPSILON }
    }

    /// The same game with other rollouts; `epsilon` is a probability.
    #[must_use]
    pub fn with_rollouts(self, tabu: Tabu, epsilon: f64) -> SameGame {
        SameGame { tabu, epsilon: epsilon.clamp(0.0, 1.0), ..self }
    }

    /// As a name says.
    ///
    /// # Errors
    /// If the name has other parameters, their values cannot be, or there is no such board.
    pub(super) fn from_parameters(parameters: &Parameters<'_>) -> Result<SameGame, GameNameError> {
        parameters.only(&["board", "file", "colours", "seed", "rollouts", "epsilon"])?;
        let side = parameters.size(MAX_SIDE, SameGame::SIDES)?;
        let number = parameters.whole("board", 1..=u16::MAX)?;
        let n_colours = parameters.whole("colours", SameGame::N_COLOURS)?;
        let seed = parameters.whole("seed", 0..=u16::MAX)?;
        let file = parameters.value("file");
        let wrong = |key: &str, hint| Err(parameters.wrong(parameters.value(key).unwrap_or(""), key, hint));
        let game = match (number, file) {
            (None, Some(_)) => return wrong("file", "board=NUMBER with it"),
            (None, None) => {
                let n_colours = n_colours.unwrap_or(*SameGame::N_COLOURS.end());
                SameGame::random(side, n_colours, seed.unwrap_or(1))
            }
            (Some(_), _) if n_colours.is_some() => {
                return wrong("colours", "no colours with a board of a file");
            }
            (Some(_), _) if seed.is_some() => return wrong("seed", "either board or seed"),
            (Some(number), Some(file)) => {
                let file = PathBuf::from(file);
                let start = board_of(&file, side, number)?;
                SameGame::new(side, Source::File { file, number }, start)
            }
            (Some(number), None) => {
                let no_data = |error: testkit::SharedError| {
                    let what = format!("{error}, or use file=FILE or seed=N");
                    GameNameError::Boards { path: STANDARD_BOARDS.to_owned(), what }
                };
                let file = Shared::find().map_err(no_data)?.path(STANDARD_BOARDS);
                SameGame::new(side, Source::Standard { number }, board_of(&file, side, number)?)
            }
        };
        let names = "random, taburandom or tabucolorrandom";
        let tabu = parameters.value("rollouts").map_or(Ok(game.tabu), |word| {
            word.parse().map_err(|()| parameters.wrong(word, "rollouts", names))
        })?;
        let epsilon = parameters.value("epsilon").map_or(Ok(game.epsilon), |word| {
            let epsilon = word.parse().ok().filter(|epsilon| (0.0..=1.0).contains(epsilon));
            epsilon.ok_or_else(|| parameters.wrong(word, "epsilon", "a probability, 0 to 1"))
        })?;
        Ok(game.with_rollouts(tabu, epsilon))
    }

    /// The goal that stands for no points.
    pub fn goal_of_nothing(&self) -> Value {
        self.counts[1..].iter().filter(|&&n| n > 0).map(|&n| points_of(n)).sum()
    }

    /// The points that a goal stands for.
    pub fn points_of_goal(&self, goal: Value) -> i64 {
        i64::from(goal) - i64::from(self.goal_of_nothing())
    }

    fn goal_of(&self, points: i64) -> Value {
        let goal = points + i64::from(self.goal_of_nothing());
        Value::try_from(goal.max(0)).unwrap_or(Value::MAX).min(self.max_goal())
    }

    fn cell_name(&self, cell: Cell) -> String {
        format!("{}{}", char::from(b'a' + cell / 16), cell % 16 + 1)
    }

    fn cell_named(&self, name: &str) -> Option<Cell> {
        let side = u8::try_from(self.side).unwrap_or(u8::MAX);
        let mut cells = (0..side).flat_map(|column| (0..side).map(move |row| column * 16 + row));
        cells.find(|&cell| self.cell_name(cell) == name)
    }
}

/// The board of a file.
fn board_of(file: &Path, side: u16, number: u16) -> Result<Columns, GameNameError> {
    let wrong = |what: String| GameNameError::Boards { path: file.display().to_string(), what };
    let text = fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    boards::read(&text, side, number).map_err(wrong)
}

impl fmt::Display for SameGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "samegame:{}", self.side)?;
        match &self.source {
            Source::Standard { number } => write!(f, ",board={number}")?,
            Source::File { file, number } => write!(f, ",board={number},file={}", file.display())?,
            Source::Seed { n_colours, seed } => {
                if n_colours != SameGame::N_COLOURS.end() {
                    write!(f, ",colours={n_colours}")?;
                }
                write!(f, ",seed={seed}")?;
            }
        }
        if self.tabu != Tabu::TabuColorRandom {
            write!(f, ",rollouts={}", self.tabu)?;
        }
        if self.epsilon != SameGame::EPSILON {
            write!(f, ",epsilon={}", self.epsilon)?;
        }
        Ok(())
    }
}

/// The move that removes a group. Its size is a part of it, so that a policy knows what it chooses among.
fn move_of(group: Group) -> Move {
    Move(u32::from(group.size) << 16 | u32::from(group.colour) << 8 | u32::from(group.cell))
}

/// The group of a move, as far as its number is one.
#[allow(clippy::cast_possible_truncation, reason = "the bytes are taken apart")]
fn group_of(a_move: Move) -> Option<Group> {
    let group =
        Group { cell: a_move.0 as u8, colour: (a_move.0 >> 8) as Colour, size: (a_move.0 >> 16) as u8 };
    let is_sound = a_move.0 >> 24 == 0
        && (1..=N_COLOURS).contains(&usize::from(group.colour))
        && (2..=MAX_BLOCKS).contains(&usize::from(group.size))
        && group.cell % 16 < 15
        && group.cell / 16 < 15;
    is_sound.then_some(group)
}

impl SameGameMemory {
    /// The board of a state, to look at.
    fn prepared(&mut self, state: &SameGameState) -> &Board {
        self.prepared.board(&state.columns, Board::set_up)
    }

    /// The board of a state, to play on.
    fn board(&mut self, state: &SameGameState) -> &mut Board {
        self.board.copy(self.prepared.board(&state.columns, Board::set_up));
        &mut self.board
    }
}

impl Game for SameGame {
    type State = SameGameState;
    type Memory = SameGameMemory;

    const ROLES: &'static [&'static str] = &["player"];
    const FLUENTS: &'static [&'static str] = &["red", "green", "blue", "yellow", "violet", "points"];

    /// As if all blocks of each colour were removed at once.
    fn max_goal(&self) -> Value {
        2 * self.goal_of_nothing() + Value::try_from(CLEARED).unwrap_or_default()
    }

    fn memory(&self) -> SameGameMemory {
        SameGameMemory {
            prepared: Prepared::new(Board::new()),
            board: Board::new(),
            offered: Vec::new(),
            moves: Vec::new(),
        }
    }

    fn initial_state(&self) -> SameGameState {
        SameGameState { columns: self.start, points: 0 }
    }

    fn is_terminal(&self, state: &SameGameState) -> bool {
        !board::has_group(&state.columns)
    }

    fn legal_moves(
        &self,
        memory: &mut SameGameMemory,
        state: &SameGameState,
        _: Role,
        moves: &mut Vec<Move>,
    ) {
        moves.extend(memory.prepared(state).groups().iter().copied().map(move_of));
    }

    /// A move that is not legal removes nothing.
    fn next_state(
        &self,
        memory: &mut SameGameMemory,
        state: &SameGameState,
        joint_move: &[Move],
    ) -> SameGameState {
        let Some(group) = group_of(joint_move[0]) else { return *state };
        let board = memory.board(state);
        let Some(group_idx) = board.groups().iter().position(|&known| known == group) else { return *state };
        board.remove(group_idx);
        let points = u32::from(state.points) + points_of(group.size.into());
        SameGameState { columns: board.columns(), points: u16::try_from(points).unwrap_or(u16::MAX) }
    }

    /// In a state that is not terminal, as if it were.
    fn goal(&self, memory: &mut SameGameMemory, state: &SameGameState, _: Role) -> Value {
        self.goal_of(i64::from(state.points) + memory.prepared(state).at_end())
    }

    fn rollout(
        &self,
        memory: &mut SameGameMemory,
        state: &SameGameState,
        choices: &mut Choices<'_, impl Policy>,
    ) -> RolloutEnd {
        memory.board(state);
        let SameGameMemory { board, offered, moves, .. } = memory;
        let mut dice = choices.dice();
        let tabu = self.tabu.colour(board, &mut dice);
        let (mut length, mut points) = (0, u32::from(state.points));
        while !board.groups().is_empty() {
            policy::offer(board.groups(), tabu, self.epsilon, &mut dice, offered);
            moves.clear();
            moves.extend(offered.iter().map(|&idx| move_of(board.groups()[idx])));
            let group_idx = offered[choices.choose(Role(0), moves)];
            points += points_of(board.groups()[group_idx].size.into());
            board.remove(group_idx);
            length += 1;
        }
        RolloutEnd { length, goals: vec![self.goal_of(i64::from(points) + board.at_end())], terminal: true }
    }

    fn fluents(&self, state: &SameGameState, fluents: &mut Vec<FluentParts>) {
        for (column, &blocks) in (0u16..).zip(&state.columns) {
            let rows = (0u16..MAX_SIDE).map(|row| (row, blocks >> (4 * row) & 15));
            fluents.extend(rows.filter(|&(_, colour)| colour != 0).map(|(row, colour)| {
                let kind = u16::try_from(colour - 1).unwrap_or_default();
                (kind, column * 16 + row)
            }));
        }
        fluents.push((POINTS, state.points));
    }

    /// Blocks lie on blocks or on the ground, columns side by side, and no colour has more blocks than at first.
    fn state_of(&self, fluents: &[FluentParts]) -> Option<SameGameState> {
        let mut columns: Columns = Default::default();
        let mut points = None;
        for &(kind, argument) in fluents {
            if kind == POINTS {
                if *points.get_or_insert(argument) != argument {
                    return None;
                }
                continue;
            }
            let (column, shift) = (usize::from(argument / 16), 4 * (argument % 16));
            let known = columns[column] >> shift & 15;
            let colour = u64::from(kind) + 1;
            if known != 0 && known != colour {
                return None;
            }
            columns[column] |= colour << shift;
        }
        let lies = |column: u64| {
            let height = (64 - column.leading_zeros()).div_ceil(4);
            (0..height).all(|row| column >> (4 * row) & 15 != 0)
        };
        let n_columns = columns.iter().take_while(|&&column| column != 0).count();
        let is_sound = columns.iter().all(|&column| lies(column))
            && columns[n_columns..].iter().all(|&column| column == 0);
        let mut board = Board::new();
        board.set_up(&columns);
        let are_there = board.counts().iter().zip(&self.counts).all(|(now, first)| now <= first);
        (is_sound && are_there).then_some(SameGameState { columns, points: points? })
    }

    fn argument_text(&self, (kind, argument): FluentParts) -> String {
        if kind == POINTS {
            return argument.to_string();
        }
        Cell::try_from(argument).map_or_else(|_| argument.to_string(), |cell| self.cell_name(cell))
    }

    fn argument_of(&self, kind: u16, text: &str) -> Option<u16> {
        if kind == POINTS {
            return text.parse().ok().filter(|points: &u16| points.to_string() == text);
        }
        self.cell_named(text).map(u16::from)
    }

    /// Such as `c3-red-7`: the lowest block of the leftmost column of the group, its colour and its size.
    fn move_name(&self, a_move: Move) -> String {
        group_of(a_move).map_or_else(
            || "nothing".to_owned(),
            |Group { cell, colour, size }| {
                format!("{}-{}-{size}", self.cell_name(cell), COLOURS[usize::from(colour) - 1])
            },
        )
    }

    fn move_named(&self, name: &str) -> Option<Move> {
        let mut parts = name.splitn(3, '-');
        let cell = self.cell_named(parts.next()?)?;
        let word = parts.next()?;
        let colour = (1..).zip(COLOURS).find(|(_, known)| *known == word)?.0;
        let size = parts.next()?.parse().ok()?;
        let a_move = move_of(Group { cell, colour, size });
        group_of(a_move).map(|_| a_move).filter(|&a_move| self.move_name(a_move) == name)
    }
}
