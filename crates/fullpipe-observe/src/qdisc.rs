//! Qdiscs in the kernel's messages (RTM_NEWQDISC, include/uapi/linux/pkt_sched.h, gen_stats.h): kind, place, counters.

use crate::diag::messages;
use crate::message::{HEAD, attributes, kind};
use crate::tcp_info::number;

const TCMSG: usize = 20;
const RTM_NEWQDISC: u16 = 36;
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_STATS2: u16 = 7;
const TCA_STATS_BASIC: u16 = 1;
const TCA_STATS_QUEUE: u16 = 3;
const TCA_STATS_APP: u16 = 4;
const TCA_STATS_PKT64: u16 = 8;
/// Parent of the qdisc at the root of a device (TC_H_ROOT).
const ROOT: u32 = u32::MAX;

/// Counters of one qdisc.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Packets that left.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that wait.
    pub waiting: u64,
    /// Their bytes.
    pub waiting_bytes: u64,
    /// Packets that were dropped.
    pub drops: u64,
    /// Packets that were marked.
    pub marks: u64,
    /// Packets that the driver refused, so that they were offered again.
    pub requeues: u64,
}

/// A qdisc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qdisc {
    /// Number of its device.
    pub device: u32,
    /// Handle.
    pub handle: u32,
    /// Handle of the class or qdisc above it.
    pub parent: u32,
    /// Kind, as tc spells it.
    pub kind: String,
    /// Packets that may wait, where its kind says that as its first number (pfifo, fq).
    pub limit: Option<u32>,
    /// Rate of each flow of fq (`maxrate`), bytes per second.
    pub maxrate: Option<u32>,
    /// Its counters.
    pub counted: Counted,
}

impl Qdisc {
    /// Reads a message; none where it is about something else, or has no counters.
    pub fn read(message: &[u8]) -> Option<Qdisc> {
        if kind(message) != Some(RTM_NEWQDISC) {
            return None;
        }
        let body = message.get(HEAD..)?;
        let word = |at| number::<4>(body, at).map(u32::from_ne_bytes);

        // Attributes follow the fixed part of the message (struct tcmsg).
        let rest = body.get(TCMSG..)?;
        let of = |wanted| attributes(rest).find(|(kind, _)| *kind == wanted).map(|own| own.1);
        let (name, stats) = (of(TCA_KIND)?, of(TCA_STATS2)?);
        let own = attributes(stats).find(|(kind, _)| *kind == TCA_STATS_APP);
        let marks = own.and_then(|(_, own)| marks(name, own)).unwrap_or(0);
        let options = of(TCA_OPTIONS).unwrap_or_default();
        Some(Qdisc {
            device: word(4)?,
            handle: word(8)?,
            parent: word(12)?,
            kind: String::from_utf8_lossy(name).trim_end_matches('\0').into(),
            limit: limit(name, options),
            maxrate: maxrate(name, options),
            counted: Counted { marks, ..counted(stats) },
        })
    }

    /// All qdiscs in the bytes of several messages.
    pub fn read_all(bytes: &[u8]) -> impl Iterator<Item = Qdisc> {
        messages(bytes).filter_map(Qdisc::read)
    }

    /// Whether it is at the root of its device.
    pub fn is_root(&self) -> bool {
        self.parent == ROOT
    }
}

/// Packets that may wait (`struct tc_fifo_qopt`, TCA_FQ_PLIMIT, TCA_FQ_CODEL_LIMIT).
fn limit(name: &[u8], options: &[u8]) -> Option<u32> {
    let word = |bytes: &[u8]| number::<4>(bytes, 0).map(u32::from_ne_bytes);
    let of = |wanted| attributes(options).find(|(kind, _)| *kind == wanted).map(|own| own.1);
    match name {
        b"pfifo\0" => word(options),
        b"fq\0" => word(of(1)?),
        b"fq_codel\0" => word(of(2)?),
        _ => None,
    }
}

/// Rate of each flow of fq (TCA_FQ_FLOW_MAX_RATE); none where there is none.
fn maxrate(name: &[u8], options: &[u8]) -> Option<u32> {
    let (_, value) = attributes(options).find(|(kind, _)| *kind == 7)?;
    let rate = number::<4>(value, 0).map(u32::from_ne_bytes)?;
    (name == b"fq\0" && rate < u32::MAX).then_some(rate)
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
                (counted.drops, counted.requeues) = (u32_at(8), u32_at(12));
            }
            _ => {}
        }
    }
    counted
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
        let mut bytes = ((body.len() + HEAD) as u32).to_ne_bytes().to_vec();
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
        let queue = attribute(TCA_STATS_QUEUE, &words(&[3, 4542, 2, 8, 0]));
        let pkt64 = attribute(TCA_STATS_PKT64, &7_000_000_000u64.to_ne_bytes());
        let mut bytes = message(RTM_NEWQDISC, 3, 1 << 16, &[basic.clone(), queue.clone()].concat());
        bytes.extend(message(RTM_NEWQDISC + 1, 3, 2 << 16, &basic));
        bytes.extend(message(RTM_NEWQDISC, 2, 2 << 16, &[pkt64, basic].concat()));
        let first = Counted {
            packets: 6,
            bytes: 9000,
            waiting: 3,
            waiting_bytes: 4542,
            drops: 2,
            requeues: 8,
            ..Counted::default()
        };
        let second = Counted { packets: 7_000_000_000, bytes: 9000, ..Counted::default() };
        let read = |bytes: &[u8]| -> Vec<(u32, u32, Counted)> {
            let all = Qdisc::read_all(bytes);
            all.map(|own| (own.device, own.handle, own.counted)).collect()
        };
        assert_eq!(read(&bytes), [(3, 1 << 16, first), (2, 2 << 16, second)]);
        // A truncated message is read up to its end.
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length]).len() <= 2);
        }
    }
}
