//! The page on the two changes of 2014: its tables come from runs of the recipes (`FULLPIPE_BLESS=1` rewrites them).

use crate::made::made;
use crate::marked;
use fullpipe::analysis::document::Run;
use fullpipe::scenario::{self, SetOption};
use std::fmt::Write;

const PAGE: &str = "docs/bloat-2014.md";

fn run(recipe: &str, variant: &str, set: &[&str]) -> Run {
    let source = scenario::recipe(recipe).expect("the recipe").source();
    let sets: Vec<_> = set.iter().map(|set| SetOption((*set).into())).collect();
    let scenario = scenario::load(&source, &sets, &[variant.into()]);
    let scenario = scenario.unwrap_or_else(|e| panic!("{e}"));
    made(&scenario, &scenario.plans()[0]).0
}

/// Name, variant, what is set, and what the letter says of it: cwnd, unacknowledged packets, RTT.
const RUNS: [(&str, &str, &[&str], [&str; 3]); 5] = [
    ("before", "before", &[], ["96", "14", "15.875"]),
    ("after", "after", &[], ["15", "4", "5.206"]),
    ("before, cwnd of 96", "cwnd of 96", &[], ["96", "14", "15.875"]),
    ("before, 128 KiB", "before", &BYTES, ["–"; 3]),
    ("after, 128 KiB", "after", &BYTES, ["–"; 3]),
];
const BYTES: [&str; 1] = ["hosts.sender.sysctl.net.ipv4.tcp_limit_output_bytes=131072"];

#[test]
fn windows_make_queues() {
    let mut table = String::from(
        "| run | cwnd, published | cwnd | unacknowledged, published | in flight | RTT, published, ms | RTT, ms |\n",
    ) + "|---|--:|--:|--:|--:|--:|--:|\n";
    let mut seen = Vec::new();
    for (name, variant, set, [cwnd, unacked, rtt]) in RUNS {
        let run = run("bloat-2014", variant, set);
        if set.is_empty() {
            let passed = run.expectations.iter().all(|expectation| expectation.passed);
            assert!(passed, "{name}: {:?}", run.expectations);
        }
        let is = run.flows[0].medians.expect("an RTT");
        let ms = f64::from(is.srtt_us) / 1e3;
        let (of_cwnd, in_flight) = (is.cwnd, is.in_flight);
        writeln!(
            table,
            "| {name} | {cwnd} | {of_cwnd} | {unacked} | {in_flight} | {rtt} | {ms:.1} |"
        )
        .expect("text");
        seen.push(is);
    }
    assert!(seen[2].srtt_us > 2 * seen[1].srtt_us, "a larger window, a longer queue");
    assert!(seen[3].cwnd > seen[4].cwnd, "the change keeps cwnd smaller");
    marked::committed(PAGE, "bloat", &table);
}

/// One way's delay, and losses.
const PATHS: [(&str, &str); 5] =
    [("50us", "0"), ("250us", "1e-4"), ("250us", "4e-4"), ("250us", "1e-3"), ("500us", "4e-4")];

#[test]
fn an_offset_of_the_rtt_slows_the_pace() {
    let mut table = String::from(
        "| RTT of the path | losses | with the offset, Gb/s | srtt, ms | without, Gb/s | srtt, ms |\n",
    ) + "|---|--:|--:|--:|--:|--:|\n";
    for (delay, loss) in PATHS {
        let set = [
            format!("path.forward.delay.delay={delay}"),
            format!("path.forward.lost.probability={loss}"),
        ];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let mut line = format!("| {delay} | {loss} |");
        let rates = ["with the offset", "without"].map(|variant| {
            let run = run("srtt-offset-2014", variant, &set);
            let gbit = run.flows.iter().map(|flow| flow.mean_mbit).sum::<f64>() / 1e3;
            let mut srtt: Vec<u32> =
                run.flows.iter().filter_map(|flow| flow.medians).map(|m| m.srtt_us).collect();
            srtt.sort_unstable();
            write!(line, " {gbit:.1} | {:.3} |", f64::from(srtt[srtt.len() / 2]) / 1e3)
                .expect("text");
            gbit
        });
        if (delay, loss) == ("250us", "4e-4") {
            assert!(rates[1] > 0.9 * 37.7 && rates[0] < 0.8 * rates[1], "{rates:?}");
        }
        writeln!(table, "{line}").expect("text");
    }
    marked::committed(PAGE, "srtt", &table);
}
