//! The guest's records while it writes them: the complete ones so far.

use fullpipe_guest::record::Head;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;

/// Bytes read at a time.
const CHUNK: usize = 1 << 20;

/// Bytes that are read before their room on the disk is given back.
const GIVE_BACK: u64 = 16 << 20;

/// Reader of the guest's file of records, which gives back the room of records that it has read.
pub(super) struct Records {
    file: File,
    /// Bytes of the file that have been read, and of these the ones with their room given back.
    read: u64,
    given_back: u64,
    buffer: Vec<u8>,
    /// Where in the buffer the next record begins.
    next: usize,
}

impl Records {
    pub(super) fn new(file: File) -> Records {
        Records { file, read: 0, given_back: 0, buffer: Vec::new(), next: 0 }
    }

    /// Reads on; whether there was anything.
    pub(super) fn read_on(&mut self) -> io::Result<bool> {
        self.buffer.drain(..self.next);
        self.next = 0;
        let before = self.buffer.len();
        let came = (&mut self.file).take(CHUNK as u64).read_to_end(&mut self.buffer)?;
        self.read += came as u64;
        // Records that were read give their memory back, in large portions.
        if self.read - self.given_back >= GIVE_BACK {
            give_back(&self.file, self.given_back, self.read);
            self.given_back = self.read;
        }
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

/// Makes a hole of that part of a file, as far as its file system can: it takes no room any more.
fn give_back(file: &File, from: u64, to: u64) {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    let (from, len) = (from as libc::off_t, (to - from) as libc::off_t);
    // SAFETY: it takes no pointers.
    unsafe { libc::fallocate(file.as_raw_fd(), mode, from, len) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn what_was_read_takes_no_room() {
        let path = std::env::temp_dir().join(format!("fullpipe-records-{}", std::process::id()));
        let mut writer = File::create(&path).expect("a file");
        let file = File::options().read(true).write(true).open(&path).expect("the file");
        std::fs::remove_file(&path).expect("removed");
        let head = Head { kind: 1, index: 2, len: 1 << 16, time_ns: 3 };
        let record = [&head.to_bytes()[..], &[7; 1 << 16]].concat();
        let mut records = Records::new(file);
        for _ in 0..3 * GIVE_BACK / record.len() as u64 {
            writer.write_all(&record).expect("written");
            while records.read_on().expect("read") {
                while let Some((found, body)) = records.next() {
                    assert_eq!((found, body), (head, &record[Head::SIZE..]));
                }
            }
        }
        writer.sync_all().expect("on the disk");
        let room = records.file.metadata().expect("of the file").blocks() * 512;
        assert!(room < 2 * GIVE_BACK, "{room} bytes are taken");
    }
}
