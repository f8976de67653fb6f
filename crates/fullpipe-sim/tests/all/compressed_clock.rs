//! Time of a compressed ACK: its timer does not read TCP's clock (6.12 `tcp_compressed_ack_kick`). So the ACK has the time of the
//! last arrival, as its timestamp, and as the time of the socket's last transmission (`tcp_wstamp_ns`).

use crate::conversation::flow;
use crate::plain_path::run;
use fullpipe_sim::config::{
    App, Config, Delay, Direction, Discipline, Drop, Element, Flow, Host, Link, QueueLimit, Sysctl,
};
use fullpipe_sim::units::{Framing, Rate, Time};

/// Bytes of a message.
const MESSAGE: u32 = 60_000;
/// Bytes of a segment beside one SACK block.
const SEGMENT: u64 = 1436;

/// 20 Mbit/s and 10 ms each way. A segment is lost each way.
fn config() -> Config {
    let way = |name: &str| {
        let link = Link {
            name: format!("{name}-link"),
            rate: Rate(20_000_000),
            framing: Framing::Ethernet,
            limit: QueueLimit::Bytes(900_000),
            discipline: Discipline::Fifo,
        };
        let delay = Delay { name: name.into(), delay: Time::ms(10), limit: 1000, timer: None };
        vec![Element::Link(link), Element::Delay(delay)]
    };
    let drop = |name: &str, flow, segment| {
        Element::Drop(Drop { name: name.into(), flow, segments: vec![segment], acks: Vec::new() })
    };
    let messages =
        |in_flight| App::Messages { size: MESSAGE.into(), in_flight, period: None, corks: false };
    let flow = |name, app| Flow { app, congestion: "cubic".into(), ..flow(name, MESSAGE) };
    let sysctl = Sysctl {
        rmem_max: 212_992,
        wmem_max: 212_992,
        tcp_rmem: [4096, 131_072, 6 << 20],
        tcp_wmem: [4096, 16_384, 4 << 20],
        tcp_adv_win_scale: 1,
        tcp_fack: false,
        tcp_frto: 2,
        ..Sysctl::LINUX_2_6_20
    };
    let nic_rate = Rate(200_000_000);
    let host = Host { timestamps: true, tso: true, nic_rate, sysctl, ..Host::plain("6.12") };
    let answers =
        Flow { direction: Direction::Backward, answers: Some(0), ..flow("answers", messages(1)) };
    let mut config = Config {
        seed: 1,
        end: Time::ms(160),
        sample: Time::us(200),
        counters: None,
        mtu: 1500,
        forward: way("there"),
        back: way("back"),
        sender: host.clone(),
        receiver: host,
        neighbours: Vec::new(),
        datagrams: Vec::new(),
        rpc: Default::default(),
        flows: vec![flow("calls", messages(4)), answers],
    };
    config.forward.insert(0, drop("list", 0, 60));
    config.back.insert(0, drop("back-list", 1, 41));
    config
}

/// Answers beyond the hole arrive every 0.6 ms, the last ones at 156.3, 156.9 and 157.5 ms. The timer of compressed ACKs fires
/// between the first two of these, so its ACK has the time 156.3 ms. At 157.5 ms an ACK leaves room for one segment. The last
/// transmission was 1.2 ms ago by TCP's clock, and after a millisecond no segment waits (`tcp_tso_should_defer`). By the timer's own
/// time it was 0.7 ms ago, and the segment would wait. Linux 6.12.117 has sent 201,272 bytes before, and 202,708 after.
#[test]
fn a_compressed_ack_does_not_hold_back_data() {
    let record = run(&config());
    let sent = |us: u64| {
        let calls = record.flows().find(|sample| sample.flow == 0 && sample.time == Time::us(us));
        calls.expect("a sample").bytes_sent
    };
    assert_eq!((sent(157_400), sent(157_600)), (201_272, 201_272 + SEGMENT));
}
