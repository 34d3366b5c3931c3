//! From the keys of a tournament's file to its plan: bounds, names, players, games and cores.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gdl::{CaseReading, ReadOptions};
use search::cores;
use toml::Spanned;

use super::plan::{GameEntry, Mistake, Plan, PlanFile, PlannedGame, PlannedPlayer, PlayerEntry, SprtEntry};
use super::schedule::max_seatings;
use super::statistics::Sprt;
use crate::brain::parse_seconds;
use crate::game_source::{Game, GameArgs};
use crate::manager::opening::asks_for_init;
use crate::manager::spec::{PlayerKind, PlayerSpec};
use crate::reasoners;

const DEFAULT_ROUNDS: u32 = 10;
/// Seconds; players with playouts answer long before.
const DEFAULT_START: u32 = 30;
const DEFAULT_PLAY: u32 = 60;
const DEFAULT_FORFEIT_AFTER: u32 = 3;
const DEFAULT_ABSENT_AFTER: u32 = 3;
const DEFAULT_MAX_STEPS: u32 = 5000;
/// More matches at once than any machine has cores.
const MAX_PARALLEL: u32 = 1024;
/// A week, as with `match`.
const MAX_CLOCK: u32 = 604_800;
/// Error rates of a test: with more than a half together it would decide without a bout.
const MIN_ERROR_RATE: f64 = 0.0001;
const MAX_ERROR_RATE: f64 = 0.4;
/// All matches are listed at the start, and looked through after each.
const MAX_MATCHES: u64 = 1_000_000;
/// Names are parts of file names.
const MAX_NAME: usize = 40;

/// Checks everything that the file says, and reads its games.
pub(super) fn plan(file: &PlanFile, path: &Path) -> Result<Plan, Mistake> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let stem =
        path.file_stem().map_or_else(|| "tournament".into(), |stem| stem.to_string_lossy().into_owned());
    let games: Vec<PlannedGame> =
        file.game.iter().map(|entry| game(entry.get_ref(), file, folder)).collect::<Result<_, _>>()?;
    let players = players(&file.player)?;
    for (idx, entry) in file.game.iter().enumerate() {
        if games[..idx].iter().any(|earlier| earlier.name == games[idx].name) {
            let at = entry.get_ref().name.as_ref().unwrap_or(&entry.get_ref().game);
            let text = format!("the game {:?} is there twice", games[idx].name);
            return Err(Mistake::at(at.span(), text, "give each game a `name` of its own"));
        }
        can_be_played(&games[idx], &players, entry.get_ref().game.span(), file)?;
    }
    has_fine_size(&games, &players, file)?;
    let parallel = bounded(file.parallel.as_ref(), 1, MAX_PARALLEL)? as usize;
    Ok(Plan {
        records: records(file, path, &stem)?,
        title: file.title.clone().unwrap_or(stem),
        seed: file.seed,
        grace: grace(file.grace.as_ref())?,
        parallel,
        cores: cores_of_slots(file, parallel)?,
        forfeit_after: bounded(file.forfeit_after.as_ref(), DEFAULT_FORFEIT_AFTER, u32::MAX)? as usize,
        absent_after: bounded(file.absent_after.as_ref(), DEFAULT_ABSENT_AFTER, u32::MAX)? as usize,
        reasoner: reasoner(file.reasoner.as_ref())?,
        sprt: file.sprt.as_ref().map(sprt).transpose()?,
        games,
        players,
    })
}

/// The folder of records.
fn records(file: &PlanFile, path: &Path, stem: &str) -> Result<PathBuf, Mistake> {
    let folder = path.parent().unwrap_or(Path::new(""));
    match &file.records {
        Some(records) if records.get_ref().as_os_str().is_empty() => {
            Err(Mistake::at(records.span(), "a folder without a name", "leave `records` out, or name one"))
        }
        Some(records) => Ok(folder.join(records.get_ref())),
        // A file without an ending would be its own folder.
        None if path.extension().is_none() => Ok(folder.join(format!("{stem}-records"))),
        None => Ok(folder.join(stem)),
    }
}

