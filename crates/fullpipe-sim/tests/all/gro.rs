//! GRO by hand: what packets of one poll go up to TCP as.

use crate::conversation::host;
use expect_test::expect_file;
use fullpipe_sim::config::Host;
use fullpipe_sim::host::receive::gro::{Gro, Polled, Received};
use fullpipe_sim::packet::{Ecn, Kind, Train};
use fullpipe_sim::units::Time;
use proptest::prelude::*;
use std::fmt::Write;

const HEADERS: u32 = 52;

/// A packet of flow 0 with the bytes from `number` on.
fn data(number: u64, len: u32) -> Train {
    Train {
        flow: 0,
        connection: 0,
        kind: Kind::Data,
        skb: 0,
        number,
        len,
        ip_len: HEADERS + len,
        ecn: Ecn::NotEct,
        ece: false,
        cwr: false,
        carries: 0,
        tsval: 7,
        tsecr: 5,
        push: false,
        fin: false,
        count: 1,
        serial: number,
        first: Time::ZERO,
        spacing: 0,
    }
}

/// A poll of these packets that ends at `now`: what goes up, and when the next is due.
fn poll(gro: &mut Gro, packets: &[Train], now: Time, end: Polled) -> (Vec<Received>, Option<Time>) {
    let mut up = Vec::new();
    for packet in packets {
        let from = (packet.kind == Kind::Data || packet.flow == 0).then_some(packet.flow);
        let led = gro.take(packet, from, now);
        up.extend(led.before.into_iter().chain(led.then));
    }
    let (old, due) = gro.end_poll(now, end);
    up.extend(old);
    (up, due)
}

