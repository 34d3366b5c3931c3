//! Go as simply as it can be written: every question by flood fill over the whole board.

use std::collections::BTreeSet;

/// A point by row and column, from 0 on.
pub type Place = (usize, usize);

/// A position.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NaiveGo {
    pub board: Vec<Vec<Option<usize>>>,
    pub ko: Option<Place>,
    pub mover: usize,
    pub n_passes: usize,
    pub n_made: usize,
}

impl NaiveGo {
    pub fn new(size: usize) -> NaiveGo {
        NaiveGo { board: vec![vec![None; size]; size], ko: None, mover: 0, n_passes: 0, n_made: 0 }
    }

    fn size(&self) -> usize {
        self.board.len()
    }

    fn at(&self, (row, column): Place) -> Option<usize> {
        self.board[row][column]
    }

    pub fn places(&self) -> Vec<Place> {
        (0..self.size()).flat_map(|row| (0..self.size()).map(move |column| (row, column))).collect()
    }

    /// The places of the board some steps away.
    fn around(&self, (row, column): Place, steps: [(isize, isize); 4]) -> Vec<Place> {
        let moved = |n: usize, step: isize| n.checked_add_signed(step).filter(|&n| n < self.size());
        steps
            .into_iter()
            .filter_map(|(down, right)| Some((moved(row, down)?, moved(column, right)?)))
            .collect()
    }

    fn neighbours(&self, place: Place) -> Vec<Place> {
        self.around(place, [(-1, 0), (1, 0), (0, -1), (0, 1)])
    }

    /// All places that hang together with one and have the same on them, and all that they touch.
    fn region(&self, place: Place) -> (BTreeSet<Place>, BTreeSet<Place>) {
        let mut region = BTreeSet::from([place]);
        let mut border = BTreeSet::new();
        let mut to_visit = vec![place];
        while let Some(place) = to_visit.pop() {
            for neighbour in self.neighbours(place) {
                if self.at(neighbour) != self.at(place) {
                    border.insert(neighbour);
                } else if region.insert(neighbour) {
                    to_visit.push(neighbour);
                }
            }
        }
        (region, border)
    }

    fn has_liberty(&self, place: Place) -> bool {
        self.region(place).1.iter().any(|&place| self.at(place).is_none())
    }

    /// The position after a stone of the mover; nothing if that is not legal.
    pub fn after(&self, place: Place) -> Option<NaiveGo> {
        if self.at(place).is_some() || self.ko == Some(place) {
            return None;
        }
        let mut next = self.after_pass();
        next.n_passes = 0;
        next.board[place.0][place.1] = Some(self.mover);
        let mut captured = BTreeSet::new();
        for neighbour in next.neighbours(place) {
            if next.at(neighbour) == Some(next.mover) && !next.has_liberty(neighbour) {
                captured.extend(next.region(neighbour).0);
            }
        }
        captured.iter().for_each(|&(row, column)| next.board[row][column] = None);
        if !next.has_liberty(place) {
            return None;
        }
        // A ko: the other one could take back at once and the board would be as before.
        let taken = captured.first().copied().filter(|_| captured.len() == 1);
        next.ko = taken.filter(|&taken| {
            let mut back = next.clone();
            back.board[taken.0][taken.1] = Some(next.mover);
            let string = back.region(place).0;
            string.len() == 1 && !back.has_liberty(place)
        });
        Some(next)
    }

    pub fn after_pass(&self) -> NaiveGo {
        NaiveGo {
            ko: None,
            mover: 1 - self.mover,
            n_passes: self.n_passes + 1,
            n_made: self.n_made + 1,
            ..self.clone()
        }
    }

    pub fn is_over(&self, limit: usize) -> bool {
        self.n_passes == 2 || self.n_made >= limit
    }

    /// The positions after all legal moves, the pass among them.
    pub fn successors(&self) -> Vec<NaiveGo> {
        let stones = self.places().into_iter().filter_map(|place| self.after(place));
        stones.chain([self.after_pass()]).collect()
    }

    /// The places where the mover may put a stone.
    pub fn legal(&self) -> Vec<Place> {
        self.places().into_iter().filter(|&place| self.after(place).is_some()).collect()
    }

    /// Whether a place is the mover's eye: surrounded by its stones, which the other one cannot cut apart.
    fn is_eye(&self, place: Place) -> bool {
        let corners = self.around(place, [(-1, -1), (-1, 1), (1, -1), (1, 1)]);
        let n_theirs = corners.iter().filter(|&&place| self.at(place) == Some(1 - self.mover)).count();
        let most = if corners.len() == 4 { 1 } else { 0 };
        self.neighbours(place).iter().all(|&place| self.at(place) == Some(self.mover)) && n_theirs <= most
    }

    /// What rollouts choose among: legal stones that fill no eye.
    pub fn sensible(&self) -> Vec<Place> {
        self.legal().into_iter().filter(|&place| !self.is_eye(place)).collect()
    }

    /// The points of a role: stones, and empty regions that touch only its stones.
    pub fn area(&self, role: usize) -> usize {
        let is_ours = |place: Place| match self.at(place) {
            Some(whose) => whose == role,
            None => {
                let border = self.region(place).1;
                !border.is_empty() && border.iter().all(|&place| self.at(place) == Some(role))
            }
        };
        self.places().into_iter().filter(|&place| is_ours(place)).count()
    }

    /// Both goals, with White's komi in halves.
    pub fn goals(&self, half_komi: i32) -> [u32; 2] {
        match (2 * self.area(0) as i32).cmp(&(2 * self.area(1) as i32 + half_komi)) {
            std::cmp::Ordering::Greater => [100, 0],
            std::cmp::Ordering::Equal => [50, 50],
            std::cmp::Ordering::Less => [0, 100],
        }
    }

    /// The fluents, sorted.
    pub fn fluents(&self) -> Vec<String> {
        let colours = ["black", "white"];
        let stones = self
            .places()
            .into_iter()
            .filter_map(|place| self.at(place).map(|whose| format!("({} {})", colours[whose], name(place))));
        let ko = self.ko.map(|place| format!("(ko {})", name(place)));
        let rest = [
            format!("(control {})", colours[self.mover]),
            format!("(passes {})", self.n_passes),
            format!("(moves {})", self.n_made),
        ];
        let mut fluents: Vec<String> = stones.chain(ko).chain(rest).collect();
        fluents.sort_unstable();
        fluents
    }
}

/// A place's name in Go, where there is no column I.
pub fn name((row, column): Place) -> String {
    format!("{}{}", char::from(b"ABCDEFGHJKLMNOPQRST"[column].to_ascii_lowercase()), row + 1)
}
