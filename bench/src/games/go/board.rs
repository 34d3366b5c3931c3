//! A board of Go that keeps its strings and their liberties from move to move.

use reasoner::Move;

use super::GoState;
use crate::games::grid::{Colour, Content, Grid, N_INDICES, Point, PointSet, move_to};

/// Stones, strings and empty points, kept from move to move.
///
/// A string's liberties are counted once for each of its stones beside them ("pseudo-liberties"): the count is 0 where
/// there is none, and is kept by additions alone. Empty points are in two lists, in an order that depends on what was
/// played before: *open* ones have an empty neighbour, so that every move there is legal and none fills an eye; only
/// *closed* ones must be looked at.
#[derive(Debug, Clone)]
pub struct Board {
    grid: Grid,
    content: [Content; N_INDICES],
    /// Empty neighbours of each point of the board, whatever is on it.
    n_empty: [u8; N_INDICES],
    /// The stone that stands for the string of each stone.
    head: [Point; N_INDICES],
    /// The next stone of the string, in a circle.
    next: [Point; N_INDICES],
    /// At heads: how many stones the string has.
    n_stones: [u16; N_INDICES],
    /// At heads: the string's pseudo-liberties.
    liberties: [u16; N_INDICES],
    open: Vec<Move>,
    closed: Vec<Move>,
    /// The place of each empty point in its list.
    place: [u16; N_INDICES],
    /// Where the next one to move may not take back.
    ko: Option<Point>,
}

impl Board {
    /// An empty board.
    pub fn new(grid: Grid) -> Board {
        let mut board = Board {
            grid,
            content: [Content::Frame; N_INDICES],
            n_empty: [0; N_INDICES],
            head: [0; N_INDICES],
            next: [0; N_INDICES],
            n_stones: [0; N_INDICES],
            liberties: [0; N_INDICES],
            open: Vec::with_capacity(N_INDICES),
            closed: Vec::with_capacity(N_INDICES),
            place: [0; N_INDICES],
            ko: None,
        };
        board.clear();
        board
    }

    fn clear(&mut self) {
        self.open.clear();
        self.closed.clear();
        self.ko = None;
        for point in self.grid.points() {
            self.content[usize::from(point)] = Content::Empty;
        }
        for point in self.grid.points() {
            let empty = self.neighbours(point).map(|point| u8::from(self.is_empty(point)));
            self.n_empty[usize::from(point)] = empty.iter().sum();
            self.list(point);
        }
    }

    /// Puts the stones of a state on the board, in an order that depends on the state alone. None is captured on the way:
    /// with fewer stones there are more liberties.
    pub fn set_up(&mut self, state: &GoState) {
        self.clear();
        for colour in Colour::BOTH {
            state.stones[colour.idx()].iter().for_each(|point| self.play(point, colour));
        }
        self.ko = state.ko;
    }

    /// The stones of each colour.
    pub fn stones(&self) -> [PointSet; 2] {
        Colour::BOTH.map(|colour| {
            let mut stones = PointSet::default();
            let ours = |&point: &Point| self.content[usize::from(point)] == Content::Stone(colour);
            self.grid.points().filter(ours).for_each(|point| stones.insert(point));
            stones
        })
    }

    /// Where the next one to move may not take back.
    pub fn ko(&self) -> Option<Point> {
        self.ko
    }

    /// Whether every stone is in a string with a liberty.
    pub fn is_sound(&self) -> bool {
        let has_liberty = |point: Point| self.liberties[usize::from(self.head[usize::from(point)])] > 0;
        self.grid.points().all(|point| match self.content[usize::from(point)] {
            Content::Stone(_) => has_liberty(point),
            Content::Empty | Content::Frame => true,
        })
    }

    /// Whether nothing is at a point.
    pub fn is_empty(&self, point: Point) -> bool {
        self.content[usize::from(point)] == Content::Empty
    }

    /// Whether a point has an empty neighbour.
    pub fn is_open(&self, point: Point) -> bool {
        self.n_empty[usize::from(point)] > 0
    }

