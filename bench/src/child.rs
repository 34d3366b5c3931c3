//! Measurements in processes of their own, killed when they are late.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use reasoner::Interrupt;
use serde::de::DeserializeOwned;

/// How often a process is looked at.
const POLL: Duration = Duration::from_millis(10);

/// Runs this binary's command `measure` on a game and reads the JSON that it prints.
///
/// # Errors
/// In words: what the process said, or that it was late or killed.
pub fn measure<T: DeserializeOwned>(
    what: &str,
    game: &str,
    options: &[(&str, String)],
    limit: Duration,
    stop: &Interrupt,
) -> Result<T, String> {
    let this = std::env::current_exe().map_err(|error| format!("the path of this program: {error}"))?;
    let mut command = Command::new(this);
    command.args(["measure", what, "--with-parent"]);
    options.iter().for_each(|(name, value)| _ = command.arg(name).arg(value));
    // A game's name may begin like an option.
    command.args(["--", game]);
    let text = output_of(&mut command, limit, stop)?;
    serde_json::from_str(&text).map_err(|error| format!("the measurement printed no JSON: {error}"))
}

/// Ends this process when the one that started it with [`measure`] is gone, however that ended.
pub fn end_with_parent() {
    let watch = || {
        // Nothing is written there; it ends with the process that holds the other end.
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        std::process::exit(1);
    };
    // Without a thread to be had this process ends when it is done.
    let _ = std::thread::Builder::new().spawn(watch);
}

/// Ends a process; if it has ended by itself meanwhile, that is as good.
fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// What a process prints, if it ends well and in time.
///
/// # Errors
/// As [`measure`].
pub fn output_of(command: &mut Command, limit: Duration, stop: &Interrupt) -> Result<String, String> {
    let mut child = command
        // Ctrl-C is ours to answer: it must not look like a failure of the measurement.
        .process_group(0)
        // Open as long as this process is there; see `end_with_parent`.
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("starting {:?}: {error}", command.get_program()))?;
    // Both are read at once, so that a full pipe does not stop the process.
    let (mut stdout, mut stderr) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let begun = Instant::now();
    let ended = std::thread::scope(|scope| {
        let reader = std::thread::Builder::new;
        let of_out = reader().spawn_scoped(scope, || stdout.read_to_end(&mut out)).err();
        let of_err = reader().spawn_scoped(scope, || stderr.read_to_end(&mut err)).err();
        if let Some(error) = of_out.or(of_err) {
            end(&mut child);
            return Err(format!("no thread to read what it prints: {error}"));
        }
        loop {
            match child.try_wait() {
                Ok(Some(status)) => break Ok(status),
                Ok(None) => {}
                Err(error) => break Err(error.to_string()),
            }
            let late = (begun.elapsed() > limit).then(|| format!("killed after {} s", limit.as_secs_f64()));
            let stopped = stop.is_raised().then(|| "stopped".to_owned());
            if let Some(why) = late.or(stopped) {
                end(&mut child);
                break Err(why);
            }
            std::thread::sleep(POLL);
        }
    });
    let status = ended?;
    if status.success() {
        return Ok(String::from_utf8_lossy(&out).into_owned());
    }
    let said = String::from_utf8_lossy(&err);
    let said = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Err(if said.is_empty() { status.to_string() } else { said.trim_start_matches("error: ").to_owned() })
}
