//! The header of TCP, and its options.
//!
//! Sources: RFC 9293 (header), 7323 (timestamps, window scale), 2018 (SACK).

use super::frame::Packet;
use fullpipe_base::units::Time;
use std::net::SocketAddr;

/// Kinds of options.
mod kind {
    pub const END: u8 = 0;
    pub const NOTHING: u8 = 1;
    pub const MSS: u8 = 2;
    pub const WINDOW_SCALE: u8 = 3;
    pub const SACK_PERMITTED: u8 = 4;
    pub const SACK: u8 = 5;
    pub const TIMESTAMPS: u8 = 8;
}

/// Largest shift of a window (RFC 7323, 2.3).
const LARGEST_SCALE: u8 = 14;

/// Flags of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// SYN: opens the connection.
    pub syn: bool,
    /// FIN: ends the stream of its sender.
    pub fin: bool,
    /// RST: breaks the connection off.
    pub rst: bool,
    /// ACK: acknowledges.
    pub ack: bool,
}

/// SACK blocks: first byte of each, and the byte behind its last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sacks {
    blocks: [(u32, u32); 4],
    count: usize,
}

impl Sacks {
    /// The blocks in their order.
    pub fn blocks(&self) -> &[(u32, u32)] {
        &self.blocks[..self.count]
    }
}

/// Timestamps option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamps {
    /// TSval.
    pub value: u32,
    /// TSecr.
    pub echo: u32,
}

/// Options of a SYN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// Largest segment, bytes.
    pub mss: Option<u16>,
    /// Shift of the window; none where it is not offered.
    pub scale: Option<u8>,
    /// SACK may be sent.
    pub sack: bool,
}

/// A captured segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Time of the capture.
    pub time: Time,
    /// Sender and receiver.
    pub ends: [SocketAddr; 2],
    /// Network of the packet, where several are captured.
    pub network: u32,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Flags.
    pub flags: Flags,
    /// Field of the window, unscaled.
    pub window: u16,
    /// Bytes of data.
    pub len: u32,
    /// Identification of IPv4.
    pub id: Option<u16>,
    /// Timestamps.
    pub stamps: Option<Stamps>,
    /// SACK blocks.
    pub sacks: Sacks,
    /// Options of a SYN; none where they were cut off.
    pub offer: Option<Offer>,
    /// Whether options were cut off.
    pub options_cut: bool,
    /// Number of the interface that saw it.
    pub interface: u32,
}

impl Segment {
    /// Sequence numbers that it takes: data, SYN and FIN.
    pub fn takes(&self) -> u32 {
        self.len + u32::from(self.flags.syn) + u32::from(self.flags.fin)
    }
}

/// The segment in a packet; none where its header was cut off.
pub fn segment(time: Time, packet: &Packet) -> Option<Segment> {
    let bytes = packet.tcp;
    let fields = bytes.get(..20)?;
    let long = |at: usize| {
        u32::from_be_bytes([fields[at], fields[at + 1], fields[at + 2], fields[at + 3]])
    };
    let short = |at: usize| u16::from_be_bytes([fields[at], fields[at + 1]]);
    let header = usize::from(fields[12] >> 4) * 4;
    if header < 20 {
        return None;
    }
    let bits = fields[13];
    let is = |bit: u8| bits & bit != 0;
    let flags = Flags { syn: is(2), fin: is(1), rst: is(4), ack: is(0x10) };
    let mut own = Segment {
        time,
        ends: [
            SocketAddr::new(packet.hosts[0], short(0)),
            SocketAddr::new(packet.hosts[1], short(2)),
        ],
        network: packet.network,
        seq: long(4),
        ack: long(8),
        flags,
        window: short(14),
        len: packet.length.checked_sub(header as u32)?,
        id: packet.id,
        stamps: None,
        sacks: Sacks::default(),
        offer: flags.syn.then(Offer::default),
        options_cut: bytes.len() < header,
        interface: 0,
    };
    options(&bytes[20..bytes.len().min(header)], &mut own);

    // An option that was cut off may have been offered.
    own.offer = own.offer.filter(|_| !own.options_cut);
    Some(own)
}

