//! The hosts of a random scenario: both kernels have the same sysctls, a few of them uncommon ones.

use super::Hosts;
use super::draw::{between, often, pick, rarely};
use super::flows::Flows;
use super::frame::{Frame, Marks, whole};
use super::tunnel::Tunnel;
use fullpipe_sim::rng::Rng;
use std::fmt::Write;

/// Uncommon settings: a sysctl and one of its values.
const UNCOMMON: [(&str, &[u32]); 7] = [
    ("net.ipv4.tcp_sack", &[0]),
    ("net.ipv4.tcp_dsack", &[0]),
    ("net.ipv4.tcp_frto", &[0]),
    ("net.ipv4.tcp_reordering", &[2, 5, 10]),
    ("net.ipv4.tcp_early_retrans", &[0]),
    ("net.ipv4.tcp_notsent_lowat", &[16_384, 131_072]),
    ("net.ipv4.tcp_slow_start_after_idle", &[0]),
];

/// The sections of both hosts.
pub fn hosts(rng: &mut Rng, hosts: &Hosts, frame: &Frame, flows: &Flows) -> String {
    let Hosts { kernel, hz } = hosts;
    let sysctl = sysctl(rng, frame, flows);
    let timestamps = if rarely(rng) { "timestamps = false\n" } else { "" };
    let qdisc = qdisc(rng, frame);
    let host = |name: &str| {
        format!(
            "\n[hosts.{name}]\nkernel = \"{kernel}\"\nhz = {hz}\n{timestamps}{qdisc}sysctl = {{ {sysctl} }}\n"
        )
    };
    host("sender") + &host("receiver")
}

fn sysctl(rng: &mut Rng, frame: &Frame, flows: &Flows) -> String {
    let mut text =
        "\"net.core.wmem_max\" = \"256MB\", \"net.core.rmem_max\" = \"256MB\"".to_string();

    // The tuned maximum is drawn with the flows, since it excludes fixed buffers.
    if let Some(most) = flows.tuned_up_to {
        for (limit, first) in [("wmem", 16_384), ("rmem", 131_072)] {
            let _ = write!(text, ", \"net.ipv4.tcp_{limit}\" = \"4096 {first} {most}\"");
        }
    }
    if frame.marks != Marks::Nothing {
        text += ", \"net.ipv4.tcp_ecn\" = 1";
    }

    if let Some(value) = frame.tunnel.and_then(Tunnel::probing) {
        let _ = write!(text, ", \"net.ipv4.tcp_mtu_probing\" = {value}");
    }

    // Each uncommon value is rare, so that most runs have none or one.
    for (name, values) in UNCOMMON {
        if rarely(rng) {
            let _ = write!(text, ", \"{name}\" = {}", pick(rng, values));
        }
    }
    text
}

/// A card and a ring that are no limit, and a queue where nothing waits. The card of engine `linux` has no ring.
///
/// Uncommonly the queue is another one, half the time before a card of 2 to 20 times the link's rate.
fn qdisc(rng: &mut Rng, frame: &Frame) -> String {
    if !rarely(rng) {
        return "nic_rate = \"1000Gbit\"\ntx_ring = \"4096 descriptors\"\n".into();
    }
    let rate = match often(rng, 0.5) {
        true => whole(frame.rate * between(rng, 2.0, 20.0)),
        false => 1e12,
    };
    let kind = pick(rng, &["fq", "fq_codel", "pfifo"]);
    format!("nic_rate = \"{rate}bit\"\nqdisc = {{ kind = \"{kind}\" }}\n")
}
