//! Names as small numbers.

use rustc_hash::FxHashMap;

/// A name, by index in [`Symbols`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(pub u32);

impl Symbol {
    /// The index in [`Symbols`].
    pub fn idx(self) -> usize {
        self.0 as usize
    }
}

/// The names of one rulesheet, each once, numbered in the order of their first occurrence.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    names: Vec<Box<str>>,
    index: FxHashMap<Box<str>, Symbol>,
}

impl Symbols {
    /// The number of `name`, new if it has none yet.
    pub fn intern(&mut self, name: &str) -> Symbol {
        if let Some(&known) = self.index.get(name) {
            return known;
        }
        let symbol = Symbol(u32::try_from(self.names.len()).expect("a text of 64 MiB has fewer names"));
        self.names.push(name.into());
        self.index.insert(name.into(), symbol);
        symbol
    }

    /// The number of `name`, if it occurs in the rules.
    pub fn find(&self, name: &str) -> Option<Symbol> {
        self.index.get(name).copied()
    }

    /// The number of `name` as spelled, or of the only name that differs from it by case.
    pub fn find_in_any_case(&self, name: &str) -> Option<Symbol> {
        self.find(name).or_else(|| {
            let mut alike = self.iter().filter(|(_, other)| other.eq_ignore_ascii_case(name));
            match (alike.next(), alike.next()) {
                (Some((only, _)), None) => Some(only),
                _ => None,
            }
        })
    }

    /// The text of a symbol.
    ///
    /// # Panics
    /// If the symbol belongs to other rules.
    pub fn name(&self, symbol: Symbol) -> &str {
        &self.names[symbol.idx()]
    }

    /// All names with their symbols, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Symbol, &str)> {
        (0u32..).map(Symbol).zip(self.names.iter().map(|name| &**name))
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}