/// Whether there is something to play, and not too much to be listed.
fn has_fine_size(games: &[PlannedGame], players: &[PlannedPlayer], file: &PlanFile) -> Result<(), Mistake> {
    for (key, is_empty) in [("game", games.is_empty()), ("player", players.is_empty())] {
        if is_empty {
            let (text, hint) = (format!("there is no {key}"), format!("add a [[{key}]]"));
            return Err(Mistake { span: None, text, hint });
        }
    }
    let n_matches = games.iter().map(|game| max_matches(game, players.len())).fold(0, u64::saturating_add);
    if n_matches > MAX_MATCHES {
        let span = file.rounds.as_ref().map(Spanned::span);
        let text = format!("there would be up to {n_matches} matches");
        let hint = format!("at most {MAX_MATCHES} are played; ask for fewer rounds");
        return Err(Mistake { span, text, hint });
    }
    Ok(())
}

/// Matches of a game, or a few more.
fn max_matches(game: &PlannedGame, n_players: usize) -> u64 {
    let n_seats = game.n_seats() as u64;
    let of_round = match n_players as u64 {
        n_players if n_seats == 1 => n_players,
        n_players => (n_players * n_players.saturating_sub(1) / 2).saturating_mul(max_seatings(n_seats)),
    };
    of_round.saturating_mul(game.rounds as u64)
}

/// A number of at least 1.
fn bounded(value: Option<&Spanned<u32>>, default: u32, most: u32) -> Result<u32, Mistake> {
    let Some(value) = value else { return Ok(default) };
    match *value.get_ref() {
        number if (1..=most).contains(&number) => Ok(number),
        number => {
            let text = format!("{number} is out of bounds");
            let hint = if most == u32::MAX {
                "at least 1 is wanted".into()
            } else {
                format!("at least 1 and at most {most} is wanted")
            };
            Err(Mistake::at(value.span(), text, hint))
        }
    }
}

/// Playouts per move in one game.
fn playouts(value: Option<&Spanned<u64>>) -> Result<Option<u64>, Mistake> {
    match value.map(|value| (*value.get_ref(), value.span())) {
        Some((0, span)) => Err(Mistake::at(span, "a move needs a playout", "at least 1 is wanted")),
        value => Ok(value.map(|(number, _)| number)),
    }
}

/// Processor time per move in one game.
fn cpu(value: Option<&Spanned<f64>>) -> Result<Option<Duration>, Mistake> {
    let Some(value) = value else { return Ok(None) };
    match parse_seconds(&value.get_ref().to_string()) {
        Ok(seconds) => Ok(Some(Duration::from_secs_f64(seconds))),
        Err(reason) => Err(Mistake::at(value.span(), reason, "a tenth of a second is 0.1")),
    }
}

fn grace(value: Option<&Spanned<f64>>) -> Result<Duration, Mistake> {
    match value {
        None => Ok(Duration::ZERO),
        Some(value) if *value.get_ref() == 0.0 => Ok(Duration::ZERO),
        Some(value) => match parse_seconds(&value.get_ref().to_string()) {
            Ok(seconds) => Ok(Duration::from_secs_f64(seconds)),
            Err(reason) => Err(Mistake::at(value.span(), reason, "0 gives no grace; ggp-base gives 1")),
        },
    }
}

fn reasoner(name: Option<&Spanned<String>>) -> Result<reasoners::ReasonerKind, Mistake> {
    let Some(name) = name else { return Ok(Default::default()) };
    name.get_ref().parse().map_err(|error: reasoners::KindError| {
        Mistake::at(name.span(), error.to_string(), format!("known are {}", reasoners::NAMES))
    })
}

/// A word that can stand in match ids and file names.
fn word(name: &str, span: Range<usize>) -> Result<String, Mistake> {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || "_-+".contains(c);
    match !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_fine) {
        true => Ok(name.to_owned()),
        false => {
            let hint = format!("at most {MAX_NAME} ASCII letters, digits and _ - + are wanted");
            Err(Mistake::at(span, format!("the name {name:?} is no plain word"), hint))
        }
    }
}

