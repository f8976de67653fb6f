//! Random scenarios that both engines do exactly: equal seeds and numbers give equal texts.
//!
//! One path of 10 Mb/s to 10 Gb/s and 1 to 200 ms with a queue of 0.1 to 4 bandwidth-delay products, MTU 1500 or
//! 9000; one to eight flows (`flows.rs`); lists of losses (`losses.rs`). Each scale is as likely as any other. The
//! cards of both hosts are no limit.

mod draw;
mod flows;
mod losses;

use super::case::Case;
use crate::scenario::{self, Source};
use draw::{between, pick};
use fullpipe_sim::rng::Rng;
use std::fmt::Write;

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

/// What both hosts run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// The kernel's series.
    pub kernel: String,
    /// Ticks per second.
    pub hz: u32,
}

impl Default for Hosts {
    fn default() -> Hosts {
        Hosts { kernel: "6.12".into(), hz: 1000 }
    }
}

/// What flows and losses depend on.
struct Frame {
    /// Bits per second.
    rate: f64,
    mtu: u32,
    /// Bytes that the path and its queue hold.
    room: f64,
    duration_ms: u64,
}

impl Frame {
    /// Segments that the link carries in the run.
    fn segments(&self) -> f64 {
        let frame = f64::from(self.mtu + 14);
        (self.rate / 8.0 / frame * self.duration_ms as f64 / 1e3).min(SEGMENTS)
    }
}

/// The text of a scenario.
pub fn scenario(seed: u64, number: u64, hosts: &Hosts) -> String {
    let mut rng = Rng::new(seed, &format!("parity {number}"));
    let rate = between(&mut rng, 1e7, 1e10).round();
    let one_way_us = between(&mut rng, 500.0, 100_000.0).round();
    let mtu = pick(&mut rng, &[1500_u32, 9000]);
    let bdp = rate / 8.0 * one_way_us * 2e-6;
    let queue = (bdp * between(&mut rng, 0.1, 4.0)).max(f64::from(mtu) * 3.0).round();
    let duration_ms = duration_ms(&mut rng, rate, mtu, one_way_us);
    let frame = Frame { rate, mtu, room: bdp + queue, duration_ms };
    let flows = flows::flows(&mut rng, &frame);
    let [ahead, back] = losses::losses(&mut rng, &frame, flows.count);
    let mut text = format!(
        "title = \"random {seed}/{number}\"\nseed = {number}\nduration = \"{duration_ms}ms\"\n\n\
         [path]\nmtu = {mtu}\nforward = [\n{ahead}    \
         {{ kind = \"link\", name = \"link\", rate = \"{rate}bit\", framing = \"ethernet\", \
         queue = {{ limit = \"{queue}B\" }} }},\n    \
         {{ kind = \"delay\", name = \"delay\", delay = \"{one_way_us}us\" }},\n]\nback = [\n{back}    \
         {{ kind = \"delay\", name = \"back-delay\", delay = \"{one_way_us}us\" }},\n]\n"
    );
    for (host, limit) in [("sender", "wmem"), ("receiver", "rmem")] {
        text += &self::host(host, limit, hosts, flows.tuned_up_to);
    }
    let sample = sample_ms(duration_ms);
    text += &flows.text;
    text + &format!("\n[report]\ninterval = \"100ms\"\nsample = \"{sample}ms\"\n")
}

/// The scenario as a case.
///
/// # Panics
/// The text is no scenario, which no seed, number and kernel gives.
pub fn case(seed: u64, number: u64, hosts: &Hosts) -> Case {
    let text = scenario(seed, number, hosts);
    let source = Source::text(&format!("{}.toml", file(seed, number)), &text);
    let scenario = scenario::load(&source, &[], &[]);
    let scenario = scenario.unwrap_or_else(|e| panic!("{seed}/{number}: {e}"));
    let command = format!("fullpipe run {}.toml", file(seed, number));
    let (name, plan) = (file(seed, number), scenario.plans()[0].clone());
    Case { of: name.clone(), name, plan, text, command }
}

/// Name of a scenario, also of its file, without the ending.
pub fn file(seed: u64, number: u64) -> String {
    format!("random-{seed}-{number}")
}

/// Whole tenths of a second: ten round trips, and as long as the link has segments for.
fn duration_ms(rng: &mut Rng, rate: f64, mtu: u32, one_way_us: f64) -> u64 {
    let frame = f64::from(mtu + 14);
    let most = (SEGMENTS * frame * 8.0 / rate).min(LONGEST_S) * between(rng, 0.3, 1.0);
    let least = (ROUND_TRIPS * one_way_us * 2e-6).max(SHORTEST_S);
    (most.max(least) * 10.0).ceil() as u64 * 100
}

fn sample_ms(duration_ms: u64) -> u64 {
    let fits = |ms: &&u64| duration_ms / **ms <= SAMPLES;
    [1, 2, 5, 10].iter().find(fits).copied().unwrap_or(10)
}

fn host(name: &str, limit: &str, hosts: &Hosts, tuned_up_to: Option<u64>) -> String {
    let Hosts { kernel, hz } = hosts;
    let mut text = format!(
        "\n[hosts.{name}]\nkernel = \"{kernel}\"\nhz = {hz}\nnic_rate = \"1000Gbit\"\n\
         sysctl = {{ \"net.core.{limit}_max\" = \"256MB\""
    );
    if let Some(most) = tuned_up_to {
        let first = if limit == "wmem" { 16_384 } else { 131_072 };
        let _ = write!(text, ", \"net.ipv4.tcp_{limit}\" = \"4096 {first} {most}\"");
    }
    text + " }\n"
}
