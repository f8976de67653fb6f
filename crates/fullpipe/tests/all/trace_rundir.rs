//! Run directories: whole or not there, never overwritten, readable again.

use crate::analysis_synthetic::*;
use fullpipe::analysis::document::{Document, FORMAT, ScenarioInfo};
use fullpipe::analysis::{self, RunMeta};
use fullpipe::results::provenance::Provenance;
use fullpipe::results::rundir::{Place, Writer, open};
use fullpipe::trace::Error;
use fullpipe::trace::recording::Recording;
use fullpipe_sim::trace::Limit;
use fullpipe_sim::units::Time;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::tempdir;

const VARIANTS: [&str; 3] =
    ["cubic, initial_ssthresh 100", "cubic  initial_ssthresh/100", "../reno"];

fn recording() -> Recording {
    let step = |n| Step { segments: n, limit: Limit::CwndSlowStart, busy_ms: 30 };
    steps(Time::ms(50), &(1..40).map(step).collect::<Vec<_>>())
}

fn document(recording: &Recording) -> Document {
    let run =
        |name: &&str| analysis::run(&RunMeta { variant: name.to_string(), ..meta() }, recording);
    Document {
        headline: None,
        format: FORMAT,
        scenario: ScenarioInfo { name: "two words".into(), title: "A title".into(), seed: 7 },
        partial: false,
        missing: Vec::new(),
        comparisons: Vec::new(),
        runs: VARIANTS.iter().map(run).collect(),
    }
}

fn write(place: &Place) -> PathBuf {
    let (recording, writer) = (recording(), place.create().unwrap());
    let document = document(&recording);
    for run in document.runs.iter().rev() {
        writer.run(run, Some(&format!("title = \"{}\"\n", run.variant.len())), &recording).unwrap();
    }
    let provenance = Provenance::here(vec!["fullpipe".into()], SystemTime::now(), Duration::ZERO);
    writer.finish(&document, &provenance, Some("<!doctype html>")).unwrap()
}

fn under(root: &Path) -> Place {
    Place::Under { root: root.to_path_buf(), name: "two words".into() }
}

