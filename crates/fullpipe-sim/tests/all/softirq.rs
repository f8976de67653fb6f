//! Owner of the CPU of a host to which packets arrive faster than it takes them: softirqs, ksoftirqd or a program.
//!
//! Sources: those of `host/softirq.rs`.

use crate::conversation::{flow, host};
use crate::plain_path;
use fullpipe_sim::config::{Config, Cpu, DatagramKind, Datagrams, Direction, Host};
use fullpipe_sim::units::{Rate, Time};

/// Rows of the profile and their choices.
type Choices<'a> = &'a [(&'a str, &'a str)];

/// 3,000 datagrams arrive within 0.4 ms at a host that takes 10 us for each. A program has to copy for 0.4 ms to read
/// one. The NIC interrupts at the first one, and a millisecond later for all others: a softirq could last for 30 ms.
fn config(choices: Choices, budget: Option<u32>) -> Config {
    let fast = Host { nic_rate: Rate(1 << 60), qdisc_limit: 10_000, ..host() };
    let mut receiver = Host {
        kernel: "6.12".into(),
        behaviour: choices.iter().map(|(row, to)| (row.to_string(), to.to_string())).collect(),
        hz: 1000,
        rx_ring: 4096,
        interrupt_gap: Time::ms(1),
        cpu: Cpu { receive: Time::us(10), copy_ps_per_byte: 1_000_000, ..Cpu::default() },
        ..fast.clone()
    };
    receiver.sysctl.netdev_budget = budget;
    let mut plain = plain_path::config(Time::us(100), [fast, receiver], flow("none", 1));
    plain.flows[0].start = Time::secs(1);
    plain.datagrams = vec![Datagrams {
        name: "burst".into(),
        direction: Direction::Forward,
        from: None,
        to: None,
        kind: DatagramKind::Udp { rate: Rate::gbit(24), rcvbuf: Some(10_000_000), reader: None },
        size: 400,
        start: Time::ZERO,
        count: Some(3000),
        duration: None,
    }];
    for way in [&mut plain.forward, &mut plain.back] {
        if let fullpipe_sim::config::Element::Delay(delay) = &mut way[0] {
            delay.limit = 10_000;
        }
    }
    Config { end: Time::ms(60), counters: Some(Time::ms(60)), mtu: 1500, ..plain }
}

/// Packets that are taken in each millisecond, and what time_squeeze counts.
fn taken(choices: Choices, budget: Option<u32>) -> String {
    let record = plain_path::run(&config(choices, budget));
    let ring =
        record.announced().iter().position(|s| s.name == "receiver.rx_ring").expect("it has one");
    let left: Vec<_> =
        record.samples().filter(|s| usize::from(s.stage) == ring).map(|s| s.left).collect();
    let each = left.iter().scan(0, |before, &left| Some(left - core::mem::replace(before, left)));
    let each: Vec<String> = each.take(45).map(|n| n.to_string()).collect();
    let squeezed = record
        .counters()
        .filter(|c| *c.host == *"receiver" && *c.name == *"softnet.time_squeeze")
        .last()
        .map_or(0, |c| c.value);
    format!("{} | {squeezed}", each.join(" ").trim_end_matches(" 0"))
}

