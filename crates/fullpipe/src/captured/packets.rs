//! Packets of a captured connection as a table, for its time-sequence graph.
//!
//! Limits:
//! - ECN is not in the table.
//! - Without the handshake windows are drawn as they stand in the packets, without their scale.

use super::{Input, Judged, Overview, Watch, meta, read};
use crate::analysis::document;
use crate::base::trace::{Offers, Packet, Timestamps};
use crate::capture::Trains;
use fullpipe_observe::capture::connections::Connections;
use fullpipe_observe::capture::place::Place;
use fullpipe_observe::capture::segment::Segment;
use fullpipe_observe::capture::sequence::Numbers;
use fullpipe_observe::capture::timeline::{Kind, Timeline};
use std::path::Path;

/// Number of the reading, behind the two of the diagnosis.
const READING: u32 = 3;

/// Reads the files again, and keeps the packets of this connection in the table `path`.
///
/// # Errors
/// A file cannot be read any more, or the table cannot be written.
pub fn keep(
    inputs: &[Input],
    overview: &Overview,
    judged: &Judged,
    path: &Path,
    watch: &mut dyn Watch,
) -> Result<document::Packets, String> {
    let own = &overview.connections.all()[judged.index];
    let name = judged.meta.flows.first().map_or("", |flow| &flow.name);
    let mut trains = Trains::of_capture(path, name).map_err(|why| why.to_string())?;
    let mut timeline = Timeline::new(meta::setup(own, judged.way, &judged.placed));
    let mut table = Table { mss: meta::mss(own, judged.way), streams: Default::default() };
    let mut again = Connections::default();
    read(inputs, READING, watch, &mut Overview::default(), &mut |segment, _| {
        let (index, is_new) = again.add(segment);
        if index != judged.index {
            return;
        }
        let way = again.all()[index].way_of(segment);
        let is_data = way == judged.way;
        let is_resent = match (is_new, is_data) {
            (true, true) => timeline.data(segment) == Kind::Resent,
            (true, false) => {
                timeline.ack(segment);
                false
            }
            (false, _) => false,
        };
        let seen = table.packet(segment, usize::from(!is_data));
        let time = segment.time.saturating_sub(own.first);
        trains.take(&Packet { time, forward: is_data, resent: is_resent, again: !is_new, ..seen });
    })?;
    let kept = trains.finish().map_err(|why| why.to_string())?;
    let at = match judged.placed.place {
        Place::Sender => "the sender",
        Place::Receiver => "the receiver",
        Place::Middle => "a place between both hosts",
    };
    let (packets, segments, trains) = (kept.packets, kept.segments, kept.trains);
    Ok(document::Packets { at: at.into(), packets, segments, trains })
}

/// Sequence numbers of one way, from the SYN on.
#[derive(Default)]
struct Stream {
    numbers: Numbers,
    /// Number of the SYN, or of the byte before the first one that was seen.
    base: Option<u64>,
}

impl Stream {
    /// Place of a sequence number behind the SYN, which is 0. The first number that is seen belongs to the SYN, or to byte 1.
    fn place(&mut self, field: u32, is_syn: bool) -> u64 {
        let number = self.numbers.of(field);
        let base = *self.base.get_or_insert(number - u64::from(!is_syn));
        number.saturating_sub(base)
    }
}

/// What turns segments into packets of the table.
struct Table {
    mss: u32,
    /// The way of the data, and the other one.
    streams: [Stream; 2],
}

impl Table {
    fn packet(&mut self, segment: &Segment, way: usize) -> Packet {
        let is_syn = segment.flags.syn;
        let seq = self.streams[way].place(segment.seq, is_syn);
        let back = &mut self.streams[1 - way];
        let blocks = segment.sacks.blocks().iter();
        Packet {
            segments: segment.len.div_ceil(self.mss.max(1)).max(1),
            seq,
            ack: segment.flags.ack.then(|| back.place(segment.ack, false)),
            len: segment.len,
            syn: is_syn,
            fin: segment.flags.fin,
            window: segment.window,
            offers: segment.offer.filter(|_| is_syn).map(|own| Offers {
                mss: own.mss.unwrap_or_default(),
                window_scale: own.scale,
                ..Offers::default()
            }),
            timestamps: segment.stamps.map(|own| Timestamps { value: own.value, echo: own.echo }),
            sacks: blocks
                .map(|(from, to)| (back.place(*from, false), back.place(*to, false)))
                .collect(),
            ..Packet::default()
        }
    }
}