fn players(entries: &[Spanned<PlayerEntry>]) -> Result<Vec<PlannedPlayer>, Mistake> {
    let mut players: Vec<PlannedPlayer> = Vec::new();
    for entry in entries {
        let PlayerEntry { name, spec } = entry.get_ref();
        let player = PlannedPlayer {
            name: word(name.get_ref(), name.span())?,
            spec: spec.get_ref().parse::<PlayerSpec>().map_err(|error| {
                Mistake::at(spec.span(), error.to_string(), "`daggerboard match --help` lists the players")
            })?,
        };
        if matches!(&player.spec.kind, PlayerKind::Own(brain) if brain.search.seed.is_some()) {
            let text = "a player has no seed of its own here";
            return Err(Mistake::at(
                spec.span(),
                text,
                "leave it out: it follows from the tournament's `seed`",
            ));
        }
        if players.iter().any(|earlier| earlier.name == player.name) {
            let text = format!("the player {:?} is there twice", player.name);
            return Err(Mistake::at(name.span(), text, "give each player a name of its own"));
        }
        let is_same = |other: &PlannedPlayer| match (&other.spec.kind, &player.spec.kind) {
            (PlayerKind::Remote(one), PlayerKind::Remote(other)) => one == other,
            _ => false,
        };
        if let Some(same) = players.iter().find(|earlier| is_same(earlier)) {
            let text = format!("the address is that of the player {:?}", same.name);
            return Err(Mistake::at(
                spec.span(),
                text,
                "a remote player plays one match at a time; list it once",
            ));
        }
        players.push(player);
    }
    Ok(players)
}

fn game(entry: &GameEntry, file: &PlanFile, folder: &Path) -> Result<PlannedGame, Mistake> {
    let game = load(entry, folder)?;
    let name = game_name(entry, &game)?;
    let or = |own: &Option<Spanned<u32>>, whole: &Option<Spanned<u32>>, default, most| {
        bounded(own.as_ref().or(whole.as_ref()), default, most)
    };
    let seconds = |number| Duration::from_secs(u64::from(number));
    let max_steps = or(&entry.max_steps, &file.max_steps, DEFAULT_MAX_STEPS, u32::MAX)?;
    let opening_plies = entry.opening_plies.as_ref().or(file.opening_plies.as_ref());
    Ok(PlannedGame {
        is_chance: game
            .rules
            .roles()
            .iter()
            .map(|role| role.to_string().eq_ignore_ascii_case("random"))
            .collect(),
        rounds: or(&entry.rounds, &file.rounds, DEFAULT_ROUNDS, u32::MAX)? as usize,
        opening_plies: plies(opening_plies, max_steps, &game)? as usize,
        start_clock: seconds(or(&entry.start, &file.start, DEFAULT_START, MAX_CLOCK)?),
        play_clock: seconds(or(&entry.play, &file.play, DEFAULT_PLAY, MAX_CLOCK)?),
        playouts: playouts(entry.playouts.as_ref())?,
        cpu: cpu(entry.cpu.as_ref())?,
        max_steps: max_steps as usize,
        name,
        game,
    })
}

/// Reads a rulesheet.
fn load(entry: &GameEntry, folder: &Path) -> Result<Game, Mistake> {
    let case = match entry.case.as_ref().map(|case| (case.get_ref().as_str(), case.span())) {
        None => CaseReading::Auto,
        Some(("ignored", _)) => CaseReading::Ignored,
        Some(("exact", _)) => CaseReading::Exact,
        Some((other, span)) => {
            let text = format!("case = {other:?} is not known");
            let hint = "\"ignored\" or \"exact\" is wanted; the rulesheet decides without";
            return Err(Mistake::at(span, text, hint));
        }
    };
    let wanted = entry.game.get_ref();
    // Paths are meant from where the file lies.
    let beside: PathBuf = folder.join(wanted);
    let found = if beside.is_file() { beside.display().to_string() } else { wanted.clone() };
    let args = GameArgs { game: found, reading: ReadOptions { case }.into() };
    args.load().map_err(|failure| {
        let (text, hint) = failure.parts();
        let hint = hint.unwrap_or("give the path of a rulesheet from this file's folder, or a shipped game");
        Mistake::at(entry.game.span(), text, hint)
    })
}

