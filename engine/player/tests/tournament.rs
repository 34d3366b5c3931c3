//! Tournaments with the real binary: killed and gone on with, with players that die, are silent or elsewhere.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use common::{Folder, Player, daggerboard, json_of, run, signal};
use serde_json::{Value, json};

/// Longer than any tournament here takes.
const PATIENCE: Duration = Duration::from_secs(120);

const TWO_GAMES: &str = "[[game]]\ngame = \"tic-tac-toe\"\n[[game]]\ngame = \"nim\"\n";

fn player(name: &str, spec: &str) -> String {
    format!("[[player]]\nname = \"{name}\"\nspec = \"{spec}\"\n")
}

/// Three players of ours, the same every time.
fn three_players() -> String {
    let own = |name: &str, config: &str, playouts: u32| {
        player(name, &format!("self:config={config},playouts={playouts},memory=16M"))
    };
    [own("uct", "uct", 60), own("mc", "mc", 60), own("weak", "uct+t", 4)].concat()
}

struct Tournament {
    folder: Folder,
    file: String,
}

impl Tournament {
    fn new(text: &str) -> Tournament {
        let folder = Folder::new();
        let file = folder.write("t.toml", text);
        Tournament { folder, file }
    }

    fn records(&self) -> String {
        self.folder.file("t")
    }

    /// Plays it to the end.
    fn play(&self, args: &[&str]) -> Output {
        run(&[&["tournament", &self.file, "--quiet", "--json"], args].concat())
    }

