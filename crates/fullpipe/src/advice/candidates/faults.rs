//! Settings that look like mistakes: each goes back to what the kernel has by itself.
//!
//! A fault costs nothing to undo in a trial; where undoing it gains nothing, the method withdraws it.

use super::super::Case;
use super::super::change::{Change, How, Rank, Scope};
use super::super::edit::Edit;
use crate::analysis::numbers;
use crate::analysis::words::bits;
use crate::scenario::config::Sysctl;
use crate::scenario::congestion;
use crate::scenario::profile::{self, Kernel};
use crate::scenario::{ENDS, Host, MAX_PACING_RATE, QdiscKind};
use fullpipe_base::path::QueueLimit;
use fullpipe_base::units::Time;
use serde_json::Value as Json;

/// A sysctl whose value below the kernel's default, or off, slows bulk flows.
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
const INITCWND: u32 = 10;

/// All faults that are visible in a case.
pub fn changes(case: &Case) -> Vec<Change> {
    let mut all = Vec::new();
    for (end, scope) in [(0, Scope::Sender), (1, Scope::Receiver)] {
        for (name, host) in case.hosts(end) {
            let Some(kernel) = profile::kernel(&host.config.kernel) else { continue };
            let fault = Fault { case, name, scope, host, kernel };
            all.extend(fault.sysctls());
            all.extend(fault.timestamps());
            all.extend(fault.offloads());
            all.extend(fault.rings());
            all.extend(fault.moderation());
            if end == 0 {
                all.extend(fault.qdisc());
                all.extend(fault.initcwnd());
            }
        }
    }
    all.extend(case.flows.iter().filter_map(|flow| slow_pace(case, &flow.name)));
    all.extend(case.flows.iter().filter_map(|flow| parameters(case, &flow.name)));
    all
}

/// What is looked at.
struct Fault<'a> {
    case: &'a Case,
    name: &'a str,
    scope: Scope,
    host: &'a Host,
    kernel: &'static Kernel,
}

