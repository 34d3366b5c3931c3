//! Searches of the games, as tests run them.

use daggerboard_search::{Budget, Config, Options, Report, Searcher};
use reasoner::Interrupt;

use super::{Game, Rust};

/// A search of a game from its beginning.
pub fn searcher<G: Game>(game: G, options: Options) -> Searcher<Rust<G>> {
    let reasoner = Rust::new(game);
    let root = reasoner.initial();
    let mut searcher = Searcher::new(reasoner, options).expect("options are in bounds");
    searcher.set_root(&root);
    searcher
}

/// So many playouts, after which the graph must keep its laws.
pub fn play<G: Game>(searcher: &mut Searcher<Rust<G>>, playouts: u64) -> Report {
    let budget = Budget { playouts: Some(playouts), ..Budget::default() };
    let report = searcher.run(&budget, &Interrupt::new(), &mut |_| ()).expect("there is a root");
    if let Err(error) = searcher.verify(&Interrupt::new()) {
        panic!("{error:#?}");
    }
    report
}

/// Backups of these look at or change all that lies near a path, or far from it.
pub fn is_slow(config: Config) -> bool {
    matches!(
        config,
        Config::Ucd(_)
            | Config::UcdIncremental(_)
            | Config::UcdPaper(_)
            | Config::UpdateAll
            | Config::RaveUcd { .. }
    )
}
