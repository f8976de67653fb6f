//! Captures that are damaged or that no host would send: whatever comes, there is an answer or an error, and no panic.

use fullpipe::captured::{Input, Watch, overview};
use fullpipe::observation::Selection;
use proptest::prelude::*;

struct Unwatched;

impl Watch for Unwatched {
    fn read(&mut self, _packets: u64, _reading: u32) -> bool {
        true
    }
}

/// A packet of one of two ends.
#[derive(Clone, Debug)]
struct Packet {
    answers: bool,
    after_us: u32,
    seq: u32,
    ack: u32,
    len: u16,
    flags: u8,
    window: u16,
    stamps: Option<(u32, u32)>,
    sack: Option<(u32, u32)>,
    id: u16,
}

/// Numbers that follow each other as those of a stream do, or any.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![8 => (0_u32..40).prop_map(|own| own * 1000), 1 => any::<u32>()]
}

fn packet() -> impl Strategy<Value = Packet> {
    let flags = prop_oneof![8 => Just(0x10_u8), 1 => any::<u8>(), 1 => Just(2_u8)];
    let pair = || prop::option::of((number(), number()));
    let first = (any::<bool>(), 0_u32..50_000, number(), number(), 0_u16..3000);
    let second = (flags, any::<u16>(), pair(), pair(), any::<u16>());
    (first, second).prop_map(|(first, second)| Packet {
        answers: first.0,
        after_us: first.1,
        seq: first.2,
        ack: first.3,
        len: first.4,
        flags: second.0,
        window: second.1,
        stamps: second.2,
        sack: second.3,
        id: second.4,
    })
}

impl Packet {
    /// Raw IPv4, without data.
    fn bytes(&self) -> Vec<u8> {
        let mut options = Vec::new();
        for (kind, pair) in [(8, self.stamps), (5, self.sack)] {
            let Some((a, b)) = pair else { continue };
            options.extend([1, 1, kind, 10]);
            options.extend(a.to_be_bytes());
            options.extend(b.to_be_bytes());
        }
        let length = 40 + options.len() as u16 + self.len;
        let (from, to) = if self.answers { (2, 1) } else { (1, 2) };
        let mut out = vec![0x45, 0];
        out.extend(length.to_be_bytes());
        out.extend(self.id.to_be_bytes());
        out.extend([0x40, 0, 64, 6, 0, 0, 10, 0, 0, from, 10, 0, 0, to]);
        out.extend([0, from, 0, to]);
        out.extend(self.seq.to_be_bytes());
        out.extend(self.ack.to_be_bytes());
        out.extend([(20 + options.len() as u8) << 2, self.flags]);
        out.extend(self.window.to_be_bytes());
        out.extend([0; 4]);
        out.extend(options);
        out
    }
}

/// Classic pcap of raw IP.
fn file(packets: &[Packet]) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(0xA1B2_C3D4_u32.to_le_bytes());
    out.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    out.extend(65_535_u32.to_le_bytes());
    out.extend(101_u32.to_le_bytes());
    let mut us = 0_u64;
    for own in packets {
        us += u64::from(own.after_us);
        let bytes = own.bytes();
        let kept = bytes.len() as u32;
        let fields =
            [(us / 1_000_000) as u32, (us % 1_000_000) as u32, kept, kept + u32::from(own.len)];
        fields.iter().for_each(|field| out.extend(field.to_le_bytes()));
        out.extend(bytes);
    }
    out
}

/// Reads a file; the number of its connections, or none where it is refused.
fn judged(bytes: &[u8]) -> Option<usize> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("c.pcap");
    std::fs::write(&path, bytes).expect("room");
    let inputs = [Input { name: "c.pcap".into(), path }];
    let all = overview(&inputs, &mut Unwatched).ok()?;
    let chosen = all.busiest(&Selection::default());
    for own in all.judge(&inputs, &chosen, None, &mut Unwatched).expect("the same file") {
        assert!(own.run.headline.is_some_and(|own| !own.text.is_empty()));
        let last = own.recording.flows.last().expect("a row");
        assert!(last.segments_retransmitted <= last.segments_sent);
    }
    Some(chosen.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn packets_that_no_host_sends_are_no_panic(packets in prop::collection::vec(packet(), 1..200)) {
        prop_assert!(judged(&file(&packets)).is_some_and(|own| own >= 1));
    }

    #[test]
    fn damaged_files_are_no_panic(
        packets in prop::collection::vec(packet(), 1..60),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        end in any::<prop::sample::Index>(),
    ) {
        let mut bytes = file(&packets);
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        judged(&bytes[..=end.index(bytes.len())]);
        judged(&bytes);
    }
}
