//! Recorded scores, and the tables of docs/blind.md that follow from them.

use crate::page::Page;
use fullpipe::analysis::view::View;
use fullpipe::engine::sim::Simulator;
use fullpipe::experiment::Allowed;
use fullpipe_blind::generate::{self, Hosts};
use fullpipe_blind::score::{self, Scored, Share, recorded, summary, sums};
use std::fmt::Write;

/// Seed and cases of the records.
const SEED: u64 = 504;
const CASES: usize = 500;

/// Records, each with the name of its table.
const RECORDS: [(&str, &str); 2] = [
    ("model", include_str!("../../recorded/model.csv")),
    ("sender-sockets", include_str!("../../recorded/sender-sockets.csv")),
];

/// Records of the same cases on Linux 6.12 and on the simulator, by view.
const ON_BOTH: [(&str, [&str; 2]); 2] = [
    (
        "whole trace",
        [
            include_str!("../../recorded/linux-model.csv"),
            include_str!("../../recorded/sim-model.csv"),
        ],
    ),
    (
        "sender's socket",
        [
            include_str!("../../recorded/linux-sender-sockets.csv"),
            include_str!("../../recorded/sim-sender-sockets.csv"),
        ],
    ),
];

/// Shares of both engines, of the cases that both have run.
fn on_both() -> String {
    let mut table =
        "| view | share | Linux 6.12 | simulator, the same cases | difference, points |\n\
                     |---|---|--:|--:|--:|\n"
            .to_string();
    let shown = |own: Share| {
        let points = (own.points * 100.0).round() / 100.0;
        format!("{:.2} ({points} of {})", own.value(), own.of)
    };
    for (view, records) in ON_BOTH {
        let [kernel, mut simulator] = records.map(|text| recorded::read(text).expect("a record"));
        let is_run = |own: &Scored| kernel.iter().any(|other| other.name == own.name);
        simulator.retain(is_run);
        assert_eq!(simulator.len(), kernel.len(), "{view}");
        let [kernel, simulator] = [summary(&kernel), summary(&simulator)];
        for (what, [kernel, simulator]) in [
            ("right cause", [kernel.exact, simulator.exact]),
            ("right group", [kernel.group, simulator.group]),
            ("sure", [kernel.sure, simulator.sure]),
            ("sure verdicts with the right group", [kernel.sure_group, simulator.sure_group]),
        ] {
            let points = (kernel.value() - simulator.value()) * 100.0;
            let [kernel, simulator] = [kernel, simulator].map(shown);
            let _ = writeln!(table, "| {view} | {what} | {kernel} | {simulator} | {points:+.1} |");
        }
    }
    table
}

#[test]
fn records_make_the_page() {
    let mut page = Page::read("blind.md");
    for (name, record) in RECORDS {
        let scored = recorded::read(record).expect("a record");
        assert_eq!(recorded::written(&scored), record, "{name}");
        assert_eq!(scored.len(), CASES, "{name}");
        // Headings of a table are one level below the section's.
        page.put(name, &sums(&scored).replace("\n## ", "\n### "));
    }
    page.put("kernel", &on_both());
    page.check();
}

/// The first two cases of the records again: the rules still give the recorded verdicts.
#[test]
fn recorded_verdicts_are_what_rules_say() {
    let causes = generate::causes(SEED, CASES, Hosts::Full);
    let allowed = Allowed { as_kernel: None, without: &[] };
    for number in [0, 1] {
        let drawn = generate::draw(SEED, number, causes[number], Hosts::Full).expect("a draft");
        let case = drawn.case.expect("a case");
        for ((name, record), view) in RECORDS.iter().zip([View::Model, View::SenderSockets]) {
            let known = recorded::read(record).expect("a record");
            let known = known.iter().find(|own| own.name == case.name).expect("its row");
            let again = score::score(&case, &Simulator, allowed, view).expect("a score");
            assert_eq!(
                (&again.says, &again.confidence),
                (&known.says, &known.confidence),
                "{name}, {}",
                case.name
            );
        }
    }
}

#[test]
fn wrong_lines_are_named() {
    for (text, why) in [
        ("", "line 1"),
        ("case,cause\n", "line 1"),
        ("case,cause,setting,gain,says,confidence\nx,sndbuf,true,1.5,nonsense,sure\n", "line 2"),
        ("case,cause,setting,gain,says,confidence\nx,sndbuf,true,1.5,sndbuf\n", "line 2"),
    ] {
        let wrong = recorded::read(text).expect_err(text);
        assert!(wrong.starts_with(why), "{wrong}");
    }
}
