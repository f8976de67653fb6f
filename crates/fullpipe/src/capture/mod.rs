//! Captures: the packets that pass one point of a run, as a file for Wireshark, tshark, tcptrace.
//!
//! The engine passes each packet to the sink ([`Sink::packet`]). Here the packet gets its headers ([`headers`]), its
//! place in the file format ([`format`]) and, where it was dropped later on, a comment. The file grows under a hidden
//! name, always by whole blocks, and gets its name at the end; a file that exists is never overwritten. A stream
//! replaces the file where a program reads meanwhile.

mod comment;
mod file;
mod format;
mod headers;
mod out;
mod reference;
mod share;
mod tap;
mod trains;

pub use crate::scenario::point::At;
use crate::scenario::point::POINTS;
use crate::scenario::{Flow, Plan, Resolved, Scenario};
use crate::trace::Error;
use file::{Hidden, variant_path};
use format::{Format, Seen};
use fullpipe_base::trace::{Packet, Point, Sink, StageInfo};
use fullpipe_base::units::Time;
use out::Out;
pub use reference::reference;
pub use share::{Cut, Share};
use std::io::Write;
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tap::{Tap, Tapped};
pub use trains::{Kept, Trains};

/// Default of the bytes kept of a packet.
pub const SNAP: u32 = 128;
/// Least number of bytes that can be kept: the longest headers.
pub const LEAST_SNAP: u32 = headers::LONGEST as u32;

/// Run, point and length of a capture.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The run.
    pub plan: &'a Plan,
    /// The point.
    pub at: &'a At,
    /// Bytes kept of a packet, at least [`LEAST_SNAP`]; 0: all.
    pub snap: u32,
}

/// Result of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The capture is whole, and has so many packets.
    Whole(u64),
    /// The stream's reader closed it before the end; the number of read bytes is unknown.
    ReaderLeft,
}

/// A capture that is being written.
#[derive(Debug)]
pub struct Capture {
    out: Out,
    format: Format,
    point: Point,
    /// Ends of each flow: the one that sends its data, and the one that receives it.
    ends: Vec<[End; 2]>,
    stages: Vec<StageInfo>,
    packets: u64,
    error: Option<Error>,
    failed: Arc<AtomicBool>,
}

impl Capture {
    /// Begins the file `path`: classic pcap if its name ends in `.pcap`, else pcapng.
    ///
    /// # Errors
    /// The scenario has no such point; the file exists, or cannot be made.
    pub fn create(path: &Path, about: &About) -> Result<Capture, Error> {
        Capture::begin(Out::file(path)?, path, about)
    }

    /// Begins a capture as pcapng on a stream. A reader that closes the stream ends the capture, not the run.
    ///
    /// # Errors
    /// The scenario has no such point.
    pub fn stream(stream: Box<dyn Write>, about: &About) -> Result<Capture, Error> {
        Capture::begin(Out::stream(stream), Path::new("-"), about)
    }

    fn begin(mut out: Out, path: &Path, about: &About) -> Result<Capture, Error> {
        let point = about.at.point(&about.plan.resolved).map_err(|why| Error::new(path, why))?;
        let format = Format::of(path, about.snap);
        format.begin(out.buffer(), about.at.name(), &comment::section(about));
        let failed = Arc::default();
        let run = &about.plan.resolved;
        let ends = (0..).zip(&run.flow).map(|(number, flow)| ends(number, flow, run)).collect();
        let mut capture = Capture {
            out,
            format,
            point,
            ends,
            stages: Vec::new(),
            packets: 0,
            error: None,
            failed,
        };
        capture.flush(true);
        Ok(capture)
    }

    /// The hidden file, until it gets its name; none where it is a stream.
    pub fn hidden(&self) -> Option<&Path> {
        self.out.hidden()
    }

    /// Becomes true when the file can no longer be written; then the run may as well end.
    pub fn failed(&self) -> Arc<AtomicBool> {
        self.failed.clone()
    }

    /// A sink that captures, and passes everything on to `sink`.
    pub fn before<'a>(&'a mut self, sink: &'a mut dyn Sink) -> impl Sink + 'a {
        Tapped { tap: self, sink }
    }

    /// Gives the file its name; the run went as far as `end`, and to its end if `complete`.
    ///
    /// # Errors
    /// It could not be written, or its name was taken meanwhile.
    pub fn finish(mut self, end: Time, complete: bool) -> Result<Taken, Error> {
        let stopped = (!complete).then(|| format!("The run was stopped at {end}."));
        self.format.end(self.out.buffer(), end, self.packets, stopped.as_deref());
        self.flush(true);
        if let Some(error) = self.error {
            return Err(error);
        }
        let taken = match self.out.reader_left() {
            true => Taken::ReaderLeft,
            false => Taken::Whole(self.packets),
        };
        self.out.finish().map(|()| taken)
    }

    fn take(&mut self, packet: &Packet) {
        self.packets += 1;
        let Some(&[sends, receives]) = self.ends.get(usize::from(packet.flow)) else { return };
        // Hosts at the sender's end of the path have lower indices.
        let of_sender = packet.forward == (sends.place < receives.place);
        let (from, to) = if of_sender { (sends, receives) } else { (receives, sends) };
        let outgoing = match self.point {
            Point::Qdisc(host) | Point::Wire(host) => Some(from.place == host),
            Point::Element(_) => None,
        };
        let comment = comment::dropped(packet, &self.stages);
        let seen = Seen { time: packet.time, outgoing, comment: comment.as_deref() };
        let headers = headers::bytes(packet, [from.address, to.address]);
        self.format.packet(self.out.buffer(), &seen, &headers, packet.len);
        self.flush(false);
    }

    fn flush(&mut self, all: bool) {
        if self.error.is_none()
            && let Err(error) = self.out.flush(all)
        {
            self.failed.store(true, Ordering::SeqCst);
            self.error = Some(error);
        }
    }
}

/// An end of a flow.
#[derive(Clone, Copy, Debug)]
struct End {
    /// Index of its host in the run.
    place: usize,
    address: SocketAddrV4,
}

/// Ends of a flow by its number, the one that sends its data first.
fn ends(number: u16, flow: &Flow, run: &Resolved) -> [End; 2] {
    let stations = run.stations();
    let [from, to] = headers::ends(number, flow, run);
    let end = |name: &str, address| {
        let place = stations.iter().position(|station| station.name == name).unwrap_or_default();
        End { place, address }
    };
    let [sends, receives] = run.hosts_of(flow);
    [end(sends.name, from), end(receives.name, to)]
}

impl Tap for Capture {
    fn point(&self) -> Point {
        self.point
    }
    fn stages(&mut self, stages: &[StageInfo]) {
        self.stages = stages.to_vec();
    }
    fn packet(&mut self, packet: &Packet) {
        self.take(packet);
    }
}

/// Whether a capture can be written to `path`, by beginning one.
///
/// # Errors
/// The file exists, or cannot be made.
pub fn check(path: &Path) -> Result<(), Error> {
    Hidden::create(path).map(drop)
}

/// The file of each run: `path` itself if there is one run, else with the run's name before the
/// extension.
pub fn paths(path: &Path, scenario: &Scenario) -> Vec<PathBuf> {
    let names: Vec<String> = scenario.plans().iter().map(Plan::name).collect();
    match names.len() {
        1 => vec![path.to_path_buf()],
        _ => crate::trace::folders::folders(&names)
            .iter()
            .map(|name| variant_path(path, name))
            .collect(),
    }
}
