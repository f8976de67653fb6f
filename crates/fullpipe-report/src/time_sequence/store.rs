//! Where the chunks go: into the page, one after the other, deflated (RFC 1951) and in base64 (RFC 4648, section 4).

use std::io::{self, Write};

/// Level of compression: the usual one.
const LEVEL: u8 = 6;
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Place of a chunk: its first letter, and its number of letters.
pub type Place = (u64, usize);

/// Writer of the chunks, with the number of letters so far.
pub struct Store<W> {
    out: W,
    letters: u64,
}

impl<W: Write> Store<W> {
    /// Nothing is in it yet.
    pub fn new(out: W) -> Store<W> {
        Store { out, letters: 0 }
    }

    /// Adds a chunk.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add(&mut self, bytes: &[u8]) -> io::Result<Place> {
        let text = packed(bytes);
        self.out.write_all(text.as_bytes())?;
        let place = (self.letters, text.len());
        self.letters += text.len() as u64;
        Ok(place)
    }
}

/// Bytes deflated (RFC 1951) and in base64 (RFC 4648, section 4).
pub fn packed(bytes: &[u8]) -> String {
    base64(&miniz_oxide::deflate::compress_to_vec(bytes, LEVEL))
}

fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= three.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_texts_have_known_letters() {
        // RFC 4648, section 10.
        let vectors =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (text, letters) in vectors {
            assert_eq!(base64(text.as_bytes()), letters, "{text}");
        }
    }

    #[test]
    fn chunks_stand_one_after_the_other() {
        let mut text = Vec::new();
        let mut store = Store::new(&mut text);
        let places = [store.add(&[1; 1000]).unwrap(), store.add(&[2; 10]).unwrap()];
        assert_eq!(places[1].0, places[0].1 as u64);
        assert_eq!(text.len() as u64, places[1].0 + places[1].1 as u64);
    }
}
