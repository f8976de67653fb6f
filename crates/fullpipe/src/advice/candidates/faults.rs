//! Settings that look like mistakes: each is set back to the kernel's default.
//!
//! A fault costs nothing to undo in a trial; where undoing it gains nothing, the method withdraws it.

use super::super::case::{Case, Sent};
use super::super::change::{Change, How, Scope};
use super::super::edit::Edit;
use super::hosts::At;
use super::mounts;
use crate::analysis::numbers;
use crate::analysis::words::bits;
use crate::scenario::config::Sysctl;
use crate::scenario::congestion::{self, INITIAL_SSTHRESH};
use crate::scenario::profile::{self, Kernel};
use crate::scenario::{ENDS, Host, MAX_PACING_RATE, QdiscKind};
use fullpipe_base::path::QueueLimit;
use fullpipe_base::units::Time;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// A sysctl that slows bulk flows where it is below the kernel's default, or off.
struct Suspect {
    name: &'static str,
    value: fn(&Sysctl) -> u64,
    why: &'static str,
}

const SUSPECTS: &[Suspect] = &[
    Suspect {
        name: "net.ipv4.tcp_window_scaling",
        value: |own| own.tcp_window_scaling.into(),
        why: "without window scaling the window ends at 64 KiB",
    },
    Suspect {
        name: "net.ipv4.tcp_sack",
        value: |own| own.tcp_sack.into(),
        why: "without SACK each loss of a window costs a round trip",
    },
    Suspect {
        name: "net.ipv4.tcp_dsack",
        value: |own| own.tcp_dsack.into(),
        why: "without D-SACK a sender does not see needless retransmissions",
    },
    Suspect {
        name: "net.core.netdev_max_backlog",
        value: |own| own.netdev_max_backlog.into(),
        why: "a short backlog drops bursts",
    },
    Suspect {
        name: "net.ipv4.tcp_early_retrans",
        value: |own| own.tcp_early_retrans.into(),
        why: "without tail loss probes a lost tail waits for a timeout",
    },
    Suspect {
        name: "net.ipv4.tcp_limit_output_bytes",
        value: |own| own.tcp_limit_output_bytes.map_or(u64::MAX, u64::from),
        why: "small queues that are too small let the card run dry",
    },
    Suspect {
        name: "net.ipv4.tcp_pacing_ca_ratio",
        value: |own| own.tcp_pacing_ca_ratio.map_or(u64::MAX, u64::from),
        why: "TCP paces at this share of cwnd in a round trip",
    },
    Suspect {
        name: "net.ipv4.tcp_pacing_ss_ratio",
        value: |own| own.tcp_pacing_ss_ratio.map_or(u64::MAX, u64::from),
        why: "slow start paces at this share of cwnd in a round trip",
    },
];

/// Options that all hosts of a side share in a scenario.
const OF_A_SIDE: [&str; 2] = ["net.ipv4.tcp_window_scaling", "net.ipv4.tcp_sack"];
/// Interrupt moderation beyond this time delays ACKs and overruns rings.
const MODERATE: Time = Time::us(250);
/// Moderation that is advised, microseconds.
const USUAL_US: u64 = 50;
/// Descriptors of a receive ring that a fast path may need.
const LARGE_RING: u32 = 4096;
/// First cwnd of Linux since 2.6.39, packets.
pub(super) const INITCWND: u32 = 10;
/// Packets of one flow in fq.
const FLOW_LIMIT: u32 = 100;
/// A pace of this share of the flow's part of the path is a pace of the path.
const NEARLY: f64 = 0.95;

/// All faults that are visible in a case.
pub fn changes(case: &Case) -> Vec<Change> {
    let mut all = Vec::new();
    for (end, scope) in [(0, Scope::Sender), (1, Scope::Receiver)] {
        for (name, host) in case.hosts(end) {
            // Without a profile the usual values are unknown.
            let Some(kernel) = profile::kernel(&host.config.kernel) else { continue };
            let fault = Fault { case, name, scope, host, kernel };
            all.extend(fault.sysctls());
            all.extend(fault.timestamps());
            all.extend(fault.offloads());
            all.extend(fault.rings());
            all.extend(fault.moderation());

            // A qdisc, initcwnd and ssthresh act on the sending side alone.
            if end == 0 {
                all.extend(fault.qdisc());
                all.extend(fault.initcwnd());
                all.extend(fault.ssthresh());
            }
        }
    }

    // Faults of mounts and of programs come after those of hosts.
    all.extend(mounts::patience(case));
    all.extend(case.flows.iter().filter_map(|flow| slow_pace(case, flow)));
    all.extend(case.flows.iter().filter_map(|flow| parameters(case, &flow.name)));
    all
}

