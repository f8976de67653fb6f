//! Packets as trains, for the table `packets`: what [`crate::trace::packets`] declares is made here.
//!
//! Each packet that the engine records is joined to the last train of its flow and direction, if it fits. Memory holds
//! one train of each flow and direction, and the rows that are not written yet.

use super::At;
use super::tap::{Tap, Tapped};
use crate::scenario::{Packets, Resolved};
use crate::trace::Error;
use crate::trace::packets::{PacketTrain, SACKS, flags, nowhere};
use crate::trace::schema::Row;
use crate::trace::stream::Stream;
use fullpipe_base::trace::{Dropped, Packet, Point, Sink, StageInfo};
use fullpipe_base::units::Time;
use fullpipe_sim::config::Direction;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Result of keeping a run's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Packets.
    pub packets: u64,
    /// Segments with data in them.
    pub segments: u64,
    /// Trains of them: rows of the table.
    pub trains: u64,
}

/// State of a flow.
#[derive(Clone, Debug)]
struct Flow {
    wanted: bool,
    direction: Direction,
    /// Window scales that its ends have offered: of the end that sends data, of the other.
    scales: [Option<u8>; 2],
    /// The last train of each direction, which may grow.
    open: [Option<PacketTrain>; 2],
}

/// The packets of a run that are being kept.
pub struct Trains {
    stream: Stream<PacketTrain>,
    wanted: Packets,
    point: Point,
    flows: Vec<Flow>,
    stages: Vec<(u16, Arc<str>)>,
    kept: Kept,
    error: Option<Error>,
    failed: Arc<AtomicBool>,
}

impl Trains {
    /// Begins the table in the file `path` as `report.packets` of the scenario says; none if it says nothing.
    ///
    /// # Errors
    /// The scenario has no such point; the file cannot be made.
    pub fn create(path: &Path, run: &Resolved) -> Result<Option<Trains>, Error> {
        let Some(wanted) = run.report.packets.clone() else { return Ok(None) };
        let point = At::named(&wanted.at).point(run).map_err(|why| Error::new(path, why))?;
        let names = run.flow.iter().map(|flow| flow.name.clone()).collect();
        let flows = run.flow.iter().map(|flow| Flow {
            wanted: wanted.are_of(&flow.name),
            direction: flow.direction,
            scales: [None; 2],
            open: [None, None],
        });
        Ok(Some(Trains {
            stream: Stream::create(path, names, in_order)?,
            point,
            flows: flows.collect(),
            stages: Vec::new(),
            kept: Kept { packets: 0, segments: 0, trains: 0 },
            wanted,
            error: None,
            failed: Arc::default(),
        }))
    }

