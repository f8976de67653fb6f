//! Bytes received on the control connection, cut into states and JSON.
//!
//! The peer may send a message in pieces, and a state in one segment with the message before it.

use serde_json::Value;
use std::collections::VecDeque;
use std::fmt;

/// Bytes of the cookie, with the zero at its end.
pub const COOKIE: usize = 37;
/// Characters of a cookie.
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// Bytes of the length before a JSON text.
const LENGTH: usize = 4;

/// A message that is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// So many bytes are more than a message may have.
    TooLong(usize),
    /// The text is no JSON.
    NoJson(String),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::TooLong(bytes) => write!(f, "a message of {bytes} bytes is too long"),
            Malformed::NoJson(why) => write!(f, "a message is no JSON: {why}"),
        }
    }
}

/// Received bytes that nobody has taken yet.
#[derive(Clone, Debug, Default)]
pub struct Inbox {
    bytes: VecDeque<u8>,
}

impl Inbox {
    /// Adds received bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    /// The first byte, which stays.
    pub fn peek(&self) -> Option<u8> {
        self.bytes.front().copied()
    }

    /// Takes one byte.
    pub fn byte(&mut self) -> Option<u8> {
        self.bytes.pop_front()
    }

    /// Takes so many bytes, where they are there.
    pub fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        (self.bytes.len() >= count).then(|| self.bytes.drain(..count).collect())
    }

    /// Takes a JSON text of at most `most` bytes; none where it is not whole yet.
    ///
    /// # Errors
    /// The text is too long, or no JSON.
    pub fn json(&mut self, most: usize) -> Result<Option<Value>, Malformed> {
        if self.bytes.len() < LENGTH {
            return Ok(None);
        }
        let length =
            self.bytes.iter().take(LENGTH).fold(0, |sum, byte| sum << 8 | u32::from(*byte));
        let length = length as usize;
        if length > most {
            return Err(Malformed::TooLong(length));
        }
        let Some(message) = self.take(LENGTH + length) else { return Ok(None) };
        let read = serde_json::from_slice(&message[LENGTH..]);
        read.map(Some).map_err(|why| Malformed::NoJson(why.to_string()))
    }

    /// All bytes, as text for a message.
    pub fn shown(&self) -> String {
        const MOST: usize = 40;
        let text: Vec<u8> = self.bytes.iter().copied().take(MOST).collect();
        text.escape_ascii().to_string()
    }
}

/// A JSON text with its length before it.
pub fn message(value: &Value) -> Vec<u8> {
    let text = value.to_string();
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    [&length.to_be_bytes()[..], text.as_bytes()].concat()
}

/// The cookie that random bytes make.
pub fn cookie(random: [u8; COOKIE - 1]) -> [u8; COOKIE] {
    let mut cookie = [0; COOKIE];
    for (letter, random) in cookie.iter_mut().zip(random) {
        *letter = LETTERS[usize::from(random) % LETTERS.len()];
    }
    cookie
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_message_in_pieces_with_a_state_glued_to_it_is_parted() {
        let value = serde_json::json!({ "tcp": true, "num": 5_000_000_000_u64 });
        let mut bytes = message(&value);
        bytes.push(0x0e);
        let mut inbox = Inbox::default();
        for byte in &bytes[..bytes.len() - 2] {
            inbox.push(&[*byte]);
            assert_eq!(inbox.json(8192), Ok(None));
        }
        inbox.push(&bytes[bytes.len() - 2..]);
        assert_eq!(inbox.json(8192), Ok(Some(value)));
        assert_eq!((inbox.byte(), inbox.byte()), (Some(0x0e), None));
    }

    #[test]
    fn what_is_no_message_is_said() {
        let mut inbox = Inbox::default();
        inbox.push(b"SSH-2.0-OpenSSH_9.2p1\r\n");
        assert_eq!(inbox.json(8192), Err(Malformed::TooLong(0x5353_482d)));
        assert_eq!(inbox.shown(), "SSH-2.0-OpenSSH_9.2p1\\r\\n");
        let mut inbox = Inbox::default();
        inbox.push(&[0, 0, 0, 2, b'{', b'x']);
        assert!(matches!(inbox.json(8192), Err(Malformed::NoJson(_))));
    }

    #[test]
    fn a_cookie_has_36_letters_and_a_zero() {
        let cookie = cookie(std::array::from_fn(|at| (at * 41) as u8));
        assert_eq!(cookie[COOKIE - 1], 0);
        assert!(cookie[..COOKIE - 1].iter().all(|letter| LETTERS.contains(letter)));
    }

    proptest! {
        #[test]
        fn garbage_ends_without_a_panic(pieces in prop::collection::vec(any::<Vec<u8>>(), 0..20)) {
            let mut inbox = Inbox::default();
            for piece in pieces {
                inbox.push(&piece);
                while let Ok(Some(value)) = inbox.json(1 << 16) {
                    let _ = crate::parameters::Parameters::read(&value);
                    let _ = crate::results::Results::read(&value);
                }
                inbox.byte();
            }
        }
    }
}