fn shown(up: &[Received]) -> String {
    let one = |skb: &Received| {
        let Train { flow, kind, number, len, push, fin, .. } = skb.packet;
        let end = number + u64::from(len);
        let mut text = match kind {
            Kind::Data => format!("{number}..{end}"),
            _ => "ACK".to_string(),
        };
        if skb.gso_size > 0 {
            write!(text, "/{}", skb.gso_size).expect("text");
        }
        text += if flow > 0 { " of another" } else { "" };
        text += if push { " PSH" } else { "" };
        text += if fin { " FIN" } else { "" };
        text
    };
    up.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Packets that are polled at once, by rule.
fn cases() -> Vec<(&'static str, Vec<Train>)> {
    let row = |count: u64| (0..count).map(|i| data(1000 * i, 1000)).collect::<Vec<_>>();
    let with = |change: &dyn Fn(&mut Train)| {
        let mut packets = row(3);
        change(&mut packets[1]);
        packets
    };
    vec![
        ("they follow each other", row(3)),
        ("one is missing", vec![data(0, 1000), data(2000, 1000), data(3000, 1000)]),
        ("they overtook each other", vec![data(1000, 1000), data(0, 1000), data(2000, 1000)]),
        ("a shorter one ends the skb", vec![data(0, 1000), data(1000, 400), data(1400, 1000)]),
        ("a longer one begins another", vec![data(0, 400), data(400, 1000), data(1400, 1000)]),
        ("PSH ends the skb", with(&|p| p.push = true)),
        ("FIN does", with(&|p| p.fin = true)),
        ("another timestamp", with(&|p| p.tsval = 8)),
        ("another one echoed", with(&|p| p.tsecr = 6)),
        ("a mark (CE)", with(&|p| p.ecn = Ecn::Ce)),
        ("CWR", with(&|p| p.cwr = true)),
        ("another ACK", with(&|p| p.carries = 9)),
        ("a packet of another flow", with(&|p| (p.flow, p.number) = (1, 0))),
        ("an ACK alone", with(&|p| (p.kind, p.len) = (Kind::Ack, 0))),
        ("a window probe", with(&|p| p.len = 0)),
        ("64 kB are full", (0..8).map(|i| data(8948 * i, 8948)).collect()),
    ]
}

fn table(host: &Host) -> String {
    let mut table = String::new();
    for (rule, packets) in cases() {
        let mut gro = Gro::new(host, true);
        let up = match gro.acts_on(packets.len() as u32) {
            true => poll(&mut gro, &packets, Time::ZERO, Polled::All).0,
            false => packets.into_iter().map(Received::alone).collect(),
        };
        writeln!(table, "{rule:<27} | {}", shown(&up)).expect("text");
    }
    table
}

#[test]
fn what_goes_up() {
    let on = table(&host());
    let off = table(&Host { gro: false, ..host() });
    let head = "# What goes up to TCP of packets that one poll takes (6.12 tcp_gro_receive): bytes, and behind / those of\n\
                # the first packet, where several are one. Three of 1000 bytes but for what the rule says.\n";
    let found = format!("{head}----- gro = true\n{on}----- gro = false\n{off}");
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/gro/linux-6.12.txt");
    expect_file![golden].assert_eq(&found);
}

/// Held skbs go up so long after the last poll with gro_flush_timeout, or when a jiffy has begun. Without it they go up
/// at the end of a poll. Where the budget is used up they wait for the next poll, unless HZ is below 1000.
#[test]
fn what_waits() {
    let waiting = Host { hz: 1000, gro_flush_timeout: Time::us(30), ..host() };
    let mut gro = Gro::new(&waiting, true);
    let at = Time::us;
    assert_eq!(poll(&mut gro, &[data(0, 1000)], at(100), Polled::All), (vec![], Some(at(130))));
    let later = (vec![], Some(at(150)));
    assert_eq!(poll(&mut gro, &[data(1000, 1000)], at(120), Polled::All), later);
    let (up, due) = poll(&mut gro, &[], at(150), Polled::Nothing);
    assert_eq!((shown(&up).as_str(), due), ("0..2000/1000", None));
    poll(&mut gro, &[data(2000, 1000)], at(990), Polled::All);
    let (up, _) = poll(&mut gro, &[data(3000, 1000)], at(1010), Polled::All);
    assert_eq!(shown(&up), "2000..4000/1000", "it has waited since the jiffy before");
    for (hz, waits) in [(1000, true), (250, false)] {
        let mut gro = Gro::new(&Host { hz, ..host() }, true);
        let (up, due) = poll(&mut gro, &[data(0, 1000)], at(0), Polled::Budget);
        assert_eq!((up.is_empty(), due), (waits, None), "{hz}: there is more in the ring");
        assert_eq!(gro.acts_on(1), waits, "a lone packet does not pass by what waits");
    }
    let (up, _) = poll(&mut Gro::new(&waiting, true), &[data(0, 1000)], at(0), Polled::AllAndAgain);
    assert_eq!(up.len(), 1, "the next poll finds nothing");
}

/// Nothing is lost, doubled or overtaken within a flow.
fn keep_order(packets: &[(u16, u32, bool, u64)]) -> Result<(), TestCaseError> {
    let mut gro = Gro::new(&Host { gro_flush_timeout: Time::us(30), ..host() }, true);
    let (mut next, mut up) = ([0; 3], Vec::new());
    for (i, &(flow, len, push, now)) in (0..).zip(packets) {
        let at = &mut next[usize::from(flow)];
        let packet = Train { flow, push, serial: i, ..data(*at, len) };
        *at += u64::from(len);
        let now = Time::us(now + 400 * i);
        let led = gro.take(&packet, Some(flow), now);
        up.extend(led.before.into_iter().chain(led.then));
        let end = [Polled::All, Polled::Budget, Polled::All, Polled::AllAndAgain][i as usize % 4];
        up.extend(gro.end_poll(now, end).0);
    }
    up.extend(gro.end_poll(Time::ZERO, Polled::Nothing).0);
    let mut came = [0; 3];
    for Received { packet, gso_size } in up {
        let at = &mut came[usize::from(packet.flow)];
        prop_assert_eq!(packet.number, *at);
        prop_assert!(gso_size < packet.len || packet.len == 0);
        *at += u64::from(packet.len);
    }
    prop_assert_eq!(came, next);
    Ok(())
}

proptest! {
    #[test]
    fn all_goes_up_in_order(
        packets in prop::collection::vec((0..3u16, 0..1500u32, any::<bool>(), 0..400u64), 1..60),
    ) {
        keep_order(&packets)?;
    }
}