/// The name that is given, or that of the rulesheet's file.
fn game_name(entry: &GameEntry, game: &Game) -> Result<String, Mistake> {
    if let Some(name) = &entry.name {
        return word(name.get_ref(), name.span());
    }
    let stem = Path::new(&game.name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    word(&stem, entry.game.span())
        .map_err(|mistake| Mistake { hint: format!("give the game a `name`: {}", mistake.hint), ..mistake })
}

/// Plies of openings; none if they are not asked for.
fn plies(wanted: Option<&Spanned<u32>>, max_steps: u32, game: &Game) -> Result<u32, Mistake> {
    let Some((number, span)) = wanted.map(|wanted| (*wanted.get_ref(), wanted.span())) else { return Ok(0) };
    if number >= max_steps {
        let text = format!("an opening of {number} plies leaves nothing of max_steps = {max_steps}");
        return Err(Mistake::at(span, text, "take shorter openings"));
    }
    if number > 0 && asks_for_init(&game.description) {
        let text = format!("an opening would change the rules of {}: a rule asks for init", game.name);
        return Err(Mistake::at(span, text, "let the rule ask for true, or play without openings"));
    }
    Ok(number)
}

/// Whether there are players enough for a game.
fn can_be_played(
    game: &PlannedGame,
    players: &[PlannedPlayer],
    span: Range<usize>,
    file: &PlanFile,
) -> Result<(), Mistake> {
    let n_seats = game.n_seats();
    if n_seats == 0 {
        let text = format!("{} has no role for a player", game.name);
        return Err(Mistake::at(
            span,
            text,
            "a role named `random` is played by the manager; take another game",
        ));
    }
    if players.len() < 2 && n_seats > 1 {
        let span = file.player.first().map(Spanned::span);
        let text = format!("{} has {n_seats} roles and wants two players", game.name);
        let hint = "add another [[player]]; a player against itself is two with the same spec".to_owned();
        return Err(Mistake { span, text, hint });
    }
    let n_remote = players.iter().filter(|player| matches!(player.spec.kind, PlayerKind::Remote(_))).count();
    if n_seats > 2 && n_remote > 1 {
        let text = format!("two remote players cannot fill the {n_seats} roles of {}", game.name);
        let hint =
            "a remote player sits at one role; with more than two roles at most one of the players is remote";
        return Err(Mistake::at(span, text, hint));
    }
    Ok(())
}

fn sprt(entry: &Spanned<SprtEntry>) -> Result<Sprt, Mistake> {
    let SprtEntry { elo0, elo1, alpha, beta } = *entry.get_ref();
    let wrong = |text: String, hint: &str| Err(Mistake::at(entry.span(), text, hint));
    if !(elo0.is_finite() && elo1.is_finite() && elo0 < elo1) {
        return wrong(
            format!("elo1 = {elo1} is not above elo0 = {elo0}"),
            "H0 is no difference: elo0 = 0, elo1 = 50",
        );
    }
    for (name, rate) in [("alpha", alpha), ("beta", beta)] {
        if !(MIN_ERROR_RATE..=MAX_ERROR_RATE).contains(&rate) {
            return wrong(
                format!("{name} = {rate} is no error rate"),
                "0.0001 to 0.4 is wanted; 0.05 is usual",
            );
        }
    }
    Ok(Sprt { elo0, elo1, alpha, beta })
}

/// The cores of each match that runs at the same time as others.
fn cores_of_slots(file: &PlanFile, parallel: usize) -> Result<Vec<Vec<usize>>, Mistake> {
    let known = cores();
    if let Some(given) = &file.cores {
        let wrong = |text: String, hint: String| Err(Mistake::at(given.span(), text, hint));
        if file.pin == Some(false) {
            return wrong(
                "cores for nobody, since pin = false".to_owned(),
                "leave one of them out".to_owned(),
            );
        }
        let lists = given.get_ref();
        if lists.len() != parallel || lists.iter().any(Vec::is_empty) {
            let hint =
                format!("give {parallel} lists, one for each match at the same time, such as [[0], [1]]");
            return wrong(format!("{} lists of cores for parallel = {parallel}", lists.len()), hint);
        }
        if let Some(absent) = lists.iter().flatten().find(|core| !known.contains(core)) {
            let known: Vec<String> = known.iter().map(usize::to_string).collect();
            return wrong(
                format!("there is no core {absent} here"),
                format!("there are {}", known.join(" ")),
            );
        }
        return Ok(lists.clone());
    }
    if file.pin == Some(false) || known.is_empty() {
        return Ok(vec![Vec::new(); parallel]);
    }
    // More matches than cores share them; otherwise each match has as many as another, or one more.
    Ok((0..parallel)
        .map(|slot_idx| {
            let bound = |idx: usize| idx * known.len() / parallel;
            match &known[bound(slot_idx)..bound(slot_idx + 1)] {
                [] => vec![known[slot_idx % known.len()]],
                own => own.to_vec(),
            }
        })
        .collect())
}
