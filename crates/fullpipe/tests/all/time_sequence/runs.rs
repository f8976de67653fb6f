//! Packets of a run: each is kept as it was recorded, at each point, and nothing else is changed by it.

use super::{kept, rows, scenario, singles};
use crate::made::ToTheEnd;
use fullpipe::engine;
use fullpipe::trace::packets::{PacketTrain, flags};
use fullpipe::trace::recording::Recording;
use fullpipe_sim::trace::Packet;

/// A packet as a row must show it; the window is compared apart.
fn same(row: &PacketTrain, packet: &Packet) {
    assert_eq!(row.time, packet.time);
    assert_eq!((row.flow, row.acks, row.count), (packet.flow, !packet.forward, 1));
    assert_eq!((row.seq, row.len, row.segments), (packet.seq, packet.len, packet.segments));
    assert_eq!(row.ack, packet.ack.unwrap_or(0));
    let expected = [packet.syn, packet.fin, packet.ece, packet.cwr];
    let set = [flags::SYN, flags::FIN, flags::ECE, flags::CWR].map(|flag| row.flags & flag != 0);
    assert_eq!(set, expected);
    assert_eq!((row.resent, row.again), (packet.resent, packet.again));
    assert_eq!(row.dropped, packet.dropped.iter().map(|dropped| dropped.segments).sum::<u32>());
    assert_eq!(row.dropped_at.is_empty(), packet.dropped.is_empty());
    let sacks: Vec<(u64, u64)> = row.sacks.into_iter().filter(|sack| sack.1 > 0).collect();
    assert_eq!(sacks, packet.sacks);
}

#[test]
fn trains_give_back_every_packet_at_every_point() {
    for at in ["sender-qdisc", "sender-wire", "link", "delay", "receiver"] {
        let made = kept(&[&format!("report.packets.at={at}")]);
        let rows = rows(made.folder.path());
        let mut packets = made.whole.packets;
        packets.sort_by_key(|packet| packet.time);
        let (mut data, mut acks) = (Vec::new(), Vec::new());
        singles(&rows).into_iter().for_each(|p| if p.acks { acks.push(p) } else { data.push(p) });
        let (forward, back): (Vec<Packet>, Vec<Packet>) =
            packets.into_iter().partition(|p| p.forward);
        assert_eq!((data.len(), acks.len()), (forward.len(), back.len()), "{at}");
        data.iter()
            .zip(&forward)
            .chain(acks.iter().zip(&back))
            .for_each(|(row, packet)| same(row, packet));
        assert_eq!(made.kept.packets as usize, forward.len() + back.len());
        assert_eq!(made.kept.trains as usize, rows.len());
        let resent = data.iter().filter(|packet| packet.resent).count();
        assert!(resent >= 3, "{at}: {resent} retransmissions");
    }
}

#[test]
fn drops_have_their_place_and_requeued_packets_their_second_sight() {
    let made = kept(&["report.packets.at=sender-qdisc"]);
    let packets = singles(&rows(made.folder.path()));
    let dropped: Vec<&PacketTrain> = packets.iter().filter(|p| &*p.dropped_at == "list").collect();
    assert!(!dropped.is_empty());
    let again: Vec<&PacketTrain> = packets.iter().filter(|p| p.again).collect();
    assert!(!again.is_empty());
    for second in again {
        let sights = packets.iter().filter(|p| p.seq == second.seq && p.resent == second.resent);
        assert!(sights.count() >= 2, "{second:?}");
    }
    let qdisc =
        made.whole.recording.stages.iter().find(|s| s.name == "sender.qdisc").expect("it").index;
    let mut samples = made.whole.recording.stage_samples.iter().filter(|s| s.stage == qdisc);
    let requeues = samples.next_back().expect("a sample").requeues;
    assert_eq!(packets.iter().filter(|p| p.again).count() as u64, requeues);
}

#[test]
fn windows_are_in_bytes() {
    let made = kept(&["report.packets.at=receiver"]);
    let packets = singles(&rows(made.folder.path()));
    let largest = packets.iter().filter(|p| p.acks).map(|p| p.window).max();
    assert!(largest > Some(65_535), "{largest:?}");
    // Sent data stays within the offered window, all the way.
    let (mut edge, mut sent) = (0, 0);
    for packet in kept(&["report.packets.at=sender-wire"]).rows_in_time() {
        match packet.acks {
            true => edge = edge.max(packet.ack + packet.window),
            false => sent = sent.max(packet.seq + u64::from(packet.len)),
        }
        assert!(edge == 0 || sent <= edge, "{packet:?} beyond {edge}");
    }
}

impl super::KeptRun {
    fn rows_in_time(&self) -> Vec<PacketTrain> {
        singles(&rows(self.folder.path()))
    }
}

#[test]
fn keeping_packets_changes_nothing_else() {
    let made = kept(&[]);
    let mut plain = Recording::default();
    let simulator = engine::find("sim").expect("the simulator");
    let scenario = scenario(&[]);
    simulator.run(&scenario.plans()[0].resolved, &mut plain, &mut ToTheEnd).expect("a run");
    assert!(made.whole.recording == plain);
}

#[test]
fn filters_keep_what_lies_between_two_times() {
    let all = kept(&[]).rows_in_time();
    let some = kept(&["report.packets.from=100ms", "report.packets.to=150ms"]).rows_in_time();
    let within = all.into_iter().filter(|p| (100_000_000..=150_000_000).contains(&p.time.0));
    let within: Vec<PacketTrain> = within.collect();
    assert!(some.len() > 100 && some == within);
    assert_eq!(kept(&["report.packets.flow=bulk"]).kept, kept(&[]).kept);
}

#[test]
fn copies_of_a_flow_are_meant_by_its_name() {
    let two = ["flow.bulk.count=2", "path.forward.list.flow=bulk-1"];
    let flows = |sets: &[&str]| {
        let mut flows: Vec<u16> = kept(sets).rows_in_time().iter().map(|p| p.flow).collect();
        flows.sort_unstable();
        flows.dedup();
        flows
    };
    assert_eq!(flows(&[two[0], two[1], "report.packets.flow=bulk"]), [0, 1]);
    assert_eq!(flows(&[two[0], two[1], "report.packets.flow=bulk-2"]), [1]);
}

#[test]
fn a_bulk_flow_takes_few_bytes() {
    let made = kept(&["flow.bulk.bytes=40MB", "report.packets.at=sender-wire"]);
    let size = std::fs::metadata(made.folder.path().join("packets.parquet")).expect("it").len();
    assert!(made.kept.segments > 25_000);
    assert!(size <= 4 * made.kept.segments, "{size} bytes of {} segments", made.kept.segments);
}
