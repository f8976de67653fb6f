//! The page on the two changes of 2014: its tables are made from runs of the recipes (`UPDATE_EXPECT=1` rewrites them).

use crate::made::made;
use crate::marked;
use fullpipe::analysis::document::{Medians, Run};
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

/// Name, variant, settings, and the letter's values: cwnd, unacknowledged packets, RTT.
const RUNS: [(&str, &str, &[&str], [&str; 3]); 9] = [
    ("before", "before", &[], ["96", "14", "15.875"]),
    (REMEMBERING, REMEMBERING, &[], ["15", "4", "5.206"]),
    ("after, the change alone", "after, the change alone", &[], ["–"; 3]),
    (REMEMBERED_BEFORE, REMEMBERED_BEFORE, &[], ["–"; 3]),
    ("before, ten packets at first", "before", &[TEN], ["–"; 3]),
    ("before, the card's rate", "before", &CARD, ["–"; 3]),
    ("before, `first_rcvbuf = \"default\"`", "before", &[DEFAULT], ["–"; 3]),
    ("before, an interrupt for each packet", "before", &[AT_ONCE], ["–"; 3]),
    ("before, 128 KiB", "before", &[BYTES], ["–"; 3]),
];
const REMEMBERING: &str = "after, remembering an earlier connection";
const REMEMBERED_BEFORE: &str = "before, remembering an earlier connection";
const TEN: &str = "hosts.sender.qdisc.initial_quantum=15140B";
const CARD: [&str; 2] =
    ["hosts.sender.qdisc={ kind = \"pfifo_fast\" }", "hosts.sender.nic_rate=10Mbit"];
const DEFAULT: &str = "hosts.receiver.behaviour={ first_rcvbuf = \"default\" }";
const AT_ONCE: &str = "hosts.receiver.rx_coalesce=0s";
const BYTES: &str = "hosts.sender.sysctl.net.ipv4.tcp_limit_output_bytes=131072";

/// The bulk flow's medians of a run.
fn medians(run: &Run) -> Medians {
    let flow = run.flows.iter().find(|flow| flow.name == "bulk").expect("the flow");
    flow.medians.expect("an RTT")
}

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
        let is = medians(&run);
        let ms = f64::from(is.srtt_us) / 1e3;
        let (of_cwnd, in_flight) = (is.cwnd, is.in_flight);
        writeln!(
            table,
            "| {name} | {cwnd} | {of_cwnd} | {unacked} | {in_flight} | {rtt} | {ms:.1} |"
        )
        .expect("text");
        seen.push(is);
    }
    let [before, remembering, alone, remembered_before, ..] = seen[..] else { panic!() };
    assert!(before.cwnd >= 4 * remembering.cwnd, "two set-ups: cwnd");
    assert!(before.srtt_us >= 2 * remembering.srtt_us, "two set-ups: RTT");
    assert_eq!((before.cwnd, alone.cwnd), (104, 60), "the change alone, as the title has it");
    let title = scenario::recipe("bloat-2014").expect("the recipe").text;
    assert!(title.contains("the change alone: cwnd 104 to 60\""), "the title");
    assert_eq!(remembered_before, remembering, "the change alone, where the host remembers");
    marked::committed(PAGE, "bloat", &table);
}

/// Calibrated values, and results of "before" and of the change alone with other values.
const CHOSEN: [(&str, &[&str]); 2] = [
    ("rx_coalesce", &["5us", "10us", "15us", "20us", "30us", "40us"]),
    ("initial_quantum", &["10", "20", "25", "30", "40", "45"]),
];

fn scanned(variant: &str, key: &str, value: &str) -> Medians {
    let set = match (key, value) {
        ("rx_coalesce", value) => {
            ["sender", "receiver"].map(|host| format!("hosts.{host}.rx_coalesce={value}")).to_vec()
        }
        (_, packets) => {
            let packets: u32 = packets.parse().expect("packets");
            vec![format!("hosts.sender.qdisc.initial_quantum={}B", packets * 1514)]
        }
    };
    medians(&run("bloat-2014", variant, &set.iter().map(String::as_str).collect::<Vec<_>>()))
}

