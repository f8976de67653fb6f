//! Needs of a path, by arithmetic alone: window, buffers, sysctls, the time of slow start and recovery, and the loss at
//! which one flow still fills it.
//!
//! [`plan`] answers everything at once for one flow; [`sizes`] has the socket buffers for several, and for a path with loss.

pub mod demand;
pub mod growth;
pub mod loss;
pub mod sizes;
pub mod window;

use fullpipe_base::units::{Framing, Rate, Time};
pub use fullpipe_scenario::OutOfRange;
use fullpipe_scenario::Version;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the JSON that [`Plan`] serialises to.
pub const FORMAT: u32 = 1;

/// IPv4 and TCP headers without options, bytes.
pub(crate) const HEADERS: u32 = 40;
/// The timestamps option with its padding (RFC 7323, appendix A), bytes.
pub(crate) const TIMESTAMPS: u32 = 12;
/// Least MTU: headers and the smallest MSS that Linux sends (48 bytes).
const LEAST_MTU: u32 = HEADERS + 48;
/// Largest rate with which no result overflows.
const MOST_RATE: Rate = Rate(1_000_000_000_000_000);
/// Longest round trip with which no result overflows.
pub const MOST_RTT: Time = Time::secs(1000);

/// A path and its hosts, as far as a plan needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Rate of the bottleneck (1 bit/s to 1 Pbit/s).
    pub rate: Rate,
    /// Round-trip time without queues (1 ns to 1000 s).
    pub rtt: Time,
    /// Largest IP packet, bytes (88 to 65535).
    pub mtu: u32,
    /// Bytes that the rate counts for each packet.
    pub framing: Framing,
    /// Kernel of both hosts.
    pub kernel: Version,
    /// Whether TCP timestamps are in use.
    pub timestamps: bool,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Version of this format.
    pub format: u32,
    /// What was asked.
    pub path: PathFacts,
    /// The window and its bounds.
    pub window: window::Window,
    /// Socket buffers and sysctls.
    pub buffers: window::Buffers,
    /// How long slow start takes to fill the window.
    pub slow_start: growth::SlowStart,
    /// How long the window takes to recover from one loss.
    pub recovery: growth::Recovery,
    /// Loss that each algorithm tolerates with the path still full.
    pub loss: Vec<loss::Tolerance>,
}

/// The path in the units that the rest is computed in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathFacts {
    /// Rate of the bottleneck, bits per second.
    pub rate_bit_per_s: u64,
    /// What the rate counts: "ip", "ethernet", "ethernet-wire".
    pub framing: String,
    /// Round-trip time, s.
    pub rtt_s: f64,
    /// Largest IP packet, bytes.
    pub mtu_bytes: u32,
    /// Payload of a full segment, bytes.
    pub mss_bytes: u32,
    /// Kernel of both hosts.
    pub kernel: String,
    /// True if no real kernel judges the values of that kernel; absent where one does.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unvalidated: bool,
    /// Highest rate of payload, Mb/s (10^6).
    pub payload_mbit: f64,
    /// Rate times RTT, bytes as the rate counts them.
    pub bdp_bytes: u64,
    /// `bdp_bytes` in full packets.
    pub bdp_packets: f64,
}

impl Question {
    /// Payload of a full segment, bytes.
    pub fn mss(&self) -> u32 {
        let options = if self.timestamps { TIMESTAMPS } else { 0 };
        (self.mtu - HEADERS) - options
    }

    /// Bytes that a full packet takes as the rate counts it.
    pub fn packet(&self) -> u32 {
        self.mtu + self.framing.overhead()
    }

    /// Rate times RTT, bytes as the rate counts them, rounded up.
    pub fn bdp_bytes(&self) -> u64 {
        let bits_ns = u128::from(self.rate.0) * u128::from(self.rtt.0);
        bits_ns.div_ceil(8 * 1_000_000_000) as u64
    }

    /// Rate times RTT in full packets.
    pub fn bdp_packets(&self) -> f64 {
        self.rate.0 as f64 * self.rtt.as_secs_f64() / 8.0 / f64::from(self.packet())
    }

