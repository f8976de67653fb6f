//! Cost of many flows: CPU time per train and per data packet of 1,000 flows (scenario e of `benches/peers`) against
//! one flow (a), in the simulator alone, taken in turns. The aim per train is at most one and a half times.

#[path = "../../../benches/measure.rs"]
mod measure;

use fullpipe::engine::sim::config;
use fullpipe::scenario::{self, Source};
use fullpipe::trace::recording::Recording;
use fullpipe_sim::config::Config;
use measure::{ToTheEnd, cpu_ns, medians, record};

const ONE: (&str, &str) = ("a", include_str!("../../../benches/peers/a.toml"));
const MANY: (&str, &str) = ("e", include_str!("../../../benches/peers/e.toml"));
const ROUNDS: usize = 5;

fn configuration(name: &str, text: &str) -> Config {
    let scenario = scenario::load(&Source::text(name, text), &[], &[]).expect("a valid scenario");
    config(&scenario.plans()[0].resolved)
}

/// CPU time of a run, ns, per train and per data packet.
fn cost(run: &Config) -> [f64; 2] {
    let mut recording = Recording::default();
    let before = cpu_ns();
    let outcome = fullpipe_sim::sim::run(run, &mut recording, &mut ToTheEnd).expect("a valid run");
    let spent = cpu_ns() - before;
    [outcome.trains, outcome.segments].map(|number| spent / number as f64)
}

fn main() {
    let runs = [ONE, MANY].map(|(name, text)| configuration(name, text));
    let rounds: Vec<_> = (0..ROUNDS).map(|_| (cost(&runs[0]), cost(&runs[1]))).collect();
    println!("ns of CPU: one flow, 1,000 flows, ratio");
    let mut lines = String::new();
    for (unit, name) in ["train", "data packet"].into_iter().enumerate() {
        let rounds: Vec<_> = rounds.iter().map(|(one, many)| (one[unit], many[unit])).collect();
        let (one, many, times) = medians(&rounds);
        println!("per {name}: {one:.0} {many:.0} {times:.2}");
        lines += &format!("\n| {name} | {one:.0} | {many:.0} | {times:.2} |");
    }
    record("flows", |_| format!("| | one flow | 1,000 flows | times |\n|---|--:|--:|--:|{lines}"));
}
