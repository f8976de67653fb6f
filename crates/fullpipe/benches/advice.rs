//! Cost of advice: time with two runs at a time, CPU time, and the number of lists of settings that are tried.
//!
//! The paths are 10 Gb/s x 80 ms, with an aim of less than 60 s, and 100 Gb/s x 100 ms, with an aim of less than 300 s.
//! The command's proof at full length is not included.

#[path = "../../../benches/measure.rs"]
mod measure;

use fullpipe::advice::method::Allowance;
use fullpipe::advice::trial::{Bench, ToTheEnd};
use fullpipe::advice::{Case, advise};
use fullpipe::base::units::{Rate, Time};
use fullpipe::engine::sim::Simulator;
use fullpipe::scenario::{Outline, load};
use measure::{process_cpu_s, record};
use std::time::Instant;

/// Rate, bit/s, round trip, ms, and longest time that an answer may take, s.
const PATHS: [(u64, u64, f64); 2] = [(10_000_000_000, 80, 60.0), (100_000_000_000, 100, 300.0)];
/// Kernel of both hosts, as the command takes it by default.
const KERNEL: &str = "6.12";
const JOBS: usize = 2;

/// Time and CPU time, s, lists that were tried, and the share of the path that is advised, %.
fn cost(rate: u64, rtt_ms: u64) -> [f64; 4] {
    let outline = Outline::new(Rate(rate), Time::ms(rtt_ms), KERNEL);
    let scenario = load(&outline.source(), &[], &[]).unwrap_or_else(|wrong| panic!("{wrong}"));
    let case = Case::new(&scenario, &scenario.plans()[0]).expect("a flow that sends");
    let bench = Bench { engine: &Simulator, jobs: JOBS, watch: &ToTheEnd };
    let (begun, before) = (Instant::now(), process_cpu_s());
    let advice = advise(&case, &Allowance::default(), &bench).expect("advice");
    let share = advice.advised.share.unwrap_or(0.0) * 100.0;
    [begun.elapsed().as_secs_f64(), process_cpu_s() - before, advice.tried as f64, share]
}

fn main() {
    let all = PATHS.map(|(rate, rtt_ms, _)| cost(rate, rtt_ms));
    println!("advice: 10 Gb/s x 80 ms, 100 Gb/s x 100 ms");
    let mut lines = String::new();
    let what =
        ["time with two runs at a time, s", "CPU, s", "lists tried", "of the path, advised, %"];
    for (n, what) in what.into_iter().enumerate() {
        let [first, second] = all.map(|own| own[n]);
        println!("{what}: {first:.1} {second:.1}");
        lines += &format!("\n| {what} | {first:.1} | {second:.1} |");
    }
    record("advice", |_| {
        format!("| | 10 Gb/s x 80 ms | 100 Gb/s x 100 ms |\n|---|--:|--:|{lines}")
    });
    for ((_, _, most), own) in PATHS.iter().zip(all) {
        assert!(own[0] < *most, "{} s; the bound is {most} s", own[0]);
    }
}
