//! Captures of somebody: which connections they have, and what limits the busiest ones.
//!
//! | file | concern |
//! |---|---|
//! | `control.rs` | the congestion control, guessed |
//! | `run.rs` | a run as a reader of its capture sees it |
//! | `meta.rs` | facts about a connection that its trace does not hold |
//! | `wire.rs` | facts that packets show and sockets do not |
//! | `packets.rs` | the packets of a connection as a table |
//! | `extract.rs` | one connection as a file to share |
//! | `listed.rs` | the table of all connections |
//!
//! Files are read twice, so that memory stays bounded: once for the table, once for the chosen connections.

mod control;
pub mod extract;
mod listed;
mod meta;
pub mod packets;
pub mod run;
mod wire;

pub use control::Control;
pub use fullpipe_observe::capture::connections::{Connection, Connections, Way};
pub use fullpipe_observe::capture::file::{HEAD, is_capture};
pub use fullpipe_observe::capture::frame::LINKS;
pub use fullpipe_observe::capture::place::{Place, Placed, placed};
pub use listed::Listed;

use crate::analysis::document::{Grade, Run};
use crate::analysis::view::View;
use crate::analysis::{self, RunMeta};
use crate::capture::At;
use crate::observation::Selection;
use crate::trace::recording::Recording;
use fullpipe_observe::capture::file::{self, Frame};
use fullpipe_observe::capture::frame::{self, Packet};
use fullpipe_observe::capture::segment::{Segment, segment};
use fullpipe_observe::capture::timeline::Timeline;
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Name of the source of a capture's trace, in place of an engine's.
pub const SOURCE: &str = "capture";
/// Packets between two reports of progress.
const REPORTED: u64 = 1 << 15;

/// A file of captured packets.
#[derive(Clone, Debug)]
pub struct Input {
    /// Name in messages.
    pub name: String,
    /// Place of the file.
    pub path: PathBuf,
}

/// Watches a reading.
pub trait Watch {
    /// That many packets were read, in that reading of two; false ends it.
    fn read(&mut self, packets: u64, reading: u32) -> bool;
}

/// A watch that reads to the end.
pub struct ToTheEnd;

impl Watch for ToTheEnd {
    fn read(&mut self, _packets: u64, _reading: u32) -> bool {
        true
    }
}

/// Everything that files have, before any connection is looked at in detail.
#[derive(Debug, Default)]
pub struct Overview {
    /// All connections.
    pub connections: Connections,
    /// Packets of all kinds.
    pub packets: u64,
    /// Segments of TCP.
    pub segments: u64,
    /// Packets of links that are not read, by the type of the link.
    pub unknown: BTreeMap<u16, u64>,
    /// Packets that the capturing host has dropped, where a file says so.
    pub dropped: u64,
    /// Files whose end is not read, and why.
    pub cut: Vec<String>,
    /// Whether the reading was ended before the end of the files.
    pub stopped: bool,
}

/// A connection in detail.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Its place among the connections.
    pub index: usize,
    /// Number of the end that sends the data.
    pub way: usize,
    /// Place of the capture.
    pub placed: Placed,
    /// Facts that the trace does not hold.
    pub meta: RunMeta,
    /// Facts, headline and findings.
    pub run: Run,
    /// Its trace.
    pub recording: Recording,
    /// Whether the handshake was captured, at least in part.
    pub has_begin: bool,
    /// The sender's congestion control, guessed.
    pub control: Option<Control>,
}

impl Judged {
    /// Point of a run at which a capture shows what this one does.
    pub fn point(&self) -> Option<At> {
        run::point(view(self.placed.place))
    }
}

/// The files in the order of their first packets. One without a packet keeps its place.
pub fn in_order(mut inputs: Vec<Input>) -> Vec<Input> {
    if inputs.len() < 2 {
        return inputs;
    }
    let first = |own: &Input| {
        let mut time = None;
        let opened = File::open(&own.path).ok()?;
        let _ = file::read(opened, &mut |frame| {
            time = Some(frame.time);
            ControlFlow::Break(())
        });
        time
    };
    let times: Vec<_> = inputs.iter().map(first).collect();
    if times.iter().all(Option::is_some) && !times.is_sorted() {
        let mut both: Vec<_> = times.into_iter().zip(inputs).collect();
        both.sort_by_key(|(time, _)| *time);
        inputs = both.into_iter().map(|(_, own)| own).collect();
    }
    inputs
}

/// Reads files for the first time.
///
/// # Errors
/// A file cannot be opened, or is no capture. The message names it.
pub fn overview(inputs: &[Input], watch: &mut dyn Watch) -> Result<Overview, String> {
    let mut all = Overview::default();
    let mut connections = std::mem::take(&mut all.connections);
    read(inputs, 1, watch, &mut all, &mut |own, _| _ = connections.add(own))?;
    all.connections = connections;
    Ok(all)
}

impl Overview {
    /// Numbers of the wanted connections, those with most data first.
    pub fn busiest(&self, wanted: &Selection) -> Vec<usize> {
        let all = self.connections.all().iter();
        let fitting = all.filter(|own| {
            let [a, b] = own.ends;
            wanted.fits_ends(a, b) || wanted.fits_ends(b, a)
        });
        let mut fitting: Vec<&Connection> = fitting.collect();
        let weight = |own: &Connection| {
            let bytes: u64 = own.ways.iter().map(Way::unique).sum();
            (std::cmp::Reverse((bytes, own.packets())), own.index)
        };
        fitting.sort_by_key(|own| weight(own));
        fitting.into_iter().map(|own| own.index).collect()
    }

