//! Connections without SACK: duplicates stand for SACKs also after a timeout.

use crate::conversation::{SEGMENT, ack, host, written};
use fullpipe_sim::cc::Congestion;
use fullpipe_sim::config::Host;
use fullpipe_sim::tcp::profile::find;
use fullpipe_sim::units::Time;

/// Nine of ten segments were lost and arrive one by one after the timeout. Then three copies of the last of them arrive
/// while new ones are out: the segments that the next two ACKs have sent. The first of these ACKs only reaches the data
/// that was out at the timeout.
fn sent_after_copies(kernel: &str) -> [Vec<u64>; 2] {
    let profile = find(kernel).expect("it is known");
    let mut host = Host { kernel: kernel.into(), ..host() };
    host.sysctl.tcp_sack = false;
    let cc = Congestion::new("reno", &[], kernel, host.hz, 1).expect("a control");
    let (mut tcp, mut wire) = written(profile, &host, cc, 40);
    wire.now = tcp.timer().expect("a timeout");
    tcp.on_timer(&mut wire);
    let mut sent_by = |number| {
        wire.now += Time::ms(20);
        wire.sent.clear();
        tcp.on_ack(&ack(number, &[]), &mut wire);
        wire.sent.iter().map(|skb| skb.seq / u64::from(SEGMENT)).collect()
    };
    for number in [1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9] {
        let _: Vec<u64> = sent_by(number);
    }
    [10, 11].map(sent_by)
}

/// The ACK beyond the data that was out at the timeout ends that state while three duplicates still count. The first
/// segment is lost, though it was sent after the timeout (6.12 `tcp_identify_packet_loss`, `tcp_newreno_mark_lost`).
#[test]
fn a_first_segment_that_three_duplicates_overtook_is_lost() {
    for kernel in ["6.1", "6.12"] {
        assert_eq!(sent_after_copies(kernel), [[18], [11]], "{kernel}");
    }
}
