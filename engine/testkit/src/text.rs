//! The text conventions of the golden data: lower case, byte order, FNV-1a.

/// 64-bit FNV-1a (Fowler, Noll and Vo; draft-eastlake-fnv).
pub fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// [`fnv_1a`] of a text as 16 lower-case hexadecimal digits.
pub fn hash_text(text: &str) -> String {
    format!("{:016x}", fnv_1a(text.as_bytes()))
}

/// The hash of a state: its facts, sorted by the caller, joined by line feeds.
pub fn state_hash<S: AsRef<str>>(sorted_facts: &[S]) -> String {
    hash_text(&joined(sorted_facts))
}

/// The hash of the legal moves: for each role its moves, sorted by the caller, joined by line feeds; the
/// roles joined by empty lines.
pub fn legal_hash<S: AsRef<str>>(sorted_moves: &[Vec<S>]) -> String {
    let roles: Vec<String> = sorted_moves.iter().map(|moves| joined(moves)).collect();
    hash_text(&roles.join("\n\n"))
}

fn joined<S: AsRef<str>>(lines: &[S]) -> String {
    let lines: Vec<&str> = lines.iter().map(AsRef::as_ref).collect();
    lines.join("\n")
}

/// How two sorted lists differ, in words: what only one of them has, shortened.
pub(crate) fn list_difference(ours: &[String], theirs: &[String]) -> String {
    let only = |a: &[String], b: &[String]| {
        let b: std::collections::BTreeSet<&String> = b.iter().collect();
        let only: Vec<&String> = a.iter().filter(|text| !b.contains(text)).collect();
        shortened(&only)
    };
    format!("only ours: {}; only expected: {}", only(ours, theirs), only(theirs, ours))
}

/// The first few of many texts, and how many there are.
pub(crate) fn shortened<S: AsRef<str>>(texts: &[S]) -> String {
    /// What still fits a line or three of a report.
    const SHOWN: usize = 12;
    let shown: Vec<&str> = texts.iter().take(SHOWN).map(AsRef::as_ref).collect();
    let more = if texts.len() > SHOWN { ", ..." } else { "" };
    format!("{} [{}{more}]", texts.len(), shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        // Test vectors of the reference implementation, test_fnv.c.
        assert_eq!(hash_text(""), "cbf29ce484222325");
        assert_eq!(hash_text("a"), "af63dc4c8601ec8c");
        assert_eq!(hash_text("foobar"), "85944171f73967e8");
    }

    #[test]
    fn tic_tac_toe_begins_with_the_hashes_of_the_golden_data() {
        let cells = (1..=3).flat_map(|x| (1..=3).map(move |y| (x, y)));
        let mut facts: Vec<String> = cells.clone().map(|(x, y)| format!("(cell {x} {y} b)")).collect();
        facts.push("(control xplayer)".into());
        assert_eq!(state_hash(&facts), "de33339765fbee79");
        let marks = cells.map(|(x, y)| format!("(mark {x} {y})")).collect();
        assert_eq!(legal_hash(&[marks, vec!["noop".to_string()]]), "7ff49cc2f69ec0e1");
    }

    #[test]
    fn an_empty_state_hashes_the_empty_text() {
        assert_eq!(state_hash::<&str>(&[]), "cbf29ce484222325");
    }
}