fn options(mut rest: &[u8], own: &mut Segment) {
    while let [kind, tail @ ..] = rest {
        match *kind {
            kind::END => return,
            kind::NOTHING => {
                rest = tail;
                continue;
            }
            _ => {}
        }
        let Some(length) = tail.first().map(|own| usize::from(*own)).filter(|own| *own >= 2) else {
            return;
        };
        let Some(value) = rest.get(2..length) else { return };
        option(*kind, value, own);
        rest = &rest[length..];
    }
}

fn option(kind: u8, value: &[u8], own: &mut Segment) {
    let long = |bytes: &[u8]| bytes.try_into().map(u32::from_be_bytes).unwrap_or_default();
    match (kind, value.len()) {
        (kind::TIMESTAMPS, 8) => {
            own.stamps = Some(Stamps { value: long(&value[..4]), echo: long(&value[4..]) });
        }
        (kind::SACK, 8 | 16 | 24 | 32) => {
            for (place, block) in own.sacks.blocks.iter_mut().zip(value.chunks_exact(8)) {
                *place = (long(&block[..4]), long(&block[4..]));
            }
            own.sacks.count = value.len() / 8;
        }
        _ => {
            let Some(offer) = &mut own.offer else { return };
            match (kind, value) {
                (kind::MSS, [a, b]) => offer.mss = Some(u16::from_be_bytes([*a, *b])),
                (kind::WINDOW_SCALE, [bits]) => offer.scale = Some((*bits).min(LARGEST_SCALE)),
                (kind::SACK_PERMITTED, []) => offer.sack = true,
                _ => {}
            }
        }
    }
}

/// A plain segment from the end with that port, 1 or 2.
#[cfg(test)]
pub(super) fn sample(us: u64, from: u16, seq: u32, len: u32) -> Segment {
    let end = |port| SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, port));
    Segment {
        time: Time::us(us),
        ends: [end(from), end(3 - from)],
        network: 0,
        seq,
        ack: 0,
        flags: Flags { ack: true, ..Flags::default() },
        window: 100,
        len,
        id: None,
        stamps: None,
        sacks: Sacks::default(),
        offer: None,
        options_cut: false,
        interface: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};

    fn of(options: &[u8], flags: u8, data: u32) -> Option<Segment> {
        let words = (20 + options.len()) as u8 / 4;
        let mut bytes = vec![0x9C, 0x40, 0x13, 0x89, 0, 0, 0, 5, 0, 0, 0, 9, words << 4, flags];
        bytes.extend([1, 0, 0, 0, 0, 0]);
        bytes.extend(options);
        let host = IpAddr::from(Ipv4Addr::LOCALHOST);
        let length = bytes.len() as u32 + data;
        let (id, ttl, ecn, network) = (None, 64, 0, 0);
        let packet = Packet { hosts: [host; 2], id, ttl, ecn, network, tcp: &bytes, length };
        segment(Time::ZERO, &packet)
    }

    #[test]
    fn options_of_a_syn_are_an_offer() {
        let bytes = [2, 4, 5, 0xB4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7];
        let own = of(&bytes, 2, 0).expect("a segment");
        let offer = Offer { mss: Some(1460), scale: Some(7), sack: true };
        assert_eq!(own.offer, Some(offer));
        assert_eq!((own.takes(), own.seq, own.ack, own.window), (1, 5, 9, 256));
        assert_eq!((own.ends[0].port(), own.ends[1].port()), (40_000, 5001));
    }

    #[test]
    fn blocks_and_stamps_are_those_of_an_ack() {
        let mut bytes = vec![1, 1, 8, 10, 0, 0, 0, 3, 0, 0, 0, 4, 1, 1, 5, 18];
        bytes.extend([0, 0, 0, 20, 0, 0, 0, 30, 0, 0, 0, 40, 0, 0, 0, 50]);
        let own = of(&bytes, 0x10, 100).expect("a segment");
        assert_eq!(own.stamps, Some(Stamps { value: 3, echo: 4 }));
        assert_eq!(own.sacks.blocks(), [(20, 30), (40, 50)]);
        assert_eq!((own.len, own.offer), (100, None));
    }

    #[test]
    fn damaged_options_end_the_list() {
        for bytes in [[8, 0, 1, 1], [8, 1, 1, 1], [8, 40, 1, 1], [5, 3, 0, 0], [3, 3, 99, 8]] {
            let own = of(&bytes, 2, 0).expect("a segment");
            assert_eq!(own.stamps, None);
            assert_eq!(own.offer.and_then(|own| own.scale).unwrap_or(14), 14);
        }
    }
}
