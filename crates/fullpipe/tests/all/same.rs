//! `make same`: whether a change that should change nothing changed a value of a run of the simulator.
//!
//! The hashes cover the trace's tables without packets, the document, the drawn report, the terminal's text and the
//! resolved scenario. Captures, sweeps, plans and engine `linux` have tests of their own.
//!
//! Each line of `target/same/now.txt` is a scenario, a name, and a hash of all values under that name. A name is a
//! column of the trace, a key of the document or of the resolved scenario, or a rendered report.
//! `target/same/before.txt` has the lines to compare with: the first run writes it. A name that changed while its hash
//! stayed is a rename and is listed, not refused.

use crate::made::{made, scenario_files};
use fullpipe::analysis;
use fullpipe::analysis::document::Run;
use fullpipe::engine;
use fullpipe::experiment::{Allowed, objections};
use fullpipe::report::html;
use fullpipe::report::terminal::{self, Detail, Style};
use fullpipe::scenario::{self, Plan, Scenario, Source};
use fullpipe::trace::csv::write_table;
use fullpipe::trace::recording::Recording;
use fullpipe::trace::schema::{Names, Row};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Mutex;

/// Rows that are turned into text at a time.
const ROWS: usize = 10_000;
/// Begins the names of recipes.
const RECIPE: &str = "recipe ";

/// Hash and number of the values under each name.
#[derive(Default)]
struct Hashes(BTreeMap<String, (DefaultHasher, u64)>);

impl Hashes {
    fn add(&mut self, name: &str, value: &str) {
        if !self.0.contains_key(name) {
            self.0.insert(name.into(), Default::default());
        }
        let (hasher, count) = self.0.get_mut(name).expect("just put there");
        hasher.write(value.as_bytes());
        hasher.write_u8(0xff);
        *count += 1;
    }

    /// Adds the leaves of a JSON value. The name of a leaf is its path without indices; names of runs, flows and stages,
    /// which are keys in some maps, stay.
    fn add_leaves(&mut self, name: &str, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    self.add_leaves(&format!("{name}.{key}"), value);
                }
            }
            Value::Array(items) => {
                self.add(name, &items.len().to_string());
                for item in items {
                    self.add_leaves(name, item);
                }
            }
            leaf => self.add(name, &leaf.to_string()),
        }
    }

    fn add_table<R: Row>(&mut self, rows: &[R], names: &Names) {
        for rows in rows.chunks(ROWS) {
            let mut text = Vec::new();
            write_table(&mut text, rows, names).expect("memory takes it");
            let mut reader = csv::Reader::from_reader(text.as_slice());
            let header = reader.headers().expect("a header").clone();
            let columns: Vec<String> =
                header.iter().map(|column| format!("{}.{column}", R::TABLE)).collect();

            for record in reader.records() {
                for (column, value) in columns.iter().zip(&record.expect("a row")) {
                    self.add(column, value);
                }
            }
        }
    }

    fn add_run(&mut self, plan: &Plan, recording: &Recording) {
        let flows: Vec<String> = plan.resolved.flow.iter().map(|flow| flow.name.clone()).collect();
        let names = Names { flows: &flows, stages: &recording.stages };
        self.add_table(&recording.flows, &names);
        self.add_table(&recording.stage_samples, &names);
        self.add_table(&recording.events, &names);
        self.add_table(&recording.counters, &names);
        for stage in &recording.stages {
            self.add("stages", &format!("{stage:?}"));
        }
        self.add_resolved(plan);
    }

    fn add_resolved(&mut self, plan: &Plan) {
        let resolved = serde_json::to_value(&plan.resolved).expect("a scenario is JSON");
        self.add_leaves("resolved", &resolved);
    }

    fn add_document(&mut self, scenario: &Scenario, runs: Vec<Run>) {
        let document = analysis::document(scenario, &["sim"], runs);
        let json = serde_json::to_value(&document).expect("a document is JSON");
        self.add_leaves("document", &json);
        // The page contains the document, which may change its names: only what is drawn is hashed.
        let page = html::render(&document);
        let (drawn, data) = page.split_once("id=\"fullpipe-data\"").expect("the document");
        let (_, rest) = data.split_once("</script>").expect("its end");
        self.add("report.html", drawn);
        self.add("report.html", rest);
        let style = Style { width: 120, color: false };
        self.add("report.txt", &terminal::render_as(&document, Detail::EveryFlow, style));
    }

    fn lines(self, scenario: &str) -> Vec<String> {
        let line = |(name, (hasher, count)): (String, (DefaultHasher, u64))| {
            format!("{scenario}\t{name}\t{:016x}\t{count}", hasher.finish())
        };
        self.0.into_iter().map(line).collect()
    }
}

/// All scenario files and recipes, by name. The runs of recipes are those of files, so only their resolved scenarios
/// are hashed.
fn sources() -> Vec<(String, Source)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let from_file = |path: &PathBuf| {
        let name = path.strip_prefix(&root).expect("below it").display().to_string();
        (name, Source::read(path).unwrap_or_else(|e| panic!("{e}")))
    };
    let from_recipe =
        |recipe: &scenario::Recipe| (format!("{RECIPE}{}", recipe.name), recipe.source());
    scenario_files()
        .iter()
        .map(from_file)
        .chain(scenario::recipes().iter().map(from_recipe))
        .collect()
}

