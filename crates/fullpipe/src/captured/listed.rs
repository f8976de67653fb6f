//! The table of all connections.

use super::{Connection, placed};
use serde::Serialize;

/// A connection in the table, seen from the end that sends most of its data.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listed {
    /// End that sends most data.
    pub from: String,
    /// End that receives it.
    pub to: String,
    /// First packet, seconds since 1970.
    pub first_s: f64,
    /// Length of its life, seconds.
    pub lasts_s: f64,
    /// Packets of both directions.
    pub packets: u64,
    /// Bytes of data in the main direction, without those that came again.
    pub bytes: u64,
    /// Bytes of data in the other direction.
    pub back_bytes: u64,
    /// Rate of the main direction over the connection's life, Mb/s.
    pub mbit: f64,
    /// Packets of the main direction that came again, or filled a hole.
    pub late_packets: u64,
    /// Least round trip, ms; none where it was not measured.
    pub rtt_ms: Option<f64>,
    /// Place of the capture: sender, receiver or middle.
    pub place: &'static str,
    /// Whether that place was measured.
    pub place_is_known: bool,
    /// Packets that were captured twice.
    pub copies: u64,
    /// Bytes that were acknowledged and never captured.
    pub unseen_bytes: u64,
    /// Windows of 0 bytes from the receiver.
    pub zero_windows: u64,
    /// Whether the handshake was captured.
    pub has_handshake: bool,
    /// End of its life: "FIN", "RST", or "open" at the end of the capture.
    pub end: &'static str,
}

impl Listed {
    /// A connection as a row.
    pub fn of(own: &Connection) -> Listed {
        let way = own.main_way();
        let (data, back) = (&own.ways[way], &own.ways[1 - way]);
        let placed = placed(own, way);
        let lasts_s = own.lasts().as_secs_f64();
        Listed {
            from: own.ends[way].to_string(),
            to: own.ends[1 - way].to_string(),
            first_s: own.first.as_secs_f64(),
            lasts_s,
            packets: own.packets(),
            bytes: data.unique(),
            back_bytes: back.unique(),
            mbit: if lasts_s > 0.0 { data.unique() as f64 * 8e-6 / lasts_s } else { 0.0 },
            late_packets: data.late_packets,
            rtt_ms: placed.round_trip().map(|own| own.as_ns() as f64 / 1e6),
            place: placed.place.name(),
            place_is_known: placed.is_known,
            copies: own.ways.iter().map(|own| own.copies).sum(),
            unseen_bytes: data.unseen,
            zero_windows: back.zero_windows,
            has_handshake: own.handshake[1].is_some(),
            end: match () {
                () if own.ways.iter().any(|own| own.rst) => "RST",
                () if own.ways.iter().any(|own| own.fin) => "FIN",
                () => "open",
            },
        }
    }
}
