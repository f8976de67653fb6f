//! ACKs that later ones have overtaken: what their SACK blocks say of what came twice.

use crate::conversation::{ack, host, written};
use fullpipe_sim::cc::Congestion;
use fullpipe_sim::config::Host;
use fullpipe_sim::tcp::profile::find;
use fullpipe_sim::units::Time;

/// The first of ten segments is taken for lost and sent again, and all arrive: cwnd then, and behind an overtaken ACK of five
/// segments that tells of `block`.
fn cwnd_behind(kernel: &str, block: (u64, u64)) -> [u32; 2] {
    let profile = find(kernel).expect("it is known");
    let host = Host { kernel: kernel.into(), ..host() };
    let cc = Congestion::new("reno", &[], kernel, host.hz, 1).expect("a control");
    let (mut tcp, mut wire) = written(profile, &host, cc, 10);
    let mut hear = |segments, sacks: &[(u64, u64)]| {
        wire.now += Time::ms(20);
        tcp.on_ack(&ack(segments, sacks), &mut wire);
        tcp.cwnd()
    };
    hear(0, &[(1, 6)]);
    hear(0, &[(1, 10)]);
    [hear(10, &[]), hear(5, &[block])]
}

/// A block above what its own ACK acknowledges came once, though a later ACK acknowledges all of it: nothing is undone. One
/// below came twice, so that the only retransmission was needless (3.14 and 6.12 `tcp_check_dsack`).
#[test]
fn a_block_came_twice_if_its_own_ack_acknowledges_it() {
    for kernel in ["3.14", "6.1", "6.12"] {
        assert_eq!(cwnd_behind(kernel, (6, 8)), [5, 5], "{kernel}");
        assert_eq!(cwnd_behind(kernel, (0, 1)), [5, 10], "{kernel}");
    }
}
