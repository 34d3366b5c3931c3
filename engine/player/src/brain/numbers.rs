//! Numbers as command lines and settings have them, within the bounds of a search.
//!
//! What a search would refuse is refused here: a player that cannot search plays its first legal moves, and only
//! its log tells. An error says what is wanted.

use search::{MAX_BATCH, MAX_EXPLORATION, MAX_HOT_LEVELS, MAX_ROLLOUTS, MAX_THREADS, MIN_BYTES, cores};

/// Reads a time in seconds, which is not nothing.
pub fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds is wanted".to_owned())?;
    // A week is as good as for ever, and can be added to any moment.
    let is_fine = seconds > 0.0 && seconds <= 604_800.0;
    is_fine.then_some(seconds).ok_or_else(|| "more than 0 and at most 604800 seconds are wanted".to_owned())
}

/// Reads a number of playouts.
pub fn parse_playouts(text: &str) -> Result<u64, String> {
    let playouts = text.parse().ok().filter(|&playouts| playouts > 0);
    playouts.ok_or_else(|| "a whole number of playouts above 0 is wanted".to_owned())
}

/// Reads what random choices follow from.
pub(super) fn parse_seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a whole number from 0 to {} is wanted", u64::MAX))
}

/// Reads a switch.
pub fn parse_switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("on or off is wanted".to_owned()),
    }
}

/// Reads a number of threads.
pub fn parse_threads(text: &str) -> Result<usize, String> {
    let threads = text.parse().ok().filter(|threads| (1..=MAX_THREADS).contains(threads));
    threads.ok_or_else(|| format!("1 to {MAX_THREADS} threads are wanted"))
}

/// Reads the constant C.
pub(super) fn parse_exploration(text: &str) -> Result<f64, String> {
    let c = text.parse().ok().filter(|c| (0.0..=MAX_EXPLORATION).contains(c));
    c.ok_or_else(|| format!("a number from 0 to {MAX_EXPLORATION} is wanted"))
}

/// Reads what a value is worth one step earlier.
pub(super) fn parse_discount(text: &str) -> Result<f64, String> {
    let discount = text.parse().ok().filter(|&discount| discount > 0.0 && discount <= 1.0);
    discount.ok_or_else(|| "a number above 0 and at most 1 is wanted".to_owned())
}

/// Reads the bias of `rave`.
pub(super) fn parse_rave_bias(text: &str) -> Result<f64, String> {
    let bias = text.parse().ok().filter(|bias| (0.0..=1.0).contains(bias));
    bias.ok_or_else(|| "a number from 0 to 1 is wanted".to_owned())
}

/// Reads the bias by proof numbers.
pub(super) fn parse_pn_bias(text: &str) -> Result<f64, String> {
    // In goal points as C is.
    parse_exploration(text)
}

/// Reads a number of leaves that a thread has in flight.
pub(super) fn parse_batch(text: &str) -> Result<u32, String> {
    let leaves = text.parse().ok().filter(|leaves| (1..=MAX_BATCH).contains(leaves));
    leaves.ok_or_else(|| format!("1 to {MAX_BATCH} leaves are wanted"))
}

/// Reads a number of rollouts from each leaf.
pub(super) fn parse_rollouts(text: &str) -> Result<u32, String> {
    let rollouts = text.parse().ok().filter(|rollouts| (1..=MAX_ROLLOUTS).contains(rollouts));
    rollouts.ok_or_else(|| format!("1 to {MAX_ROLLOUTS} rollouts are wanted"))
}

/// Levels whose statistics are gathered; none for those of all positions that can be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HotLevels(pub Option<u32>);

/// Reads which statistics are gathered.
pub(super) fn parse_hot_levels(text: &str) -> Result<HotLevels, String> {
    if text == "auto" {
        return Ok(HotLevels(None));
    }
    let levels = text.parse().ok().filter(|&levels| levels <= MAX_HOT_LEVELS);
    levels
        .map(|levels| HotLevels(Some(levels)))
        .ok_or_else(|| format!("0 to {MAX_HOT_LEVELS} levels or auto are wanted"))
}

/// Reads the id of a core that threads can be pinned to.
pub(super) fn parse_core(text: &str) -> Result<usize, String> {
    let cores = cores();
    let core = text.parse().ok().filter(|core| cores.contains(core));
    core.ok_or_else(|| match cores.is_empty() {
        true => "this system tells of no cores to pin to".to_owned(),
        false => {
            let known: Vec<String> = cores.iter().map(usize::to_string).collect();
            format!("there is no such core here; there are {}", known.join(" "))
        }
    })
}

/// Reads a number of bytes such as `512M`, enough for a graph.
pub(super) fn parse_bytes(text: &str) -> Result<usize, String> {
    let (digits, shift) = match text.to_ascii_uppercase().as_str() {
        upper if upper.ends_with('K') => (&text[..text.len() - 1], 10),
        upper if upper.ends_with('M') => (&text[..text.len() - 1], 20),
        upper if upper.ends_with('G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number: usize = digits.parse().map_err(|_| "a number of bytes such as 512M is wanted".to_owned())?;
    let bytes = number.checked_mul(1 << shift).ok_or_else(|| "more bytes than any machine has".to_owned())?;
    if bytes < MIN_BYTES {
        return Err(format!("a graph needs at least {MIN_BYTES} bytes"));
    }
    Ok(bytes)
}
