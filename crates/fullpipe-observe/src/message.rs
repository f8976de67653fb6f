//! Messages of netlink: a head, a structure, attributes.

/// Wants an answer that says whether it was done.
pub const ACK: u16 = 4;
/// Wants the object back.
pub const ECHO: u16 = 8;
/// Makes it.
pub const CREATE: u16 = 0x400;
/// Wants all objects.
pub const DUMP: u16 = 0x300;
/// There must be none yet.
pub const EXCLUSIVE: u16 = 0x200;

const REQUEST: u16 = 1;
/// Bytes before a message's structure (`struct nlmsghdr`).
pub const HEAD: usize = 16;

/// A request being written.
pub struct Message {
    bytes: Vec<u8>,
}

impl Message {
    /// A request of that type; `body` is the structure that the type wants.
    pub fn new(kind: u16, flags: u16, body: &[u8]) -> Message {
        let mut bytes = Vec::with_capacity(256);
        bytes.extend_from_slice(&0_u32.to_ne_bytes());
        bytes.extend_from_slice(&kind.to_ne_bytes());
        bytes.extend_from_slice(&(flags | REQUEST).to_ne_bytes());
        bytes.extend_from_slice(&[0; 8]);
        bytes.extend_from_slice(body);
        let mut message = Message { bytes };
        message.pad();
        message
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    /// Adds an attribute of bytes.
    pub fn attr(&mut self, kind: u16, value: &[u8]) -> &mut Message {
        self.bytes.extend_from_slice(&(value.len() as u16 + 4).to_ne_bytes());
        self.bytes.extend_from_slice(&kind.to_ne_bytes());
        self.bytes.extend_from_slice(value);
        self.pad();
        self
    }

    /// Adds a number of 32 bits.
    pub fn u32(&mut self, kind: u16, value: u32) -> &mut Message {
        self.attr(kind, &value.to_ne_bytes())
    }

    /// Adds a number of 64 bits.
    pub fn u64(&mut self, kind: u16, value: u64) -> &mut Message {
        self.attr(kind, &value.to_ne_bytes())
    }

    /// Adds a text.
    pub fn text(&mut self, kind: u16, value: &str) -> &mut Message {
        self.attr(kind, &[value.as_bytes(), &[0]].concat())
    }

    /// Adds an attribute that begins with the structure `body` and holds the attributes of `fill`.
    pub fn nest(
        &mut self,
        kind: u16,
        body: &[u8],
        fill: impl FnOnce(&mut Message),
    ) -> &mut Message {
        let start = self.bytes.len();
        self.attr(kind, body);
        fill(self);
        let len = (self.bytes.len() - start) as u16;
        self.bytes[start..start + 2].copy_from_slice(&len.to_ne_bytes());
        self
    }

    /// The message as it is sent.
    pub fn finish(&mut self, sequence: u32) -> &[u8] {
        let len = self.bytes.len() as u32;
        self.bytes[..4].copy_from_slice(&len.to_ne_bytes());
        self.bytes[8..12].copy_from_slice(&sequence.to_ne_bytes());
        &self.bytes
    }
}

/// Answer of the kernel to a request: nothing, or the error's number and perhaps its words.
pub struct Answer {
    /// A number of errno; 0: done.
    pub errno: i32,
    /// The kernel's words.
    pub words: Option<String>,
}

const ERROR: u16 = 2;
const HAS_ATTRIBUTES: u16 = 0x200;
const WORDS: u16 = 1;

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// Type of a message.
pub fn kind(message: &[u8]) -> Option<u16> {
    u16_at(message, 4)
}

/// Number of the request that a message answers.
pub fn sequence(message: &[u8]) -> Option<u32> {
    Some(u32::from_ne_bytes(message.get(8..12)?.try_into().ok()?))
}

impl Answer {
    /// Reads an answer; none if `bytes` is another message.
    pub fn from_bytes(bytes: &[u8]) -> Option<Answer> {
        if kind(bytes)? != ERROR {
            return None;
        }
        let errno = -i32::from_ne_bytes(bytes.get(HEAD..HEAD + 4)?.try_into().ok()?);
        let has_words = u16_at(bytes, 6)? & HAS_ATTRIBUTES != 0;
        // The head of the request is repeated before the attributes.
        let attributes = bytes.get(HEAD + 4 + HEAD..).filter(|_| has_words);
        Some(Answer { errno, words: attributes.and_then(words) })
    }
}

fn words(bytes: &[u8]) -> Option<String> {
    let (_, value) = attributes(bytes).find(|(kind, _)| *kind == WORDS)?;
    let text = value.split(|byte| *byte == 0).next()?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// Bits of an attribute's type that are its type; the others say how it is written.
const TYPE: u16 = 0x3fff;

/// The attributes in `bytes`, as far as they are whole: type, value.
pub fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let len = usize::from(u16_at(bytes, 0)?);
        let attribute = (u16_at(bytes, 2)? & TYPE, bytes.get(4..len)?);
        bytes = bytes.get(len.next_multiple_of(4)..).unwrap_or_default();
        Some(attribute)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_padded_and_nests_know_their_length() {
        let mut message = Message::new(0x24, ACK | CREATE, &[7; 4]);
        message.text(1, "ab").nest(2, &[], |inner| {
            inner.u32(5, 0x0102_0304);
        });
        #[rustfmt::skip]
        let expected = [
            40, 0, 0, 0,  0x24, 0,  5, 4,  9, 0, 0, 0,  0, 0, 0, 0,
            7, 7, 7, 7,
            7, 0, 1, 0,  b'a', b'b', 0, 0,
            12, 0, 2, 0,
            8, 0, 5, 0,  4, 3, 2, 1,
        ];
        if cfg!(target_endian = "little") {
            assert_eq!(message.finish(9), expected);
        }
    }

    #[test]
    fn an_answer_has_the_kernels_words() {
        let mut bytes = vec![0; 36];
        bytes[4..6].copy_from_slice(&ERROR.to_ne_bytes());
        bytes[6..8].copy_from_slice(&HAS_ATTRIBUTES.to_ne_bytes());
        bytes[16..20].copy_from_slice(&(-22_i32).to_ne_bytes());
        let mut tail = Message::new(0, 0, &[]);
        tail.text(2, "ab").text(WORDS, "no such thing");
        bytes.extend_from_slice(&tail.finish(0)[HEAD..]);
        let answer = Answer::from_bytes(&bytes).expect("an answer");
        assert_eq!((answer.errno, answer.words.as_deref()), (22, Some("no such thing")));
        bytes[6..8].fill(0);
        assert_eq!(Answer::from_bytes(&bytes).and_then(|answer| answer.words), None);
    }
}
