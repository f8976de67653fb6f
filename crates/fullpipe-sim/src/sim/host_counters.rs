//! Counters of hosts in the trace, under the names of Linux's tools.
//!
//! | begins with | source | counted |
//! |---|---|---|
//! | `tc.` | `tc -s qdisc` of the host's queue | bytes with their Ethernet header; of an skb each segment is a packet (`bstats_update`) |
//! | `ethtool.` | `ethtool -S`, by the names of ixgbe; `tx_queue_stopped`, which it has not, by that of mlx5 | packets when the driver learns that they were sent, and as it takes them from the ring |
//! | `softnet.` | `/proc/net/softnet_stat` | what GRO joined is one |
//! | `Tcp.`, `TcpExt.` | `nstat`, `/proc/net/snmp` and `netstat` | all connections together |
//! | `tcp.` | none: kernels count it since 2025 at the earliest, under another name | all connections together |
//!
//! The trace has a counter once it is above 0, and then its changes. A kernel without a counter has none in the trace
//! if nothing is ever counted.
//!
//! Limits:
//! - Missing: overlimits, backlog in bytes, bytes of the receive ring, `TCPBacklogDrop` (a socket's backlog has no
//!   bound), and single skbs that were thrown away beyond holes.
//! - Names that fit several kernels are used for all. A repeated SYN-ACK is in `Tcp.RetransSegs` before 3.10 too, and
//!   never in `TCPTimeouts`.
//! - `tc.requeues` exists for `pfifo_fast` only. On engine `linux` the path's devices and both hosts share one
//!   `softnet_stat`.