/// A host that may have faults.
struct Fault<'a> {
    case: &'a Case,
    name: &'a str,
    scope: Scope,
    host: &'a Host,
    kernel: &'static Kernel,
}

impl Fault<'_> {
    fn at(&self) -> At<'_> {
        At { host: self.name, scope: self.scope }
    }

    fn edit(&self, key: &[&str], value: Option<Json>) -> Edit {
        Edit::host(self.name, key, value)
    }

    /// A change of the host's qdisc: the removed key, and the words of `tc`.
    fn without(&self, setting: &str, key: &str, words: &str) -> Change {
        let how = How::Qdisc { words: words.into() };
        Change::new(setting, self.name, self.scope, how).edits([self.edit(&["qdisc", key], None)])
    }

    /// Whether extra hosts have its options.
    fn is_at_the_end(&self) -> bool {
        ENDS.contains(&self.name)
    }

    fn sysctls(&self) -> Vec<Change> {
        let own = &self.host.config.sysctl;

        // A value below the kernel's own was set by someone.
        let low = SUSPECTS.iter().filter(|it| (it.value)(own) < (it.value)(&self.kernel.sysctl));

        // Some sysctls act only at the ends of the main way.
        let low = low.filter(|it| self.is_at_the_end() || !OF_A_SIDE.contains(&it.name));
        low.map(|it| {
            let usual = (it.value)(&self.kernel.sysctl);
            let advised = match usual {
                u64::MAX => "the kernel's default".to_string(),
                usual => usual.to_string(),
            };
            let today = (it.value)(own);
            self.at().sysctl(it.name, &advised, None).values(today, &advised).why(it.why)
        })
        .collect()
    }

    fn timestamps(&self) -> Option<Change> {
        let is_off = !self.host.config.timestamps && self.kernel.timestamps;
        (is_off && self.is_at_the_end()).then(|| {
            // Scenarios have a key of their own for it.
            self.at()
                .sysctl("net.ipv4.tcp_timestamps", "1", None)
                .values("0", "1")
                .why("without timestamps the receiver measures its round trip too long")
                .edits([self.edit(&["timestamps"], Some(true.into()))])
        })
    }

    fn offloads(&self) -> Vec<Change> {
        let own = &self.host.config;
        let off = [
            ("tso", own.tso || !self.kernel.tso, self.scope == Scope::Sender),
            ("gro", own.gro, self.scope == Scope::Receiver),
        ];
        let off = off.into_iter().filter(|(_, is_on, matters)| !is_on && *matters);
        let why = "each packet costs the CPU its own work";
        off.map(|(name, ..)| self.at().offload(name, true).why(why)).collect()
    }

    fn rings(&self) -> Vec<Change> {
        let own = &self.host.config;
        let usual = self.kernel.ring;
        let mut all = Vec::new();
        if self.scope == Scope::Receiver && own.rx_ring < usual {
            all.push(self.ring("rx", own.rx_ring, LARGE_RING));
        }
        if self.scope == Scope::Sender && own.tx_ring < usual {
            all.push(self.ring("tx", own.tx_ring, usual));
        }
        all
    }

    fn ring(&self, which: &str, today: u32, descriptors: u32) -> Change {
        let why = "a short ring drops what comes while the CPU is away, or lets the card run dry";
        self.at().ring(which, descriptors).values(today, descriptors).why(why)
    }

    fn moderation(&self) -> Vec<Change> {
        let own = &self.host.config;
        let usual = || Some(format!("{USUAL_US}us").into());

        // Three settings delay received packets: the longest wait counts.
        let received = own.rx_coalesce.max(own.interrupt_gap).max(own.gro_flush_timeout);
        let rx = (received > MODERATE).then(|| {
            let edits = [
                self.edit(&["rx_coalesce"], usual()),
                self.edit(&["coalesce"], None),
                self.edit(&["gro_flush_timeout"], None),
            ];
            self.interrupts("rx", "RxCoalesceSec", received)
                .why("packets wait in the card for the interrupt")
                .edits(edits)
        });

        // Late completions matter only to the sender, whose small queues wait for them.
        let is_late = self.scope == Scope::Sender && own.tx_coalesce > MODERATE;
        let tx = is_late.then(|| {
            self.interrupts("tx", "TxCoalesceSec", own.tx_coalesce)
                .why("the driver hears late that packets have left, and TCP small queues wait for it")
                .edits([self.edit(&["tx_coalesce"], usual())])
        });
        rx.into_iter().chain(tx).collect()
    }

    /// Shorter interrupt moderation for received ("rx") or sent ("tx") packets, without edits.
    fn interrupts(&self, which: &str, link: &str, today: Time) -> Change {
        let how = How::Device {
            command: format!("ethtool -C DEV {which}-usecs {USUAL_US}"),
            link: format!("{link}={USUAL_US}us"),
        };
        Change::new(&format!("ethtool -C {which}-usecs"), self.name, self.scope, how)
            .values(today, format!("{USUAL_US}us"))
    }

    fn qdisc(&self) -> Vec<Change> {
        let mut all = Vec::new();
        let qdisc = &self.host.qdisc;

        // A maxrate is a fault only if it is below the path's need.
        if let Some(rate) = qdisc.maxrate.filter(|rate| self.is_slow(rate.0)) {
            let change = self.without("fq maxrate", "maxrate", "fq");
            let why = "each flow may send no faster than this";
            all.push(change.values(bits(rate.0), "none").why(why));
        }

        // Linux's own limits of these kinds; other kinds are left alone.
        let usual = match qdisc.kind {
            QdiscKind::PfifoFast | QdiscKind::Pfifo => self.kernel.qdisc_limit,
            QdiscKind::Fq => 10_000,
            QdiscKind::FqCodel => 10_240,
            _ => return all,
        };
        if let QueueLimit::Packets(packets) = qdisc.limit
            && packets < usual
        {
            let name = QDISC_NAMES.iter().find(|(kind, _)| *kind == qdisc.kind);
            let name = name.map_or("fq", |(_, name)| *name);
            let setting = format!("qdisc {name} limit");
            let change = self.without(&setting, "limit", &format!("{name} limit {usual}"));

            // pfifo_fast takes its limit from the device.
            let how = match qdisc.kind {
                QdiscKind::PfifoFast => How::Device {
                    command: format!("ip link set DEV txqueuelen {usual}"),
                    link: format!("TransmitQueueLength={usual}"),
                },
                _ => change.how.clone(),
            };
            let [today, advised] = [packets, usual].map(|n| format!("{n} packets"));
            let why = "a short queue in the host drops TCP's own bursts";
            all.push(Change { how, ..change }.values(today, advised).why(why));
        }

        // fq has a second limit, for each flow.
        if qdisc.kind == QdiscKind::Fq
            && let Some(today) = qdisc.flow_limit.filter(|today| *today < FLOW_LIMIT)
        {
            let words = format!("fq flow_limit {FLOW_LIMIT}");
            let why = "fq drops what a flow has waiting beyond this";
            let change = self.without("fq flow_limit", "flow_limit", &words);
            all.push(change.values(today, FLOW_LIMIT).why(why));
        }
        all
    }

    /// Whether a rate keeps a flow below its part of the path.
    fn is_slow(&self, bit_per_s: u64) -> bool {
        self.case.least_share_bytes().is_none_or(|share| (bit_per_s as f64) < share * 8.0)
    }

    /// The first ssthresh of an old kernel, where it ends slow start below the window that the path needs.
    fn ssthresh(&self) -> Option<Change> {
        let mss = u64::from(self.case.allowed.as_ref()?.mss);
        let is_low = |sent: &&Sent| {
            let first = sent.settings.first_ssthresh.map(u64::from);
            let usual = usual_ssthresh(&sent.congestion, &sent.settings.kernels[0]);
            let needs = sent.needs.map_or(0, |needs| needs.window);
            // With the other parameters a configured value goes back to the kernel's own.
            first == usual && first.is_some_and(|first| first.saturating_mul(mss) < needs)
        };
        let own = self.case.flows.iter().filter(|sent| sent.hosts[0] == self.name);
        let first = own.clone().find(is_low)?;
        // The parameter belongs to one congestion control.
        let low = own.filter(is_low).filter(|sent| sent.congestion == first.congestion);
        let words =
            format!("echo 0 > /sys/module/tcp_{}/parameters/{INITIAL_SSTHRESH}", first.congestion);
        let today = first.settings.first_ssthresh.unwrap_or(0);
        let setting = format!("{} {INITIAL_SSTHRESH}", first.congestion);
        let edits = low
            .map(|sent| Edit::flow(&sent.name, &["congestion", INITIAL_SSTHRESH], Some(0.into())));
        Some(
            Change::new(&setting, self.name, self.scope, How::Program { words })
                .values(format!("{today} packets"), "0 (none)")
                .why("slow start ends at this cwnd, before the path is full")
                .edits(edits),
        )
    }

    fn initcwnd(&self) -> Option<Change> {
        let today = self.host.config.initcwnd.filter(|own| *own < INITCWND)?;
        let why = "the route starts each flow with fewer packets than Linux does";
        Some(self.at().initcwnd(INITCWND).values(today, INITCWND).why(why))
    }
}

