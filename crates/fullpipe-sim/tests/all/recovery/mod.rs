//! Golden conversations about loss, and slow start. Each file of `golden/recovery` sets up two endpoints and the
//! network's effect on single packets. It shows the sender's actions, packet by packet, twice. The first time a kernel
//! version acts. The second time one row of its profile (or one sysctl) is flipped, or another kernel acts.
//!
//! A file's head describes in words what to look for, and the rule behind it. One segment is 1000 bytes and the unit of
//! everything. It takes 1 ms to send and 50 ms to arrive, an ACK another 50 ms, unless `way` sets other times. A jiffy
//! is 1 ms.
//!
//! Columns: time, event (an ACK with its SACK blocks; a timer; the timer of the pace; a write), cwnd, ssthresh (`-`:
//! infinite), packets in flight, congestion state, and packets sent. Marks of packets: `R` before a retransmission,
//! `cwr` after one with CWR, `^` after one that the network marks, `!` after one that it loses. `+30` follows one that
//! it delays, `*` one that it doubles, `x` one that the host's own queue refuses. `probe` is an empty segment that asks
//! for a window.
//!
//! UPDATE_EXPECT=1 rewrites the tables; read the difference.

mod case;
mod link;
mod needs;
mod network;
mod plan;
mod strategies;

use case::Case;
use fullpipe_sim::tcp::behaviour::{BEHAVIOURS, Behaviour};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

fn files() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/recovery");
    let entries = fs::read_dir(folder).expect("the folder of the goldens");
    let mut files: Vec<_> = entries.map(|e| e.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "txt"));
    files.sort();
    files
}

/// The conversations are as they were, and each flip changes its own.
#[test]
fn conversations_about_loss() {
    let bless = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut wrong = Vec::new();
    for file in files() {
        let written = fs::read_to_string(&file).expect("a readable file");
        let case = Case::parse(&written);
        let found = case.render();
        let name = file.file_name().expect("a name").to_string_lossy();
        if !case.changes() {
            wrong.push(format!("{name}: the flip changes nothing\n{found}"));
        } else if bless {
            // The file is complete at any time, because the other test reads it too.
            let new = file.with_extension("new");
            fs::write(&new, &found).and_then(|()| fs::rename(&new, &file)).expect("a new file");
        } else if found != written {
            wrong.push(format!("{name}: found\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// sysctls of recovery that some conversation flips, and the axis of slow start.
const SYSCTLS: &[&str] = &[
    "tcp_sack",
    "tcp_fack",
    "tcp_dsack",
    "tcp_frto",
    "tcp_reordering",
    "tcp_early_retrans",
    "tcp_slow_start_after_idle",
    "tcp_ecn",
    "timestamps",
    "tcp_pacing_ss_ratio",
    "tcp_pacing_ca_ratio",
    "sndbuf",
    "slow_start",
];

/// Rows that no conversation of two endpoints shows: a CPU, a locked socket, a NIC, a queue, a congestion control, or
/// an effect within a millisecond. Separate tests, which the rows name, flip them.
fn tested_elsewhere() -> impl Iterator<Item = &'static Behaviour> {
    BEHAVIOURS.iter().filter(|row| !row.tests.is_empty())
}

/// Every row of the profile, and every sysctl of recovery, is flipped by a conversation.
#[test]
fn every_row_has_a_conversation() {
    let read = |file: &PathBuf| fs::read_to_string(file).expect("a readable file");
    let flipped: BTreeSet<_> = files().iter().map(|f| Case::parse(&read(f)).flip.name).collect();
    let rows = BEHAVIOURS.iter().filter(|row| row.tests.is_empty()).map(|row| row.name);
    let missing: Vec<_> =
        rows.chain(SYSCTLS.iter().copied()).filter(|row| !flipped.contains(*row)).collect();
    assert!(missing.is_empty(), "no conversation flips {missing:?}");
    assert!(files().len() >= 60, "{} conversations", files().len());
}
