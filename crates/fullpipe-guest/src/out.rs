//! Output of the guest: records, and its progress.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use fullpipe_guest::record::{self, Head};

use crate::sys;

/// Bytes that are collected before they are written.
const CHUNK: usize = 256 << 10;
/// Bytes after which the kernel drops its cached pages of the file.
const FORGET: usize = 4 << 20;

/// The files of a run.
pub struct Out {
    records: File,
    progress: File,
    buffer: Vec<u8>,
    held: usize,
}

impl Out {
    /// Makes the files in a directory.
    pub fn create(root: &Path) -> io::Result<Out> {
        let records = File::create(root.join(record::FILE))?;
        let progress = File::create(root.join(record::PROGRESS))?;
        Ok(Out { records, progress, buffer: Vec::with_capacity(2 * CHUNK), held: 0 })
    }

    /// Adds a record that `fill` writes into `most` bytes; `fill` returns the number of used bytes.
    pub fn fill<E>(
        &mut self,
        kind: u16,
        index: usize,
        time_ns: u64,
        most: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> Result<(), E> {
        let start = self.buffer.len();
        let body = start + Head::SIZE;
        self.buffer.resize(body + most.next_multiple_of(8), 0);
        let len = fill(&mut self.buffer[body..body + most]).inspect_err(|_| {
            self.buffer.truncate(start);
        })?;
        // Bytes between the end of the body and the next multiple of 8 are still zero.
        let len = len.min(most).next_multiple_of(8);
        self.buffer.truncate(body + len);
        let head = Head { kind, index: index as u16, len: len as u32, time_ns };
        self.buffer[start..body].copy_from_slice(&head.to_bytes());
        Ok(())
    }

    /// Adds a record of a body in parts.
    pub fn record(&mut self, kind: u16, index: usize, time_ns: u64, body: &[u8]) {
        let Ok(()) = self.fill(kind, index, time_ns, body.len(), |to| {
            to.copy_from_slice(body);
            Ok::<usize, std::convert::Infallible>(body.len())
        });
    }

    /// Adds a record of numbers.
    pub fn numbers(&mut self, kind: u16, index: usize, time_ns: u64, numbers: &[u64]) {
        let body: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        self.record(kind, index, time_ns, &body);
    }

    /// Writes if there is much to write.
    pub fn relieve(&mut self) -> io::Result<()> {
        if self.buffer.len() >= CHUNK { self.flush() } else { Ok(()) }
    }

    /// Writes all that there is.
    pub fn flush(&mut self) -> io::Result<()> {
        self.records.write_all(&self.buffer)?;
        self.held += self.buffer.len();
        self.buffer.clear();
        if self.held >= FORGET {
            self.held = 0;
            sys::write_back(&self.records)?;
            sys::forget(&self.records);
        }
        Ok(())
    }

    /// Reports how far the run is, at once.
    pub fn progress(&mut self, time_ns: u64) -> io::Result<()> {
        self.progress.write_all_at(&time_ns.to_ne_bytes(), 0)?;
        sys::write_back(&self.progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_padded_with_zeros_and_a_failed_one_leaves_nothing() {
        let dir = std::env::temp_dir().join(format!("fullpipe-guest-out-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a directory");
        let mut out = Out::create(&dir).expect("files");
        out.fill(record::SENDER, 4, 5, 20, |to| {
            to[..3].copy_from_slice(&[1, 2, 3]);
            Ok::<usize, ()>(3)
        })
        .expect("a record");
        assert_eq!(out.fill(record::SENDER, 4, 6, 20, |_| Err(7)), Err(7));
        out.numbers(record::EVENT, 1, 8, &[9]);
        out.flush().expect("written");
        let bytes = std::fs::read(dir.join(record::FILE)).expect("records");
        std::fs::remove_dir_all(&dir).expect("removed");
        let head = Head::from_bytes(&bytes).expect("a head");
        assert_eq!(head, Head { kind: record::SENDER, index: 4, len: 8, time_ns: 5 });
        assert_eq!(bytes[16..24], [1, 2, 3, 0, 0, 0, 0, 0]);
        let head = Head::from_bytes(&bytes[24..]).expect("a second head");
        assert_eq!(head, Head { kind: record::EVENT, index: 1, len: 8, time_ns: 8 });
        assert_eq!(bytes[40..], 9_u64.to_ne_bytes());
    }
}
