//! Sensitivity of the ramps of the 2007 runs: the table of docs/fink-2007.md (`UPDATE_EXPECT=1` rewrites it).

use crate::made::made;
use crate::marked;
use fullpipe::scenario::{self, SetOption};
use std::fmt::Write;

const RATE: &str = "path.forward.router.rate";
const COALESCE: &str = "hosts.receiver.coalesce";

/// The changed key, its value, and the reading of the publication that it stands for.
const CHANGES: [(&str, &str, &str); 10] = [
    (RATE, "8Gbit", "the publication's lower end"),
    (RATE, "8.25Gbit", "its middle"),
    (RATE, "8.4Gbit", "none"),
    (RATE, "8.5Gbit", "its upper end, as packets: what the scenario takes"),
    (RATE, "8.53Gbit", "the same, as payload of 8192-byte datagrams"),
    (RATE, "8.57Gbit", "what passed at overload"),
    (COALESCE, "20us", "none"),
    (COALESCE, "24us", "none"),
    (COALESCE, "26us", "none"),
    (COALESCE, "30us", "none"),
];

/// The changes that a test makes, one of each key; `make studies` makes all.
const SAMPLE: [usize; 2] = [3, 7];

/// Median error of the ramp in percent, of bic and of cubic with initial_ssthresh 100.
fn medians(key: &str, value: &str) -> [f64; 2] {
    let source = scenario::recipe("fink-2007").expect("the recipe").source();
    let set = [SetOption(format!("{key}={value}"))];
    let scenario = scenario::load(&source, &set, &[]).unwrap_or_else(|e| panic!("{e}"));
    ["bic, initial_ssthresh 100", "cubic, initial_ssthresh 100"].map(|variant| {
        let plan = scenario.plans().iter().find(|plan| plan.variant == variant).expect(variant);
        let published = made(&scenario, plan).0.published.expect("published figures");
        published.median_error_before_plateau.expect("a ramp") * 100.0
    })
}

#[test]
#[ignore = "a study: make studies"]
fn study_the_table_of_readings_comes_from_runs() {
    let mut table =
        "| `--set` | reading | bic (100) | cubic (100) |\n|---|---|--:|--:|\n".to_string();
    for (key, value, reading) in marked::rows(&CHANGES, &SAMPLE) {
        let [bic, cubic] = medians(key, value);
        let _ = writeln!(table, "| `{key}={value}` | {reading} | {bic:.2} % | {cubic:.2} % |");
    }
    marked::sampled("docs/fink-2007.md", "readings", &table);
}