/// The lines of a scenario, with at most `most` of its runs.
fn lines_of(name: &str, source: &Source, most: usize) -> Vec<String> {
    let scenario = scenario::load(source, &[], &[]).unwrap_or_else(|e| panic!("{e}"));
    let sim = engine::find("sim").expect("the simulator");
    let mut hashes = Hashes::default();
    let mut runs = Vec::new();

    for plan in scenario.plans().iter().take(most) {
        let objections = objections(sim, slice::from_ref(plan), Allowed::default());
        if !objections.is_empty() || name.starts_with(RECIPE) {
            hashes.add_resolved(plan);
            hashes.add("not run", &plan.name());
            continue;
        }
        let (run, recording) = made(&scenario, plan);
        hashes.add_run(plan, &recording);
        runs.push(run);
    }
    hashes.add_document(&scenario, runs);
    hashes.lines(name)
}

/// Hashes by name and scenario.
type Named<'a> = BTreeMap<&'a str, BTreeMap<&'a str, &'a str>>;

fn by_name(text: &str) -> Named<'_> {
    let mut names = Named::new();
    for line in text.lines() {
        let (scenario, rest) = line.split_once('\t').expect("a scenario");
        let (name, hash) = rest.split_once('\t').expect("a name");
        names.entry(name).or_default().insert(scenario, hash);
    }
    names
}

/// Renamed names, and other differences. A missing name was renamed where a new one has its hashes in all scenarios.
fn difference(before: &str, now: &str) -> (BTreeSet<String>, Vec<String>) {
    let (before, now) = (by_name(before), by_name(now));
    let (mut renamed, mut changed, mut successors) = (BTreeSet::new(), vec![], BTreeSet::new());
    for (name, hashes) in &before {
        if let Some(found) = now.get(name) {
            let scenarios: BTreeSet<_> = hashes.keys().chain(found.keys()).collect();
            let differs = scenarios.into_iter().filter(|at| hashes.get(*at) != found.get(*at));
            changed.extend(differs.map(|at| format!("{at}: {name}")));
            continue;
        }
        let is_new = |other: &&&str| !before.contains_key(**other) && !successors.contains(**other);
        let successor = now.keys().filter(is_new).find(|other| now[*other] == *hashes).copied();
        match successor {
            Some(new) => {
                successors.insert(new);
                renamed.insert(format!("{name} -> {new}"));
            }
            None => changed.push(format!("{name} is gone")),
        }
    }
    let added =
        now.keys().filter(|name| !before.contains_key(*name) && !successors.contains(*name));
    changed.extend(added.map(|name| format!("{name} is new")));
    (renamed, changed)
}

#[test]
#[ignore = "make same"]
fn same() {
    let most = std::env::var("FULLPIPE_SAME_RUNS").ok().and_then(|n| n.parse().ok());
    let most = most.unwrap_or(usize::MAX);
    let work = Mutex::new(sources());
    let lines = Mutex::new(Vec::new());
    let worker = || {
        loop {
            let next = work.lock().expect("no worker panicked").pop();
            let Some((name, source)) = next else { break };
            let found = lines_of(&name, &source, most);
            eprintln!("{name}: {} values", found.len());
            lines.lock().expect("no worker panicked").extend(found);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(worker);
        }
    });

    let mut lines = lines.into_inner().expect("no worker panicked");
    // Values of one run and values of all cannot be compared.
    lines.push(format!("RUNS\truns of each scenario\t{most}\t1"));
    lines.sort();
    let now = lines.join("\n") + "\n";
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/same");
    fs::create_dir_all(&directory).expect("target is ours");
    fs::write(directory.join("now.txt"), &now).expect("target is ours");
    let Ok(before) = fs::read_to_string(directory.join("before.txt")) else {
        fs::write(directory.join("before.txt"), &now).expect("target is ours");
        println!(
            "target/same/before.txt: {} hashes, with which later runs are compared",
            lines.len()
        );
        return;
    };

    let (renamed, changed) = difference(&before, &now);
    for line in &renamed {
        println!("renamed: {line}");
    }
    assert!(changed.is_empty(), "{} differ:\n{}", changed.len(), changed.join("\n"));
    println!("the same: {} hashes", lines.len());
}

#[test]
fn a_changed_value_is_distinguished_from_a_renamed_key() {
    let before = "a\tx.old\t11\t1\na\tx.kept\t22\t1\na\tx.gone\t33\t1\n";
    let now = "a\tx.new\t11\t1\na\tx.kept\t23\t1\n";

    let (renamed, changed) = difference(before, now);

    assert_eq!(renamed.into_iter().collect::<Vec<_>>(), ["x.old -> x.new"]);
    assert_eq!(changed, ["x.gone is gone", "a: x.kept"]);
}
