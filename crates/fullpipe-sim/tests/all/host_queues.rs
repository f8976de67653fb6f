//! The queue of a host, where it decides late.

use crate::random;
use crate::record::{Record, ToTheEnd};
use crate::scenarios;
use crate::scenarios::{Size, log_uniform};
use fullpipe_sim::config::{Codel, Config, Direction, Discipline, Netem, Qdisc, QueueLimit, Red};
use fullpipe_sim::sim;
use fullpipe_sim::trace::{Event, EventKind};
use fullpipe_sim::units::{Rate, Time};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

const SIZE: Size = Size { packets: 2000, samples: 100 };

fn run(config: &Config) -> Result<Record, String> {
    let mut record = Record::default();
    sim::run(config, &mut record, &mut ToTheEnd)?;
    Ok(record)
}

/// Late decisions have the same results as decisions at once, where the order is that of arrival.
fn late_is_early(config: &Config) -> Result<(), String> {
    let mut config = config.clone();
    for host in [&mut config.sender, &mut config.receiver] {
        // Byte queue limits let skbs of several flows into the ring at one time. Flows with small queues (TSQ) that
        // wait for this continue in the order in which they began to wait. Where that is not known in advance, they
        // continue in the order of their skbs.
        host.bql &= !host.kernel.starts_with('6');
    }
    let mut late = config.clone();
    for host in [&mut late.sender, &mut late.receiver] {
        host.qdisc = Qdisc::Of(Discipline::Fifo, QueueLimit::Packets(host.qdisc_limit));
    }
    match run(&config)?.difference(["at once", "late"], &run(&late)?) {
        None => Ok(()),
        Some(difference) => Err(difference),
    }
}

#[test]
fn a_fifo_is_pfifo_fast() {
    random::check(1000, scenarios::config(SIZE), late_is_early);
}

fn discipline() -> impl Strategy<Value = Discipline> {
    let mtu = 1514;
    let codel = || {
        let times = (log_uniform(1_000, 2_000_000), log_uniform(10_000, 20_000_000));
        times.prop_map(move |(target, interval)| {
            let (target, interval) = (Time(target), Time(interval));
            Codel { target, interval, ecn: false, mtu }
        })
    };
    let red = (500..50_000u64, 1..50_000u64, 0.0..=0.2f64).prop_map(|(min, more, probability)| {
        let packet_time = Time::us(12);
        Red { min, max: min + more, probability, weight: 4, ecn: false, packet_time }
    });
    let netem = (log_uniform(1, 10_000_000), 0.0..=0.1f64)
        .prop_map(|(delay, loss)| Netem { delay: Time(delay), loss });
    prop_oneof![
        Just(Discipline::Fifo),
        codel().prop_map(Discipline::Codel),
        codel().prop_map(Discipline::FqCodel),
        scenarios::paths::fq(mtu, 1..50).prop_map(Discipline::Fq),
        red.prop_map(Discipline::Red),
        netem.prop_map(Discipline::Netem),
    ]
}

fn case() -> impl Strategy<Value = Config> {
    let limit = prop_oneof![
        (1..100u32).prop_map(QueueLimit::Packets),
        log_uniform(100, 1_000_000).prop_map(QueueLimit::Bytes),
    ];
    (scenarios::config(SIZE), (discipline(), limit.clone()), (discipline(), limit)).prop_map(
        |(mut config, there, back)| {
            config.sender.qdisc = Qdisc::Of(there.0, there.1);
            config.receiver.qdisc = Qdisc::Of(back.0, back.1);
            config
        },
    )
}

/// Packets that entered a queue have left it or wait.
fn keeps_its_books(config: &Config) -> Result<(), String> {
    let record = run(config)?;
    let of = |name: &str| record.announced().iter().find(|s| s.name == name).map(|s| s.index);
    for host in ["sender", "receiver"] {
        let index = of(&format!("{host}.qdisc"));
        for sample in record.samples().filter(|s| Some(s.stage) == index) {
            if sample.entered != sample.left + sample.waiting || sample.peak < sample.waiting {
                return Err(format!("{host}: {sample:?}"));
            }
        }
    }
    Ok(())
}

#[test]
fn every_queue_keeps_its_books() {
    random::check(1500, case(), keeps_its_books);
}

/// A host with a NIC slower than the path behind it.
pub fn slow_card(qdisc: Qdisc) -> Config {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut config = scenarios::config(SIZE).new_tree(&mut runner).expect("one").current();
    config.forward.clear();
    config.back.clear();
    for host in [&mut config.sender, &mut config.receiver] {
        host.kernel = "6.12".into();
        host.hz = 1000;
        host.tso = false;
        host.behaviour.clear();
        host.cpu = Default::default();
        (host.interrupt_gap, host.rx_coalesce) = (Time::ZERO, Time::ZERO);
        (host.tx_ring, host.bql, host.rx_ring) = (1, false, 100_000);
        (host.tx_coalesce, host.tx_stop, host.tx_wake) = (Time::ZERO, 1, 1);
        host.sysctl.tcp_wmem = [4096, 1 << 20, 1 << 22];
        host.sysctl.tcp_rmem = [4096, 1 << 20, 1 << 22];
        host.sysctl.netdev_max_backlog = 100_000;
        host.nic_rate = Rate::mbit(50);
    }
    config.receiver.nic_rate = Rate::gbit(10);
    config.sender.qdisc = qdisc;
    config.mtu = 1500;
    config.flows.truncate(1);
    let flow = &mut config.flows[0];
    flow.direction = Direction::Forward;
    (flow.start, flow.duration, flow.bytes, flow.write) =
        (Time::ZERO, None, Some(3_000_000), 65_536);
    (flow.sndbuf, flow.rcvbuf, flow.congestion) = (Some(1 << 20), Some(1 << 22), "reno".into());
    flow.parameters.clear();
    (config.end, config.sample) = (Time::secs(20), Time::ms(1));
    config
}

/// A drop that the sender notices is no loss: no packet is sent again, but cwnd is reduced (CWR). A drop that it does
/// not notice is a loss.
#[test]
fn a_sender_knows_what_its_own_queue_refuses() {
    let codel = Codel { target: Time::ms(5), interval: Time::ms(100), ecn: false, mtu: 1514 };
    let four = QueueLimit::Packets(4);
    let lossy = Netem { delay: Time::ZERO, loss: 0.02 };
    let cases = [
        ("bfifo", Qdisc::Of(Discipline::Fifo, QueueLimit::Bytes(6_056)), true, false),
        (
            "netem, full",
            Qdisc::Of(Discipline::Netem(Netem { delay: Time::ZERO, loss: 0.0 }), four),
            true,
            false,
        ),
        ("fq_codel", Qdisc::Of(Discipline::FqCodel(codel), four), true, true),
        (
            "netem, loss",
            Qdisc::Of(Discipline::Netem(lossy), QueueLimit::Packets(1000)),
            false,
            true,
        ),
    ];
    for (name, qdisc, reduces, lost) in cases {
        let mut config = slow_card(qdisc);
        // Small queues would keep the flow within its limit.
        config.sender.kernel = "3.14".into();
        let record = run(&config).expect("valid");
        let count = |is: fn(&Event) -> bool| record.events().filter(|event| is(event)).count();
        assert_eq!(count(|e| e.kind == EventKind::Finished), 1, "{name}");
        let cwr = count(|e| e.kind == EventKind::CaState && e.value == 2);
        let again = count(|e| e.kind == EventKind::Retransmit);
        assert_eq!((cwr > 0, again > 0), (reduces, lost), "{name}: {cwr} CWR, {again} sent again");
    }
}
