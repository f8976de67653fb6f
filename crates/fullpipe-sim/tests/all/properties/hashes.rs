//! Equal configurations give equal calls of the sink, in another process too.

use super::{SIZE, run, scenarios};
use crate::record::Record;
use fullpipe_sim::config::Config;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::process::Command;

/// Variable that marks the second process.
const OTHER: &str = "FULLPIPE_PRINT_HASHES";
const MARK: &str = "hashes of all sink calls:";

/// FNV-1a of all calls as text.
fn hash(record: &Record) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let text = record.0.iter().map(|call| format!("{call:?}"));
    text.fold(0xcbf2_9ce4_8422_2325, |hash, call| call.bytes().fold(hash, step))
}

/// Some scenarios, always the same.
fn configs() -> Vec<Config> {
    let mut runner = TestRunner::deterministic();
    let strategy = scenarios::config(SIZE);
    (0..40).map(|_| strategy.new_tree(&mut runner).expect("a scenario").current()).collect()
}

fn hashes() -> String {
    let hash = |config: &Config| format!(" {:016x}", hash(&run(config).expect("a run")));
    configs().iter().map(hash).collect()
}

/// Runs the test `name` in another process and compares its hashes with our own, twice.
pub fn compare_with_another_process(name: &str) {
    let ours = hashes();
    if std::env::var_os(OTHER).is_some() {
        println!("{MARK}{ours}");
        return;
    }
    assert_eq!(ours, hashes(), "in one process");
    let program = std::env::current_exe().expect("this program");
    let mut other = Command::new(program);
    other.args(["--exact", name, "--nocapture"]).env(OTHER, "1");
    let output = other.output().expect("another process");
    let text = String::from_utf8(output.stdout).expect("text");
    let theirs = text.lines().find_map(|line| line.split(MARK).nth(1)).expect("its hashes");
    assert_eq!(ours, theirs, "in two processes");
    let mut different: Vec<_> = ours.split_whitespace().collect();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), 40, "different scenarios have different hashes");
}