/// Names of qdiscs as `tc` has them.
const QDISC_NAMES: [(QdiscKind, &str); 4] = [
    (QdiscKind::PfifoFast, "pfifo_fast"),
    (QdiscKind::Pfifo, "pfifo"),
    (QdiscKind::Fq, "fq"),
    (QdiscKind::FqCodel, "fq_codel"),
];

/// A socket's pace that is below its part of the path.
fn slow_pace(case: &Case, sent: &Sent) -> Option<Change> {
    let name = &sent.name;
    let flow = case.today.flow.iter().find(|flow| flow.name == *name)?;
    let pace = *flow.sockopt.get(MAX_PACING_RATE)?;
    let pace = u64::try_from(pace).ok()?;
    sent.share_bytes().is_none_or(|share| (pace as f64) < share * NEARLY).then(|| {
        let how = How::SocketOption { name: MAX_PACING_RATE.into(), value: None };
        Change::new(MAX_PACING_RATE, name, Scope::Application, how)
            .values(format!("{} bytes/s", numbers::count(pace)), "not set")
            .why("the program lets its socket send no faster than this")
            .edits([Edit::flow(name, &["sockopt", MAX_PACING_RATE], None)])
    })
}

/// First ssthresh that a congestion control of a kernel has by itself, packets; none where it has none.
fn usual_ssthresh(name: &str, kernel: &str) -> Option<u64> {
    let first = *usual_parameters(name, kernel)?.get(INITIAL_SSTHRESH)?;
    u64::try_from(first).ok().filter(|first| *first > 0)
}

