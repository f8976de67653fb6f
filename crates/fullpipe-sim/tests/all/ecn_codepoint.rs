//! The ECN codepoint of packets on the path (RFC 3168, section 5).

use fullpipe_sim::packet::{Ecn, Kind, Train, append};
use fullpipe_sim::units::Time;

/// `count` segments of 1000 bytes from number `from` on, 1 us apart, each at the time of its number.
fn segments(from: u32, count: u32, ecn: Ecn) -> Train {
    Train {
        flow: 0,
        connection: 0,
        kind: Kind::Data,
        skb: 0,
        number: u64::from(from) * 1000,
        len: 1000,
        ip_len: 1040,
        ecn,
        ece: false,
        cwr: false,
        carries: 0,
        tsval: 0,
        tsecr: 0,
        push: false,
        fin: false,
        count,
        serial: u64::from(from),
        first: Time::us(u64::from(from)),
        spacing: 1000,
    }
}

#[test]
fn only_packets_of_a_capable_flow_can_be_marked() {
    for (ecn, can) in [(Ecn::NotEct, false), (Ecn::Ect0, true), (Ecn::Ect1, true), (Ecn::Ce, true)]
    {
        let mut train = segments(0, 3, ecn);
        assert_eq!(train.mark_ce(), can, "{ecn:?}");
        assert_eq!(train.ecn, if can { Ecn::Ce } else { ecn });
    }
}

#[test]
fn one_marked_packet_of_a_train_stands_alone() {
    let train = segments(0, 9, Ecn::Ect0);
    let mut marked = train.part(4, 1);
    assert!(marked.mark_ce());
    let mut out = Vec::new();
    [train.part(0, 4), marked, train.part(5, 4)].into_iter().for_each(|t| append(&mut out, t));
    assert_eq!(
        out.iter().map(|t| (t.count, t.ecn)).collect::<Vec<_>>(),
        [(4, Ecn::Ect0), (1, Ecn::Ce), (4, Ecn::Ect0)]
    );
    let mut unmarked = Vec::new();
    [train.part(0, 4), train.part(4, 5)].into_iter().for_each(|t| append(&mut unmarked, t));
    assert_eq!(unmarked, [train]);
}
