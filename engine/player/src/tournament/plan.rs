//! The file of a tournament.
//!
//! In goes TOML, out comes a [`Plan`], or where the file is wrong and what to do about it. Every game is read,
//! nothing is played.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use super::file;
use super::statistics::Sprt;
use crate::failure::Failure;
use crate::game_source::Game;
use crate::manager::spec::PlayerSpec;
use crate::reasoners::ReasonerKind;

/// A commented file of a tournament.
pub const EXAMPLE: &str = include_str!("example.toml");

/// What is played, and how.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What the page is called.
    pub title: String,
    /// What all random choices follow from.
    pub seed: u64,
    /// The games, in the order of the file.
    pub games: Vec<PlannedGame>,
    /// The players, in the order of the file.
    pub players: Vec<PlannedPlayer>,
    /// What is added to the play clock before an answer counts as late.
    pub grace: Duration,
    /// Matches side by side, at least one.
    pub parallel: usize,
    /// For each of them its cores; empty where nobody is pinned.
    pub cores: Vec<Vec<usize>>,
    /// Turns in a row without an answer that lose a match.
    pub forfeit_after: usize,
    /// Matches in a row without an answer that make a remote player absent.
    pub absent_after: usize,
    /// The manager's reasoner.
    pub reasoner: ReasonerKind,
    /// The stopping rule.
    pub sprt: Option<Sprt>,
    /// The folder of records.
    pub records: PathBuf,
}

/// A game of a tournament.
#[derive(Debug, Clone)]
pub struct PlannedGame {
    /// A word, different for each game.
    pub name: String,
    /// The rulesheet.
    pub game: Game,
    /// For each role, whether the manager plays it as chance.
    pub is_chance: Vec<bool>,
    /// Openings for each two players.
    pub rounds: usize,
    /// Joint moves of an opening.
    pub opening_plies: usize,
    /// Time for START, whole seconds.
    pub start_clock: Duration,
    /// Time for PLAY, whole seconds.
    pub play_clock: Duration,
    /// Where a match is given up.
    pub max_steps: usize,
    /// Playouts per move of players of ours, in place of their own number.
    pub playouts: Option<u64>,
    /// Processor time per move of players of ours, in place of their own.
    pub cpu: Option<Duration>,
}

impl PlannedGame {
    /// Roles that are not chance.
    pub fn n_seats(&self) -> usize {
        self.is_chance.iter().filter(|&&is_chance| !is_chance).count()
    }
}

/// A player of a tournament.
#[derive(Debug, Clone)]
pub struct PlannedPlayer {
    /// A word, different for each player.
    pub name: String,
    /// What it is.
    pub spec: PlayerSpec,
}