/// Parameters that a congestion control of a kernel has by itself; none of one that the kernel does not have.
fn usual_parameters(name: &str, kernel: &str) -> Option<BTreeMap<String, i64>> {
    let known = congestion::of_kernel(kernel);
    let algorithm = known.iter().find(|known| known.name == name)?;
    Some(congestion::defaults(algorithm, kernel))
}

/// Parameters of the congestion control that are not its defaults.
fn parameters(case: &Case, name: &str) -> Option<Change> {
    let flow = case.today.flow.iter().find(|flow| flow.name == name)?;
    let own = &flow.congestion;
    let kernel = &case.flows.iter().find(|sent| sent.name == name)?.settings.kernels[0];
    let usual = usual_parameters(&own.name, kernel)?;
    let changed: Vec<String> = own
        .parameters
        .iter()
        // Only parameters that the kernel knows can be compared.
        .filter(|(key, value)| usual.get(*key).is_some_and(|usual| usual != *value))
        .map(|(key, value)| format!("{key} {value}"))
        .collect();
    (!changed.is_empty()).then(|| {
        let words = format!("reload the module tcp_{} without parameters", own.name);
        let setting = format!("{} parameters", own.name);
        Change::new(&setting, name, Scope::Sender, How::Program { words })
            .values(changed.join(", "), "the defaults")
            .why("parameters of the congestion control differ from the kernel's")
            .edits([Edit::flow(name, &["congestion"], Some(own.name.clone().into()))])
    })
}
