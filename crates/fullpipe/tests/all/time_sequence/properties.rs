//! Properties of every pyramid, on random trains.

use fullpipe::report::time_sequence::pyramid::{Bin, Level, Mark, Pyramid, Span};
use fullpipe::trace::packets::PacketTrain;
use fullpipe::trace::schema::Row;
use fullpipe_sim::units::Time;
use proptest::prelude::*;
use std::collections::BTreeMap;

prop_compose! {
    fn train()(
        time in 0..40_000_000_u64, acks in any::<bool>(), count in 1..60_u32, spacing in 1..20_000_u64,
        seq in 1..1_000_000_u64, len in 1..9000_u32, step in 0..3000_u64, kind in 0..4_u8, dropped in 0..2_u32,
    ) -> PacketTrain {
        let (resent, again) = (kind == 1, kind == 2);
        let blank = PacketTrain { time: Time(time), acks, count, spacing, dropped, ..PacketTrain::blank() };
        match acks {
            false => PacketTrain { seq, len, resent, again, ecn: kind, ..blank },
            true => {
                let mut train = PacketTrain { ack: seq, ack_step: step, window: 5000, ..blank };
                if kind == 1 {
                    (train.sacks[0], train.sack_step) = ((seq + 10_000_000, seq + 10_001_000), 7);
                }
                train
            }
        }
    }
}

fn join(bins: impl Iterator<Item = Bin>) -> Bin {
    bins.fold(Bin::default(), |mut all, bin| {
        all.iter_mut().zip(bin).for_each(|(all, span)| all.join(span));
        all
    })
}

/// Marks of a packet, worked out apart from the pyramid.
fn marks(packet: &PacketTrain) -> Vec<(Mark, u64, u64)> {
    if packet.acks {
        let mut marks = vec![
            (Mark::Ack, packet.ack, packet.ack),
            (Mark::Edge, packet.ack + packet.window, packet.ack + packet.window),
        ];
        if packet.sacks[0].1 > 0 {
            marks.push((Mark::Sack, packet.sacks[0].0, packet.sacks[0].1));
        }
        if packet.dropped > 0 {
            marks.push((Mark::AckDropped, packet.ack, packet.ack));
        }
        return marks;
    }
    let (lo, hi) = (packet.seq, packet.seq + u64::from(packet.len));
    let own = match (packet.resent, packet.again) {
        (_, true) => Mark::Again,
        (true, false) => Mark::Resent,
        (false, false) => Mark::Data,
    };
    let more = [(packet.dropped > 0, Mark::Dropped), (packet.ecn == 3, Mark::Marked)];
    let more = more.into_iter().filter(|(is, _)| *is).map(|(_, mark)| (mark, lo, hi));
    std::iter::once((own, lo, hi)).chain(more).collect()
}

fn built(trains: &[PacketTrain], most: usize) -> (Bin, Vec<Level>) {
    let mut pyramid = Pyramid::new(most);
    trains.iter().for_each(|train| pyramid.add(train));
    (pyramid.all, pyramid.levels())
}

/// Bins of a level, made packet by packet.
fn slowly(trains: &[PacketTrain], shift: u32) -> Vec<(u64, Bin)> {
    let mut bins: BTreeMap<u64, Bin> = BTreeMap::new();
    for packet in trains.iter().flat_map(|train| (0..train.count).map(|i| train.packet(i))) {
        let bin = bins.entry(packet.time.0 >> shift).or_default();
        for (mark, lo, hi) in marks(&packet) {
            bin[mark as usize].join(Span { count: 1, lo, hi });
        }
    }
    bins.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn levels_are_what_single_packets_make(trains in prop::collection::vec(train(), 1..400), most in 20..3000_usize) {
        let (all, levels) = built(&trains, most);
        for level in &levels {
            prop_assert!(level.bins.len() <= most);
            prop_assert_eq!(&level.bins, &slowly(&trains, level.shift));
            // Every level covers the same extent.
            prop_assert_eq!(join(level.bins.iter().map(|(_, bin)| *bin)), all);
        }
        prop_assert_eq!(all, join(slowly(&trains, 0).into_iter().map(|(_, bin)| bin)));
    }

    #[test]
    fn a_coarse_bin_contains_the_finer_ones(trains in prop::collection::vec(train(), 1..1500)) {
        let (_, levels) = built(&trains, 1 << 17);
        for pair in levels.windows(2) {
            prop_assert_eq!(pair[0].shift + 2, pair[1].shift);
            for (number, bin) in &pair[1].bins {
                let within = pair[0].bins.iter().filter(|(fine, _)| fine >> 2 == *number);
                prop_assert_eq!(join(within.map(|(_, bin)| *bin)), *bin);
            }
        }
        prop_assert!(levels.iter().all(|level| level.bins.len() <= trains.len() / 4));
    }
}
