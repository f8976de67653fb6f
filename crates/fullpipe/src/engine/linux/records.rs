//! The guest's records as it writes them: what is whole so far.

use fullpipe_guest::record::Head;
use std::fs::File;
use std::io::{self, Read};

/// Bytes read at a time.
const CHUNK: usize = 1 << 20;

/// See the module's description.
pub(super) struct Records {
    file: File,
    buffer: Vec<u8>,
    /// Where in the buffer the next record begins.
    next: usize,
}

impl Records {
    pub(super) fn new(file: File) -> Records {
        Records { file, buffer: Vec::new(), next: 0 }
    }

    /// Reads on; whether there was anything.
    pub(super) fn read_on(&mut self) -> io::Result<bool> {
        self.buffer.drain(..self.next);
        self.next = 0;
        let before = self.buffer.len();
        (&mut self.file).take(CHUNK as u64).read_to_end(&mut self.buffer)?;
        Ok(self.buffer.len() > before)
    }

    /// The next record, if it is whole.
    pub(super) fn next(&mut self) -> Option<(Head, &[u8])> {
        let rest = &self.buffer[self.next..];
        let head = Head::from_bytes(rest)?;
        let end = Head::SIZE + head.len as usize;
        let body = rest.get(Head::SIZE..end)?;
        self.next += end;
        Some((head, body))
    }
}
