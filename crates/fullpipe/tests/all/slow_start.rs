//! Slow starts on long fat paths: the recipe `slow-start`, and the tables of docs/slow-start.md
//! (`UPDATE_EXPECT=1` rewrites them).

use crate::made::made;
use crate::marked;
use fullpipe::analysis::document::{Flow, SlowStart};
use fullpipe::engine;
use fullpipe::scenario::{self, Plan, Resolved, Scenario, SetOption, Source};
use std::fmt::Write;

fn recipe() -> Scenario {
    let source = scenario::recipe("slow-start").expect("the recipe").source();
    scenario::load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// Results of a slow start on a path.
struct Row {
    buffer: String,
    slow_start: String,
    flow: Flow,
    found: SlowStart,
    /// Packets that the path holds.
    bdp: f64,
    /// Payload that the link carries, Mb/s.
    capacity: f64,
}

fn row(scenario: &Scenario, plan: &Plan) -> Row {
    let flow = made(scenario, plan).0.flows.remove(0);
    let run = &plan.resolved;
    let link = run.path.forward[0].rate().expect("a link").0.0 as f64;
    let mtu = f64::from(run.path.mtu);
    let rtt_s = run.path.forward[1].delay().as_secs_f64();
    let text = |value: &serde_json::Value| value.as_str().expect("a name").to_string();
    Row {
        buffer: plan.variant.split_once(", ").expect("rate, buffer").1.into(),
        slow_start: text(&plan.sweep["flow.bulk.slow_start"]),
        found: flow.slow_start.expect("an RTT"),
        flow,
        bdp: link * rtt_s / 8.0 / mtu,
        capacity: link / 1e6 * f64::from(run.mss()) / mtu,
    }
}

/// The slow start of all kernels by default; at 10 and 100 Gb/s it is the sample of the study.
const SAMPLE: &str = "hystart";

/// The rows of the variants with names that begin so.
fn rows(rate: &str) -> Vec<Row> {
    let scenario = recipe();
    let of_rate = |plan: &&Plan| plan.variant.split(',').next() == Some(rate);
    let plans: Vec<&Plan> = scenario.plans().iter().filter(of_rate).collect();
    assert_eq!(plans.len(), 24, "{rate}: four buffers, six slow starts");
    let is_whole = rate == WHOLE || marked::all_rows();
    let is_made = |plan: &&&Plan| is_whole || plan.sweep["flow.bulk.slow_start"] == SAMPLE;
    let rows: Vec<Row> = plans.iter().filter(is_made).map(|plan| row(&scenario, plan)).collect();
    assert!(rows.len() == if is_whole { 24 } else { 4 }, "{rate}: {} rows", rows.len());
    rows
}

fn table(rows: &[Row]) -> String {
    let mut table = "| buffer | slow start | to full rate, s | slow start ended, s | by | largest cwnd, BDP | lost, segments | \
                     queued, ms | mean, share of the link |\n|---|---|--:|--:|---|--:|--:|--:|--:|\n"
        .to_string();
    let seconds = |value: Option<f64>, decimals| {
        value.map_or("–".to_string(), |value| format!("{value:.decimals$}"))
    };
    for Row { buffer, slow_start, flow, found, bdp, capacity } in rows {
        let by = match (found.ended_s, found.by_loss) {
            (None, _) => "",
            (_, true) => "loss",
            _ => "itself",
        };
        let _ = writeln!(
            table,
            "| {buffer} | {slow_start} | {} | {} | {by} | {:.2} | {} | {:.1} | {:.0} % |",
            seconds(flow.time_to_full_rate_s, 1),
            seconds(found.ended_s, 2),
            f64::from(found.cwnd) / bdp,
            found.retransmitted_segments,
            found.queued_s * 1e3,
            flow.mean_mbit / capacity * 100.0,
        );
    }
    table
}

/// Packets; the path of 100 Gb/s holds more.
const LARGE: f64 = 20_000.0;

/// Checks the statements of docs/slow-start.md on the tables.
fn agrees_with_page(rows: &[Row]) {
    for Row { buffer, slow_start, flow, found, bdp, .. } in rows {
        let what = format!("{buffer}, {slow_start}: {:?}, {found:?}", flow.time_to_full_rate_s);
        let (lossless, full) =
            (found.retransmitted_segments == 0, flow.time_to_full_rate_s.is_some());
        let small = buffer.starts_with("0.1 ");
        match slow_start.as_str() {
            "initial_ssthresh" => {
                assert!(lossless && !found.by_loss && found.cwnd <= 200, "{what}");
                assert!(full || *bdp > LARGE && small, "{what}");
            }
            // 50 packets per RTT fill none of these paths in a hundred or two of them.
            "limited" => assert!(!full && found.ended_s.is_none(), "{what}"),
            _ if small => assert!(!full && found.by_loss, "{what}"),
            "hystart" => assert!(lossless && !found.by_loss, "{what}"),
            _ => assert!(found.by_loss && !lossless && full, "{what}"),
        }
    }
    let lost = |slow_start: &str| {
        let row = rows.iter().find(|r| r.buffer.starts_with("2 ") && r.slow_start == slow_start);
        row.expect("2 BDP").found.retransmitted_segments
    };
    let is_whole = rows.len() == 24;
    assert!(!is_whole || rows[0].bdp > LARGE || lost("search") < lost("standard"));
}

/// The rate with all of its rows made; rows of the other rates take minutes.
const WHOLE: &str = "1 Gb/s";

fn check(rate: &str, mark: &str) {
    let rows = rows(rate);
    marked::sampled("docs/slow-start.md", mark, &table(&rows));
    agrees_with_page(&rows);
}

#[test]
#[ignore = "a study: make studies"]
fn study_slow_start_at_1_gbit() {
    check(WHOLE, "1-gbit");
}

#[test]
#[ignore = "a study: make studies"]
fn study_slow_start_at_10_gbit() {
    check("10 Gb/s", "10-gbit");
}

#[test]
#[ignore = "a study: make studies"]
fn study_slow_start_at_100_gbit() {
    check("100 Gb/s", "100-gbit");
}

/// A scenario with a flow that has these keys.
fn with(kernel: &str, keys: &str, sets: &[&str]) -> Result<Resolved, String> {
    let text = format!(
        "[path]\nrate = \"1Gbit\"\n[hosts]\nsender = {{ kernel = \"{kernel}\" }}\n\
         receiver = {{ kernel = \"{kernel}\" }}\n[[flow]]\nname = \"bulk\"\nduration = \"1s\"\n{keys}\n"
    );
    let sets: Vec<SetOption> = sets.iter().map(|set| SetOption((*set).into())).collect();
    let scenario = scenario::load(&Source::text("t.toml", &text), &sets, &[]);
    scenario.map(|s| s.plans()[0].resolved.clone()).map_err(|e| e.to_string())
}

/// Slow starts of kernels are parameters of the congestion control, and both engines have them.
#[test]
fn the_slow_starts_of_kernels_are_parameters() {
    let cases = [
        ("6.12", "", (1, 0)),
        ("6.12", "slow_start = \"hystart\"", (1, 0)),
        ("6.12", "slow_start = \"standard\"", (0, 0)),
        ("6.12", "slow_start = \"initial_ssthresh\"", (0, 100)),
        ("6.12", "slow_start = { name = \"initial_ssthresh\", packets = 70 }", (0, 70)),
        ("2.6.20", "congestion = \"cubic\"", (0, 100)),
        ("2.6.20", "congestion = \"cubic\"\nslow_start = \"standard\"", (0, 0)),
    ];
    for (kernel, keys, (hystart, initial)) in cases {
        let run = with(kernel, keys, &[]).expect(keys);
        let of = |name: &str| run.flow[0].congestion.parameters[name];
        assert_eq!((of("hystart"), of("initial_ssthresh")), (hystart, initial), "{kernel}: {keys}");
        assert_eq!(run.flow[0].slow_start, None);
        if kernel == "6.12" {
            let linux = engine::find("linux").expect("the engine");
            assert!(linux.support(&run).is_empty(), "{keys}");
        }
    }
}

/// The others are the flow's own, take the place of HyStart and initial_ssthresh, survive being resolved, and are
/// refused by real kernels.
#[test]
fn other_slow_starts_are_the_flows_own() {
    for (kernel, name) in [("6.12", "search"), ("2.6.20", "hystart++"), ("3.14", "limited")] {
        let keys = format!("congestion = \"cubic\"\nslow_start = \"{name}\"");
        let run = with(kernel, &keys, &[]).expect(name);
        let of = |name: &str| run.flow[0].congestion.parameters[name];
        assert_eq!((of("hystart"), of("initial_ssthresh")), (0, 0));
        assert_eq!(run.flow[0].slow_start.as_ref().map(|own| own.name.as_str()), Some(name));
        let again = scenario::load(&Source::text("r.toml", &run.to_toml()), &[], &[]);
        assert_eq!(again.expect("valid").plans()[0].resolved.flow, run.flow);
        let linux = engine::find("linux").expect("the engine");
        let refused = linux.support(&run);
        assert!(refused.iter().any(|(key, _)| key == "flow.bulk.slow_start"), "{refused:?}");
    }
    let set = ["flow.bulk.slow_start=limited", "flow.bulk.slow_start.max_ssthresh=70"];
    let run = with("6.12", "", &set).expect("options");
    assert_eq!(run.flow[0].slow_start.as_ref().expect("limited").parameters["max_ssthresh"], 70);
}