/// Two rows by hand, in ms. A poll of 64 takes 0.64, and the first one starts at 1.10. A poll that starts at a tick
/// counts before the tick.
///
/// Shares of 20 ms, ksoftirqd alone: the poll ends at 1.74, a program was woken, so ksoftirqd continues. It is first,
/// because it has slept, up to the first tick from 11.74 on, 12. Polls start at 1.74, 2.38 and so on up to 11.98, which
/// ends at 12.62. Programs have the CPU up to the first tick from 22.62 on, 23. ksoftirqd has it up to 33, with its
/// last poll from 32.60 to 33.24; programs up to 44.
///
/// Priorities, softirqs elsewhere too: at 1.74 the program, which has 100 ms, continues up to the tick at 2.00. From
/// there passes of a poll each follow for two jiffies: 2.00, 2.64, 3.28, 3.92 to 4.56. The call has had 0.26 of its
/// 0.40. It ends at 4.70, and softirqs start: 4.70, 5.34, 5.98 to 6.62. The next call has 0.38 up to the tick at 7.00:
/// 7.00, 7.64, 8.28, 8.92 to 9.56. It ends at 9.58: 9.58, 10.22, 10.86 to 11.50. One more ends at 11.90: 11.90, 12.54
/// to 13.18, as two jiffies have begun.
#[test]
fn who_has_the_cpu() {
    let cases: &[(&str, Choices, Option<u32>)] = &[
        ("6.12", &[], None),
        ("6.12, budget 64", &[], Some(64)),
        ("ksoftirqd alone", &[("ksoftirqd_alone", "true")], None),
        ("and by shares of 6 ms", &[("ksoftirqd_alone", "true"), ("scheduler", "fair-6ms")], None),
        ("and of 20 ms", &[("ksoftirqd_alone", "true"), ("scheduler", "fair-20ms")], None),
        ("and of 5 ms", &[("ksoftirqd_alone", "true"), ("scheduler", "fair-5ms")], None),
        ("priorities", &[("scheduler", "priorities")], None),
        ("reads without a lock", &[("datagram_read_locks", "false")], None),
        ("no end by time", &[("softirq_end", "passes")], None),
        ("and many polls", &[("softirq_end", "passes"), ("net_rx", "two-jiffies")], None),
        ("of one jiffy", &[("softirq_end", "passes"), ("net_rx", "one-jiffy")], None),
        ("of three", &[("softirq_end", "passes"), ("net_rx", "three-jiffies")], None),
        ("quotas", &[("softirq_end", "passes"), ("net_rx", "quotas")], Some(10)),
    ];
    let table: Vec<String> = cases
        .iter()
        .map(|(name, choices, budget)| format!("{name}: {}", taken(choices, *budget)))
        .collect();
    let expected = "\
6.12: 1 128 64 128 64 128 64 128 64 64 128 64 64 128 64 64 128 64 64 128 64 64 128 64 64 128 64 128 64 64 128 64 64 128 55 | 0
6.12, budget 64: 1 128 64 128 64 128 64 128 64 64 128 64 64 128 64 64 128 64 64 128 64 64 128 64 64 128 64 128 64 64 128 64 64 128 55 | 46
ksoftirqd alone: 1 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 64 | 0
and by shares of 6 ms: 1 128 64 128 128 0 0 0 64 64 128 64 0 0 0 64 64 128 64 0 0 0 64 64 128 64 0 0 0 64 64 128 64 0 0 0 64 64 128 64 0 0 0 64 64 | 0
and of 20 ms: 1 128 64 128 128 64 128 64 128 64 128 128 0 0 0 0 0 0 0 0 0 0 64 64 128 64 128 64 128 64 128 128 64 0 0 0 0 0 0 0 0 0 0 64 64 | 0
and of 5 ms: 1 128 64 128 128 0 0 0 64 64 128 64 0 0 64 64 128 64 0 0 64 64 128 64 0 0 64 64 128 64 0 0 64 64 128 64 0 0 64 64 128 64 0 0 64 | 0
priorities: 1 128 64 128 64 128 64 64 128 64 128 64 64 64 128 64 64 64 128 64 64 64 128 64 64 64 128 64 64 64 128 64 64 64 128 64 55 | 0
reads without a lock: 1 128 64 128 64 64 128 64 64 128 64 64 128 64 64 128 64 64 128 64 64 128 64 64 128 64 64 128 64 64 128 64 64 128 64 55 | 0
no end by time: 1 128 64 128 128 64 128 64 64 128 64 128 64 128 64 128 64 128 64 128 64 64 128 64 128 128 64 128 64 128 64 119 | 0
and many polls: 1 128 64 128 128 64 128 64 128 64 128 128 64 128 64 128 64 128 64 128 128 64 64 128 64 128 64 128 64 128 119 | 14
of one jiffy: 1 128 64 128 128 64 128 64 128 64 128 64 64 128 128 64 128 64 128 64 128 64 64 128 128 64 128 64 128 64 128 55 | 30
of three: 1 128 64 128 128 64 128 64 128 64 128 128 64 128 64 128 64 128 64 128 128 64 128 64 128 64 128 128 64 128 55 | 9
quotas: 1 100 60 100 60 90 90 80 100 60 100 70 100 90 100 100 60 100 60 90 90 80 100 60 100 70 100 90 100 100 60 100 60 90 90 80 19 | 299";
    assert_eq!(table.join("\n"), expected, "\n{}", table.join("\n"));
}