    /// Begins the table of one flow that somebody has captured. Its data goes forward.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn of_capture(path: &Path, name: &str) -> Result<Trains, Error> {
        let flow = Flow {
            wanted: true,
            direction: Direction::Forward,
            scales: [None; 2],
            open: [None, None],
        };
        let wanted = Packets { at: String::new(), flow: None, from: Time::ZERO, to: None };
        Ok(Trains {
            stream: Stream::create(path, vec![name.into()], in_order)?,
            point: Point::Wire(0),
            flows: vec![flow],
            stages: Vec::new(),
            kept: Kept { packets: 0, segments: 0, trains: 0 },
            wanted,
            error: None,
            failed: Arc::default(),
        })
    }

    /// Becomes true when the file can no longer be written; then the run may as well end.
    pub fn failed(&self) -> Arc<AtomicBool> {
        self.failed.clone()
    }

    /// A sink that keeps packets, and passes everything on to `sink`.
    pub fn before<'a>(&'a mut self, sink: &'a mut dyn Sink) -> impl Sink + 'a {
        Tapped { tap: self, sink }
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// It could not be written.
    pub fn finish(mut self) -> Result<Kept, Error> {
        let flows = std::mem::take(&mut self.flows);
        flows.into_iter().flat_map(|flow| flow.open).flatten().for_each(|train| self.push(train));
        match self.error {
            Some(error) => Err(error),
            None => self.stream.finish().map(|()| self.kept),
        }
    }

    fn push(&mut self, train: PacketTrain) {
        self.kept.trains += 1;
        if self.error.is_none()
            && let Err(error) = self.stream.push(train)
        {
            self.failed.store(true, Ordering::SeqCst);
            self.error = Some(error);
        }
    }

    /// Adds a packet to the train that it fits, or begins one.
    pub fn take(&mut self, packet: &Packet) {
        let index = usize::from(packet.flow);
        let Some(flow) = self.flows.get_mut(index) else { return };
        let acks = packet.forward != (flow.direction == Direction::Forward);
        if let Some(offers) = packet.offers {
            flow.scales[usize::from(acks)] = offers.window_scale;
        }
        let scale = match (packet.syn, flow.scales) {
            (false, [Some(_), Some(_)]) => flow.scales[usize::from(acks)].unwrap_or(0),
            _ => 0,
        };
        let early = packet.time < self.wanted.from;
        if !flow.wanted || early || self.wanted.to.is_some_and(|to| packet.time > to) {
            return;
        }
        let next = PacketTrain {
            acks,
            window: u64::from(packet.window) << scale,
            dropped_at: self.places(&packet.dropped),
            ..row(packet)
        };
        self.kept.packets += 1;
        self.kept.segments += if next.len > 0 { u64::from(next.segments) } else { 0 };
        let flow = &mut self.flows[index];
        if let Some(over) = add(&mut flow.open[usize::from(acks)], next) {
            self.push(over);
        }
    }

    /// Names of the stages that dropped something.
    fn places(&self, dropped: &[Dropped]) -> Arc<str> {
        let name = |of: &Dropped| self.stages.iter().find(|(stage, _)| *stage == of.stage);
        let mut names = dropped.iter().filter_map(name).map(|(_, name)| name);
        match (names.next(), names.next()) {
            (None, _) => nowhere(),
            (Some(one), None) => one.clone(),
            (Some(one), Some(two)) => {
                let all = [one, two].into_iter().chain(names).map(|name| &**name);
                all.collect::<Vec<_>>().join("+").into()
            }
        }
    }
}

/// Row of a packet alone.
fn row(packet: &Packet) -> PacketTrain {
    let mut sacks = [(0, 0); SACKS];
    sacks.iter_mut().zip(&packet.sacks).for_each(|(to, from)| *to = *from);
    let set = [
        (packet.syn, flags::SYN),
        (packet.fin, flags::FIN),
        (packet.ece, flags::ECE),
        (packet.cwr, flags::CWR),
    ];
    PacketTrain {
        time: packet.time,
        flow: packet.flow,
        segments: packet.segments,
        seq: packet.seq,
        len: packet.len,
        ack: packet.ack.unwrap_or(0),
        flags: set.iter().filter(|(is, _)| *is).map(|(_, flag)| flag).sum(),
        ecn: packet.ecn as u8,
        resent: packet.resent,
        again: packet.again,
        dropped: packet.dropped.iter().map(|dropped| dropped.segments).sum(),
        sacks,
        ..PacketTrain::blank()
    }
}

/// Adds a packet to a train; the train that is over with that.
fn add(open: &mut Option<PacketTrain>, next: PacketTrain) -> Option<PacketTrain> {
    let joined = open.as_mut().is_some_and(|train| train.join(&next));
    if joined { None } else { open.replace(next) }
}

/// Sorts a row group so that alike rows are neighbours, which packs best.
fn in_order(rows: &mut [PacketTrain]) {
    rows.sort_by_key(|row| (row.flow, row.acks, row.time));
}

impl Tap for Trains {
    fn point(&self) -> Point {
        self.point
    }
    fn stages(&mut self, stages: &[StageInfo]) {
        self.stages =
            stages.iter().map(|stage| (stage.index, stage.name.as_str().into())).collect();
    }
    fn packet(&mut self, packet: &Packet) {
        self.take(packet);
    }
}