    /// Whether a colour may play at an empty point: no suicide, and no taking back in a ko.
    pub fn is_legal(&self, point: Point, colour: Colour) -> bool {
        if self.is_open(point) {
            return true;
        }
        let neighbours = self.neighbours(point);
        self.ko != Some(point)
            && neighbours.iter().any(|&neighbour| {
                let Content::Stone(whose) = self.content[usize::from(neighbour)] else { return false };
                let head = self.head[usize::from(neighbour)];
                let is_beside = |&&point: &&Point| {
                    matches!(self.content[usize::from(point)], Content::Stone(_))
                        && self.head[usize::from(point)] == head
                };
                let n_beside = neighbours.iter().filter(is_beside).count();
                let has_another = usize::from(self.liberties[usize::from(head)]) > n_beside;
                // A string of our own lives on by another liberty; one of the other's dies without.
                has_another == (whose == colour)
            })
    }

    /// Whether an empty point is an eye of a colour: all its neighbours are stones of it, and of the points at its
    /// corners the other one has at most one, and none at the edge of the board, where fewer would be needed to take
    /// it. (Gelly, Wang, Munos and Teytaud 2006, "Modification of UCT with patterns in Monte-Carlo Go".)
    fn is_eye(&self, point: Point, colour: Colour) -> bool {
        let at = |point: Point| self.content[usize::from(point)];
        let ours = |point| matches!(at(point), Content::Frame) || at(point) == Content::Stone(colour);
        if !self.neighbours(point).into_iter().all(ours) {
            return false;
        }
        let stride = self.grid.stride();
        let corners =
            [point - stride - 1, point - stride + 1, point + stride - 1, point + stride + 1].map(at);
        let n_theirs = corners.iter().filter(|&&at| at == Content::Stone(colour.other())).count();
        n_theirs + usize::from(corners.contains(&Content::Frame)) <= 1
    }

    /// Asks `choose` for the index of one of the sensible moves of a colour, which are the legal ones that fill no eye
    /// of its own, and gives that move; nothing if there is none.
    pub fn choose(&mut self, colour: Colour, choose: impl FnOnce(&[Move]) -> usize) -> Option<Point> {
        let n_open = self.open.len();
        for closed_idx in 0..self.closed.len() {
            let a_move = self.closed[closed_idx];
            let point = point_of(a_move);
            if self.is_legal(point, colour) && !self.is_eye(point, colour) {
                self.open.push(a_move);
            }
        }
        let chosen = (!self.open.is_empty()).then(|| point_of(self.open[choose(&self.open)]));
        self.open.truncate(n_open);
        chosen
    }

    /// Ends any ko, as a pass does.
    pub fn pass(&mut self) {
        self.ko = None;
    }

    /// Puts a stone, where that is legal, and takes what it captures.
    pub fn play(&mut self, point: Point, colour: Colour) {
        self.unlist(point);
        let idx = usize::from(point);
        self.content[idx] = Content::Stone(colour);
        (self.head[idx], self.next[idx], self.n_stones[idx]) = (point, point, 1);
        self.liberties[idx] = u16::from(self.n_empty[idx]);
        let neighbours = self.neighbours(point);
        for neighbour in neighbours {
            let idx = usize::from(neighbour);
            match self.content[idx] {
                Content::Frame => {}
                Content::Empty => {
                    self.n_empty[idx] -= 1;
                    if self.n_empty[idx] == 0 {
                        take(&mut self.open, &mut self.place, neighbour);
                        self.list(neighbour);
                    }
                }
                Content::Stone(_) => {
                    self.n_empty[idx] -= 1;
                    self.liberties[usize::from(self.head[idx])] -= 1;
                }
            }
        }
        let mut captured = None;
        let mut n_captured = 0;
        for neighbour in neighbours {
            match self.content[usize::from(neighbour)] {
                Content::Stone(whose) if whose == colour => self.join(point, neighbour),
                Content::Stone(_) if self.liberties[usize::from(self.head[usize::from(neighbour)])] == 0 => {
                    n_captured += self.capture(neighbour);
                    captured = Some(neighbour);
                }
                _ => {}
            }
        }
        let head = usize::from(self.head[idx]);
        let is_ko = n_captured == 1 && self.n_stones[head] == 1 && self.liberties[head] == 1;
        self.ko = captured.filter(|_| is_ko);
    }

