//! The page on the NFS server of 2008: its table is made from runs of the recipe (`UPDATE_EXPECT=1` rewrites it).

use crate::made::made;
use crate::marked;
use fullpipe::analysis::document::Run;
use fullpipe::scenario::{self, SetOption};
use std::fmt::Write;

const PAGE: &str = "docs/nfs-2008.md";
/// Published rates of the thread, KiB/s: with the server's own buffer, and with 16 MiB.
const PUBLISHED: [f64; 2] = [43_252.0, 90_396.0];
/// KiB of the file.
const FILE: f64 = 500.0 * 1024.0;

fn run(variant: &str, set: &[&str]) -> Run {
    let source = scenario::recipe("nfs-2008").expect("the recipe").source();
    let set: Vec<_> = set.iter().map(|set| SetOption((*set).into())).collect();
    let scenario = scenario::load(&source, &set, &[variant.into()]);
    let scenario = scenario.unwrap_or_else(|e| panic!("{e}"));
    made(&scenario, &scenario.plans()[0]).0
}

/// Seconds from the program's first write to its end.
fn seconds(run: &Run) -> f64 {
    run.nfs[0].mean_mbit.map(|mbit| FILE * 1024.0 * 8e-6 / mbit).expect("an end")
}

#[test]
fn a_server_that_takes_whole_records_narrows_its_window() {
    let as_they_come = ["nfs.iozone.server_reads=as-they-come"];
    let server = ["hosts.receiver.cpu={ copy = \"1ns/byte\" }"];
    let slow_server = ["hosts.receiver.cpu={ copy = \"5ns/byte\" }"];
    let client = ["hosts.sender.cpu={ copy = \"1ns/byte\" }"];
    let copies = ["hosts.receiver.cpu={ copy = \"2ns/byte\" }"];
    let interrupts = ["hosts.receiver.coalesce=50us"];
    let at_once = ["hosts.receiver.behaviour={ answers_bear_acks = false }"];
    let rows: [(&str, &str, &[&str], Option<f64>); 12] = [
        ("3,158,016 bytes, the server's own", "default", &[], Some(PUBLISHED[0])),
        ("16 MiB", "16 MiB", &[], Some(PUBLISHED[1])),
        ("the server's own; taken as they come", "default", &as_they_come, None),
        ("16 MiB; taken as they come", "16 MiB", &as_they_come, None),
        ("the server's own; the server copies 1 ns a byte", "default", &server, None),
        ("the server's own; it copies 2 ns a byte", "default", &copies, None),
        ("the server's own; it copies 5 ns a byte", "default", &slow_server, None),
        ("the server's own; the client copies 1 ns a byte", "default", &client, None),
        ("the server's own; an interrupt waits 50 µs", "default", &interrupts, None),
        ("16 MiB; the client copies 1 ns a byte", "16 MiB", &client, None),
        ("the server's own; its answers bear no ACKs", "default", &at_once, Some(PUBLISHED[0])),
        ("16 MiB; its answers bear no ACKs", "16 MiB", &at_once, Some(PUBLISHED[1])),
    ];
    let mut table = String::from(
        "| the server's buffer | published, KiB/s | simulated, KiB/s | held back by | cwnd, median | published, s | simulated, s | apart, s |\n|---|--:|--:|---|--:|--:|--:|--:|\n",
    );
    let mut seen = Vec::new();
    for (name, variant, set, published) in rows {
        let run = run(variant, set);
        let flow = &run.flows[0];
        let most = flow.limits.iter().max_by(|a, b| a.1.total_cmp(b.1)).expect("limits").0;
        let (took, cwnd) = (seconds(&run), flow.medians.expect("samples").cwnd);
        let cell = |value: Option<f64>, digits: usize| {
            value.map_or("–".into(), |value| format!("{value:.digits$}"))
        };
        let theirs = published.map(|rate| FILE / rate);
        writeln!(
            table,
            "| {name} | {} | {:.0} | {most} | {cwnd} | {} | {took:.2} | {} |",
            cell(published, 0),
            FILE / took,
            cell(theirs, 2),
            cell(theirs.map(|theirs| theirs - took), 2)
        )
        .expect("text");
        seen.push((FILE / took, most.clone(), theirs.map(|theirs| theirs - took)));
    }
    marked::committed(PAGE, "nfs-2008", &table);
    let [own, large, free, _, costs @ .., other, quick, quick_large] = &seen[..] else {
        panic!("twelve runs")
    };
    // The pair's direction, the first figure too low and the second too high.
    assert!((0.75..1.0).contains(&(own.0 / PUBLISHED[0])), "{seen:?}");
    assert!((1.0..1.2).contains(&(large.0 / PUBLISHED[1])), "{seen:?}");
    assert!(free.0 > 2.0 * own.0 && free.1 == "link", "{seen:?}");
    // The hosts' costs move the first figure both ways, and do not decide the second one.
    let rates = || costs.iter().map(|row| row.0);
    assert!(costs.iter().all(|row| row.1 == own.1), "{seen:?}");
    assert!(rates().any(|rate| rate < 0.9 * own.0) && rates().any(|rate| rate > 1.1 * own.0));
    assert!((other.0 / large.0 - 1.0).abs() < 0.01, "{seen:?}");
    // It lies between two servers that differ in when they acknowledge.
    assert!(quick.0 > PUBLISHED[0] && quick.1 == own.1, "{seen:?}");
    assert!((quick_large.0 / large.0 - 1.0).abs() < 0.05, "{seen:?}");
    // The time that the second run lacks.
    assert!(large.2.is_some_and(|lacks| lacks > 0.5), "{seen:?}");
}