fn entries(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string();
    let mut names: Vec<String> = entries.map(|entry| name(entry).unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_is_written_is_read_back() {
    let root = tempdir().unwrap();
    let path = write(&under(&root.path().join("a/b")));
    assert_eq!(path, root.path().join("a/b/two-words"));
    let read = open(&path).unwrap();
    assert_eq!(read.document, document(&recording()));
    for (index, variant) in VARIANTS.iter().enumerate() {
        assert_eq!(read.recording(index).unwrap(), recording());
        assert_eq!(read.resolved(index).unwrap(), format!("title = \"{}\"\n", variant.len()));
    }
    let folders = ["cubic-initial_ssthresh-100", "cubic-initial_ssthresh-100-2", "reno"];
    let files = ["report.html", "run.json", "summary.json"];
    assert_eq!(entries(&path), [&folders[..], &files[..]].concat());
    let run = [
        "events.parquet",
        "flows.parquet",
        "intervals.csv",
        "scenario.resolved.toml",
        "stages.parquet",
    ];
    assert_eq!(entries(&path.join("reno")), run);
}

#[test]
fn nothing_is_overwritten_and_latest_is_the_newest() {
    let root = tempdir().unwrap();
    let place = under(root.path());
    let first = write(&place);
    let summary = fs::read(first.join("summary.json")).unwrap();
    assert_eq!(write(&place), root.path().join("two-words-run-2"));
    fs::write(root.path().join("two-words-run-3"), "a file in the way").unwrap();
    assert_eq!(write(&place), root.path().join("two-words-run-4"));
    assert_eq!(fs::read(first.join("summary.json")).unwrap(), summary);
    let latest = root.path().join("latest");
    assert_eq!(fs::read_link(&latest).unwrap(), Path::new("two-words-run-4"));
    assert!(open(&latest).is_ok());
    assert_eq!(
        entries(root.path()),
        ["latest", "two-words", "two-words-run-2", "two-words-run-3", "two-words-run-4"]
    );
}

#[test]
fn equal_runs_differ_in_run_json_alone() {
    let root = tempdir().unwrap();
    let (one, two) = (write(&under(root.path())), write(&under(root.path())));
    let mut compared = 0;
    for folder in ["", "reno", "cubic-initial_ssthresh-100-2"] {
        for name in entries(&one.join(folder)) {
            let (a, b) = (one.join(folder).join(&name), two.join(folder).join(&name));
            if a.is_file() && name != "run.json" {
                assert!(fs::read(a).unwrap() == fs::read(b).unwrap(), "{folder}/{name}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 12);
}

#[test]
fn a_named_directory_must_be_new_or_empty() {
    let root = tempdir().unwrap();
    let place = Place::Exactly(root.path().join("mine"));
    fs::create_dir(root.path().join("mine")).unwrap();
    place.check().unwrap();
    assert_eq!(write(&place), root.path().join("mine"));
    assert!(open(&root.path().join("mine")).is_ok());
    let error = place.check().unwrap_err();
    assert!(error.to_string().contains("is there already and not empty"), "{error}");
    assert_eq!(entries(root.path()), ["mine"]);
    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Place::Exactly(file).check().unwrap_err();
    assert!(error.what.contains("not a directory"), "{error}");
}

fn finish(writer: Writer) -> Result<PathBuf, Error> {
    let (document, recording) = (document(&recording()), recording());
    for run in &document.runs {
        writer.run(run, Some(""), &recording).unwrap();
    }
    let provenance = Provenance::here(vec!["fullpipe".into()], SystemTime::now(), Duration::ZERO);
    writer.finish(&document, &provenance, Some("<!doctype html>"))
}

#[test]
fn of_two_results_of_one_name_both_are_kept() {
    let root = tempdir().unwrap();
    let mine = root.path().join("mine");
    let place = Place::Exactly(mine.clone());
    let writers = [0; 3].map(|_| place.create().unwrap());
    let [first, second, third] = writers.map(finish);
    assert_eq!(first.unwrap(), mine);
    for (late, name) in [(second, "mine-run-2"), (third, "mine-run-3")] {
        let error = late.unwrap_err();
        assert_eq!(error.path, mine);
        assert!(error.hint.ends_with(name), "{error}");
        assert_eq!(open(&root.path().join(name)).unwrap().document, document(&recording()));
    }
    assert_eq!(entries(root.path()), ["mine", "mine-run-2", "mine-run-3"]);

    // A file in the way is no reason to lose anything either.
    let writer = Place::Exactly(root.path().join("file")).create().unwrap();
    fs::write(root.path().join("file"), "theirs").unwrap();
    assert!(finish(writer).unwrap_err().hint.ends_with("file-run-2"));
    assert_eq!(fs::read(root.path().join("file")).unwrap(), b"theirs");
}

#[test]
fn tables_without_a_document_are_kept_under_a_name_of_their_own() {
    let root = tempdir().unwrap();
    let unwritable = || {
        let writer = under(root.path()).create().unwrap();
        fs::create_dir(writer.directory().join("summary.json")).unwrap();
        writer
    };
    for name in ["two-words.incomplete", "two-words.incomplete-2"] {
        let error = finish(unwritable()).unwrap_err();
        assert!(error.hint.ends_with(name) && error.path.ends_with("summary.json"), "{error}");
    }
    let there = entries(&root.path().join("two-words.incomplete"));
    assert!(there.contains(&"reno".to_string()), "{there:?}");
    // The next run leaves them alone.
    write(&under(root.path()));
    let names = ["latest", "two-words", "two-words.incomplete", "two-words.incomplete-2"];
    assert_eq!(entries(root.path()), names);

    // Without tables nothing stays.
    let writer = unwritable();
    let provenance = Provenance::here(Vec::new(), SystemTime::now(), Duration::ZERO);
    let error = writer.finish(&document(&recording()), &provenance, Some("")).unwrap_err();
    assert_eq!(error.hint, "no file of the result is left");
    assert_eq!(entries(root.path()), names);
}

#[test]
fn a_report_that_cannot_be_written_costs_no_result() {
    let root = tempdir().unwrap();
    let writer = under(root.path()).create().unwrap();
    fs::create_dir(writer.directory().join("report.html")).unwrap();
    let error = finish(writer).unwrap_err();
    let there = root.path().join("two-words");
    assert!(error.hint.contains(&there.display().to_string()), "{error}");
    assert!(error.path.ends_with("report.html"), "{error}");
    assert_eq!(open(&there).unwrap().document, document(&recording()));
}

#[test]
fn a_check_leaves_nothing_behind() {
    let root = tempdir().unwrap();
    under(&root.path().join("deep/er")).check().unwrap();
    Place::Exactly(root.path().join("x/y/z")).check().unwrap();
    assert!(entries(root.path()).is_empty());
    drop(under(root.path()).create().unwrap());
    assert!(entries(root.path()).is_empty());
}

#[test]
fn impossible_directories_are_refused_early() {
    let root = tempdir().unwrap();
    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    for place in [under(&file), under(&file.join("deeper")), Place::Exactly(file.join("x"))] {
        let error = place.check().unwrap_err();
        assert!(error.path.starts_with(root.path()) && !error.hint.is_empty(), "{error}");
    }
    for nameless in ["/", "..", "."] {
        assert!(Place::Exactly(nameless.into()).check().is_err(), "{nameless}");
    }
    // No user, not even root, makes directories in procfs.
    assert!(under(Path::new("/proc")).check().is_err());
    fs::create_dir(root.path().join("latest")).unwrap();
    let error = under(root.path()).check().unwrap_err();
    assert!(error.path.ends_with("latest"), "{error}");
}

#[test]
fn a_second_run_of_one_name_is_refused() {
    let root = tempdir().unwrap();
    let writer = under(root.path()).create().unwrap();
    let run = &document(&recording()).runs[0];
    writer.run(run, Some(""), &recording()).unwrap();
    assert!(writer.run(run, Some(""), &recording()).is_err());
}

#[test]
fn opening_something_else_says_what_it_is() {
    let root = tempdir().unwrap();
    let message = |path: &Path| open(path).unwrap_err().to_string();
    assert!(message(&root.path().join("nothing")).contains("cannot be opened"));
    assert!(message(root.path()).contains("summary.json: cannot be read"));
    let path = write(&under(root.path()));
    assert!(message(root.path()).contains("latest"));
    assert!(message(&path.join("run.json")).contains("not a directory"));
}

#[test]
fn damage_is_named() {
    let root = tempdir().unwrap();
    let path = write(&under(root.path()));
    fs::remove_file(path.join("reno/events.parquet")).unwrap();
    let read = open(&path).unwrap();
    assert!(read.recording(2).unwrap_err().path.ends_with("reno/events.parquet"));
    assert!(read.recording(3).unwrap_err().what.contains("no run number 3"));
    assert!(read.recording(1).is_ok());
    let summary = path.join("summary.json");
    let text = fs::read_to_string(&summary).unwrap();
    for (change, said) in [
        (text.replacen("\"format\": 2", "\"format\": 1", 1), "format 1"),
        (text.replacen("\"format\"", "\"forma\"", 1), "names no format"),
        (text.replacen("\"runs\"", "\"rums\"", 1), "missing field `runs`"),
        (text[..text.len() / 2].to_string(), "damaged"),
        (String::new(), "damaged"),
    ] {
        fs::write(&summary, change).unwrap();
        let error = open(&path).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

/// A document in which bytes were changed is read or refused, never a panic.
#[test]
fn damaged_documents_do_not_panic() {
    let root = tempdir().unwrap();
    let path = write(&under(root.path()));
    let good = fs::read(path.join("summary.json")).unwrap();
    let mut refused = 0;
    for round in 0..300_usize {
        let mut bytes = good.clone();
        let at = round * 7919 * 31 % bytes.len();
        bytes[at] = (round * 131 % 256) as u8;
        fs::write(path.join("summary.json"), bytes).unwrap();
        match open(&path) {
            Ok(read) => _ = read.recording(0),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 100, "only {refused} refused");
}
