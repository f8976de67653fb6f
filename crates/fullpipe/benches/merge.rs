//! Cost of merging and drawing the results of a sweep: memory and CPU time of 10,000 small results and of 1,000,000,
//! each in a process of its own. The aim is less than 2 GB.

#[path = "../../../benches/measure.rs"]
mod measure;

use fullpipe::scenario::{Source, Space};
use fullpipe::sweep::output::Finished;
use fullpipe::sweep::record::{Facts, Flow, Stage};
use fullpipe::sweep::{Manifest, Merged, Record, Shard, manifest};
use measure::{process_cpu_s, record};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;

const FEW: u64 = 10_000;
const MANY: u64 = 1_000_000;
/// Most memory that merging may take, MB.
const BOUND: f64 = 2000.0;
/// Names the directory to a process that merges.
const MERGE: &str = "FULLPIPE_BENCH_MERGE";

/// A sweep with `results` points of one flow.
fn sweep(results: u64) -> (Space, Manifest) {
    let delays: Vec<String> = (1..=100).map(|ms| format!("\"{ms}ms\"")).collect();
    let (delays, losses) = (delays.join(", "), results / 100);
    let text = format!(
        r#"
        duration = "1s"
        path = {{ rate = "10Mbit", delay = {{ forward = "1ms", back = "1ms" }} }}
        flow = [{{ name = "bulk", congestion = "reno" }}]
        [sweep]
        "path.loss" = {{ from = 1e-7, to = 1e-1, points = {losses}, scale = "log" }}
        "path.delay.forward" = [{delays}]
        "#
    );
    let source = Source::text("million", &text);
    let space = Space::parse(&source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
    let manifest = Manifest::new(&space, &source, "many points", &[], "sim", &[]);
    (space, manifest)
}

/// A result as a run leaves it.
fn result(space: &Space, run: u64) -> Record {
    let point = space.point(run);
    let rate = 10.0 / (1.0 + run as f64 / 7.0);
    let flow = Flow {
        name: "bulk".into(),
        congestion: "reno".into(),
        bytes: run,
        mean_mbit: rate,
        settled_mbit: rate,
        loss_epochs: run % 100,
        steady: run.is_multiple_of(2),
        retransmitted_segments: run % 1000,
        resent_share: 1.0 / (1.0 + run as f64),
        srtt_median_ms: Some(2.0 + rate),
        completion_s: None,
        law_mbit: Some(rate * 1.01),
        law_holds: true,
        limit: "cwnd_recovering".into(),
        limit_share: 0.987_654_321,
    };
    let link = Stage { name: "link".into(), dropped: run % 77, peak: 50, mean_waiting: rate };
    Record {
        run,
        id: format!("{run:016x}"),
        variant: space.variants().next().unwrap_or_default().into(),
        at: space.coordinates(&point),
        repetition: point.repetition,
        seed: 1,
        facts: Some(Facts {
            duration_s: 1.0,
            flows: vec![flow],
            fairness: None,
            stages: vec![link],
            expected: Vec::new(),
            compared: BTreeMap::new(),
            failed: Vec::new(),
        }),
        failed: None,
    }
}

fn write(directory: &Path, results: u64) -> std::io::Result<()> {
    let (space, manifest) = sweep(results);
    assert_eq!(manifest.runs, results);
    std::fs::write(directory.join(manifest::FILE), serde_json::to_string(&manifest)?)?;
    let mut out = BufWriter::new(File::create(directory.join(Shard::WHOLE.file()))?);
    for run in 0..results {
        serde_json::to_writer(&mut out, &result(&space, run))?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// Merges and draws the contents of a directory, and prints the most memory used, kB, and the CPU time, s.
fn merge(directory: &Path) {
    let merged = Merged::open(&[directory.to_path_buf()]).expect("records");
    Finished::write(&merged, directory).expect("written");
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|text| text.trim().strip_suffix(" kB")).expect("the peak");
    println!("{} {}", peak.trim(), process_cpu_s());
}

/// Memory, MB, and CPU time, s, of merging `results` results.
fn cost(results: u64) -> [f64; 2] {
    let directory = tempfile::tempdir().expect("a directory");
    write(directory.path(), results).expect("written");
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program).env(MERGE, directory.path()).output().expect("started");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut numbers = text.split_whitespace().map(|word| word.parse::<f64>().expect("a number"));
    let mut next = || numbers.next().expect("two numbers");
    [next() / 1000.0, next()]
}

fn main() {
    if let Some(directory) = std::env::var_os(MERGE) {
        return merge(Path::new(&directory));
    }
    let [few, many] = [FEW, MANY].map(cost);
    println!("merge and draw: 10,000 results, 1,000,000 results, ratio");
    let mut lines = String::new();
    for (n, what) in ["memory, MB", "CPU, s"].into_iter().enumerate() {
        let (few, many) = (few[n], many[n]);
        let times = many / few;
        println!("{what}: {few:.1} {many:.1} {times:.1}");
        lines += &format!("\n| {what} | {few:.1} | {many:.1} | {times:.1} |");
    }
    record("merge", |_| {
        format!("| | 10,000 results | 1,000,000 results | times |\n|---|--:|--:|--:|{lines}")
    });
    assert!(many[0] < BOUND, "{} MB; the bound is {BOUND} MB", many[0]);
}