#[test]
#[ignore = "a study: make studies"]
fn study_calibrated_values_make_the_window() {
    let mut table = String::from(
        "| with | before: cwnd | in flight | RTT, ms | the change alone: cwnd | in flight | RTT, ms |\n",
    ) + "|---|--:|--:|--:|--:|--:|--:|\n";
    let mut most = (0.0, 0.0);
    for (key, values) in CHOSEN {
        for value in values {
            let both = ["before", "after, the change alone"];
            let [is, alone] = both.map(|variant| scanned(variant, key, value));
            let unit = if key == "initial_quantum" { " packets" } else { "" };
            write!(table, "| `{key}` {value}{unit} |").expect("text");
            for Medians { cwnd, in_flight, srtt_us, .. } in [&is, &alone] {
                let ms = f64::from(*srtt_us) / 1e3;
                write!(table, " {cwnd} | {in_flight} | {ms:.1} |").expect("text");
            }
            table.push('\n');
            let cwnd = is.cwnd;
            let of = |a: u32, b: u32| f64::from(a) / f64::from(b);
            let ratios = (of(cwnd, alone.cwnd), of(is.srtt_us, alone.srtt_us));
            most = (f64::max(most.0, ratios.0), f64::max(most.1, ratios.1));
            let any = key == "initial_quantum" && ["25", "30", "40"].contains(value);
            assert!(!any || (104..=105).contains(&cwnd), "any of 25 to 40 packets: {value} {cwnd}");
            let range = (44..=123).contains(&cwnd);
            assert!(key != "rx_coalesce" || range, "as the recipe says: {value} {cwnd}");
        }
    }
    // So the published pair, of 6.4 and 3, cannot be reached by the change alone.
    assert!(most.0 < 4.0 && most.1 < 2.0, "{most:?}");
    let (cwnd, rtt) = most;
    writeln!(table, "\nThe change alone makes cwnd at most {cwnd:.1} times smaller here, and the RTT {rtt:.1} times shorter.")
        .expect("text");
    marked::committed(PAGE, "calibrated", &table);
}

/// The path's RTT, losses, and for how long the line stands still once.
const PATHS: [(&str, &str, &str); 7] = [
    ("250us", "4e-4", "no"),
    ("250us", "4e-4", RECIPE),
    ("250us", "4e-4", "1 ms"),
    ("50us", "4e-4", RECIPE),
    ("50us", "6e-4", RECIPE),
    ("250us", "1e-3", RECIPE),
    ("50us", "0", RECIPE),
];
/// Value of the recipe.
const RECIPE: &str = "5 ms";
/// The paths that a test makes; `make studies` makes all.
const SAMPLE: [usize; 2] = [0, 1];

/// Key that sets how long the line stands still; none: the recipe's.
fn stalled(stall: &str) -> Option<String> {
    let steps = match stall {
        RECIPE => return None,
        "no" => "{ at = \"50ms\", rate = \"40Gbit\" }",
        _ => "{ at = \"50ms\", rate = \"0bit\" }, { at = \"51ms\", rate = \"40Gbit\" }",
    };
    Some(format!("path.forward.port.steps=[{steps}]"))
}
/// The line's rate as payload, Gb/s.
const LINE: f64 = 37.7;

/// Rate of all flows over the second half of a run, Gb/s, and how many had an srtt of more than 10/8 jiffies at its end.
fn settled(run: &Run) -> (f64, usize) {
    let (mut mbit, mut paced) = (0.0, 0);
    for flow in &run.flows {
        let half = &flow.intervals[flow.intervals.len() / 2..];
        mbit +=
            half.iter().map(|interval| interval.throughput_mbit).sum::<f64>() / half.len() as f64;
        paced += usize::from(half.last().is_some_and(|interval| interval.srtt_us > Some(1250)));
    }
    (mbit / 1e3, paced)
}

#[test]
#[ignore = "a study: make studies"]
fn study_an_offset_of_the_rtt_slows_the_pace() {
    let mut table = String::from(
        "| RTT of the path | losses | line stands still once | with the offset, Gb/s | flows above 10/8 ms | without, Gb/s | flows above 10/8 ms |\n",
    ) + "|---|--:|---|--:|--:|--:|--:|\n";
    for (delay, loss, stall) in marked::rows(&PATHS, &SAMPLE) {
        let mut set = vec![
            format!("path.forward.delay.delay={delay}"),
            format!("path.forward.lost.probability={loss}"),
        ];
        set.extend(stalled(stall));
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let mut line = format!("| {delay} | {loss} | {stall} |");
        let rates = ["with the offset", "without"].map(|variant| {
            let run = run("srtt-offset-2014", variant, &set);
            if (delay, loss, stall) == ("250us", "4e-4", RECIPE) {
                let passed = run.expectations.iter().all(|expectation| expectation.passed);
                assert!(passed, "{:?}", run.expectations);
            }
            let (gbit, paced) = settled(&run);
            write!(line, " {gbit:.1} | {paced} |").expect("text");
            gbit
        });
        let recipe = (delay, loss) == ("250us", "4e-4");
        let stall = stall != "no";
        assert!(!recipe || stall || rates[0] > 0.5 * LINE, "under half needs the stall: {line}");
        if stall && loss != "0" {
            assert!((0.2..0.5).contains(&(rates[0] / LINE)), "{line}");
        }
        if recipe {
            assert!(rates[1] > 0.9 * LINE, "{line}");
        }
        writeln!(table, "{line}").expect("text");
    }
    marked::sampled(PAGE, "srtt", &table);
}