    fn check(&self) -> Result<(), OutOfRange> {
        let out = |what, expected: String| Err(OutOfRange { what, expected });
        if self.rate.0 == 0 || self.rate > MOST_RATE {
            return out("rate", "1bit to 1000Tbit, such as 10Gbit".into());
        }
        if self.rtt == Time::ZERO || self.rtt > MOST_RTT {
            return out("rtt", "1ns to 1000s, such as 80ms".into());
        }
        if !(LEAST_MTU..=65535).contains(&self.mtu) {
            return out("mtu", format!("{LEAST_MTU} to 65535 bytes"));
        }
        Ok(())
    }

    fn facts(&self) -> PathFacts {
        let payload_share = f64::from(self.mss()) / f64::from(self.packet());
        PathFacts {
            rate_bit_per_s: self.rate.0,
            framing: self.framing.name().into(),
            rtt_s: self.rtt.as_secs_f64(),
            mtu_bytes: self.mtu,
            mss_bytes: self.mss(),
            kernel: self.kernel.to_string(),
            unvalidated: self.kernel.is_unvalidated(),
            payload_mbit: self.rate.0 as f64 * payload_share / 1e6,
            bdp_bytes: self.bdp_bytes(),
            bdp_packets: self.bdp_packets(),
        }
    }
}

/// Checks the bounds that [`Question`] states.
///
/// # Errors
/// The first quantity beyond its bounds.
pub fn check(question: &Question) -> Result<(), OutOfRange> {
    question.check()
}

/// Plans for one flow that shall fill the path alone.
///
/// # Errors
/// A quantity beyond the bounds stated at [`Question`].
pub fn plan(question: &Question) -> Result<Plan, OutOfRange> {
    question.check()?;
    let window = window::window(question);
    Ok(Plan {
        format: FORMAT,
        path: question.facts(),
        buffers: window::buffers(question, window.bytes),
        slow_start: growth::slow_start(question, window.packets),
        recovery: growth::recovery(question, window.packets),
        loss: loss::tolerances(question),
        window,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(rate: Rate, mtu: u32, framing: Framing) -> Question {
        Question {
            rate,
            rtt: Time::ms(80),
            mtu,
            framing,
            kernel: Version::new(2, 6, 20),
            timestamps: false,
        }
    }

    #[test]
    fn a_packet_carries_what_headers_and_framing_leave() {
        // 1448 of 1500, 1514, 1538 bytes are 96.5, 95.6, 94.1 %
        for (framing, share) in
            [(Framing::Ip, 96.5), (Framing::Ethernet, 95.6), (Framing::EthernetWire, 94.1)]
        {
            let mut q = question(Rate::gbit(1), 1500, framing);
            q.timestamps = true;
            let facts = plan(&q).unwrap().path;
            assert_eq!(facts.mss_bytes, 1448);
            assert!((facts.payload_mbit / 10.0 - share).abs() < 0.06, "{facts:?}");
        }
    }

    #[test]
    fn the_product_of_10_gbit_and_80_ms_is_100_megabytes() {
        let facts = plan(&question(Rate::gbit(10), 9000, Framing::Ip)).unwrap().path;
        assert_eq!((facts.bdp_bytes, facts.mss_bytes), (100_000_000, 8960));
        assert!((facts.bdp_packets - 11_111.1).abs() < 0.1);
    }

    #[test]
    fn quantities_beyond_the_bounds_are_named() {
        let good = question(Rate::gbit(10), 9000, Framing::Ip);
        let wrong = [
            (Question { rate: Rate(0), ..good }, "rate"),
            (Question { rate: Rate(u64::MAX), ..good }, "rate"),
            (Question { rtt: Time::ZERO, ..good }, "rtt"),
            (Question { rtt: Time::NEVER, ..good }, "rtt"),
            (Question { mtu: 87, ..good }, "mtu"),
            (Question { mtu: 65536, ..good }, "mtu"),
        ];
        for (q, what) in wrong {
            assert_eq!(plan(&q).unwrap_err().what, what);
        }
    }

    #[test]
    fn the_bounds_themselves_are_answered() {
        for rate in [Rate(1), MOST_RATE] {
            for rtt in [Time::ns(1), MOST_RTT] {
                for mtu in [LEAST_MTU, 65535] {
                    for timestamps in [false, true] {
                        let q = question(rate, mtu, Framing::EthernetWire);
                        assert!(plan(&Question { rtt, timestamps, ..q }).is_ok());
                    }
                }
            }
        }
    }
}
