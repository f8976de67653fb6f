//! Counters of hosts under the names of Linux's tools, compared with the samples of flows and stages.

use crate::host_queues::slow_card;
use crate::plain_path::run;
use crate::record::Record;
use fullpipe_sim::config::{Config, Driver, Qdisc, ReceivePath};
use fullpipe_sim::units::Time;
use std::collections::BTreeMap;

/// A NIC slower than the path, with counters at the end.
fn slow(kernel: &str) -> Config {
    let mut config = slow_card(Qdisc::PfifoFast);
    config.counters = Some(config.end);
    (config.sender.qdisc_limit, config.sender.kernel) = (40, kernel.into());
    (config.receiver.qdisc_limit, config.receiver.kernel) = (1000, kernel.into());
    config
}

/// The last value of each of a host's counters.
fn of<'a>(record: &'a Record, host: &str) -> BTreeMap<&'a str, u64> {
    record.counters().filter(|c| *c.host == *host).map(|c| (&*c.name, c.value)).collect()
}

fn last(record: &Record, stage: &str) -> fullpipe_sim::trace::StageSample {
    let at = record.announced().iter().position(|info| info.name == stage).expect("such a stage");
    *record.samples().filter(|sample| usize::from(sample.stage) == at).last().expect("samples")
}

/// All packets that a qdisc has sent have passed the driver, the wire, the other NIC and its softirq, except those
/// dropped there.
#[test]
fn what_one_place_has_sent_the_next_one_has_taken() {
    for kernel in ["2.6.20", "3.14", "6.12"] {
        for path in [ReceivePath::Napi, ReceivePath::NetifRx] {
            let mut config = slow(kernel);
            // A ring, or a backlog, that loses some of a burst.
            config.receiver.receive_path = path;
            config.receiver.rx_ring = if path == ReceivePath::Napi { 24 } else { 1000 };
            config.receiver.sysctl.netdev_max_backlog = 24;
            config.receiver.interrupt_gap = Time::ms(10);
            // GRO would join some of them.
            config.receiver.gro = false;
            let record = run(&config);
            let (sender, receiver) = (of(&record, "sender"), of(&record, "receiver"));
            let flow = record.flows().last().expect("samples");
            let what = format!("{kernel} {path:?}");
            assert_eq!(sender["tc.sent_packets"], sender["ethtool.tx_packets"], "{what}");
            assert_eq!(sender["tc.sent_bytes"], sender["ethtool.tx_bytes"], "{what}");
            assert_eq!(sender["tc.backlog_packets"], 0, "{what}");
            let [arrived, missed] =
                ["ethtool.rx_packets", "ethtool.rx_missed_errors"].map(|name| receiver[name]);
            assert_eq!(arrived + missed, sender["tc.sent_packets"], "{what}");
            let dropped = receiver["softnet.dropped"];
            assert_eq!(receiver["softnet.processed"] + dropped, arrived, "{what}");
            assert_eq!(receiver["Tcp.InSegs"], receiver["softnet.processed"], "{what}");
            // Only netif_rx has netdev_max_backlog: a driver with NAPI leaves packets in its ring.
            match path {
                ReceivePath::Napi => assert!(missed > 0 && dropped == 0, "{what}"),
                ReceivePath::NetifRx => assert!(missed == 0 && dropped > 0, "{what}"),
            }
            assert_eq!(sender["Tcp.RetransSegs"], flow.segments_retransmitted, "{what}");
            assert_eq!(sender["Tcp.InSegs"], receiver["Tcp.OutSegs"], "{what}");
            // Each skb is a segment here. Skbs that the qdisc refused were counted as sent, too.
            let offered = sender["Tcp.OutSegs"] + sender["Tcp.RetransSegs"];
            let passed = sender["tc.sent_packets"] + sender["tc.dropped"];
            let unseen = passed.abs_diff(offered);
            assert!(if kernel == "6.12" { unseen == 0 } else { unseen <= 1 }, "{what}: {unseen}");
            let again = ["TcpExt.TCPFastRetrans", "TcpExt.TCPSlowStartRetrans"];
            let again = again.map(|name| sender[name]).iter().sum::<u64>();
            let others = ["TcpExt.TCPForwardRetrans", "TcpExt.TCPLossProbes"];
            let others: u64 = others.iter().filter_map(|name| sender.get(name)).sum();
            let by_timer = sender["Tcp.RetransSegs"] - again;
            let timeouts = record.events().filter(|e| e.kind.name() == "timeout").count() as u64;
            assert!(by_timer <= timeouts + others, "{what}: {by_timer}, {timeouts}, {others}");
        }
    }
}

