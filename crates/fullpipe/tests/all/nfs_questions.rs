//! The page on the questions of 2008 about NFS: its tables are made from the recipes, on the simulator and, as `make
//! nfs-record` has kept it, on real Linux (`UPDATE_EXPECT=1` rewrites them).

use crate::made::made_on;
use crate::marked;
use fullpipe::analysis::document::Run;
use fullpipe::parity::case::Case;
use fullpipe::parity::mounts::{self, Outcome};
use fullpipe::scenario::{self, Scenario, SetOption, Space};
use fullpipe::sweep::estimate::Estimate;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const PAGE: &str = "docs/nfs-questions.md";
/// Results of each run on real Linux.
const RECORDED: &str = "scenarios/nfs/questions.csv";
/// Largest distances of the model's rates from Linux's: the median of all, and each rate that does not hang on chance.
const MEDIAN: f64 = 0.05;
const EACH: f64 = 0.05;
/// Largest distance of the rates of clients that share a line.
const SHARED: f64 = 0.03;
/// Variants with random losses, which differ between the engines.
const LOSSY: &str = "loss 1e-4";
/// Variant in which two clients share a line in one of several ways, by which packets its queue drops. The test makes
/// several starts of the near one, some ms apart. It allows the means a distance in standard errors of their
/// difference.
const UNSTEADY: &str = "kernel's buffers, at a time";
const CLIENTS: [&str; 2] = ["far", "near"];
const STARTS: u64 = 10;
const APART_MS: u64 = 10;
const ERRORS: f64 = 2.0;

/// A run of a recipe.
struct Asked {
    scenario: Scenario,
    case: Case,
    /// Number of the mount.
    mount: usize,
}

impl Asked {
    /// A mount of the one run of a scenario.
    fn new(name: String, scenario: Scenario, mount: usize) -> Asked {
        let plan = scenario.plans()[0].clone();
        let (text, command) = (plan.resolved.to_toml(), String::new());
        Asked { case: Case { of: name.clone(), name, plan, text, command }, scenario, mount }
    }
}

/// The mounts in the runs of a recipe, a variant or a point each.
fn asked(recipe: &str) -> Vec<Asked> {
    let source = scenario::recipe(recipe).expect("the recipe").source();
    let space = Space::parse(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
    let of_run = |run| {
        let point = space.point(run);
        let plan = space.plan(&point).unwrap_or_else(|e| panic!("{e}"));
        let one = |mount: usize| {
            let own = &plan.resolved.nfs[mount].name;
            let name = if mount == 0 {
                format!("{recipe}/{run}")
            } else {
                format!("{recipe}/{run}/{own}")
            };
            Asked::new(name, space.scenario(vec![plan.clone()]), mount)
        };
        (0..plan.resolved.nfs.len()).map(one).collect::<Vec<_>>()
    };
    (0..space.runs()).flat_map(of_run).collect()
}

/// The mounts of the unsteady variant, with the near client's start moved by `start` steps.
fn started(start: u64) -> Vec<Asked> {
    let source = scenario::recipe("nfs-near-far").expect("the recipe").source();
    let ms = 2000 + start * APART_MS;
    let set = [SetOption(format!("nfs.near.start={ms}ms"))];
    let loaded = scenario::load(&source, &set, &[UNSTEADY.into()]);
    let loaded = loaded.unwrap_or_else(|e| panic!("{e}"));
    let one = |(mount, client): (usize, &str)| {
        Asked::new(format!("nfs-near-far/{ms} ms/{client}"), loaded.clone(), mount)
    };
    CLIENTS.into_iter().enumerate().map(one).collect()
}

/// Results of a run on an engine.
fn made(asked: &Asked, engine: &str) -> (Run, Outcome) {
    let (run, recording) = made_on(engine, &asked.scenario, &asked.case.plan);
    let real = engine == "linux";
    let outcome = mounts::outcome(&asked.scenario, &asked.case, asked.mount, &recording, real);
    (run, outcome.unwrap_or_else(|why| panic!("{why}")))
}

const RECIPES: [&str; 5] =
    ["nfs-buffers", "nfs-connections", "nfs-control", "nfs-beyond", "nfs-near-far"];

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(RECORDED)
}

#[test]
#[ignore = "runs the genuine kernel for minutes"]
fn record_questions() {
    let before = std::fs::read_to_string(recorded()).unwrap_or_default();
    let mut lines = String::new();
    for asked in RECIPES.into_iter().flat_map(asked).chain((0..STARTS).flat_map(started)) {
        let known = mounts::recorded(&before, &asked.case);
        let outcome = known.unwrap_or_else(|| made(&asked, "linux").1);
        let line = mounts::line(&asked.case, &outcome);
        println!("{line}");
        writeln!(lines, "{line}").expect("text");
    }
    std::fs::write(recorded(), lines).expect("the table");
}

