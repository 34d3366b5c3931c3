//! When a message is complete, told from its parentheses.
//!
//! Content-Length cannot be trusted: ggp-base sends a count of UTF-16 units, others none or a wrong one
//! (section 3). A message is one expression, so it is complete when its parentheses balance. In go the bytes
//! as they arrive; the expressions themselves are read elsewhere.

/// Counts parentheses outside comments.
#[derive(Debug, Clone, Default)]
pub struct Balance {
    depth: usize,
    /// Whether any parenthesis was opened.
    opened: bool,
    within: Within,
    last: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Within {
    #[default]
    Text,
    LineComment,
    BlockComment,
}

impl Balance {
    /// Takes further bytes of the message.
    pub fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match (self.within, byte) {
                (Within::Text, b'(') => {
                    self.depth += 1;
                    self.opened = true;
                }
                (Within::Text, b')') => self.depth = self.depth.saturating_sub(1),
                // Only inside the rules, where a blank or a parenthesis comes before it: match ids may hold `;`.
                (Within::Text, b';') if self.depth > 1 => self.within = Within::LineComment,
                (Within::Text, b'|') if self.last == b'#' && self.depth > 1 => {
                    self.within = Within::BlockComment;
                }
                (Within::LineComment, b'\n' | b'\r') => self.within = Within::Text,
                (Within::BlockComment, b'#') if self.last == b'|' => self.within = Within::Text,
                _ => {}
            }
            self.last = byte;
        }
    }

    /// Whether a whole parenthesised expression has arrived.
    pub fn is_complete(&self) -> bool {
        self.opened && self.depth == 0
    }

    /// Whether a parenthesis is still open.
    pub fn is_open(&self) -> bool {
        self.depth > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str) -> Balance {
        let mut balance = Balance::default();
        balance.push(text.as_bytes());
        balance
    }

    #[test]
    fn a_message_is_complete_when_it_balances() {
        assert!(after("( PLAY a;b (noop (mark 1)) )").is_complete());
        assert!(!after("( PLAY a;b (noop (mark 1) )").is_complete());
        assert!(!after("info").is_complete());
        assert!(!after("").is_open());
    }

    #[test]
    fn comments_in_rules_do_not_count() {
        assert!(after("(start m r ((role r) ; (\n (p) #| (( |# ) 1 1)").is_complete());
        assert!(after("(start m r ((role r) ; )\n").is_open());
    }
}
