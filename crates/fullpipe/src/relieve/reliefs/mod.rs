//! Reliefs that a resolved scenario can take.

mod flows;
mod hosts;
mod keys;
mod path;

use crate::scenario::{Resolved, SetOption};
pub(super) use flows::judged;

/// A relief: a limit is taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relief {
    /// Stable name, such as "send-buffer".
    pub name: &'static str,
    /// Noun phrase that begins a sentence, such as "A larger send buffer".
    pub label: &'static str,
    /// Code of the cause that it relieves, such as "sndbuf".
    pub cause: &'static str,
    /// Keys of the resolved scenario to set, as after `--set`.
    pub sets: Vec<SetOption>,
}

/// Name of the relief that takes two limits away.
pub const BOTH: &str = "buffers";

/// Name of the relief that takes other flows and datagrams away.
pub const ALONE: &str = "competitors";

/// Makes a relief.
type Maker = fn(&Resolved) -> Vec<SetOption>;

/// All reliefs: name, label, cause and maker. A maker without keys has nothing to relieve.
const ALL: &[(&str, &str, &str, Maker)] = &[
    ("send-buffer", "A larger send buffer", "sndbuf", flows::send_buffer),
    ("receive-buffer", "A larger receive buffer", "rwnd_auto", flows::tuned_receive_buffer),
    ("so-rcvbuf", "A larger SO_RCVBUF", "rwnd_fixed", flows::fixed_receive_buffer),
    ("window", "A larger receive window", "rwnd_fixed", hosts::window),
    ("autotuning", "A higher autotuning level", "rwnd_auto", hosts::autotuning),
    (BOTH, "A larger buffer at both ends", "sndbuf", flows::both_buffers),
    ("tcp-mem", "More memory for all sockets of a host", "tcp_mem", hosts::tcp_mem),
    ("window-scaling", "Window scaling", "wscale_off", hosts::window_scaling),
    ("sack", "SACK", "sack_off", hosts::sack),
    ("path", "A path twice as fast", "none", path::twice_as_fast),
    ("queue", "A longer queue on the path", "small_buffer", path::longer_queues),
    ("short-queue", "A queue that keeps itself short", "bloat", path::short_queues),
    ("loss", "A path without random loss", "loss", path::no_loss),
    ("path-mtu", "A path that passes full packets", "pmtu", path::usual_packets),
    ("mss-clamp", "A clamp of the MSS", "pmtu", path::mss_clamp),
    ("mtu-probing", "A sender that probes for the path MTU", "pmtu", hosts::mtu_probing),
    ("policer", "A path without policer", "policer", path::no_policer),
    ("burst", "A larger burst of the policer", "policer", path::larger_bursts),
    ("reordering", "A path that keeps the order", "reorder", path::in_order),
    ("way-back", "A faster way back", "ack_path", path::fast_way_back),
    ("rx-ring", "A larger receive ring", "rx_drop", hosts::receive_ring),
    ("moderation", "An interrupt for each packet", "rx_drop", hosts::interrupts),
    ("tx-ring", "A larger transmit ring", "tx_ring", hosts::transmit_ring),
    ("qdisc", "A longer qdisc of the sender", "qdisc", hosts::qdisc),
    ("pacing", "No pace of the host", "pacing", hosts::no_pace),
    ("nic", "A faster card", "nic", hosts::card),
    ("sender-cpu", "A faster CPU of the sender", "cpu_sender", hosts::sender_cpu),
    ("receiver-cpu", "A faster CPU of the receiver", "cpu_receiver", hosts::receiver_cpu),
    ("writes", "A program with larger writes", "cpu_sender", flows::larger_writes),
    ("reads", "A program with larger reads", "cpu_receiver", flows::larger_reads),
    ("writer", "A program that writes without limit", "app_write", flows::writer),
    ("pauses", "A program without pauses", "app_onoff", flows::no_pauses),
    ("idle-restart", "cwnd that outlasts pauses", "app_onoff", hosts::no_idle_restart),
    ("no-cork", "Clearing TCP_CORK", "nagle", flows::no_cork),
    ("in-flight", "A program with more in flight", "app_window", flows::more_in_flight),
    ("nodelay", "TCP_NODELAY", "nagle", flows::no_delay),
    ("quickack", "TCP_QUICKACK after each read", "nagle", flows::quick_acks),
    ("one-connection", "One connection in the place of all", "too_short", flows::one_connection),
    ("initcwnd", "A first window of 32 packets", "too_short", hosts::first_window),
    ("reader", "A program that reads without limit", "app_read", flows::reader),
    ("udp-socket", "A larger socket for datagrams", "udp", hosts::datagram_sockets),
    ("read-ahead", "A larger read-ahead of the mount", "nfs", hosts::read_ahead),
    ("timeo", "A mount that waits 60 s for an answer", "nfs", hosts::timeo),
    ("server-work", "A server that answers its mounts at once", "nfs", hosts::server_work),
    ("server-threads", "More threads of the NFS server", "nfs", hosts::server_threads),
    ("calls", "More and longer calls of the mount", "nfs", hosts::calls),
    ("mtu", "An MTU of 1,500 bytes", "small_mss", path::usual_mtu),
    ("jumbo", "An MTU of 9,000 bytes", "small_mss", path::jumbo),
    ("longer", "A run four times as long", "too_short", flows::longer),
    ("ssthresh", "A slow start without initial ssthresh", "ss_short", flows::ssthresh),
    ("hystart", "A slow start without HyStart", "ss_short", flows::hystart),
    (ALONE, "A path without competitors", "compete", flows::alone),
];