    /// Makes the strings of two stones one.
    fn join(&mut self, one: Point, other: Point) {
        let (mut kept, mut gone) = (self.head[usize::from(one)], self.head[usize::from(other)]);
        if kept == gone {
            return;
        }
        if self.n_stones[usize::from(kept)] < self.n_stones[usize::from(gone)] {
            (kept, gone) = (gone, kept);
        }
        self.liberties[usize::from(kept)] += self.liberties[usize::from(gone)];
        self.n_stones[usize::from(kept)] += self.n_stones[usize::from(gone)];
        let mut stone = gone;
        loop {
            self.head[usize::from(stone)] = kept;
            stone = self.next[usize::from(stone)];
            if stone == gone {
                break;
            }
        }
        self.next.swap(usize::from(kept), usize::from(gone));
    }

    /// Takes the string of a stone off the board, and tells how many stones that were.
    fn capture(&mut self, first: Point) -> u16 {
        let n_stones = self.n_stones[usize::from(self.head[usize::from(first)])];
        let mut stone = first;
        loop {
            self.content[usize::from(stone)] = Content::Empty;
            self.list(stone);
            for neighbour in self.neighbours(stone) {
                let idx = usize::from(neighbour);
                match self.content[idx] {
                    Content::Frame => continue,
                    Content::Empty if self.n_empty[idx] == 0 => {
                        take(&mut self.closed, &mut self.place, neighbour);
                        self.n_empty[idx] = 1;
                        self.list(neighbour);
                        continue;
                    }
                    Content::Empty => {}
                    // For the stones of this string, which are still to be taken off, that does not matter.
                    Content::Stone(_) => self.liberties[usize::from(self.head[idx])] += 1,
                }
                self.n_empty[idx] += 1;
            }
            stone = self.next[usize::from(stone)];
            if stone == first {
                return n_stones;
            }
        }
    }

    /// Black's area less White's: stones, and empty points that only stones of one colour can be reached from (Tromp and
    /// Taylor's logical rules).
    pub fn margin(&self) -> i32 {
        let mut seen = PointSet::default();
        let mut to_visit = Vec::new();
        let mut margin = 0;
        for point in self.grid.points() {
            match self.content[usize::from(point)] {
                Content::Stone(Colour::Black) => margin += 1,
                Content::Stone(Colour::White) => margin -= 1,
                Content::Empty if !seen.contains(point) => {
                    seen.insert(point);
                    to_visit.push(point);
                    margin += self.territory(&mut to_visit, &mut seen);
                }
                Content::Empty | Content::Frame => {}
            }
        }
        margin
    }

    /// The size of a region of empty points, which is negative if it is White's, and 0 if it is nobody's.
    fn territory(&self, to_visit: &mut Vec<Point>, seen: &mut PointSet) -> i32 {
        let mut n_points = 0;
        let mut is_beside = [false; 2];
        while let Some(point) = to_visit.pop() {
            n_points += 1;
            for neighbour in self.neighbours(point) {
                match self.content[usize::from(neighbour)] {
                    Content::Stone(colour) => is_beside[colour.idx()] = true,
                    Content::Empty if !seen.contains(neighbour) => {
                        seen.insert(neighbour);
                        to_visit.push(neighbour);
                    }
                    Content::Empty | Content::Frame => {}
                }
            }
        }
        match is_beside {
            [true, false] => n_points,
            [false, true] => -n_points,
            _ => 0,
        }
    }

    fn neighbours(&self, point: Point) -> [Point; 4] {
        let stride = self.grid.stride();
        [point - stride, point - 1, point + 1, point + stride]
    }

    /// Adds an empty point to the list that it belongs to.
    fn list(&mut self, point: Point) {
        let list = if self.is_open(point) { &mut self.open } else { &mut self.closed };
        // A board has fewer points than that.
        self.place[usize::from(point)] = u16::try_from(list.len()).unwrap_or(u16::MAX);
        list.push(move_to(point));
    }

    /// Takes an empty point off its list.
    fn unlist(&mut self, point: Point) {
        let list = if self.is_open(point) { &mut self.open } else { &mut self.closed };
        take(list, &mut self.place, point);
    }
}

/// The point of a move to one.
fn point_of(a_move: Move) -> Point {
    Point::try_from(a_move.0).unwrap_or(0)
}

/// Takes a point off a list that it is in; the last one takes its place.
fn take(list: &mut Vec<Move>, place: &mut [u16; N_INDICES], point: Point) {
    let idx = place[usize::from(point)];
    list.swap_remove(usize::from(idx));
    if let Some(moved) = list.get(usize::from(idx)) {
        place[moved.0 as usize] = idx;
    }
}
