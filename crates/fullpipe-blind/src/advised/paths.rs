//! Random paths for advice: 50 Mb/s to 40 Gb/s, 1 to 250 ms, one to eight flows, a queue of 0.1 to 2 bandwidth-delay
//! products, two kernels, and a fault in a third of them. None of them loses or polices packets.

use super::judged;
use crate::generate::draw::Draw;
use fullpipe::advice::method::Goal;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// A path with advice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Path {
    /// Name with the number and the fault.
    pub name: String,
    /// Flows.
    pub flows: usize,
    /// Least round trip, ms.
    pub rtt_ms: f64,
    /// Share of the path today, and as advised (0 to 1).
    pub shares: [f64; 2],
    /// Queueing delay as advised, ms.
    pub queue_ms: f64,
    /// Round trip under load as advised, over the least one.
    pub inflation: f64,
    /// Result of `--goal delay`, where the round trip is not short.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub shortest: Option<Shortest>,
    /// Lists of settings that were tried.
    pub tried: usize,
    /// Changes of the advice, in words.
    pub changes: Vec<String>,
    /// Time that advice took with one thread, s.
    pub seconds: f64,
}

/// Shortest round trip under load that a search with the goal of a short one finds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shortest {
    /// Share of the path (0 to 1).
    pub share: f64,
    /// Round trip under load over the least one.
    pub inflation: f64,
}

impl Path {
    /// Whether the round trip under load is short.
    pub fn is_short(&self) -> bool {
        self.inflation <= SHORT
    }

    /// Whether settings that advice may change make it short for 5 % of the rate.
    pub fn is_shortened(&self) -> bool {
        self.shortest
            .is_some_and(|own| own.inflation <= SHORT && own.share >= KEEPS * self.shares[1])
    }
}

/// A round trip under load of no more than this times the least one is short.
const SHORT: f64 = 1.25;
/// Part of the rate that is left where a round trip is shortened.
const KEEPS: f64 = 0.95;

/// Larger frames from this rate on, bit/s.
const JUMBO_FROM: f64 = 8e9;
/// Runs of faster paths are shorter.
const FAST: f64 = 15e9;
/// Faults, each as text for sender, receiver and flow.
const FAULTS: [(&str, [&str; 3]); 10] = [
    ("scaling", ["", ", sysctl = { \"net.ipv4.tcp_window_scaling\" = 0 }", ""]),
    ("wmem", [", sysctl = { \"net.ipv4.tcp_wmem\" = \"4096 16384 262144\" }", "", ""]),
    ("sack", ["", ", sysctl = { \"net.ipv4.tcp_sack\" = 0 }", ""]),
    ("maxrate", [", qdisc = { kind = \"fq\", maxrate = \"MAXRATE\" }", "", ""]),
    ("rx-ring", ["", ", rx_ring = \"32 descriptors\", rx_coalesce = \"200us\"", ""]),
    ("tx-ring", [", tx_ring = \"20 descriptors\", tx_coalesce = \"300us\"", "", ""]),
    ("coalesce", ["", ", rx_coalesce = \"2ms\"", ""]),
    ("sndbuf", ["", "", "sndbuf = \"128KiB\"\n"]),
    ("rcvbuf", ["", "", "rcvbuf = \"128KiB\"\n"]),
    ("reno", ["", "", "congestion = \"reno\"\n"]),
];

/// The path of a number, its advice and its judgement.
///
/// # Errors
/// A trial has no outcome.
pub fn path(seed: u64, number: usize) -> Result<Path, String> {
    let (name, text) = drawn(seed, number);
    let own = judged(&name, &text, Goal::Rate)?;

    // Where the queue stays long, the other goal has to show that it can shorten it.
    let shortest = match own.advised.inflation <= SHORT {
        true => None,
        false => {
            let other = judged(&name, &text, Goal::Delay)?;
            let (share, inflation) = (other.shares()[1], other.advised.inflation);
            Some(Shortest { share, inflation })
        }
    };
    Ok(Path {
        shares: own.shares(),
        flows: own.advice.flows,
        rtt_ms: own.advice.base_rtt_ms,
        queue_ms: own.advised.queue_ms,
        inflation: own.advised.inflation,
        tried: own.advice.tried,
        shortest,
        changes: own.words(),
        seconds: own.seconds,
        name,
    })
}

/// Name and scenario of a path.
pub fn drawn(seed: u64, number: usize) -> (String, String) {
    let mut draws = Draw::new(seed, &format!("path {number}"));
    let rate = draws.between(50e6, 40e9);
    let rtt_ms = draws.between(1.0, 250.0);
    let mtu = if rate > JUMBO_FROM { 9000.0 } else { 1500.0 };
    let flows = draws.pick(&[1, 1, 1, 4, 8]);
    let kernel = draws.pick(&["6.1", "6.12"]);

    // A queue has room for some packets even on a short path.
    let product = rate * rtt_ms / 8e3;
    let queue = (product * draws.between(0.1, 2.0)).max(30.0 * mtu);
    let fault = (draws.below(3) == 0).then(|| draws.pick(&FAULTS));
    let (fault, parts) = fault.unwrap_or(("none", [""; 3]));
    let maxrate = format!("{}bit", ((rate * 0.3 / f64::from(flows)) as u64).max(8000));
    let [sender, receiver, flow] = parts.map(|part| part.replace("MAXRATE", &maxrate));

    // Fast paths take long to simulate, so they run for a shorter time.
    let shown = 5.0 + 30.0 * rtt_ms / 1e3;
    let lasts = if rate > FAST { shown.min(6.0) } else { shown };

    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "[path]\nrate = \"{}bit\"\nmtu = {mtu}\nqueue = {{ limit = \"{}B\" }}\n\
         delay = {{ forward = \"{:.0}us\", back = \"{:.0}us\" }}\n\
         [hosts]\nsender = {{ kernel = \"{kernel}\"{sender} }}\nreceiver = {{ kernel = \"{kernel}\"{receiver} }}\n\
         [[flow]]\nname = \"bulk\"\nduration = \"{lasts:.1}s\"\ncount = {flows}\n{flow}",
        rate as u64,
        queue as u64,
        rtt_ms * 500.0,
        rtt_ms * 500.0,
    );
    (format!("{number:03}-{fault}"), text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judging::case;

    #[test]
    fn equal_seeds_draw_equal_paths() {
        for number in 0..60 {
            let (name, text) = drawn(5, number);
            assert_eq!((name.clone(), text.clone()), drawn(5, number));
            case(&name, &text).expect("a scenario");
        }
        assert_ne!(drawn(5, 0), drawn(6, 0));
    }
}
