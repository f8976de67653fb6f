//! Frame of a random scenario: the values on which all others depend.

use super::draw::{between, pick, rarely};
use super::programs::Program;
use super::tunnel::Tunnel;
use fullpipe_sim::rng::Rng;

/// Segments that a link carries in a run at most, but for runs of [`SHORTEST_S`], so that a run takes seconds.
const SEGMENTS: f64 = 200_000.0;
/// No run is shorter, s.
const SHORTEST_S: f64 = 0.6;
/// No run is longer, s.
const LONGEST_S: f64 = 30.0;
/// Round trips that a run lasts at least.
const ROUND_TRIPS: f64 = 10.0;
/// Samples of a run at most.
const SAMPLES: u64 = 3_200;

/// Source of marks (ECN).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Marks {
    /// Nothing, and hosts do not ask for it.
    Nothing,
    /// A list.
    List,
    /// The link's queue discipline.
    Queue,
}

/// The path's size, the run's length, and the traffic of the path.
pub struct Frame {
    /// Bits per second.
    pub rate: f64,
    /// Delay of each way, microseconds.
    pub one_way_us: f64,
    /// Bytes.
    pub mtu: u32,
    /// Length of the run, milliseconds.
    pub duration_ms: u64,
    /// Source of marks, for hosts that have ECN.
    pub marks: Marks,
    /// Whether some flows go backward.
    pub two_way: bool,
    /// A tunnel on the way there.
    pub tunnel: Option<Tunnel>,
    /// Program of the first flow.
    pub program: Option<Program>,
}

impl Frame {
    /// 1 Mb/s to 10 Gb/s, 1 to 300 ms there and back, an MTU that is mostly 1500.
    pub fn draw(rng: &mut Rng) -> Frame {
        let rate = whole(between(rng, 1e6, 1e10));
        let one_way_us = between(rng, 500.0, 150_000.0).round();
        let mtu = pick(rng, &[1500, 1500, 1500, 1500, 1500, 1500, 9000, 576]);
        let duration_ms = duration_ms(rng, rate, mtu, one_way_us);
        let marks = match rarely(rng) {
            true => pick(rng, &[Marks::List, Marks::Queue]),
            false => Marks::Nothing,
        };
        Frame {
            rate,
            one_way_us,
            mtu,
            duration_ms,
            marks,
            two_way: rarely(rng),
            tunnel: None,
            program: None,
        }
    }

    /// Bytes that the path holds without a queue: bandwidth-delay product.
    pub fn bdp(&self) -> f64 {
        self.rate / 8.0 * self.one_way_us * 2e-6
    }

    /// Segments that the link carries in the run.
    pub fn segments(&self) -> f64 {
        (self.rate / 8.0 / framed(self.mtu) * self.duration_ms as f64 / 1e3).min(SEGMENTS)
    }

    /// Interval of samples, milliseconds.
    pub fn sample_ms(&self) -> u64 {
        [1, 2, 5, 10].iter().find(|ms| self.duration_ms / **ms <= SAMPLES).copied().unwrap_or(10)
    }
}

/// A rate in whole kilobits per second: Linux's links count bytes per second.
pub fn whole(rate: f64) -> f64 {
    (rate / 1e3).round() * 1e3
}

/// Bytes of a full packet on an Ethernet.
fn framed(mtu: u32) -> f64 {
    f64::from(mtu + 14)
}

/// Length of a run in whole tenths of a second: ten round trips, and as long as the link has segments for.
fn duration_ms(rng: &mut Rng, rate: f64, mtu: u32, one_way_us: f64) -> u64 {
    let most = (SEGMENTS * framed(mtu) * 8.0 / rate).min(LONGEST_S) * between(rng, 0.3, 1.0);
    let least = (ROUND_TRIPS * one_way_us * 2e-6).max(SHORTEST_S);
    (most.max(least) * 10.0).ceil() as u64 * 100
}
