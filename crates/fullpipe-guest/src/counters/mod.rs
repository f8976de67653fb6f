//! Counters of the hosts' protocols and devices, and of the kernel's receive path, from files of /proc.
//!
//! The files are long and few of their values change. So a record has the changed values, by numbers.

mod mount;
mod text;

use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};

use fullpipe_guest::plan::Plan;
use fullpipe_guest::record::{COUNTERS, NAMES};

use crate::error::{Context, Error, Result};
use crate::namespaces::Namespace;
use crate::out::Out;
use crate::uring::{LONGEST, Ring, Step};
pub use text::Format;

/// Files of a host's network namespace.
const OF_HOST: [(&str, Format); 3] =
    [("snmp", Format::Protocols), ("netstat", Format::Protocols), ("dev", Format::Devices)];
/// File of the whole kernel.
const OF_KERNEL: (&str, Format) = ("softnet_stat", Format::Softnet);

/// Counters of all hosts and of the kernel, each with its last value.
pub struct Counters {
    sources: Vec<Source>,
}

/// A file, and its last values.
struct Source {
    file: OwnedFd,
    said: Said,
}

/// Last values of a text.
pub struct Said {
    host: String,
    name: &'static str,
    format: Format,
    values: Vec<u64>,
    /// Room for the values of the next text.
    now: Vec<u64>,
}

impl Counters {
    /// Opens the counters of the sender, the receiver, the extra hosts and the kernel.
    pub fn open<'a>(
        plan: &Plan,
        hosts: impl IntoIterator<Item = &'a Namespace>,
    ) -> Result<Counters> {
        let mut sources = Vec::new();
        let beside = plan.beside.iter().map(|own| own.name.as_str());
        for (host, namespace) in ["sender", "receiver"].into_iter().chain(beside).zip(hosts) {
            namespace.enter()?;
            for (name, format) in OF_HOST {
                sources.push(Source::open(host, name, format)?);
            }
        }
        sources.push(Source::open("kernel", OF_KERNEL.0, OF_KERNEL.1)?);
        Ok(Counters { sources })
    }

    /// The files, in the order in which [`Counters::record`] wants their texts.
    pub fn files(&self) -> impl Iterator<Item = &OwnedFd> {
        self.sources.iter().map(|source| &source.file)
    }

    /// Whether a chain can read the files. Linux 6.1 cannot do it at once (EAGAIN).
    pub fn fit_into_chains(&self) -> Result<bool> {
        let mut ring = Ring::new(1, 1).at(|| "io_uring")?;
        let first: Vec<Step<'_>> = self.files().take(1).map(Step::Text).collect();
        match ring.run(&first) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            other => other.map(|()| true).at(|| "counters"),
        }
    }

    /// Records changed values, from the next text of each file.
    pub fn record<'a>(
        &mut self,
        time_ns: u64,
        texts: &mut impl Iterator<Item = &'a [u8]>,
        out: &mut Out,
    ) -> Result<()> {
        for (number, (source, text)) in self.sources.iter_mut().zip(texts).enumerate() {
            source.said.record(number, time_ns, text, out)?;
        }
        out.relieve().at(|| "records")
    }

    /// Reads the files now, and records changed values.
    pub fn record_now(&mut self, time_ns: u64, out: &mut Out) -> Result<()> {
        for (number, source) in self.sources.iter_mut().enumerate() {
            let mut text = [0; LONGEST];
            let Source { file, said } = source;
            let file = File::from(file.try_clone().at(|| said.name)?);
            let length = file.read_at(&mut text, 0).at(|| said.name)?;
            said.record(number, time_ns, &text[..length], out)?;
        }
        Ok(())
    }
}

impl Source {
    /// Opens a file of the namespace that the thread is in. It does not block: io_uring reads it at once, if at all.
    fn open(host: &str, name: &'static str, format: Format) -> Result<Source> {
        let mut options = File::options();
        let options = options.read(true).custom_flags(libc::O_NONBLOCK);
        let file = options.open(format!("/proc/thread-self/net/{name}")).at(|| name)?.into();
        Ok(Source { file, said: Said::new(host.into(), name, format) })
    }
}

impl Said {
    /// Nothing so far, of a text of that name of a host.
    pub fn new(host: String, name: &'static str, format: Format) -> Said {
        Said { host, name, format, values: Vec::new(), now: Vec::new() }
    }

    /// Records changed values of the text, as the source of that number.
    pub fn record(
        &mut self,
        number: usize,
        time_ns: u64,
        text: &[u8],
        out: &mut Out,
    ) -> Result<()> {
        let wrong = |why: &str| Error::new(self.name, why);
        if text.len() == LONGEST {
            return Err(wrong("longer than there is room for"));
        }
        let text = std::str::from_utf8(text).map_err(|_| wrong("no text"))?;

        // The names are recorded once; records have the numbers of counters.
        if self.values.is_empty() {
            let names = self.format.names(text);
            self.values = vec![0; names.len()];
            let body = std::iter::once(self.host.as_str()).chain(names.iter().map(String::as_str));
            out.record(NAMES, number, time_ns, body.collect::<Vec<_>>().join("\n").as_bytes());
        }
        self.now.clear();
        self.format.values(text, |value| self.now.push(value));
        if self.now.len() != self.values.len() {
            return Err(Error::new(self.name, "has other counters than before"));
        }
        let both = self.values.iter().zip(&self.now).enumerate();
        let changed = both.filter(|(_, (before, now))| before != now);
        let pairs: Vec<u64> = changed.flat_map(|(at, (_, now))| [at as u64, *now]).collect();
        if !pairs.is_empty() {
            out.numbers(COUNTERS, number, time_ns, &pairs);
        }
        std::mem::swap(&mut self.values, &mut self.now);
        Ok(())
    }
}
