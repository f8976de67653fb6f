//! Speed of the simulator, and cost of the trace: the run "cubic, initial_ssthresh 100" of the recipe fink-2007, with
//! its trace and with one sample a second, taken in turns. Prints data segments per CPU second.

#[path = "../../../benches/measure.rs"]
mod measure;

use fullpipe::engine::{self, Engine};
use fullpipe::scenario::{self, Resolved, SetOption};
use fullpipe::trace::recording::Recording;
use measure::{ToTheEnd, cpu_ns, medians};

const VARIANT: &str = "cubic, initial_ssthresh 100";
const ROUNDS: usize = 7;

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
    let round = |_| (speed(simulator, &bare), speed(simulator, &traced));
    let rounds: Vec<_> = (0..ROUNDS).map(round).collect();
    let (without, with, ratio) = medians(&rounds);
    println!(
        "fink-2007, {VARIANT}: medians of {ROUNDS} runs, million data segments per CPU second"
    );
    println!("trace every {}: {:.2}", traced.report.sample, with / 1e6);
    println!("trace every {}: {:.2}", bare.report.sample, without / 1e6);
    println!("ratio: {ratio:.2}");
}
