//! The messages between manager and player.
//!
//! In goes a text, out comes a [`Request`], or why it is none. Keywords come in any case, all other names
//! keep theirs. Match ids are opaque runs of characters, whatever a KIF reader would make of them.

use std::sync::Arc;
use std::time::Duration;

use gdl::{Sexpr, Term, read_all};

/// The longest clock that is taken at its word; a longer one is as good as none.
const MAX_CLOCK: Duration = Duration::from_secs(7 * 24 * 3600);

/// A message of a manager.
#[derive(Debug, Clone)]
pub enum Request {
    /// Name and status are wanted.
    Info,
    /// The older question for the status.
    Ping,
    /// Rules of a match that may come.
    Preview,
    /// A match begins.
    Start(Box<Start>),
    /// A move is wanted.
    Play(Report),
    /// The match is over.
    Stop(Report),
    /// The match is off.
    Abort(String),
}

/// What a START carries.
#[derive(Debug, Clone)]
pub struct Start {
    /// The match.
    pub id: String,
    /// The role to play, as spelled.
    pub role: Term,
    /// The text that the spans of `rules` belong to.
    pub text: Arc<str>,
    /// The statements of the rulesheet.
    pub rules: Vec<Sexpr>,
    /// Time for the answer to START.
    pub start_clock: Duration,
    /// Time for each answer to PLAY.
    pub play_clock: Duration,
}

/// What a PLAY or STOP carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The match.
    pub id: String,
    /// What every role played, in role order; none before the first step. What is no term is none, too.
    pub joint_move: Option<Vec<Option<Term>>>,
}

/// Why a text is no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The parentheses do not balance, or the like.
    #[error("unreadable message: {0}")]
    Unreadable(#[from] gdl::ReadError),
    /// A head that the protocol does not have.
    #[error("unknown message {0:?}")]
    Unknown(String),
    /// Too few or wrong arguments.
    #[error("{message} wants {wanted}")]
    Arguments {
        /// The head.
        message: &'static str,
        /// What should stand there.
        wanted: &'static str,
    },
}

impl Request {
    /// Reads a message. An empty one counts as INFO, since Tiltyard's pings are empty (section 2).
    ///
    /// # Errors
    /// If the text is no message of the protocol.
    pub fn parse(text: &str) -> Result<Request, RequestError> {
        let (id, masked) = mask_id(text);
        let mut parts = read_all(&masked)?;
        if let [only] = parts.as_slice()
            && let Some(inner) = only.list()
        {
            parts = inner.to_vec();
        }
        let Some(head) = parts.first() else { return Ok(Request::Info) };
        let wrong = |message, wanted| RequestError::Arguments { message, wanted };
        let id = || id.map(str::to_owned);
        match head.atom().unwrap_or("").to_ascii_lowercase().as_str() {
            "info" => Ok(Request::Info),
            "ping" => Ok(Request::Ping),
            "preview" => Ok(Request::Preview),
            "start" => start(id(), &masked, &parts).map(|start| Request::Start(Box::new(start))),
            "play" => Ok(Request::Play(report(id(), &parts).ok_or(wrong("PLAY", "an id and the moves"))?)),
            "stop" => Ok(Request::Stop(report(id(), &parts).ok_or(wrong("STOP", "an id and the moves"))?)),
            "abort" => Ok(Request::Abort(id().ok_or(wrong("ABORT", "an id"))?)),
            _ => Err(RequestError::Unknown(shortened(&head.to_string()))),
        }
    }
}

/// Finds the word after the head, where match ids stand, and puts as many `x` in its place: an id such as
/// `a;b` is no comment.
fn mask_id(text: &str) -> (Option<&str>, String) {
    let is_blank = |c: char| c <= ' ' || c == '\u{feff}';
    let is_end = |c: char| is_blank(c) || c == '(' || c == ')';
    let inside = text.trim_start_matches(|c| is_blank(c) || c == '(');
    let head_end = inside.find(is_end).unwrap_or(inside.len());
    let head = &inside[..head_end];
    let has_id = ["start", "play", "stop", "abort"].iter().any(|word| head.eq_ignore_ascii_case(word));
    let after = inside[head_end..].trim_start_matches(is_blank);
    let id = &after[..after.find(is_end).unwrap_or(after.len())];
    if !has_id || id.is_empty() {
        return (None, text.to_owned());
    }
    let at = text.len() - after.len();
    let masked = format!("{}{}{}", &text[..at], "x".repeat(id.len()), &text[at + id.len()..]);
    (Some(id), masked)
}