/// The file as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanFile {
    pub title: Option<String>,
    #[serde(default)]
    pub seed: u64,
    pub rounds: Option<Spanned<u32>>,
    pub opening_plies: Option<Spanned<u32>>,
    pub start: Option<Spanned<u32>>,
    pub play: Option<Spanned<u32>>,
    pub grace: Option<Spanned<f64>>,
    pub parallel: Option<Spanned<u32>>,
    pub cores: Option<Spanned<Vec<Vec<usize>>>>,
    pub pin: Option<bool>,
    pub forfeit_after: Option<Spanned<u32>>,
    pub absent_after: Option<Spanned<u32>>,
    pub max_steps: Option<Spanned<u32>>,
    pub reasoner: Option<Spanned<String>>,
    pub records: Option<Spanned<PathBuf>>,
    pub game: Vec<Spanned<GameEntry>>,
    pub player: Vec<Spanned<PlayerEntry>>,
    pub sprt: Option<Spanned<SprtEntry>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GameEntry {
    pub game: Spanned<String>,
    pub name: Option<Spanned<String>>,
    pub rounds: Option<Spanned<u32>>,
    pub opening_plies: Option<Spanned<u32>>,
    pub start: Option<Spanned<u32>>,
    pub play: Option<Spanned<u32>>,
    pub max_steps: Option<Spanned<u32>>,
    pub playouts: Option<Spanned<u64>>,
    pub cpu: Option<Spanned<f64>>,
    pub case: Option<Spanned<String>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlayerEntry {
    pub name: Spanned<String>,
    pub spec: Spanned<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SprtEntry {
    pub elo0: f64,
    pub elo1: f64,
    #[serde(default = "usual_error_rate")]
    pub alpha: f64,
    #[serde(default = "usual_error_rate")]
    pub beta: f64,
}

fn usual_error_rate() -> f64 {
    0.05
}

/// Something wrong in the file.
#[derive(Debug)]
pub(super) struct Mistake {
    /// Bytes of the text; none for the file as a whole.
    pub span: Option<Range<usize>>,
    /// What is wrong.
    pub text: String,
    /// What to do about it.
    pub hint: String,
}

impl Mistake {
    pub(super) fn at(span: Range<usize>, text: impl Into<String>, hint: impl Into<String>) -> Mistake {
        Mistake { span: Some(span), text: text.into(), hint: hint.into() }
    }

    /// As the user sees it: wrong usage, with the place in the file.
    fn told(self, path: &Path, text: &str) -> Failure {
        let failure = Failure::usage(self.text).hint(self.hint);
        match self.span {
            None => failure.context(path.display()),
            Some(span) => {
                let before = text.get(..span.start).unwrap_or(text);
                let line = before.matches('\n').count() + 1;
                let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
                failure.context(format_args!("{}:{line}:{column}", path.display()))
            }
        }
    }
}

impl Plan {
    /// Reads the file of a tournament, and its games.
    ///
    /// # Errors
    /// Wrong usage, with line and column, if the file is no plan.
    pub fn read(path: &Path) -> Result<Plan, Failure> {
        let text = crate::game_source::read_text(path).map_err(|failure| {
            failure.hint("`daggerboard tournament --example` prints a file to begin with")
        })?;
        parse(&text).and_then(|file| file::plan(&file, path)).map_err(|mistake| mistake.told(path, &text))
    }
}

/// The text as TOML with the keys of a plan.
fn parse(text: &str) -> Result<PlanFile, Mistake> {
    toml::from_str(text).map_err(|error| Mistake {
        span: error.span(),
        text: error.message().trim().replace('\n', "; "),
        hint: "`daggerboard tournament --example` shows every key".to_owned(),
    })
}

/// A plan for tests: the head of the file, games, and the specs of players named `p0`, `p1` and so on.
#[cfg(test)]
pub fn test_plan(head: &str, games: &[&str], specs: &[&str]) -> Plan {
    let mut text = format!("{head}\n");
    games.iter().for_each(|game| text += &format!("[[game]]\ngame = \"{game}\"\n"));
    let players = specs.iter().enumerate();
    players.for_each(|(idx, spec)| text += &format!("[[player]]\nname = \"p{idx}\"\nspec = \"{spec}\"\n"));
    parse(&text)
        .and_then(|file| file::plan(&file, Path::new("test.toml")))
        .unwrap_or_else(|mistake| panic!("{}", mistake.told(Path::new("test.toml"), &text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "rounds = 2\n[[game]]\ngame = \"nim\"\n[[player]]\nname = \"a\"\nspec = \"random\"\n";
    const TAIL: &str = "[[player]]\nname = \"b\"\nspec = \"legal\"\n";

    fn read(text: &str) -> Result<Plan, String> {
        let path = Path::new("folder/t.toml");
        let plan = parse(text).and_then(|file| file::plan(&file, path));
        plan.map_err(|mistake| mistake.told(path, text).to_string())
    }

    #[test]
    fn the_example_is_a_plan() {
        let plan = read(EXAMPLE).unwrap();
        assert_eq!((plan.games.len(), plan.players.len(), plan.parallel), (2, 2, 2));
        assert_eq!((plan.games[0].opening_plies, plan.games[1].opening_plies), (2, 4));
        assert_eq!(plan.sprt.map(|sprt| sprt.elo1), Some(100.0));
        assert_eq!(plan.records, Path::new("folder/t"));
    }

    #[test]
    fn what_is_not_given_has_a_default() {
        let plan = read(&format!("{HEAD}{TAIL}")).unwrap();
        assert_eq!((plan.parallel, plan.seed, plan.sprt), (1, 0, None));
        assert_eq!((plan.games[0].rounds, plan.games[0].opening_plies), (2, 0));
        assert_eq!(plan.title, "t");
    }

    #[test]
    fn mistakes_are_told_with_line_and_hint() {
        let whole = format!("{HEAD}{TAIL}");
        for (text, place, what) in [
            ("round = 2", "t.toml:1:1", "unknown field `round`"),
            (&format!("{whole}color = 1\n"), "t.toml:10:1", "unknown field `color`"),
            (&format!("{HEAD}[[player]]\nname = \"b\"\nspec = \"self:treads=2\"\n"), "t.toml:9:8", "treads"),
            (&format!("{HEAD}[[player]]\nname = \"b\"\nspec = \"me\"\n"), "t.toml:9:8", "is no player"),
            (&format!("{HEAD}[[player]]\nname = \"a\"\nspec = \"legal\"\n"), "t.toml:8:8", "twice"),
            (&format!("{HEAD}[[player]]\nname = \"b c\"\nspec = \"legal\"\n"), "t.toml:8:8", "word"),
            (&whole.replace("nim", "nimm"), "t.toml:3:8", "neither a file nor a shipped game"),
            (&whole.replace("rounds = 2", "rounds = 0"), "t.toml:1:10", "at least 1"),
            (&whole.replace("rounds = 2", "rounds = -1"), "t.toml:1:10", "invalid value"),
            (&whole.replace("rounds = 2", "rounds = "), "t.toml:1:10", ""),
            (&whole.replace("rounds = 2", "rounds = 2\nparallel = 0"), "t.toml:2:12", "at least 1"),
            (&whole.replace("rounds = 2", "rounds = 2\ncores = [[99999]]"), "t.toml:2:9", "99999"),
            (&whole.replace("rounds = 2", "rounds = 2\ncores = [[0], [0]]"), "t.toml:2:9", "parallel"),
            (&whole.replace("rounds = 2", "rounds = 2\nreasoner = \"magic\""), "t.toml:2:12", "magic"),
            (&whole.replace("rounds = 2", "rounds = 2\ngrace = -1.0"), "t.toml:2:9", "seconds"),
            (&format!("{whole}[sprt]\nelo0 = 5\nelo1 = 5\n"), "t.toml:10:", "elo1"),
            (&format!("{whole}[sprt]\nelo0 = 0\nelo1 = 5\nalpha = 0.7\n"), "t.toml:10:", "alpha"),
            (&format!("{whole}[[game]]\ngame = \"nim\"\n"), "t.toml:11:", "twice"),
            (&whole.replace("nim\"", "nim\"\nplayouts = 0"), "t.toml:4:12", "playout"),
            (&whole.replace("nim\"", "nim\"\ncpu = 0.0"), "t.toml:4:7", "seconds"),
            (&whole.replace("nim\"", "nim\"\ncase = \"loud\""), "t.toml:4:8", "loud"),
            ("rounds = 1", "t.toml", "missing field"),
            (HEAD, "t.toml:4:1", "two players"),
            ("game = []\n[[player]]\nname = \"a\"\nspec = \"random\"\n", "t.toml", "no game"),
            ("player = []\n[[game]]\ngame = \"hanoi\"\n", "t.toml", "no player"),
            (&whole.replace("rounds = 2", "rounds = 4294967295"), "t.toml:1:10", "8589934590 matches"),
            (&whole.replace("nim\"", "nim\"\nrounds = 4000000000"), "t.toml:1:10", "matches"),
            (&whole.replace("rounds = 2", "opening_plies = 4294967295"), "t.toml:1:17", "max_steps"),
            (&whole.replace("nim\"", "nim\"\nmax_steps = 3\nopening_plies = 3"), "t.toml:5:17", "max_steps"),
            (&whole.replace("rounds = 2", "records = \"\""), "t.toml:1:11", "without a name"),
            (&whole.replace("rounds = 2", "pin = false\ncores = [[0]]"), "t.toml:2:9", "pin"),
            (&whole.replace("\"random\"", "\"self:seed=1\""), "t.toml:6:8", "seed"),
        ] {
            let told = read(text).expect_err(text);
            assert!(told.contains(place) && told.contains(what), "{text}: {told}");
            assert!(told.contains("hint: "), "{told}");
        }
    }

    #[test]
    fn openings_do_not_change_rules() {
        let folder = tempfile::tempdir().unwrap();
        let rules = "(role a) (role b) (init (p 1)) (<= (legal ?r (m ?x)) (role ?r) (init (p ?x)))";
        std::fs::write(folder.path().join("g.kif"), rules).unwrap();
        let path = folder.path().join("t.toml");
        let read = |plies: u32| {
            let text = format!("opening_plies = {plies}\n{HEAD}{TAIL}").replace("nim", "g.kif");
            let plan = parse(&text).and_then(|file| file::plan(&file, &path));
            plan.map_err(|mistake| mistake.told(&path, &text).to_string())
        };
        assert!(read(0).is_ok());
        let told = read(1).unwrap_err();
        assert!(told.contains("t.toml:1:17") && told.contains("asks for init"), "{told}");
    }

    #[test]
    fn one_remote_player_is_not_listed_twice() {
        let text = format!("{HEAD}{TAIL}").replace("random", "http://a:1").replace("legal", "http://a:1/");
        assert!(read(&text).expect_err("one player").contains("address"));
    }
}