    /// Reads the files again, and judges these connections. `at` is the place of the capture, where the user knows it.
    ///
    /// # Errors
    /// A file cannot be read any more.
    pub fn judge(
        &self,
        inputs: &[Input],
        chosen: &[usize],
        at: Option<Place>,
        watch: &mut dyn Watch,
    ) -> Result<Vec<Judged>, String> {
        let begin = |index: &usize| {
            let own = &self.connections.all()[*index];
            let way = own.main_way();
            let found = placed(own, way);
            let placed = Placed { place: at.unwrap_or(found.place), ..found };
            let timeline = Timeline::new(meta::setup(own, way, &placed));
            Detail { index: *index, way, placed, timeline }
        };
        let mut details: Vec<Detail> = chosen.iter().map(begin).collect();
        let places: BTreeMap<usize, usize> =
            details.iter().enumerate().map(|(place, own)| (own.index, place)).collect();
        let mut again = Connections::default();
        read(inputs, 2, watch, &mut Overview::default(), &mut |own, _| {
            let (index, is_new) = again.add(own);
            let Some(place) = places.get(&index).filter(|_| is_new) else { return };
            let detail = &mut details[*place];
            match again.all()[index].way_of(own) == detail.way {
                true => {
                    detail.timeline.data(own);
                }
                false => detail.timeline.ack(own),
            }
        })?;
        Ok(details.into_iter().map(|own| own.judged(self)).collect())
    }
}

/// A connection that is read in detail.
struct Detail {
    index: usize,
    way: usize,
    placed: Placed,
    timeline: Timeline,
}

impl Detail {
    fn judged(self, overview: &Overview) -> Judged {
        let own = &overview.connections.all()[self.index];
        let step = self.timeline.step();
        let (flows, packets) = self.timeline.finish();
        let lasts = own.lasts().as_secs_f64();
        let wire = wire::wire(own, self.way, &self.placed, &packets, lasts);
        let meta = meta::of(own, self.way, &self.placed, wire, step);
        let recording = Recording { flows, ..Recording::default() };
        let mut run = analysis::run_in(view(self.placed.place), &meta, &recording);
        if let Some(why) = nothing_to_judge(own, self.way)
            && let Some(headline) = &mut run.headline
        {
            (headline.text, headline.grade) = (why.into(), Grade::CannotTell);
            run.findings.clear();
        }
        let stopped = recording.flows.last().map_or(0.0, |row| {
            row.sender.rwnd_limited_us as f64 / row.sender.busy_time_us.max(1) as f64
        });
        let control = control::guess(&packets.epochs, stopped);
        let has_begin = own.ways.iter().any(|way| way.offer.is_some());
        let Detail { index, way, placed, .. } = self;
        Judged { index, way, placed, meta, run, recording, has_begin, control }
    }
}

/// View of a capture at this place.
fn view(place: Place) -> View {
    match place {
        Place::Sender => View::SenderCapture,
        Place::Receiver => View::ReceiverCapture,
        Place::Middle => View::MiddleCapture,
    }
}

/// Reason for which packets of a connection show no cause, whatever the rules say.
fn nothing_to_judge(own: &Connection, way: usize) -> Option<&'static str> {
    let [data, back] = [&own.ways[way], &own.ways[1 - way]];
    if data.packets == 0 || back.packets == 0 {
        return Some(
            "Packets of one direction alone were captured, so nothing shows what limits the flow. Capture both directions.",
        );
    }
    if data.data_packets == 0 {
        return Some("No data: the connection was opened or closed, and carried nothing.");
    }
    None
}

/// Reads the segments of all files, one file behind the other.
fn read(
    inputs: &[Input],
    reading: u32,
    watch: &mut dyn Watch,
    all: &mut Overview,
    each: &mut dyn FnMut(&Segment, &Packet),
) -> Result<(), String> {
    for input in inputs {
        let named = |why: String| format!("{}: {why}", input.name);
        let opened = File::open(&input.path).map_err(|why| named(why.to_string()))?;
        let mut packet = |frame: Frame| {
            all.packets += 1;
            if !frame::knows(frame.link) {
                *all.unknown.entry(frame.link).or_default() += 1;
            } else if let Some(packet) = frame::packet(frame.link, frame.bytes, frame.length)
                && let Some(own) = segment(frame.time, &packet)
            {
                all.segments += 1;
                let interface = frame::interface(frame.link, frame.bytes, frame.interface);
                each(&Segment { interface, ..own }, &packet);
            }
            let goes_on = !all.packets.is_multiple_of(REPORTED) || watch.read(all.packets, reading);
            if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let ending = file::read(opened, &mut packet).map_err(named)?;
        all.dropped = all.dropped.saturating_add(ending.dropped.unwrap_or(0));
        all.cut.extend(ending.cut.map(named));
        if !watch.read(all.packets, reading) {
            all.stopped = true;
            return Ok(());
        }
    }
    Ok(())
}