fn start(id: Option<String>, text: &str, parts: &[Sexpr]) -> Result<Start, RequestError> {
    let wrong = |wanted| RequestError::Arguments { message: "START", wanted };
    // More arguments than these are tolerated, as ggp-base does.
    let [_, _, role, rules, start_clock, play_clock, ..] = parts else {
        return Err(wrong("an id, a role, a list of rules and two clocks"));
    };
    Ok(Start {
        id: id.ok_or(wrong("an id"))?,
        role: Term::from_sexpr(role).map_err(|_| wrong("the name of a role"))?,
        text: text.into(),
        rules: rules.list().ok_or(wrong("a list of rules"))?.to_vec(),
        start_clock: clock(start_clock).ok_or(wrong("a start clock in seconds"))?,
        play_clock: clock(play_clock).ok_or(wrong("a play clock in seconds"))?,
    })
}

fn clock(sexpr: &Sexpr) -> Option<Duration> {
    let seconds: f64 = sexpr.atom()?.parse().ok()?;
    (seconds >= 0.0).then(|| Duration::from_secs_f64(seconds.min(MAX_CLOCK.as_secs_f64())))
}

fn report(id: Option<String>, parts: &[Sexpr]) -> Option<Report> {
    let id = id?;
    let joint_move = match parts.get(2)? {
        atom if atom.atom().is_some_and(|name| name.eq_ignore_ascii_case("nil")) => None,
        atom if atom.atom().is_some() => Some(vec![Term::from_sexpr(atom).ok()]),
        list => list.list().map(|moves| moves.iter().map(|term| Term::from_sexpr(term).ok()).collect()),
    };
    Some(Report { id, joint_move })
}

/// The beginning of a text from elsewhere, for messages on one line. Control characters, which a terminal would
/// obey, become U+FFFD.
pub fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 100;
    let shown = text.chars().take(MAX_CHARS).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(MAX_CHARS).is_some() { shown + "..." } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(text: &str) -> Report {
        match Request::parse(text) {
            Ok(Request::Play(report)) => report,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn keywords_have_no_case_and_an_empty_message_is_info() {
        for text in ["", "()", "(info)", "( InFo )", "INFO", " \r\n"] {
            assert!(matches!(Request::parse(text), Ok(Request::Info)), "{text:?}");
        }
        assert!(matches!(Request::parse("( ping )"), Ok(Request::Ping)));
        assert!(matches!(Request::parse("( PREVIEW ((role x)) 30 )"), Ok(Request::Preview)));
    }

    #[test]
    fn match_ids_are_opaque() {
        for id in
            ["Base.ticTacToe.1406040304050", "8puzzle-1", "42", "A:b/c+d", "a;b", "#|x", "nil", "\u{e9}"]
        {
            let report = play(&format!("( PLAY {id} (noop (Mark 1) ) )"));
            assert_eq!(report.id, id);
            assert_eq!(report.joint_move.map(|moves| moves.len()), Some(2), "{id}");
        }
    }

    #[test]
    fn moves_keep_their_case_and_nil_is_none() {
        assert_eq!(play("(play m NIL)").joint_move, None);
        assert_eq!(play("(play m nil)").joint_move, None);
        assert_eq!(play("(play m ((Mark A)))").joint_move, Some(vec![Term::parse("(Mark A)").ok()]));
        assert_eq!(play("(play m (() x))").joint_move, Some(vec![None, Term::parse("x").ok()]));
    }

    #[test]
    fn start_tolerates_more_arguments_but_not_fewer() {
        let Ok(Request::Start(start)) = Request::parse("(START a.b Xp ((role Xp) (p)) 30 15 more)") else {
            panic!("a START");
        };
        assert_eq!((start.id.as_str(), start.rules.len()), ("a.b", 2));
        assert_eq!((start.start_clock.as_secs(), start.play_clock.as_secs()), (30, 15));
        for text in
            ["( START m )", "( START m xp ( ) ten two )", "( START m xp x 1 1 )", "(START m xp () -1 1)"]
        {
            assert!(matches!(Request::parse(text), Err(RequestError::Arguments { .. })), "{text}");
        }
    }

    #[test]
    fn what_is_shown_of_a_text_is_short_and_harmless() {
        assert_eq!(shortened("(mark \u{e9} 1)"), "(mark \u{e9} 1)");
        assert_eq!(shortened("\u{1b}[2J\r\n\0"), "\u{fffd}[2J\u{fffd}\u{fffd}\u{fffd}");
        assert_eq!(shortened(&"\u{e9}".repeat(100)), "\u{e9}".repeat(100));
        assert_eq!(shortened(&"\u{e9}".repeat(101)), "\u{e9}".repeat(100) + "...");
    }

    #[test]
    fn garbage_is_an_error() {
        for text in
            ["(", ")", "( FOO bar )", "( PLAY )", "PLAY", "( PLAY m.x (", "((play) m nil)", "\0\u{fffd}"]
        {
            assert!(Request::parse(text).is_err(), "{text}");
        }
    }
}