/// Reliefs that the scenario can take. Reliefs without a subject are left out.
pub fn reliefs(run: &Resolved) -> Vec<Relief> {
    let made = ALL.iter().map(|(name, label, cause, make)| {
        let sets = make(run);
        Relief { name, label, cause, sets }
    });
    made.filter(|relief| !relief.sets.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Source, load};
    use std::collections::BTreeSet;

    fn resolved(text: &str) -> Resolved {
        let scenario = load(&Source::text("t", text), &[], &[]).unwrap_or_else(|e| panic!("{e}"));
        scenario.plans()[0].resolved.clone()
    }

    /// Each thing that a relief takes away, at once.
    const ALL_BROKEN: &str = r#"
        duration = "4s"
        [path]
        mtu = 1000
        forward = [
            { kind = "loss", name = "loss", probability = 0.001 },
            { kind = "gilbert-elliott", name = "bursts", p = 0.001, r = 0.5, loss_bad = 0.5 },
            { kind = "policer", name = "police", rate = "50Mbit", burst = "20kB" },
            { kind = "link", name = "link", rate = "100Mbit", queue = { limit = "100kB" } },
            { kind = "reorder", name = "threads", delay = "0s", chosen_delay = "1ms", probability = 0.01 },
            { kind = "jitter", name = "jitter", delay = "5ms", jitter = "1ms" },
            { kind = "delay", name = "delay", delay = "10ms" },
        ]
        back = [
            { kind = "link", name = "up", rate = "1Mbit" },
            { kind = "loss", name = "up-loss", probability = 0.1 },
            { kind = "delay", name = "back", delay = "10ms" },
        ]
        [hosts.sender]
        kernel = "6.12"
        nic_rate = "150Mbit"
        tx_ring = "16 descriptors"
        qdisc = { kind = "fq", limit = "100 packets", maxrate = "60Mbit" }
        cpu = { copy = "1ns/byte" }
        sysctl = { "net.ipv4.tcp_sack" = 0, "net.ipv4.tcp_window_scaling" = 0 }
        [hosts.receiver]
        kernel = "6.12"
        rx_ring = "64 descriptors"
        cpu = { receive = "1us/packet" }
        [[flow]]
        name = "bulk"
        duration = "3s"
        app = { kind = "rate", rate = "30Mbit" }
        write = "4kB"
        reader = { rate = "20Mbit" }
        sockopt = { SO_MAX_PACING_RATE = 5000000 }
        congestion = { name = "cubic", initial_ssthresh = 20 }
        [[flow]]
        name = "other"
        rcvbuf = "100kB"
        duration = "3s"
        [[datagrams]]
        name = "udp"
        kind = "udp"
        size = "900B"
        rate = "1Mbit"
        duration = "3s"
    "#;

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<&str> = ALL.iter().map(|(name, ..)| *name).collect();
        assert_eq!(names.len(), ALL.len());
    }

    /// A scenario with a relief is valid, and the relief finds nothing more to do there. Reliefs that can always give more
    /// are left out.
    #[test]
    fn reliefs_are_scenarios_and_relieve_once() {
        let base = resolved(ALL_BROKEN);
        let made = reliefs(&base);
        let left_out: Vec<&str> = ALL
            .iter()
            .map(|(name, ..)| *name)
            .filter(|name| made.iter().all(|own| own.name != *name))
            .collect();
        assert_eq!(
            left_out,
            [
                "so-rcvbuf",
                "window",
                "autotuning",
                "tcp-mem",
                "short-queue",
                "path-mtu",
                "mss-clamp",
                "mtu-probing",
                "moderation",
                "reads",
                "pauses",
                "idle-restart",
                "no-cork",
                "in-flight",
                "nodelay",
                "quickack",
                "one-connection",
                "initcwnd",
                "udp-socket",
                "read-ahead",
                "timeo",
                "server-work",
                "server-threads",
                "calls"
            ]
        );
        for relief in made {
            let source = Source::text("t", &base.to_toml());
            let relieved =
                load(&source, &relief.sets, &[]).unwrap_or_else(|e| panic!("{}: {e}", relief.name));
            let again = reliefs(&relieved.plans()[0].resolved);
            let endless = ["path", "longer"].contains(&relief.name);
            assert_eq!(again.iter().any(|own| own.name == relief.name), endless, "{}", relief.name);
        }
    }

    /// A path that swallows full packets has three, and each leaves the others something to do but the clamp.
    #[test]
    fn a_black_hole_has_its_reliefs() {
        let of_pmtu = |clamp: &str| -> Vec<&'static str> {
            let base = resolved(&format!(
                "[path]\nmtu = 1500\nforward = [{{ kind = \"mtu\", name = \"tunnel\", mtu = 1400{clamp} }}]\n\
                 back = [{{ kind = \"delay\", name = \"back\", delay = \"10ms\" }}]\n\
                 [hosts]\nsender = {{ kernel = \"6.12\" }}\nreceiver = {{ kernel = \"6.12\" }}\n\
                 [[flow]]\nname = \"bulk\"\nduration = \"3s\"\n",
            ));
            let all = reliefs(&base).into_iter().filter(|own| own.cause == "pmtu");
            all.map(|own| own.name).collect()
        };
        assert_eq!(of_pmtu(""), ["path-mtu", "mss-clamp", "mtu-probing"]);
        assert_eq!(of_pmtu(", mss_clamp = 1361"), ["path-mtu", "mss-clamp", "mtu-probing"]);
        assert!(of_pmtu(", mss_clamp = \"pmtu\"").is_empty());
        assert_eq!(of_pmtu(", icmp = true"), ["path-mtu", "mss-clamp"]);
    }

    /// Programs that write by the clock, and programs that wait for answers, pause.
    #[test]
    fn cwnd_outlasts_pauses_where_a_program_has_some() {
        let relieves = |more: &str| {
            let base = resolved(&format!(
                "[path]\nrate = \"100Mbit\"\ndelay = {{ forward = \"10ms\", back = \"10ms\" }}\n\
                 [hosts]\nsender = {{ kernel = \"6.12\" }}\nreceiver = {{ kernel = \"6.12\" }}\n\
                 [[flow]]\nname = \"frames\"\nduration = \"3s\"\n{more}\n",
            ));
            reliefs(&base).iter().any(|own| own.name == "idle-restart")
        };
        assert!(relieves("app = { kind = \"messages\", size = \"1MB\", period = \"1s\" }"));
        assert!(relieves("app = { kind = \"on-off\", on = \"1s\", off = \"1s\" }"));
        assert!(!relieves(""));
    }

    #[test]
    fn a_plain_path_has_few_reliefs() {
        let base = resolved(
            "[path]\nrate = \"100Mbit\"\ndelay = { forward = \"10ms\", back = \"10ms\" }\n\
             queue = { limit = \"2MB\" }\n[hosts]\nsender = { kernel = \"6.12\" }\nreceiver = { kernel = \"6.12\" }\n\
             [[flow]]\nname = \"bulk\"\nduration = \"3s\"\n",
        );
        let names: Vec<&str> = reliefs(&base).iter().map(|relief| relief.name).collect();
        assert_eq!(
            names,
            [
                "send-buffer",
                "receive-buffer",
                "buffers",
                "path",
                "rx-ring",
                "tx-ring",
                "qdisc",
                "jumbo",
                "longer",
                "hystart"
            ]
        );
    }
}