/// A driver that stops its queue starts it as often, except for the last time. A driver that does not stop it is
/// offered each skb again.
#[test]
fn a_full_ring_is_counted_as_the_driver_does() {
    let mut config = slow("2.6.20");
    config.sender.tx_ring = 8;
    (config.sender.tx_stop, config.sender.tx_wake) = (2, 4);
    let stops = run(&config);
    let sender = of(&stops, "sender");
    assert!(sender["ethtool.tx_queue_stopped"] > 100, "{sender:?}");
    assert_eq!(sender["ethtool.tx_queue_stopped"], sender["ethtool.tx_restart_queue"]);
    assert_eq!((sender["tc.requeues"], sender.get("ethtool.tx_busy")), (0, None));
    config.sender.driver = Driver::Requeues;
    (config.sender.tx_stop, config.sender.tx_wake) = (1, 1);
    let refuses = run(&config);
    let sender = of(&refuses, "sender");
    assert_eq!(sender["tc.requeues"], last(&refuses, "sender.qdisc").requeues);
    assert_eq!(sender["ethtool.tx_busy"], sender["tc.requeues"]);
    assert!(sender["tc.requeues"] > 100);
    assert_eq!(sender.get("ethtool.tx_restart_queue"), None);
}

/// A SYN, an ACK and 2,055 segments of up to 1,460 bytes (3 MB). Headers have 14 and 40 bytes, the SYN's 52: 3,111,090
/// bytes in all. The queue refused two skbs and offered them again, which is no retransmission. Each of them stops a
/// ring of one descriptor.
#[test]
fn one_flow_through_a_full_queue_has_these_counters() {
    let record = run(&slow("2.6.20"));
    let table: Vec<String> =
        record.counters().map(|c| format!("{} {} {}", c.host, c.name, c.value)).collect();
    let expected = "\
sender tc.sent_bytes 3111090
sender tc.sent_packets 2057
sender tc.dropped 2
sender tc.requeues 0
sender tc.backlog_packets 0
sender ethtool.tx_packets 2057
sender ethtool.tx_bytes 3111090
sender ethtool.tx_queue_stopped 2057
sender ethtool.tx_restart_queue 2057
sender ethtool.rx_packets 1388
sender ethtool.rx_missed_errors 0
sender softnet.processed 1388
sender softnet.dropped 0
sender softnet.time_squeeze 0
sender Tcp.InSegs 1388
sender Tcp.OutSegs 2059
sender Tcp.RetransSegs 0
sender TcpExt.TCPFastRetrans 0
sender TcpExt.TCPSlowStartRetrans 0
sender TcpExt.TCPLostRetransmit 0
sender TcpExt.TCPTimeouts 0
receiver tc.sent_bytes 74964
receiver tc.sent_packets 1388
receiver tc.dropped 0
receiver tc.requeues 0
receiver tc.backlog_packets 0
receiver ethtool.tx_packets 1388
receiver ethtool.tx_bytes 74964
receiver ethtool.tx_queue_stopped 1388
receiver ethtool.tx_restart_queue 1388
receiver ethtool.rx_packets 2057
receiver ethtool.rx_missed_errors 0
receiver softnet.processed 2057
receiver softnet.dropped 0
receiver softnet.time_squeeze 0
receiver Tcp.InSegs 2057
receiver Tcp.OutSegs 1388
receiver Tcp.RetransSegs 0
receiver TcpExt.TCPFastRetrans 0
receiver TcpExt.TCPSlowStartRetrans 0
receiver TcpExt.TCPLostRetransmit 0
receiver TcpExt.TCPTimeouts 0";
    assert_eq!(table.join("\n"), expected);
}

/// The trace with an interval has each counter when it has changed. The last value is that of a run without an
/// interval.
#[test]
fn an_interval_changes_only_how_often_counters_are_written() {
    let at_end = slow("6.12");
    let often = Config { counters: Some(Time::ms(10)), ..at_end.clone() };
    let [at_end, often] = [at_end, often].map(|config| run(&config));
    for host in ["sender", "receiver"] {
        assert_eq!(of(&at_end, host), of(&often, host));
    }
    assert!(often.counters().all(|c| c.time.0 % 10_000_000 == 0));
    assert!(often.counters().count() > 10 * at_end.counters().count());
    let rest = |record: &Record| -> (Vec<_>, Vec<_>) {
        (record.samples().copied().collect(), record.events().copied().collect())
    };
    assert!(rest(&at_end) == rest(&often), "the trace is the same");
    let silent = run(&Config { counters: None, ..slow("6.12") });
    assert_eq!(silent.counters().count(), 0);
    assert!(rest(&silent) == rest(&often), "without counters, too");
}