/// A run on both engines.
struct Both {
    asked: Asked,
    run: Run,
    model: Outcome,
    real: Outcome,
}

fn both(recipe: &str) -> Vec<Both> {
    let lines = std::fs::read_to_string(recorded()).expect("what `make nfs-record` writes");
    let one = |asked: Asked| {
        let real = mounts::recorded(&lines, &asked.case);
        let real = real.unwrap_or_else(|| panic!("{}: `make nfs-record`", asked.case.name));
        let (run, model) = made(&asked, "sim");
        Both { asked, run, model, real }
    };
    asked(recipe).into_iter().map(one).collect()
}

fn said(of: &Outcome) -> String {
    format!("{:.0} | {}, {:.0} %", of.mbit, of.first.0, of.first.1 * 100.0)
}

/// Distance of the model from real Linux.
fn apart(both: &Both) -> f64 {
    (both.model.mbit / both.real.mbit - 1.0).abs()
}

/// Rates and first limits over round trips and buffers.
fn buffers(all: &[Both]) -> String {
    let mut rows = BTreeMap::<u64, Vec<&Both>>::new();
    for both in all {
        let run = &both.asked.case.plan.resolved;
        rows.entry(run.round_trip(&run.flow[0]).0).or_default().push(both);
    }
    let mut table = String::from("| RTT | |");
    let sizes = rows
        .values()
        .next()
        .expect("rows")
        .iter()
        .map(|both| both.asked.case.plan.resolved.hosts.sender.config.sysctl.tcp_wmem[2] >> 20);
    let sizes: Vec<u64> = sizes.collect();
    sizes.iter().for_each(|mib| write!(table, " {mib} MiB | |").expect("text"));
    write!(table, "\n|--:|---|{}\n", "--:|---|".repeat(sizes.len())).expect("text");
    for (trip, row) in &rows {
        let ms = *trip as f64 / 1e6;
        for (name, of) in [("genuine", 0), ("model", 1)] {
            let cells = row.iter().map(|both| said([&both.real, &both.model][of]));
            let cells = cells.collect::<Vec<_>>().join(" | ");
            writeln!(table, "| {ms} ms | {name} | {cells} |").expect("text");
        }
    }
    table
}

/// The variant, and the mount where there are several.
fn name(both: &Both) -> String {
    let variant = both.run.variant.clone();
    let own = &both.run.nfs[both.asked.mount].name;
    if both.run.nfs.len() > 1 { format!("{variant}: {own}") } else { variant }
}

/// A line for each variant and mount.
fn variants(all: &[Both]) -> String {
    let mut table = String::from(
        "| | genuine, Mb/s | | model, Mb/s | | sent again | drops of the link | srtt, median, ms |\n|---|--:|---|--:|---|--:|--:|--:|\n",
    );
    for both in all {
        let mut mounts = both.asked.case.plan.resolved.mounts();
        let (_, connections) = mounts.nth(both.asked.mount).expect("the mount");
        let flows = &both.run.flows[connections];
        let resent: u64 = flows.iter().map(|flow| flow.retransmitted_segments).sum();
        let link = both.run.stages.iter().find(|stage| stage.name == "link").expect("a link");
        let srtt = flows[0].medians.expect("samples").srtt_us;
        writeln!(
            table,
            "| {} | {} | {} | {resent} | {} | {:.1} |",
            name(both),
            said(&both.real),
            said(&both.model),
            link.dropped,
            f64::from(srtt) / 1e3
        )
        .expect("text");
    }
    table
}

