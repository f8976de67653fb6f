//! The tables exist, belong to today's scenarios, and have possible values.

use crate::parity::{runs, sane, suite};
use fullpipe::parity::case::{Case, files};
use fullpipe::parity::table::{self, Table};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Bytes that all tables together may take, so that the repository stays small.
const ROOM: u64 = 3_000_000;

fn text(case: &Case) -> String {
    let path = suite::table(case);
    let why = |e| panic!("{}: {e}; `make parity-record` records all tables", path.display());
    std::fs::read_to_string(&path).unwrap_or_else(why)
}

/// The table of a case.
pub fn table(case: &Case) -> Table {
    table::read(&text(case)).unwrap_or_else(|why| panic!("{}: {why}", case.name))
}

#[test]
fn the_suite_is_large_enough() {
    let cases = suite::all();
    assert!(cases.len() >= 100, "{} cases", cases.len());
    let names: BTreeSet<String> = cases.iter().map(|case| case.name.clone()).collect();
    assert_eq!(names.len(), cases.len());
}

#[test]
fn every_case_has_its_table_and_none_is_left_over() {
    let wanted: BTreeSet<PathBuf> = suite::all().iter().map(suite::table).collect();
    let folders = std::fs::read_dir(suite::folder().join("golden")).expect("tables");
    let folders = folders.map(|entry| entry.expect("a folder").path());
    let found: BTreeSet<PathBuf> =
        folders.flat_map(|folder| files(&folder, "csv").expect("tables")).collect();
    assert_eq!(found, wanted);
    let bytes: u64 = found.iter().map(|path| path.metadata().expect("a file").len()).sum();
    assert!(bytes < ROOM, "{bytes} bytes");
}

#[test]
fn tables_are_those_of_todays_scenarios() {
    for case in suite::all() {
        let (table, name) = (table(&case).origin, &case.name);
        let hint = "has changed since its table was recorded: `make parity-record`";
        assert_eq!(table.scenario, case.hash(), "{name} {hint}");
        assert_eq!(table.command, suite::command(&case), "{name}");
        assert_eq!(table.seed, case.plan.resolved.seed.to_string(), "{name}");
        let (kernel, wanted) = (&table.kernel, runs::wanted(&case));
        let series = format!("Linux {}.", wanted.family);
        let made = format!(", HZ {}, configuration {}", wanted.hz, wanted.hash());
        assert!(
            kernel.starts_with(&series) && kernel.ends_with(&made),
            "{name}: the table is of {kernel}, not of {series}x{made}: `make parity-record`"
        );
    }
}

#[test]
fn tables_show_what_can_be() {
    for case in suite::all() {
        sane::check(&case.name, &case.plan.resolved, &table(&case));
    }
}
