//! The congestion control that captures show: simulated flows whose control is known, at both ends.

use crate::made::ToTheEnd;
use fullpipe::analysis::view::View;
use fullpipe::base::trace::Sink;
use fullpipe::captured::{self, Control, run};
use fullpipe::engine::Engine;
use fullpipe::engine::sim::Simulator;
use fullpipe::scenario::{self, Source};
use fullpipe::threads::each;

/// A path: rate, Mb/s; round trip, ms; queue, part of rate x RTT; losses by chance.
type Path = (u32, u32, f64, &'static str);

/// Paths whose queue overflows, which Reno and CUBIC fill, and paths that lose packets by chance.
const PATHS: [Path; 10] = [
    (20, 20, 1.0, "0%"),
    (50, 30, 0.5, "0%"),
    (100, 10, 1.5, "0%"),
    (30, 60, 0.7, "0%"),
    (200, 8, 1.0, "0%"),
    (50, 40, 1.0, "0.03%"),
    (100, 20, 0.5, "0.01%"),
    (20, 100, 2.0, "0.05%"),
    (300, 15, 1.0, "0.01%"),
    (10, 30, 1.5, "0.1%"),
];
/// Losses that a judged guess rests on at least.
const LOSSES: usize = 5;

/// The guess from a capture in this view of a flow with that control.
fn guess(path: Path, control: &str, view: View) -> Option<Control> {
    let (rate, rtt, queue, loss) = path;
    let half = 500 * rtt;
    let bytes = f64::from(rate * rtt) * 125.0 * queue;
    let text = format!(
        "duration = \"40s\"\n[path]\nrate = \"{rate}Mbit\"\ndelay = {{ forward = \"{half}us\", back = \"{half}us\" }}\nqueue = {{ limit = \"{}B\" }}\n\
         loss = {{ forward = \"{loss}\" }}\n[hosts]\nsender = {{ kernel = \"6.12\" }}\n\
         receiver = {{ kernel = \"6.12\" }}\n[[flow]]\nname = \"f\"\nduration = \"39s\"\ncongestion = \"{control}\"\n",
        bytes.max(15_000.0) as u64
    );
    let scenario = scenario::load(&Source::text("t.toml", &text), &[], &[]);
    let scenario = scenario.unwrap_or_else(|e| panic!("{e}"));
    let plan = &scenario.plans()[0];
    let at = run::point(view).expect("a capture");
    let made = |sink: &mut dyn Sink| Simulator.run(&plan.resolved, sink, &mut ToTheEnd);
    let judged = run::judged(&scenario, plan, &at, made, &mut captured::ToTheEnd);
    judged.expect("a capture").control.filter(|own| own.losses >= LOSSES)
}

/// Checks guesses on paths: right guesses, all guesses, and a table of the wrong ones.
fn right(paths: &[Path]) -> (usize, usize, String) {
    let views = [View::SenderCapture, View::ReceiverCapture];
    let mut cases = Vec::new();
    for path in paths {
        for control in ["reno", "cubic", "bbr"] {
            cases.extend(views.map(|view| (*path, control, view)));
        }
    }
    let guesses = each(cases.len(), 2, |at| {
        let (path, control, view) = cases[at];
        Ok::<_, String>(guess(path, control, view))
    });
    let guesses = guesses.expect("runs");
    let known = cases.iter().zip(guesses).filter_map(|(case, own)| Some((case, own?)));
    let known: Vec<_> = known.collect();
    let wrong = known.iter().filter(|(case, own)| own.name != case.1);
    let table: String = wrong.map(|row| format!("{row:?}\n")).collect();
    (known.len() - table.lines().count(), known.len(), table)
}

#[test]
fn reno_cubic_and_bbr_are_told_apart() {
    let (right, all, table) = right(&PATHS[9..]);
    assert_eq!((right, all), (6, 6), "{table}");
}

#[test]
#[ignore = "a study: make studies"]
fn study_reno_cubic_and_bbr_are_told_apart_on_ten_paths() {
    let (right, all, table) = right(&PATHS);
    println!("{right} of {all}\n{table}");
    assert!(all >= 45, "{all}");
    assert!(right as f64 >= 0.85 * all as f64, "{right} of {all}\n{table}");
}
