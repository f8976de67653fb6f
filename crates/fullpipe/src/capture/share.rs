//! A capture of raw IP packets that are cut behind their headers.

use super::Error;
use super::format::Format;
use super::out::Out;
use fullpipe_base::units::Time;
use std::io::Write;
use std::path::Path;

/// A packet of which the first bytes are kept.
#[derive(Clone, Copy, Debug)]
pub struct Cut<'a> {
    /// When, since 1970.
    pub time: Time,
    /// Kept bytes.
    pub bytes: &'a [u8],
    /// Length that it had, bytes.
    pub length: u32,
}

/// A capture that is being written.
#[derive(Debug)]
pub struct Share {
    out: Out,
    format: Format,
    packets: u64,
    last: Time,
    error: Option<Error>,
}

impl Share {
    /// Begins the file `path`: classic pcap if its name ends in `.pcap`, else pcapng.
    ///
    /// # Errors
    /// The file exists, or cannot be made.
    pub fn create(path: &Path, comment: &str) -> Result<Share, Error> {
        Ok(Share::begin(Out::file(path)?, path, comment))
    }

    /// Begins a capture as pcapng on a stream.
    pub fn stream(stream: Box<dyn Write>, comment: &str) -> Share {
        Share::begin(Out::stream(stream), Path::new("-"), comment)
    }

    fn begin(mut out: Out, path: &Path, comment: &str) -> Share {
        let format = Format::of(path, 0).raw();
        format.begin(out.buffer(), "any", comment);
        Share { out, format, packets: 0, last: Time::ZERO, error: None }
    }

    /// The hidden file, until it gets its name; none where it is a stream.
    pub fn hidden(&self) -> Option<&Path> {
        self.out.hidden()
    }

    /// Adds a packet. An error ends the file, and comes from [`Share::finish`].
    pub fn packet(&mut self, packet: &Cut) {
        if self.error.is_some() {
            return;
        }
        self.format.cut(self.out.buffer(), packet);
        self.packets += 1;
        self.last = self.last.max(packet.time);
        self.error = self.out.flush(false).err();
    }

    /// Gives the file its name; the number of packets in it.
    ///
    /// # Errors
    /// It could not be written, or its name was taken meanwhile.
    pub fn finish(mut self) -> Result<u64, Error> {
        self.format.end(self.out.buffer(), self.last, self.packets, None);
        match self.error {
            Some(error) => Err(error),
            None => {
                self.out.flush(true)?;
                self.out.finish().map(|()| self.packets)
            }
        }
    }
}
