//! Trains of packets: the rows of `packets.parquet`.
//!
//! Limits:
//! - The simulator alone keeps packets, of one point of a run, and none of connections with data both ways. If every
//!   packet arrives at an odd moment (random jitter with reordering) a packet is a train and takes some 10 bytes. The
//!   time-sequence graph draws each flow by itself.

use super::schema::{Access, Clock, Column, Kind, Row, flow_name, label, named, number};
use fullpipe_base::units::Time;
use std::sync::Arc;

/// Name of the table's file.
pub const FILE: &str = "packets.parquet";
/// SACK blocks of a packet (RFC 2018, section 3: as many as options have room for).
pub const SACKS: usize = 4;

/// Flags of [`PacketTrain::flags`].
pub mod flags {
    /// The packet opens the connection.
    pub const SYN: u8 = 1;
    /// The packet ends the stream of the end that sends data.
    pub const FIN: u8 = 2;
    /// ECN echo.
    pub const ECE: u8 = 4;
    /// Congestion window reduced.
    pub const CWR: u8 = 8;
}

/// Packets of one flow and one direction that follow each other at an even pace and are alike but for their place in
/// the train.
///
/// Packet `i` passes at `time + i * spacing`, begins with `seq + i * len`, acknowledges `ack + i * ack_step`, and its
/// first SACK block ends at `sacks[0].1 + i * sack_step`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketTrain {
    /// When the first one passed the point.
    pub time: Time,
    /// Index of the flow.
    pub flow: u16,
    /// Whether the packets are sent by the end that receives the flow's data (ACKs), not by the end that sends it.
    pub acks: bool,
    /// Number of packets, at least 1.
    pub count: u32,
    /// Nanoseconds between them; 0 of a single one.
    pub spacing: u64,
    /// Segments in each of them.
    pub segments: u32,
    /// First sequence number of the first: the SYN is 0, the first data byte 1.
    pub seq: u64,
    /// Bytes of data in each of them.
    pub len: u32,
    /// Acknowledgment number of the first; 0: none.
    pub ack: u64,
    /// Difference of the acknowledgment numbers of consecutive packets.
    pub ack_step: u64,
    /// Window that they advertise, bytes.
    pub window: u64,
    /// Sum of [`flags`].
    pub flags: u8,
    /// Codepoint of the IP header: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE (RFC 3168, section 5).
    pub ecn: u8,
    /// Whether TCP had sent data of them before.
    pub resent: bool,
    /// Whether the same packets were seen before: hardware duplicates.
    pub again: bool,
    /// Segments of each that were dropped later.
    pub dropped: u32,
    /// Names of the stages that dropped them, with "+" between several; empty: none.
    pub dropped_at: Arc<str>,
    /// SACK blocks of the first; (0, 0): none.
    pub sacks: [(u64, u64); SACKS],
    /// Difference of the ends of the first SACK block in consecutive packets.
    pub sack_step: u64,
}

impl PacketTrain {
    /// Time of packet `i`.
    pub fn time_of(&self, i: u32) -> Time {
        Time(self.time.0 + u64::from(i) * self.spacing)
    }

    /// Packet `i` as a train of its own.
    pub fn packet(&self, i: u32) -> PacketTrain {
        let n = u64::from(i);
        let mut packet = PacketTrain { time: self.time_of(i), ..self.clone() };
        // Only these fields differ from packet to packet of a train.
        packet.seq += n * u64::from(self.len);
        packet.ack += n * self.ack_step;
        packet.sacks[0].1 += n * self.sack_step;
        (packet.count, packet.spacing, packet.ack_step, packet.sack_step) = (1, 0, 0, 0);
        packet
    }

    /// Takes `next`, a single packet, behind its last one; whether it fits.
    pub fn join(&mut self, next: &PacketTrain) -> bool {
        let Some(steps) = self.steps_to(next) else { return false };
        (self.spacing, self.ack_step, self.sack_step) = steps;
        self.count += 1;
        true
    }

    /// Spacing and steps with which `next` continues it; none: it does not.
    fn steps_to(&self, next: &PacketTrain) -> Option<(u64, u64, u64)> {
        // Packets of a train differ in time, in numbers, and in the end of the first SACK block.
        let alike = self.flags == 0
            && next.flags == 0
            && (self.flow, self.acks) == (next.flow, next.acks)
            && (self.segments, self.len, self.window) == (next.segments, next.len, next.window)
            && (self.ecn, self.resent, self.again) == (next.ecn, next.resent, next.again)
            && (self.dropped, &self.dropped_at) == (next.dropped, &next.dropped_at)
            && self.sacks[0].0 == next.sacks[0].0
            && self.sacks[1..] == next.sacks[1..]
            && self.count < u32::MAX;
        if !alike || next.seq != self.seq + u64::from(self.count) * u64::from(self.len) {
            return None;
        }
        let last = self.packet(self.count - 1);
        let steps = (
            next.time.0.checked_sub(last.time.0)?,
            next.ack.checked_sub(last.ack)?,
            next.sacks[0].1.checked_sub(last.sacks[0].1)?,
        );

        // The first two packets set the steps; all others have to keep them.
        let keeps = self.count == 1 || steps == (self.spacing, self.ack_step, self.sack_step);
        keeps.then_some(steps)
    }
}

const POINT: &str = "point";

