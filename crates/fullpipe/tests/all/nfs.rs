//! The page on NFS: its tables are made from runs of scenarios/workloads/nfs.toml and of random mounts on real Linux,
//! which take minutes and a kernel (`make nfs`, `make nfs-record`), and from the simulator.

use crate::made::{has_kernel, made_on};
use crate::marked;
use fullpipe::analysis::document::Run;
use fullpipe::parity::case::Case;
use fullpipe::parity::mounts::{self, Outcome};
use fullpipe::parity::random;
use fullpipe::scenario::{self, Element, NfsOperation, NfsVersion, Scenario, SetOption, Source};
use std::fmt::Write;
use std::path::Path;

const PAGE: &str = "docs/nfs.md";

/// Forty random mounts on real Linux, as `make nfs-record` has kept them.
const RECORDED: &str = "scenarios/nfs/genuine.csv";
const SEED: u64 = 1;
const MOUNTS: u64 = 40;
/// Bars: the median difference of rates, the difference of nine in ten, and the share of equal first limits.
const MEDIAN: f64 = 0.05;
const NINE_IN_TEN: f64 = 0.15;
const SAME_LIMIT: usize = 36;

/// Outcome of a random mount on an engine.
fn outcome(case: &Case, engine: &str) -> Outcome {
    let source = Source::text(&case.name, &case.text);
    let scenario = scenario::load(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
    let (_, recording) = made_on(engine, &scenario, &case.plan);
    let real = engine == "linux";
    mounts::outcome(&scenario, case, 0, &recording, real).unwrap_or_else(|why| panic!("{why}"))
}

fn recorded() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(RECORDED)
}

#[test]
#[ignore = "runs the genuine kernel for minutes"]
fn record_random() {
    let path = recorded();
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let mut lines = String::new();
    for number in 1..=MOUNTS {
        let case = random::nfs::case(SEED, number);
        let real = mounts::recorded(&before, &case).unwrap_or_else(|| outcome(&case, "linux"));
        lines += &format!("{}\n", mounts::line(&case, &real));
        println!("{}", mounts::line(&case, &real));
    }
    std::fs::write(&path, lines).expect("the table");
}

/// Bar 1 of NFS: the model compared with real Linux.
#[test]
fn random_mounts_beside_real_linux() {
    let lines = std::fs::read_to_string(recorded()).expect("what `make nfs-record` writes");
    let mut table = String::from(
        "| | path | mount | buffers, KiB: sends, receives | genuine, Mb/s | | model, Mb/s | | difference |\n\
         |--:|---|---|---|--:|---|--:|---|--:|\n",
    );
    let (mut apart, mut same) = (Vec::new(), 0);
    for number in 1..=MOUNTS {
        let case = random::nfs::case(SEED, number);
        let real = mounts::recorded(&lines, &case);
        let real = real.unwrap_or_else(|| panic!("{}: `make nfs-record`", case.name));
        let model = outcome(&case, "sim");
        let difference = model.mbit / real.mbit - 1.0;
        apart.push(difference.abs());
        same += usize::from(model.first.0 == real.first.0);
        let said = |own: &Outcome| {
            format!("{:.1} | {}, {:.0} %", own.mbit, own.first.0, own.first.1 * 100.0)
        };
        let row = format!(
            "| {number} | {} | {} | {} | {:+.1} % |",
            described(&case),
            said(&real),
            said(&model),
            difference * 100.0
        );
        println!("{row}");
        table += &format!("{row}\n");
    }
    apart.sort_by(f64::total_cmp);
    let (median, nine) = (apart[apart.len() / 2], apart[apart.len() * 9 / 10 - 1]);
    table += &format!(
        "\nMedian {:.1} %, nine in ten within {:.1} %, the same first limit in {same} of {MOUNTS}.\n",
        median * 100.0,
        nine * 100.0
    );
    println!("{table}");
    marked::committed(PAGE, "nfs-random", &table);
    assert!(median < MEDIAN && nine < NINE_IN_TEN, "{median}, {nine}");
    assert!(same >= SAME_LIMIT, "{same}");
}

/// Path, mount and buffers of a random mount, as cells.
fn described(case: &Case) -> String {
    let run = &case.plan.resolved;
    let (own, flow) = (&run.nfs[0], &run.flow[0]);
    let rate =
        run.path.forward.iter().find_map(Element::rate).map_or(0.0, |(rate, _)| rate.0 as f64);
    let trip = run.round_trip(flow).as_secs_f64() * 1e3;
    let writes = own.operation == NfsOperation::Write;
    let (size, version) = (if writes { own.wsize } else { own.rsize } >> 10, own.version);
    let what = match own.readahead {
        _ if writes => "written".into(),
        ahead => format!("read, {} KiB ahead", ahead.unwrap_or_default() >> 10),
    };
    let version = if version == NfsVersion::V3 { "3" } else { "4.2" };
    let [sends, receives] = run.hosts_of(flow).map(|station| station.host.config.sysctl);
    format!(
        "{:.0} Mb/s, {trip:.1} ms | {what}, {version}, {} x {size} KiB, {} conn. | {}, {}",
        rate / 1e6,
        own.slots.unwrap_or_default(),
        own.nconnect,
        sends.tcp_wmem[2] >> 10,
        receives.tcp_rmem[2] >> 10,
    )
}