impl Fault<'_> {
    fn change(&self, setting: &str, [today, advised]: [String; 2], why: &str, how: How) -> Change {
        Change {
            setting: setting.into(),
            whose: self.name.into(),
            scope: self.scope,
            rank: Rank::Cosmetic,
            today,
            advised,
            why: why.into(),
            how,
            edits: Vec::new(),
        }
    }

    fn edit(&self, key: &[&str], value: Option<Json>) -> Edit {
        Edit::host(self.name, key, value)
    }

    /// Whether hosts beside this one have its options.
    fn is_at_the_end(&self) -> bool {
        ENDS.contains(&self.name)
    }

    fn sysctls(&self) -> Vec<Change> {
        let own = &self.host.config.sysctl;
        let low = SUSPECTS.iter().filter(|it| (it.value)(own) < (it.value)(&self.kernel.sysctl));
        let low = low.filter(|it| self.is_at_the_end() || !OF_A_SIDE.contains(&it.name));
        let change = |it: &Suspect| {
            let usual = (it.value)(&self.kernel.sysctl);
            let advised = match usual {
                u64::MAX => "the kernel's default".to_string(),
                usual => usual.to_string(),
            };
            let today = (it.value)(own).to_string();
            let how = How::Sysctl { name: it.name.into(), value: advised.clone() };
            let edits = vec![self.edit(&["sysctl", it.name], None)];
            Change { edits, ..self.change(it.name, [today, advised], it.why, how) }
        };
        low.map(change).collect()
    }

    fn timestamps(&self) -> Option<Change> {
        let is_off = !self.host.config.timestamps && self.kernel.timestamps;
        (is_off && self.is_at_the_end()).then(|| {
            let setting = "net.ipv4.tcp_timestamps";
            let how = How::Sysctl { name: setting.into(), value: "1".into() };
            let why = "without timestamps the receiver measures its round trip too long";
            Change {
                edits: vec![self.edit(&["timestamps"], Some(true.into()))],
                ..self.change(setting, ["0".into(), "1".into()], why, how)
            }
        })
    }

    fn offloads(&self) -> Vec<Change> {
        let own = &self.host.config;
        let off = [
            ("tso", own.tso || !self.kernel.tso, self.scope == Scope::Sender),
            ("gro", own.gro, self.scope == Scope::Receiver),
        ];
        let off = off.into_iter().filter(|(_, is_on, matters)| !is_on && *matters);
        let change = |(name, ..): (&str, bool, bool)| {
            let link = match name {
                "tso" => "TCPSegmentationOffload=yes",
                _ => "GenericReceiveOffload=yes",
            };
            let how =
                How::Ethtool { words: format!("-K DEV {name} on"), link: vec![link.to_string()] };
            let why = "each packet costs the CPU its own work";
            Change {
                edits: vec![self.edit(&[name], Some(true.into()))],
                ..self.change(&format!("ethtool -K {name}"), ["off".into(), "on".into()], why, how)
            }
        };
        off.map(change).collect()
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
        let (key, link) = match which {
            "rx" => ("rx_ring", format!("RxBufferSize={descriptors}")),
            _ => ("tx_ring", format!("TxBufferSize={descriptors}")),
        };
        let how = How::Ethtool { words: format!("-G DEV {which} {descriptors}"), link: vec![link] };
        let why = "a short ring drops what comes while the CPU is away, or lets the card run dry";
        let values = [today, descriptors].map(|n| n.to_string());
        Change {
            edits: vec![self.edit(&[key], Some(format!("{descriptors} descriptors").into()))],
            ..self.change(&format!("ethtool -G {which}"), values, why, how)
        }
    }

    fn moderation(&self) -> Option<Change> {
        let own = &self.host.config;
        let longest = own.rx_coalesce.max(own.interrupt_gap).max(own.gro_flush_timeout);
        (longest > MODERATE).then(|| {
            let how = How::Ethtool {
                words: format!("-C DEV rx-usecs {USUAL_US}"),
                link: vec![format!("RxCoalesceSec={USUAL_US}us")],
            };
            let why = "packets wait in the card for the interrupt";
            let values = [longest.to_string(), format!("{USUAL_US}us")];
            let mut edits = vec![self.edit(&["rx_coalesce"], Some(format!("{USUAL_US}us").into()))];
            edits.push(self.edit(&["coalesce"], None));
            edits.push(self.edit(&["gro_flush_timeout"], None));
            Change { edits, ..self.change("ethtool -C rx-usecs", values, why, how) }
        })
    }

    fn qdisc(&self) -> Vec<Change> {
        let mut all = Vec::new();
        let qdisc = &self.host.qdisc;
        if let Some(rate) = qdisc.maxrate.filter(|rate| self.is_slow(rate.0)) {
            let why = "each flow may send no faster than this";
            let values = [bits(rate.0), "none".into()];
            let how = How::Qdisc { words: "fq".into() };
            all.push(Change {
                edits: vec![self.edit(&["qdisc", "maxrate"], None)],
                ..self.change("fq maxrate", values, why, how)
            });
        }
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
            let why = "a short queue in the host drops TCP's own bursts";
            let values = [packets, usual].map(|n| format!("{n} packets"));
            let how = match qdisc.kind {
                QdiscKind::PfifoFast => How::Ethtool {
                    words: format!("(ip link set DEV txqueuelen {usual})"),
                    link: vec![format!("TransmitQueueLength={usual}")],
                },
                _ => How::Qdisc { words: format!("{name} limit {usual}") },
            };
            all.push(Change {
                edits: vec![self.edit(&["qdisc", "limit"], None)],
                ..self.change(&format!("qdisc {name} limit"), values, why, how)
            });
        }
        if qdisc.kind == QdiscKind::Fq && qdisc.flow_limit.is_some_and(|own| own < 100) {
            let values = [qdisc.flow_limit.unwrap_or(0).to_string(), "100".into()];
            let how = How::Qdisc { words: "fq flow_limit 100".into() };
            let why = "fq drops what a flow has waiting beyond this";
            all.push(Change {
                edits: vec![self.edit(&["qdisc", "flow_limit"], None)],
                ..self.change("fq flow_limit", values, why, how)
            });
        }
        all
    }

    /// Whether a rate keeps a flow below its part of the path.
    fn is_slow(&self, bit_per_s: u64) -> bool {
        self.case.share_bytes().is_none_or(|share| (bit_per_s as f64) < share * 8.0)
    }

    fn initcwnd(&self) -> Option<Change> {
        let today = self.host.config.initcwnd.filter(|own| *own < INITCWND)?;
        let how = How::Route { words: format!("initcwnd {INITCWND}") };
        let why = "the route starts each flow with fewer packets than Linux does";
        let values = [today, INITCWND].map(|n| n.to_string());
        Some(Change {
            edits: vec![self.edit(&["initcwnd"], Some(format!("{INITCWND} packets").into()))],
            ..self.change("ip route initcwnd", values, why, how)
        })
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
fn slow_pace(case: &Case, name: &str) -> Option<Change> {
    let flow = case.today.flow.iter().find(|flow| flow.name == name)?;
    let pace = *flow.sockopt.get(MAX_PACING_RATE)?;
    let pace = u64::try_from(pace).ok()?;
    case.share_bytes().is_none_or(|share| (pace as f64) < share * 0.95).then(|| Change {
        setting: MAX_PACING_RATE.into(),
        whose: name.into(),
        scope: Scope::Application,
        rank: Rank::Cosmetic,
        today: format!("{} bytes/s", numbers::count(pace)),
        advised: "not set".into(),
        why: "the program lets its socket send no faster than this".into(),
        how: How::SocketOption { name: MAX_PACING_RATE.into(), value: None },
        edits: vec![Edit::flow(name, &["sockopt", MAX_PACING_RATE], None)],
    })
}

/// Parameters of the congestion control that are not its defaults.
fn parameters(case: &Case, name: &str) -> Option<Change> {
    let flow = case.today.flow.iter().find(|flow| flow.name == name)?;
    let own = &flow.congestion;
    let kernel = &case.flows.iter().find(|sent| sent.name == name)?.settings.kernels[0];
    let known = congestion::of_kernel(kernel);
    let algorithm = known.iter().find(|known| known.name == own.name)?;
    let usual = congestion::defaults(algorithm, kernel);
    let changed: Vec<String> = own
        .parameters
        .iter()
        .filter(|(key, value)| usual.get(*key).is_some_and(|usual| usual != *value))
        .map(|(key, value)| format!("{key} {value}"))
        .collect();
    (!changed.is_empty()).then(|| Change {
        setting: format!("{} parameters", own.name),
        whose: name.into(),
        scope: Scope::Sender,
        rank: Rank::Cosmetic,
        today: changed.join(", "),
        advised: "the defaults".into(),
        why: "parameters of the congestion control differ from the kernel's".into(),
        how: How::Program {
            words: format!("reload the module tcp_{} without parameters", own.name),
        },
        edits: vec![Edit::flow(name, &["congestion"], Some(own.name.clone().into()))],
    })
}