/// A column of yes (1) and no (0).
fn yes(
    name: &str,
    meaning: &str,
    get: fn(&PacketTrain) -> bool,
    set: fn(&mut PacketTrain, bool),
) -> Column<PacketTrain> {
    Column {
        name: name.into(),
        kind: Kind::U8,
        unit: "",
        meaning: meaning.into(),
        point: POINT,
        clock: Clock::Moment,
        access: Access::Number {
            get: Box::new(move |row| get(row).into()),
            set: Box::new(move |row, value| set(row, value != 0)),
        },
    }
}

/// Begin or end of a SACK block.
fn sack(block: usize, end: bool) -> Column<PacketTrain> {
    let edge = if end { "end" } else { "start" };
    Column {
        name: format!("sack_{}_{edge}", block + 1),
        kind: Kind::U64,
        unit: "byte",
        meaning: format!("{edge} of SACK block {} of the first; 0: none", block + 1),
        point: POINT,
        clock: Clock::Moment,
        access: Access::Number {
            get: Box::new(move |row: &PacketTrain| match end {
                true => row.sacks[block].1,
                false => row.sacks[block].0,
            }),
            set: Box::new(move |row: &mut PacketTrain, value| match end {
                true => row.sacks[block].1 = value,
                false => row.sacks[block].0 = value,
            }),
        },
    }
}

impl Row for PacketTrain {
    const TABLE: &'static str = "packets";
    const MEANING: &'static str = "a train of packets of one flow and one way, as they passed the point: packet i, from 0, passed at \
        `time_ns + i * spacing_ns`, begins with `seq + i * len`, acknowledges `ack + i * ack_step`, and its first SACK block ends at \
        `sack_1_end + i * sack_step`; all else is the same for each of them. Rows of a row group stand in the order of flow, way and time";

    fn blank() -> PacketTrain {
        PacketTrain {
            time: Time::ZERO,
            flow: 0,
            acks: false,
            count: 1,
            spacing: 0,
            segments: 1,
            seq: 0,
            len: 0,
            ack: 0,
            ack_step: 0,
            window: 0,
            flags: 0,
            ecn: 0,
            resent: false,
            again: false,
            dropped: 0,
            dropped_at: nowhere(),
            sacks: [(0, 0); SACKS],
            sack_step: 0,
        }
    }

    #[rustfmt::skip]
    fn columns() -> Vec<Column<PacketTrain>> {
        // An empty cell leaves the row as it is, because most packets are dropped nowhere.
        let place = Access::Text {
            get: |row: &PacketTrain, _| row.dropped_at.to_string().into(),
            set: |row, text| { if !text.is_empty() { row.dropped_at = text.into(); } true },
        };
        let mut columns = vec![
            number!(PacketTrain U64 "time_ns", time.0, "ns", Itself, "engine", "when the first packet passed the point"),
            number!(PacketTrain U16 "flow", flow, "", Constant, "scenario", "index of the flow in the scenario, from 0"),
            label("flow_name", "name of the flow", |row: &PacketTrain, names| flow_name(row.flow, names)),
            yes("acks", "1: from the end that receives the flow's data (SYN-ACK, ACKs); 0: from the end that sends it", |row| row.acks, |row, is| row.acks = is),
            number!(PacketTrain U32 "count", count, "packet", Moment, POINT, "packets of the train"),
            number!(PacketTrain U64 "spacing_ns", spacing, "ns", Moment, POINT, "time from packet to packet"),
            number!(PacketTrain U32 "segments", segments, "segment", Moment, POINT, "segments in each packet: more than 1 where a TSO skb is not cut yet"),
            number!(PacketTrain U64 "seq", seq, "byte", Moment, POINT, "sequence number of the first; of a SYN 0, of the first data byte 1, without wrapping"),
            number!(PacketTrain U32 "len", len, "byte", Moment, POINT, "data of each packet"),
            number!(PacketTrain U64 "ack", ack, "byte", Moment, POINT, "acknowledgment number of the first; 0: none"),
            number!(PacketTrain U64 "ack_step", ack_step, "byte", Moment, POINT, "by how much each acknowledges more than the one before"),
            number!(PacketTrain U64 "window", window, "byte", Moment, POINT, "window that each advertises, unscaled: what may be sent ends at acknowledgment number + window"),
            number!(PacketTrain U8 "flags", flags, "", Moment, POINT, "sum of 1 SYN, 2 FIN, 4 ECE, 8 CWR"),
            number!(PacketTrain U8 "ecn", ecn, "", Moment, POINT, "codepoint of the IP header: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE"),
            yes("resent", "1: retransmissions, TCP had sent data of them before", |row| row.resent, |row, is| row.resent = is),
            yes("again", "1: the same packets passed before: the driver refused them, so that they were offered again (hardware duplicates), or the path made copies", |row| row.again, |row, is| row.again = is),
            number!(PacketTrain U32 "dropped", dropped, "segment", Moment, "engine", "segments of each packet that were dropped later"),
            named("dropped_at", "names of the stages that dropped them, with + between several; empty: none did", "engine", place),
        ];

        // SACK blocks have columns of their own, which are 0 in a row without SACKs.
        columns.extend((0..SACKS).flat_map(|block| [sack(block, false), sack(block, true)]));
        columns.push(number!(PacketTrain U64 "sack_step", sack_step, "byte", Moment, POINT, "by how much the first block of each ends later than that of the one before"));
        columns
    }
}

/// The name of no stage, one for all rows.
pub fn nowhere() -> Arc<str> {
    thread_local! {
        static NOWHERE: Arc<str> = Arc::from("");
    }
    NOWHERE.with(Arc::clone)
}