    /// Plays it to an end that is a success; what was told.
    fn told(&self, args: &[&str]) -> Value {
        let output = self.play(args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Begins to play it; its players log what they do.
    fn begin(&self) -> Child {
        let mut command = daggerboard();
        command.args(["tournament", &self.file, "--quiet", "--json"]).env("RUST_LOG", "info");
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn page(&self) -> String {
        std::fs::read_to_string(Path::new(&self.records()).join("index.html")).unwrap()
    }

    /// Waits until a player of ours has moved.
    fn wait_for_a_move_of(&self, player: &str) {
        let log = Path::new(&self.records()).join(format!("logs/{player}.1.1.log"));
        let has_moved = || std::fs::read_to_string(&log).is_ok_and(|text| text.contains("PLAY"));
        wait_for(|| has_moved().then_some(()));
    }

    /// The matches by id, without what differs from run to run: times.
    fn matches(&self) -> BTreeMap<String, Value> {
        matches_in(Path::new(&self.records()))
    }
}

fn matches_in(records: &Path) -> BTreeMap<String, Value> {
    let mut matches = BTreeMap::new();
    let Ok(entries) = std::fs::read_dir(records.join("matches")) else { return matches };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut record: Value = serde_json::from_str(&text).expect("every record is whole");
        for time in ["started_ms", "seconds", "times"] {
            record.as_object_mut().unwrap().remove(time).unwrap();
        }
        matches.insert(path.file_name().unwrap().to_string_lossy().into_owned(), record);
    }
    matches
}

/// What does not depend on where the records are.
fn result(told: &Value) -> Value {
    json!([told["complete"], told["played"], told["overall"], told["games"]])
}

/// Waits until something is there.
fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "nothing came");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Commas, plus signs and parentheses are in settings, never in names of files.
#[test]
fn players_may_have_parentheses_in_their_settings() {
    let specs = ["self:config=ucd(1,0,1),unexplored=gibbs(10),memory=16M", "self:config=uct+t,memory=16M"];
    let players = [player("ucd-1-0-1", specs[0]), player("uct+t", specs[1])].concat();
    let game = "[[game]]\ngame = \"tic-tac-toe\"\nplayouts = 30\n";
    let tournament = Tournament::new(&format!("rounds = 2\n{game}{players}"));
    let told = tournament.told(&[]);
    assert_eq!((&told["complete"], &told["played"]), (&json!(true), &json!(4)), "{told}");
    let standings = told["overall"]["players"].as_array().unwrap();
    assert!(
        ["ucd-1-0-1", "uct+t"].iter().all(|name| standings.iter().any(|it| it["name"] == *name)),
        "{told}"
    );
    assert!(specs.iter().all(|spec| tournament.page().contains(spec)));
    for (id, record) in tournament.matches() {
        assert!(!id.contains(['(', ')', ',']), "{id}");
        assert_eq!(record["errors"], json!([]));
    }
    let wrong = Tournament::new(&format!("{game}{}", player("p", "self:config=ucd(1,0,1),payoffs=nodes")));
    let output = wrong.play(&[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("t.toml:6:") && stderr.contains("payoffs=nodes: ucd(1,0,1) has a depth of 0"),
        "{stderr}"
    );
}

#[test]
fn killed_again_and_again_it_comes_to_the_same_result() {
    let text = format!("seed = 3\nrounds = 5\nopening_plies = 1\n{TWO_GAMES}{}", three_players());
    let undisturbed = Tournament::new(&text);
    let wanted = undisturbed.told(&[]);
    let killed = Tournament::new(&format!("parallel = 2\n{text}"));
    for n_matches in [0, 1, 7, 8, 20] {
        let mut child = killed.begin();
        wait_for(|| (killed.matches().len() >= n_matches).then_some(()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(killed.matches().len() < 60, "it was killed too late");
    }
    let before = killed.matches();
    let told = killed.told(&[]);
    assert_eq!(result(&told), result(&wanted));
    let after = killed.matches();
    assert_eq!(after, undisturbed.matches(), "two side by side play what one after the other play");
    assert_eq!(after.len(), 60);
    assert!(before.iter().all(|(id, record)| after[id] == *record));
    let leavings = |folder: &Path| {
        std::fs::read_dir(folder)
            .unwrap()
            .any(|it| it.unwrap().file_name().to_string_lossy().starts_with(".unf"))
    };
    assert!(
        !leavings(Path::new(&killed.records())) && !leavings(&Path::new(&killed.records()).join("matches"))
    );
    // Nothing is played twice.
    let written = |name: &str| {
        std::fs::metadata(Path::new(&killed.records()).join("matches").join(name))
            .unwrap()
            .modified()
            .unwrap()
    };
    let times: Vec<_> = after.keys().map(|name| written(name)).collect();
    assert_eq!(result(&killed.told(&[])), result(&wanted));
    assert_eq!(after.keys().map(|name| written(name)).collect::<Vec<_>>(), times);
}

#[test]
fn ctrl_c_leaves_whole_records_and_a_page_and_the_same_command_goes_on() {
    let text = format!("rounds = 10\n{TWO_GAMES}{}", three_players());
    let tournament = Tournament::new(&text);
    let mut child = tournament.begin();
    wait_for(|| (tournament.matches().len() >= 3).then_some(()));
    signal(child.id(), "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(1), "it is not complete");
    let n_played = tournament.matches().len();
    assert!((3..120).contains(&n_played));
    assert!(tournament.page().contains("not complete; the same command goes on"));
    let told = tournament.told(&[]);
    assert_eq!((&told["complete"], &told["played"]), (&json!(true), &json!(120)));
}

#[test]
fn more_rounds_go_on_and_another_tournament_is_refused() {
    let text =
        |rounds: u32, seed: u32| format!("rounds = {rounds}\nseed = {seed}\n{TWO_GAMES}{}", three_players());
    let tournament = Tournament::new(&text(1, 1));
    tournament.told(&[]);
    let before = tournament.matches();
    tournament.folder.write("t.toml", &text(2, 1));
    assert_eq!(tournament.told(&[])["played"], 24);
    assert!(before.iter().all(|(id, record)| tournament.matches()[id] == *record));
    tournament.folder.write("t.toml", &text(2, 2));
    let refused = tournament.play(&[]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("seed is 1 there, 2 here"), "{said}");
    let elsewhere = tournament.folder.file("elsewhere");
    assert_eq!(tournament.told(&["--records", &elsewhere])["played"], 24);
}

#[test]
fn a_mistake_in_the_file_is_wrong_usage_with_its_place() {
    let tournament = Tournament::new("rounds = 1\nrouns = 2\n");
    let output = tournament.play(&[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("t.toml:2:1") && said.contains("rouns") && said.contains("hint: "), "{said}");
    assert!(!Path::new(&tournament.records()).exists());
}

#[test]
fn the_printed_example_is_read() {
    let example = run(&["tournament", "--example"]).stdout;
    let tournament =
        Tournament::new(&String::from_utf8(example).unwrap().replace("rounds = 10", "rounds = 0"));
    let said = String::from_utf8_lossy(&tournament.play(&[]).stderr).into_owned();
    assert!(said.contains("0 is out of bounds"), "all else is fine: {said}");
}

/// The process of a player whose description has this setting.
fn process_of(setting: &str) -> Option<u32> {
    std::fs::read_dir("/proc").ok()?.filter_map(Result::ok).find_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let command = std::fs::read(entry.path().join("cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).into_owned();
        (command.contains("tournament-player") && command.contains(setting)).then_some(pid)
    })
}

#[test]
fn a_player_that_is_killed_loses_its_match_and_plays_the_next_one() {
    if !Path::new("/proc/self/cmdline").exists() {
        return eprintln!("skipped: this system does not show its processes");
    }
    // A setting that no other test has.
    let victim = "self:playouts=3000,memory=17M";
    let text = format!(
        "rounds = 2\n[[game]]\ngame = \"tic-tac-toe\"\n{}{}",
        player("victim", victim),
        player("other", "self:playouts=3000,memory=16M")
    );
    let tournament = Tournament::new(&text);
    let mut child = tournament.begin();
    tournament.wait_for_a_move_of("victim");
    signal(process_of(victim).unwrap(), "-KILL");
    assert!(child.wait().unwrap().success());
    let told = tournament.told(&[]);
    let players = told["overall"]["players"].as_array().unwrap();
    let matches = tournament.matches();
    let lost: Vec<&Value> = matches.values().filter(|record| record["status"] == "forfeited").collect();
    let [record] = lost[..] else { panic!("one of the four is lost by record: {told}") };
    assert_eq!(matches.len(), 4);
    assert_eq!(record["forfeits"][0]["answered"], true);
    let role = record["forfeits"][0]["role"].as_str().unwrap();
    let seat = record["roles"].as_array().unwrap().iter().position(|it| it == role).unwrap();
    assert_eq!(record["players"][seat], "victim");
    assert_eq!((&record["goals"], &record["terminal"]), (&json!([null, null]), &json!(false)));
    assert_eq!((&players[0]["forfeits"], &players[1]["forfeits"]), (&json!(1), &json!(0)));
    assert!(players[1]["won"].as_u64().unwrap() >= 1, "{told}");
    assert!(process_of(victim).is_none(), "no process is left");
}

#[test]
fn players_end_with_a_tournament_that_is_killed() {
    if !Path::new("/proc/self/cmdline").exists() {
        return eprintln!("skipped: this system does not show its processes");
    }
    // Settings that no other test has.
    let players = ["self:memory=21M", "self:memory=22M"];
    let text = player("one", players[0]) + &player("other", players[1]);
    let tournament =
        Tournament::new(&format!("start = 1\nplay = 1\n[[game]]\ngame = \"connect-four\"\n{text}"));
    let mut child = tournament.begin();
    tournament.wait_for_a_move_of("one");
    assert!(players.iter().all(|player| process_of(player).is_some()));
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for(|| players.iter().all(|player| process_of(player).is_none()).then_some(()));
}

#[test]
fn a_player_that_hangs_loses_its_match_and_is_started_anew() {
    if !Path::new("/proc/self/cmdline").exists() {
        return eprintln!("skipped: this system does not show its processes");
    }
    // Settings that no other test has.
    let hanging = |victim: &str, rounds: u32| {
        let players = [player("victim", victim), player("other", "random")].concat();
        let head = format!("rounds = {rounds}\nstart = 1\nplay = 1\nforfeit_after = 1\n");
        let tournament = Tournament::new(&format!("{head}[[game]]\ngame = \"tic-tac-toe\"\n{players}"));
        let child = tournament.begin();
        tournament.wait_for_a_move_of("victim");
        signal(process_of(victim).unwrap(), "-STOP");
        wait_for(|| (!tournament.matches().is_empty()).then_some(()));
        (tournament, child)
    };
    // Nobody waits for it if the user stops.
    let (_, mut child) = hanging("self:threads=1,memory=18M", 100);
    signal(child.id(), "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(1), "it is not complete");
    let (tournament, mut child) = hanging("self:threads=1,memory=19M", 1);
    assert!(child.wait().unwrap().success());
    let statuses: Vec<Value> = tournament.matches().values().map(|it| it["status"].clone()).collect();
    assert_eq!(statuses, ["forfeited", "completed"]);
}

#[test]
fn a_remote_player_takes_part_one_match_at_a_time() {
    let remote = Player::start(&["--playouts", "20"]);
    let text = format!(
        "rounds = 2\nparallel = 3\nopening_plies = 2\n{TWO_GAMES}{}{}{}",
        player("remote", &format!("http://127.0.0.1:{}", remote.port())),
        player("random", "random"),
        player("own", "self:cpu=0.01,memory=16M")
    );
    let told = Tournament::new(&text).told(&[]);
    assert_eq!((&told["played"], &told["absent"]), (&json!(24), &json!([])));
    for player in told["overall"]["players"].as_array().unwrap() {
        assert_eq!((&player["errors"], &player["forfeits"]), (&json!(0), &json!(0)), "{told}");
    }
    assert!(remote.is_available());
}

#[test]
fn a_remote_player_that_does_not_answer_is_absent_and_the_others_go_on() {
    // One is not there at all, the other one takes connections and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (address, forfeit_after) in [(gone, 3), (silent.local_addr().unwrap(), 1)] {
        let text = format!(
            "rounds = 4\nparallel = 2\nstart = 1\nplay = 1\nforfeit_after = {forfeit_after}\nabsent_after = 2\n\
             [[game]]\ngame = \"nim\"\n{}{}{}",
            player("remote", &format!("http://{address}")),
            player("random", "random"),
            player("legal", "legal")
        );
        let tournament = Tournament::new(&text);
        let told = tournament.told(&[]);
        // Sixteen matches of the absent player, of which two are lost and the others never begin.
        assert_eq!(told["absent"], json!(["remote"]));
        assert_eq!((&told["played"], &told["skipped"]), (&json!(8 + 2), &json!(14)), "{told}");
        let players = told["overall"]["players"].as_array().unwrap();
        assert_eq!((&players[0]["forfeits"], &players[0]["won"]), (&json!(2), &json!(0)));
        let page = tournament.page();
        assert!(page.contains("absent") && page.contains("14 are skipped, since remote did not answer"));
        // Gone on with, it is not waited for again.
        assert_eq!(tournament.told(&[])["played"], 10);
    }
}

#[test]
fn the_sequential_test_stops_a_pairing_that_is_decided() {
    let players = [player("uct", "self:playouts=100,memory=16M"), player("random", "random")].concat();
    let rest = "[[game]]\ngame = \"tic-tac-toe\"\n[sprt]\nelo0 = 0\nelo1 = 200\n";
    let tournament = Tournament::new(&format!("rounds = 60\nopening_plies = 1\n{players}{rest}"));
    let told = tournament.told(&[]);
    let test = &told["overall"]["pairings"][0]["sprt"];
    assert_eq!(test["verdict"], "accepted_h1");
    assert_eq!(told["played"].as_u64().unwrap(), 2 * test["bouts"].as_u64().unwrap());
    assert!(told["played"].as_u64().unwrap() < 60, "{told}");
    let said = String::from_utf8(run(&["tournament", &tournament.file, "--quiet"]).stdout).unwrap();
    let why = "the others are not wanted, since the test is decided. The tournament is over.";
    assert!(said.contains(why), "{said}");
    assert!(tournament.page().contains(why));
    // Side by side, some matches behind the decision may have been played, and count for nothing.
    let at_once = Tournament::new(&format!("rounds = 60\nopening_plies = 1\nparallel = 4\n{players}{rest}"));
    assert_eq!(at_once.told(&[])["overall"], told["overall"]);
    // Two players that are equal leave it open at the cap.
    let players = [player("one", "random"), player("other", "random")].concat();
    let rest = rest.replace("200", "10");
    let told = Tournament::new(&format!("rounds = 3\n{players}{rest}")).told(&[]);
    assert_eq!(told["overall"]["pairings"][0]["sprt"]["verdict"], "undecided");
    assert_eq!(told["played"], 6);
}

#[test]
fn records_tell_the_opening_and_replay() {
    let text =
        format!("rounds = 2\nopening_plies = 3\n[[game]]\ngame = \"tic-tac-toe\"\n{}", three_players());
    let tournament = Tournament::new(&text);
    tournament.told(&[]);
    let mut openings: BTreeMap<String, Value> = BTreeMap::new();
    for (id, record) in tournament.matches() {
        assert_eq!(record["opening_plies"], 3);
        let opening = json!(record["moves"].as_array().unwrap()[..3]);
        let round = id.split('.').nth(1).unwrap().to_owned();
        assert_eq!(*openings.entry(round).or_insert_with(|| opening.clone()), opening, "one for each round");
        let path = Path::new(&tournament.records()).join("matches").join(&id).display().to_string();
        let replayed = json_of(&["replay", "tic-tac-toe", "--moves", &path, "--json"]);
        assert_eq!((&replayed["terminal"], &replayed["goals"]), (&json!(true), &record["goals"]));
        assert_eq!(record["state_hashes"].as_array().unwrap().last(), Some(&replayed["final_h"]));
        assert_eq!(record["errors"], json!([]));
    }
    assert_eq!(openings.len(), 2);
}

#[test]
fn one_role_and_three_roles_are_compared_too() {
    let text = format!(
        "rounds = 2\n[[game]]\ngame = \"lights-out\"\nmax_steps = 200\n[[game]]\ngame = \"three-in-a-row-three\"\n{}{}",
        player("random", "random"),
        player("own", "self:playouts=10,memory=16M")
    );
    let told = Tournament::new(&text).told(&[]);
    let games = told["games"].as_array().unwrap();
    let of = |game: usize| &games[game]["table"]["pairings"][0];
    assert_eq!(of(0)["bouts"], 2);
    assert_eq!(of(1)["bouts"], 2);
    let n = |it: &Value| ["won", "equal", "lost"].map(|key| it[key].as_u64().unwrap()).iter().sum::<u64>();
    assert_eq!((n(of(0)), n(of(1))), (2, 12), "two comparisons, and six seatings twice");
    assert_eq!(told["played"], 4 + 12);
}

#[test]
fn the_page_links_to_every_record_and_the_table_has_a_line_for_each() {
    let text = format!("title = \"A & B\"\nrounds = 1\n{TWO_GAMES}{}", three_players());
    let tournament = Tournament::new(&text);
    tournament.told(&[]);
    let (records, page) = (tournament.records(), tournament.page());
    let links: Vec<&str> =
        page.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(links.len(), 12);
    assert!(links.iter().all(|link| Path::new(&records).join(link).is_file()), "{links:?}");
    assert!(page.contains("A &amp; B") && page.contains("Cross-table") && page.contains("<svg"));
    assert!(!page.contains("src=") && !page.contains("@import"), "everything is inside");
    let csv = std::fs::read_to_string(Path::new(&records).join("results.csv")).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 13);
    assert!(lines[0].starts_with("match,game,round,players,goals"));
    assert!(lines[1..].iter().all(|line| line.split(',').count() == lines[0].split(',').count()));
    for line in &lines[1..] {
        let goals = line.split(',').nth(4).unwrap().replace(' ', ", ");
        assert!(page.contains(&format!("<td>{goals}</td>")), "{goals}");
    }
}
