//! Counters of qdiscs from the kernel's netlink messages (RTM_NEWQDISC, include/uapi/linux/pkt_sched.h,
//! gen_stats.h).

use super::tcp_info::number;
use super::topology::Counters;

const NLMSG_HEADER: usize = 16;
const TCMSG: usize = 20;
const RTM_NEWQDISC: u16 = 36;
const TCA_KIND: u16 = 1;
const TCA_STATS2: u16 = 7;
const TCA_STATS_BASIC: u16 = 1;
const TCA_STATS_QUEUE: u16 = 3;
const TCA_STATS_APP: u16 = 4;
const TCA_STATS_PKT64: u16 = 8;
/// The bits of an attribute's type that are its type.
const TYPE: u16 = 0x3fff;

/// Counters of one qdisc.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    /// Packets that left with their bytes, and waiting packets with theirs.
    pub(super) packets: u64,
    pub(super) bytes: u64,
    pub(super) waiting: u64,
    pub(super) waiting_bytes: u64,
    pub(super) drops: u64,
    /// Packets that were marked.
    pub(super) marks: u64,
}

/// The qdiscs in messages from one namespace.
pub(super) fn read(namespace: u16, mut messages: &[u8]) -> Vec<(Counters, Counted)> {
    let mut found = Vec::new();
    while let Some(length) = number::<4>(messages, 0).map(u32::from_ne_bytes) {
        let length = length as usize;
        let Some(message) = messages.get(..length).filter(|m| m.len() >= NLMSG_HEADER) else {
            break;
        };
        found.extend(one(namespace, message));
        messages = messages.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    found
}

fn one(namespace: u16, message: &[u8]) -> Option<(Counters, Counted)> {
    if number::<2>(message, 4).map(u16::from_ne_bytes) != Some(RTM_NEWQDISC) {
        return None;
    }
    let body = &message[NLMSG_HEADER..];
    let device = number::<4>(body, 4).map(u32::from_ne_bytes)?;
    let handle = number::<4>(body, 8).map(u32::from_ne_bytes)?;
    // Attributes follow the fixed part of the message (struct tcmsg).
    let of = |wanted| attributes(&body[TCMSG..]).find(|(kind, _)| *kind == wanted);
    body.get(TCMSG..)?;
    let (name, stats) = (of(TCA_KIND)?.1, of(TCA_STATS2)?.1);
    let own = attributes(stats).find(|(kind, _)| *kind == TCA_STATS_APP);
    let marks = own.and_then(|(_, own)| marks(name, own)).unwrap_or(0);
    Some((Counters { namespace, device, handle }, Counted { marks, ..counted(stats) }))
}

/// Packets marked, by a qdisc's own counters (`struct tc_codel_xstats` and the like, pkt_sched.h).
fn marks(name: &[u8], own: &[u8]) -> Option<u64> {
    let u32_at = |at| number::<4>(own, at).map(|n| u64::from(u32::from_ne_bytes(n)));
    match name {
        b"codel\0" => u32_at(24),
        b"fq_codel\0" | b"red\0" => u32_at(12),
        b"pie\0" => u32_at(36),
        b"cake\0" => cake_marks(own),
        _ => None,
    }
}

/// Marks of cake's only class.
fn cake_marks(own: &[u8]) -> Option<u64> {
    const TINS: u16 = 10;
    const MARKED: u16 = 8;
    let inner = |bytes, wanted| attributes(bytes).find(|(kind, _)| *kind == wanted);
    let tin = inner(inner(own, TINS)?.1, 1)?.1;
    number::<4>(inner(tin, MARKED)?.1, 0).map(|n| u64::from(u32::from_ne_bytes(n)))
}

fn counted(stats: &[u8]) -> Counted {
    let mut counted = Counted::default();
    for (kind, value) in attributes(stats) {
        let u32_at = |at| number::<4>(value, at).map_or(0, |n| u64::from(u32::from_ne_bytes(n)));
        match kind {
            // Its 32 bits overflow; the attribute with 64 bits may be in front of it or behind it.
            TCA_STATS_BASIC => {
                counted.bytes = number::<8>(value, 0).map_or(0, u64::from_ne_bytes);
                counted.packets = counted.packets.max(u32_at(8));
            }
            TCA_STATS_PKT64 => {
                counted.packets = number::<8>(value, 0).map_or(0, u64::from_ne_bytes);
            }
            TCA_STATS_QUEUE => {
                (counted.waiting, counted.waiting_bytes) = (u32_at(0), u32_at(4));
                counted.drops = u32_at(8);
            }
            _ => {}
        }
    }
    counted
}

/// The attributes in `bytes`: type and value.
fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes(number(bytes, 0)?));
        let kind = u16::from_ne_bytes(number(bytes, 2)?) & TYPE;
        let value = bytes.get(4..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = ((value.len() + 4) as u16).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    fn message(kind: u16, device: u32, handle: u32, stats: &[u8]) -> Vec<u8> {
        let mut body =
            [&[0; 4][..], &device.to_ne_bytes(), &handle.to_ne_bytes(), &[0; 8]].concat();
        body.extend(attribute(1, b"tbf\0"));
        body.extend(attribute(TCA_STATS2, stats));
        let mut bytes = ((body.len() + NLMSG_HEADER) as u32).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend([0; 10]);
        bytes.extend(body);
        bytes
    }

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn counters_are_read_by_device_and_handle() {
        let basic = attribute(TCA_STATS_BASIC, &words(&[9000, 0, 6, 0]));
        let queue = attribute(TCA_STATS_QUEUE, &words(&[3, 4542, 2, 0, 0]));
        let pkt64 = attribute(TCA_STATS_PKT64, &7_000_000_000u64.to_ne_bytes());
        let mut bytes = message(RTM_NEWQDISC, 3, 1 << 16, &[basic.clone(), queue.clone()].concat());
        bytes.extend(message(RTM_NEWQDISC + 1, 3, 2 << 16, &basic));
        bytes.extend(message(RTM_NEWQDISC, 2, 2 << 16, &[pkt64, basic].concat()));
        let at = |device, handle| Counters { namespace: 4, device, handle };
        let first = Counted {
            packets: 6,
            bytes: 9000,
            waiting: 3,
            waiting_bytes: 4542,
            drops: 2,
            ..Counted::default()
        };
        let second = Counted { packets: 7_000_000_000, bytes: 9000, ..Counted::default() };
        assert_eq!(read(4, &bytes), [(at(3, 1 << 16), first), (at(2, 2 << 16), second)]);
        // A truncated message is read up to its end.
        for length in 0..bytes.len() {
            assert!(read(4, &bytes[..length]).len() <= 2);
        }
    }
}