fn kib(mbit: f64) -> f64 {
    mbit * 1e6 / 8.0 / 1024.0
}

/// Limit of the connections for most of their time, and its share of the time.
fn held(run: &Run) -> (String, f64) {
    let share = |limit: &String| {
        let of = run.flows.iter().map(|flow| flow.limits.get(limit).copied().unwrap_or(0.0));
        of.sum::<f64>() / run.flows.len() as f64
    };
    let names = run.flows.iter().flat_map(|flow| flow.limits.keys());
    let most = names.max_by(|a, b| share(a).total_cmp(&share(b))).expect("limits");
    (most.clone(), share(most))
}

/// scenarios/workloads/nfs.toml, with keys set.
fn knobs(set: &[SetOption]) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/workloads/nfs.toml");
    let source = Source::read(&path).unwrap_or_else(|e| panic!("{e}"));
    scenario::load(&source, set, &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// KiB/s at which a mount's program did its work.
fn took(run: &Run) -> f64 {
    kib(run.nfs[0].mean_mbit.expect("it is done"))
}

/// Effects of other bursts of the bottleneck and other cards, on rows that the round trip bounds and on one that the
/// line bounds.
fn bursts() -> String {
    const BURSTS: [&str; 5] = ["1514B", "16KiB", "64KiB", "128KiB", "256KiB"];
    const BOUND: [&str; 6] = [
        "buffers of 16 MiB",
        "default buffers",
        "small server buffer",
        "2 slots",
        "4 slots",
        "WRITEs of 64 KiB, 16 slots",
    ];
    let mut table =
        format!("| burst | cards | {} |\n|--:|--:|--:|--:|--:|--:|--:|--:|\n", BOUND.join(" | "));
    let bursts = BURSTS.map(|burst| (burst, "40Gbit"));
    for (burst, cards) in bursts.into_iter().chain([("64KiB", "10Gbit"), ("64KiB", "1Gbit")]) {
        let set = ["sender", "receiver"].map(|host| format!("hosts.{host}.nic_rate={cards}"));
        let set = set.into_iter().chain([format!("path.forward.link.burst={burst}")]);
        let scenario = knobs(&set.map(SetOption).collect::<Vec<_>>());
        write!(table, "| {burst} | {cards}").expect("text");
        for plan in BOUND.map(|name| scenario.plans().iter().find(|plan| plan.name() == name)) {
            let run = made_on("linux", &scenario, plan.expect("a variant")).0;
            let apart = took(&run) / kib(run.expectations[0].expected[0]) - 1.0;
            write!(table, " | {:+.1} %", apart * 100.0).expect("text");
        }
        table += " |\n";
        println!("{table}");
    }
    table
}

/// Rows of the measured table on real Linux, two of them the farthest from it, and the page has them.
#[test]
#[ignore = "a study: make studies"]
fn study_rows_of_the_table_are_found_again() {
    let scenario = knobs(&[]);
    if !has_kernel(&scenario.plans()[0]) {
        return;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let page = std::fs::read_to_string(page).expect("the page");
    for name in ["default buffers", "small server buffer", "4 slots"] {
        let plan = scenario.plans().iter().find(|plan| plan.name() == name).expect("a variant");
        let run = made_on("linux", &scenario, plan).0;
        assert!(run.expectations[0].passed, "{:?}", run.expectations[0]);
        let row = page.lines().find(|line| line.starts_with(&format!("| {name} |")));
        let row = row.expect("a row");
        assert!(row.contains(&format!("| {:.0} |", took(&run))), "{row}: {}", took(&run));
    }
}

#[test]
#[ignore = "runs the genuine kernel for minutes"]
fn record() {
    let scenario = knobs(&[]);
    let mut table = String::from(
        "| variant | measured, KiB/s | fullpipe, KiB/s | difference | held back most by | a WRITE waits, ms | and is answered after, ms | model, KiB/s | of fullpipe's | held back most by |\n\
         |---|--:|--:|--:|---|--:|--:|--:|--:|---|\n",
    );
    let mut wrong = Vec::new();
    for plan in scenario.plans() {
        let [run, model] = ["linux", "sim"].map(|engine| made_on(engine, &scenario, plan).0);
        let (own, expectation) = (&run.nfs[0], &run.expectations[0]);
        let [found, modelled] = [&run, &model].map(took);
        let (of_model, share_of_model) = held(&model);
        let measured = kib(expectation.expected[0]);
        let difference = (found / measured - 1.0) * 100.0;
        let (limit, share) = held(&run);
        let requests = own.requests.expect("requests");
        let row = format!(
            "| {} | {measured:.0} | {found:.0} | {difference:+.1} % | {limit}, {:.0} % | {:.1} | {:.1} | {modelled:.0} | {:+.1} % | {of_model}, {:.0} % |",
            plan.name(),
            share * 100.0,
            requests.mean_queue_ms,
            requests.mean_rtt_ms,
            (modelled / found - 1.0) * 100.0,
            share_of_model * 100.0
        );
        println!("{row}");
        table += &format!("{row}\n");
        wrong.extend((!expectation.passed).then_some(row));
    }
    let mut text = String::new();
    write!(text, "{table}").expect("text");
    marked::rewritten(PAGE, "nfs-knobs", &text);
    marked::rewritten(PAGE, "nfs-bursts", &bursts());
    assert!(wrong.is_empty(), "{wrong:#?}");
}
