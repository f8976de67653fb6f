//! Rules compared with surfaces, where the mask says that they hold: some points of the recipe `cern-loss-delay` from
//! end to end.

use crate::sweeps::Asked;
use fullpipe::scenario::{Source, recipe};
use fullpipe::sweep::cells::{Cell, cells};

/// Largest relative distance of the mean from the rule, in addition to its own 95 % interval: docs/sweeps.md.
const TOLERANCE: f64 = 0.1;
/// Largest width of that interval, as a share of the rule's value, and the number of repetitions.
const INTERVAL: f64 = 0.1;
const SEEDS: u32 = 8;

/// The cells of three controls with tuned buffers at one loss and one delay each way.
fn at(loss: &str, delay: &str, lasts: &str) -> Vec<Cell> {
    let sets = ["path.loss=".to_string() + loss]
        .into_iter()
        .chain(["forward", "back"].map(|way| format!("path.delay.{way}={delay}")))
        .chain(["", "flow.iperf3."].map(|whose| format!("{whose}duration={lasts}")));
    let sets: Vec<String> = sets.collect();
    let variants = ["reno", "cubic", "scalable"].map(|name| format!("{name}, tuned buffers"));
    let text = recipe("cern-loss-delay").expect("a recipe").text;
    let more = text.replacen("\nseeds = 3\n", &format!("\nseeds = {SEEDS}\n"), 1);
    assert_ne!(more, text);
    let source = Source::text("cern-loss-delay", &more);
    let asked =
        Asked { source: &source, sets: &sets, variants: &variants, engine: "sim", points: None };
    let directory = tempfile::tempdir().expect("a directory");
    cells(&asked.made(directory.path())).expect("cells")
}

#[test]
#[ignore = "a study: make studies"]
fn study_surfaces_keep_to_the_rules_where_the_mask_says_so() {
    // In 60 s the slowest of them has fewer than 30 loss epochs in its second half, which no rule is held to.
    let points = [
        ("1e-2", "50ms", "120s"),
        ("1e-3", "5ms", "60s"),
        ("1e-3", "12.5ms", "60s"),
        ("1e-3", "1ms", "60s"),
    ];
    let mut judged = Vec::new();
    for (loss, delay, lasts) in points {
        for cell in at(loss, delay, lasts) {
            let flow = &cell.flows[0];
            if !flow.law_holds {
                continue;
            }
            let (is, law) = (flow.settled_mbit, flow.law_mbit.expect("a rule that holds"));
            let interval = is.within.expect("repetitions");
            let within = interval + TOLERANCE * law;
            let name = format!("{} at {loss}, {delay}", flow.congestion);
            assert!((is.mean - law).abs() <= within, "{name}: {} for {law}, {within}", is.mean);
            assert!(interval <= INTERVAL * law, "{name}: {interval} of {law} show little");
            judged.push(name);
        }
    }
    // CUBIC's rule does not hold where losses are more frequent than looks at its curve.
    assert!(!judged.contains(&"cubic at 1e-3, 1ms".to_string()), "{judged:?}");
    assert!(judged.len() >= 10, "{judged:?}");
}