use super::Simulation;
use crate::cc::Exits;
use crate::config::{Config, Driver, Qdisc};
use crate::host::Host;
use crate::tcp::counters::Counters;
use crate::tcp::memory::TcpMemory;
use crate::tcp::receiver::Receiver;
use crate::trace::{Counter, Sink, StageInfo, StageSample};
use crate::units::{Framing, Time};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A counter's name and value.
type CounterValue = (&'static str, u64);

/// Counters of all hosts and their last values.
pub(super) struct HostCounters {
    /// Interval of counters; none: no counters.
    every: Option<Time>,
    next: Time,
    last: Option<Time>,
    hosts: Vec<Counted>,
    last_values: BTreeMap<(usize, &'static str), u64>,
}

/// A host, and the places of its stages among the samples.
struct Counted {
    name: Arc<str>,
    qdisc: usize,
    rx_ring: usize,
    backlog: usize,
    driver: Driver,
    /// Whether its connections have SACK.
    sack: bool,
    /// Whether the qdisc counts an skb that the driver refuses.
    counts_requeues: bool,
}

impl HostCounters {
    pub(super) fn new(config: &Config, stages: &[StageInfo]) -> HostCounters {
        let at = |name: &str, kind: &str| {
            let name = format!("{name}.{kind}");
            stages.iter().position(|stage| stage.name == name).unwrap_or_default()
        };
        let hosts = config.hosts().into_iter().map(|host| Counted {
            name: host.name.into(),
            qdisc: at(host.name, "qdisc"),
            rx_ring: at(host.name, "rx_ring"),
            backlog: at(host.name, "backlog"),
            driver: host.host.driver,
            sack: host.host.sysctl.tcp_sack,
            counts_requeues: host.host.qdisc == Qdisc::PfifoFast,
        });

        // Counters come from samples of stages, so they are no closer than these.
        let every = config.counters.map(|every| every.max(config.sample));
        let next = every.unwrap_or(Time::NEVER);
        HostCounters {
            every,
            next,
            last: None,
            hosts: hosts.collect(),
            last_values: BTreeMap::new(),
        }
    }

    pub(super) fn are_due(&self, now: Time) -> bool {
        now >= self.next
    }

    /// Writes the counters that have changed, by the stages' samples at this time.
    pub(super) fn emit(
        &mut self,
        run: &mut Simulation,
        samples: &[StageSample],
        now: Time,
        sink: &mut dyn Sink,
    ) {
        let Some(every) = self.every else { return };
        self.last = Some(now);
        // Due times are multiples of the interval, so a late sample shifts none.
        self.next = Time((now.0 / every.0 + 1).saturating_mul(every.0));
        for (place, (host, counted)) in run.hosts.iter_mut().zip(&self.hosts).enumerate() {
            for (name, value) in counters(host, counted, samples, now) {
                if self.last_values.insert((place, name), value) != Some(value) {
                    let (host, name) = (counted.name.clone(), name.into());
                    sink.counter(&Counter { time: now, host, name, value });
                }
            }
        }
    }

    /// Writes the counters at the run's end, unless they were just written.
    pub(super) fn end(
        &mut self,
        run: &mut Simulation,
        samples: &[StageSample],
        now: Time,
        sink: &mut dyn Sink,
    ) {
        if self.last != Some(now) {
            self.emit(run, samples, now, sink);
        }
    }
}

fn counters(
    host: &mut Host,
    at: &Counted,
    samples: &[StageSample],
    now: Time,
) -> Vec<CounterValue> {
    let mut all = Vec::new();
    card(host, at, samples, now, &mut all);
    let backlog = &samples[at.backlog];
    all.extend([
        ("softnet.processed", host.handed_up.packets),
        ("softnet.dropped", backlog.dropped),
        ("softnet.time_squeeze", host.time_squeeze()),
        ("Tcp.InSegs", host.handed_up.segments),
        ("Tcp.OutSegs", host.out.out_segs),
    ]);
    sent_again(host, at.sack, &mut all);
    received(host, &mut all);
    all
}

/// Counters of the qdisc and the driver.
fn card(
    host: &mut Host,
    at: &Counted,
    samples: &[StageSample],
    now: Time,
    all: &mut Vec<CounterValue>,
) {
    let with_header =
        |(packets, bytes): (u64, u64)| bytes + packets * u64::from(Framing::Ethernet.overhead());
    let (queue, ring) = (&samples[at.qdisc], &samples[at.rx_ring]);
    let passed = host.out.transmit.passed();
    all.extend([
        ("tc.sent_bytes", with_header(passed.entered)),
        ("tc.sent_packets", passed.entered.0),
        ("tc.dropped", queue.dropped),
    ]);

    // dev_requeue_skb: only pfifo_fast gets back what the driver refuses.
    if at.counts_requeues {
        all.push(("tc.requeues", queue.requeues));
    }
    all.extend([
        ("tc.backlog_packets", queue.waiting),
        ("ethtool.tx_packets", passed.left.0),
        ("ethtool.tx_bytes", with_header(passed.left)),
    ]);

    // A driver refuses skbs (NETDEV_TX_BUSY), or stops its queue before it has to.
    match at.driver {
        Driver::Requeues => all.push(("ethtool.tx_busy", queue.requeues)),
        Driver::Stops => {
            let stopped = host.out.transmit.stopped(now);
            all.extend([
                ("ethtool.tx_queue_stopped", stopped.stops),
                ("ethtool.tx_restart_queue", stopped.restarts),
            ]);
        }
    }
    all.extend([("ethtool.rx_packets", ring.left), ("ethtool.rx_missed_errors", ring.dropped)]);
}

/// Counters of TCP's retransmissions, over all flows that the host sends.
fn sent_again(host: &Host, sack: bool, all: &mut Vec<CounterValue>) {
    let sum = |of: fn(&Counters) -> u64| -> u64 {
        host.sends.iter().map(|flow| of(&flow.tcp.counters)).sum()
    };
    let by_sack = |with: &'static str, without: &'static str| if sack { with } else { without };

    // Tcp.RetransSegs has repeated SYNs and SYN-ACKs, too.
    let again = sum(|c| c.segments_retransmitted) + host.out.opening_again;
    all.extend([
        ("Tcp.RetransSegs", again),
        ("TcpExt.TCPFastRetrans", sum(|c| c.mib.fast_retrans)),
        ("TcpExt.TCPSlowStartRetrans", sum(|c| c.mib.slow_start_retrans)),
        ("TcpExt.TCPLostRetransmit", sum(|c| c.mib.lost_retransmit)),
        ("TcpExt.TCPTimeouts", sum(|c| c.mib.timeouts)),
    ]);

    // Counters of rare events appear once they have moved, which keeps traces small.
    let rare = [
        (by_sack("TcpExt.TCPSackRecovery", "TcpExt.TCPRenoRecovery"), sum(|c| c.mib.recoveries)),
        (
            by_sack("TcpExt.TCPSackRecoveryFail", "TcpExt.TCPRenoRecoveryFail"),
            sum(|c| c.mib.recovery_fails),
        ),
        (by_sack("TcpExt.TCPSackFailures", "TcpExt.TCPRenoFailures"), sum(|c| c.mib.failures)),
        ("TcpExt.TCPLossFailures", sum(|c| c.mib.loss_failures)),
        ("TcpExt.TCPForwardRetrans", sum(|c| c.mib.forward_retrans)),
        ("TcpExt.TCPLossProbes", sum(|c| c.mib.loss_probes)),
        ("TcpExt.TCPSynRetrans", host.out.opening_again),
        ("TcpExt.TCPSACKReorder", sum(|c| c.mib.sack_reorder)),
        ("TcpExt.TCPTSReorder", sum(|c| c.mib.ts_reorder)),
        ("TcpExt.TCPRenoReorder", sum(|c| c.mib.reno_reorder)),
        ("TcpExt.TCPDSACKRecv", sum(|c| c.mib.dsack_recv)),
        ("TcpExt.TCPDSACKOfoRecv", sum(|c| c.mib.dsack_ofo_recv)),
        ("TcpExt.TCPFullUndo", sum(|c| c.mib.full_undo)),
        ("TcpExt.TCPPartialUndo", sum(|c| c.mib.partial_undo)),
        ("TcpExt.TCPDSACKUndo", sum(|c| c.mib.dsack_undo)),
        ("TcpExt.TCPLossUndo", sum(|c| c.mib.loss_undo)),
        ("TcpExt.TCPSpuriousRTOs", sum(|c| c.mib.spurious_rtos)),
    ];
    all.extend(rare.into_iter().filter(|(_, value)| *value > 0));
    slow_start_exits(host, all);
}

/// HyStart's exits from slow start, and the sums of their cwnds, packets.
fn slow_start_exits(host: &Host, all: &mut Vec<CounterValue>) {
    let mut exits = Exits::default();
    for flow in host.sends.iter() {
        exits += flow.tcp.congestion().exits();
    }
    let rare: [(&str, u64); 4] = [
        ("TcpExt.TCPHystartTrainDetect", exits.train.into()),
        ("TcpExt.TCPHystartTrainCwnd", exits.train_cwnd.into()),
        ("TcpExt.TCPHystartDelayDetect", exits.delay.into()),
        ("TcpExt.TCPHystartDelayCwnd", exits.delay_cwnd.into()),
    ];
    all.extend(rare.into_iter().filter(|(_, value)| *value > 0));
}

/// Counters of data that TCP dropped, over all flows that the host receives.
fn received(host: &Host, all: &mut Vec<CounterValue>) {
    let sum = |of: fn(&Receiver) -> u64| host.receives.iter().map(|flow| of(&flow.tcp)).sum();

    // PAWSEstab has refused ACKs, which arrive at sending ends.
    let acks: u64 = host.sends.iter().map(|flow| flow.tcp.counters.paws_estab).sum();
    let pressure = host.memory.as_ref().map(TcpMemory::mib).unwrap_or_default();
    let rare: [(&str, u64); 13] = [
        ("TcpExt.TCPMemoryPressures", pressure.pressures),
        ("TcpExt.TCPMemoryPressuresChrono", pressure.chrono_ms),
        ("TcpExt.PruneCalled", sum(|tcp| tcp.prunes)),
        ("TcpExt.RcvPruned", sum(|tcp| tcp.prunes_failed)),
        ("TcpExt.PAWSEstab", sum(|tcp| tcp.paws_estab) + acks),
        ("tcp.beyond_window", sum(|tcp| tcp.beyond_window)),
        ("TcpExt.TCPRcvCollapsed", sum(|tcp| tcp.mib.collapsed)),
        ("TcpExt.TCPRcvQDrop", sum(|tcp| tcp.mib.rcvq_drop)),
        ("TcpExt.TCPOFOQueue", sum(|tcp| tcp.mib.ofo_queue)),
        ("TcpExt.TCPOFODrop", sum(|tcp| tcp.mib.ofo_drop)),
        ("TcpExt.TCPWantZeroWindowAdv", sum(|tcp| tcp.window.mib.want_zero)),
        ("TcpExt.TCPToZeroWindowAdv", sum(|tcp| tcp.window.mib.to_zero)),
        ("TcpExt.TCPFromZeroWindowAdv", sum(|tcp| tcp.window.mib.from_zero)),
    ];
    all.extend(rare.into_iter().filter(|(_, value)| *value > 0));
}