#[test]
#[ignore = "a study: make studies"]
fn study_questions_have_the_same_answers_on_both_engines() {
    let all = RECIPES.map(|recipe| (recipe, both(recipe)));
    for (recipe, all) in &all {
        let table = if *recipe == "nfs-buffers" { buffers(all) } else { variants(all) };
        marked::committed(PAGE, recipe, &table);
    }
    let mut far: Vec<f64> = all.iter().flat_map(|(_, all)| all.iter().map(apart)).collect();
    far.sort_by(f64::total_cmp);
    assert!(far[far.len() / 2] < MEDIAN, "{far:?}");
    let certain = |both: &&Both| {
        !both.run.variant.ends_with(LOSSY) && !both.run.variant.starts_with(UNSTEADY)
    };
    let worst = all.iter().flat_map(|(_, all)| all.iter().filter(certain)).map(apart);
    let worst = worst.fold(0.0, f64::max);
    assert!(worst < EACH, "{worst}");
    let far = all[4].1.iter().filter(certain).map(apart).fold(0.0, f64::max);
    assert!(far < SHARED, "{far}");
    let [_, connections, control, beyond, shared] = &all;
    let rate = |of: &(&str, Vec<Both>), variant: &str| {
        let found = of.1.iter().find(|both| name(both) == variant).expect("a variant");
        [found.real.mbit, found.model.mbit]
    };
    // Statements of the page in words, for each engine.
    for engine in 0..2 {
        let rate = |of, variant: &str| rate(of, variant)[engine];
        let one = rate(connections, "1 connection");
        assert!(rate(connections, "16 connections") > 2.0 * one);
        assert!(rate(connections, "1 connection, buffers of 64 MiB") > 2.0 * one);
        let small = rate(control, "reno, 1 MiB, no loss");
        assert!(rate(control, "reno, 16 MiB, no loss") > 4.0 * small);
        assert!((rate(control, "cubic, 1 MiB, no loss") / small - 1.0).abs() < 0.02);
        assert!(rate(beyond, "64 MiB") > 0.9 * rate(beyond, "8 MiB"));
        shared_line(|variant, client| rate(shared, &format!("{variant}: {client}")));
    }
}

/// Two clients with shares that hang on single drops: over some starts both engines have the same means, as far as
/// chance lets them.
#[test]
#[ignore = "a study: make studies"]
fn study_clients_that_start_at_other_times_share_alike_on_average() {
    let lines = std::fs::read_to_string(recorded()).expect("what `make nfs-record` writes");
    let (mut real, mut model) = ([vec![], vec![]], [vec![], vec![]]);
    for all in (0..STARTS).map(started) {
        let run = made_on("sim", &all[0].scenario, &all[0].case.plan).0;
        for asked in &all {
            let known = mounts::recorded(&lines, &asked.case);
            let known = known.unwrap_or_else(|| panic!("{}: `make nfs-record`", asked.case.name));
            real[asked.mount].push(known.mbit);
            model[asked.mount].push(run.nfs[asked.mount].mean_mbit.expect("it is done"));
        }
    }
    let mut table = String::from(
        "| client | genuine, Mb/s: least | mean | most | model, Mb/s: least | mean | most |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    let estimates = [0, 1].map(|mount| {
        [&real[mount], &model[mount]].map(|rates| Estimate::of(rates).expect("rates"))
    });
    let error = |of: &Estimate| of.error().expect("several");
    for (client, both) in CLIENTS.into_iter().zip(&estimates) {
        let cells = both
            .each_ref()
            .map(|of| format!("{:.0} | {:.0} ± {:.0} | {:.0}", of.min, of.mean, error(of), of.max));
        writeln!(table, "| {client} | {} |", cells.join(" | ")).expect("text");
    }
    println!("{table}");
    marked::committed(PAGE, "nfs-near-far-starts", &table);
    for [real, model] in &estimates {
        let errors = error(real).hypot(error(model));
        assert!((real.mean - model.mean).abs() <= ERRORS * errors, "{table}");
    }
}

/// Checks the page's statements on a near and a far client; `rate` returns their rates by variant and client.
fn shared_line(rate: impl Fn(&str, &str) -> f64) {
    let own = ["kernel's buffers, one after the other", "kernel's buffers, at a time"];
    let large = ["64 MiB, one after the other", "64 MiB, at a time"];
    let gain = |client: &str, at: usize| rate(large[at], client) / rate(own[at], client);
    assert!((gain("near", 0) - 1.0).abs() < 0.01, "{}", gain("near", 0));
    for (at, variant) in large.iter().enumerate() {
        assert!(gain("far", at) > 1.3, "{variant}: {}", gain("far", at));
    }
}

/// A far client gains by larger buffers also where the queue is twice as large, on the simulator.
#[test]
fn a_far_client_gains_by_larger_buffers_with_another_queue() {
    let source = scenario::recipe("nfs-near-far").expect("the recipe").source();
    let queue = SetOption("path.forward.link.queue.limit=3000kB".into());
    let loaded = scenario::load(&source, &[queue], &[]).unwrap_or_else(|e| panic!("{e}"));
    let runs: Vec<Run> =
        loaded.plans().iter().map(|plan| made_on("sim", &loaded, plan).0).collect();
    shared_line(|variant, client| {
        let run = runs.iter().find(|run| run.variant == variant).expect("a variant");
        let own = run.nfs.iter().find(|own| own.name == client).expect("a mount");
        own.mean_mbit.expect("it is done")
    });
}
