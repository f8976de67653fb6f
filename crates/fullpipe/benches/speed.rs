//! How fast the simulator is, and what the trace costs: the run "cubic, initial_ssthresh 100" of
//! the recipe fink-2007, with its trace and with one sample a second, taken in turns. Prints data
//! segments per CPU second.

#[path = "../../../benches/measure.rs"]
mod measure;

use fullpipe::engine::{self, Engine};
use fullpipe::scenario::{self, Resolved, SetOption};
use fullpipe::trace::recording::Recording;
use fullpipe_sim::trace::Control;
use fullpipe_sim::units::Time;
use measure::{cpu_ns, median};

const VARIANT: &str = "cubic, initial_ssthresh 100";
const ROUNDS: usize = 7;

struct ToTheEnd;

impl Control for ToTheEnd {
    fn go_on(&mut self, _now: Time) -> bool {
        true
    }
}

fn resolved(sets: &[SetOption]) -> Resolved {
    let recipe = scenario::recipe("fink-2007").expect("a built-in recipe").source();
    let scenario = scenario::load(&recipe, sets, &[VARIANT.to_string()]).expect("a valid recipe");
    scenario.plans()[0].resolved.clone()
}

/// Data segments per CPU second of one run.
fn speed(simulator: &dyn Engine, run: &Resolved) -> f64 {
    let mut recording = Recording::default();
    let before = cpu_ns();
    let outcome = simulator.run(run, &mut recording, &mut ToTheEnd).expect("a valid run");
    outcome.segments as f64 / (cpu_ns() - before) * 1e9
}

fn main() {
    let simulator = engine::find("sim").expect("the simulator is an engine");
    let traced = resolved(&[]);
    let bare = resolved(&[SetOption("report.sample=1s".to_string())]);
    let mut speeds = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        speeds[0].push(speed(simulator, &traced));
        speeds[1].push(speed(simulator, &bare));
    }
    let [with, without] = speeds.map(median);
    println!(
        "fink-2007, {VARIANT}: medians of {ROUNDS} runs, million data segments per CPU second"
    );
    println!("trace every {}: {:.2}", traced.report.sample, with / 1e6);
    println!("trace every {}: {:.2}", bare.report.sample, without / 1e6);
    println!("ratio: {:.2}", with / without);
}
