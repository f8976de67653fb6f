//! The table of packets that a capture of a run gives is the table that the run itself keeps at that point.

use crate::made::ToTheEnd;
use fullpipe::capture::{About, At, Capture, SNAP, Trains};
use fullpipe::captured::{self, Input, Judged, overview};
use fullpipe::engine::Engine;
use fullpipe::engine::sim::Simulator;
use fullpipe::observation::Selection;
use fullpipe::scenario::{self, Source};
use fullpipe::trace::packets::{FILE, PacketTrain, flags};
use fullpipe::trace::recording::Recording;
use fullpipe::trace::schema::Row;
use fullpipe::trace::table::read_groups;
use std::path::Path;

/// A flow that loses segments, with SACK and retransmissions.
const TEXT: &str = r#"
duration = "3s"
[path]
rate = "50Mbit"
delay = { forward = "10ms", back = "10ms" }
queue = { limit = "60kB" }
loss = { forward = "0.3%" }
[hosts.sender]
kernel = "6.12"
[hosts.receiver]
kernel = "6.12"
[[flow]]
name = "bulk"
duration = "2s"
"#;

/// The packets of a table: those of each train one by one, without what no capture shows.
fn packets(folder: &Path) -> Vec<PacketTrain> {
    let mut all: Vec<PacketTrain> = Vec::new();
    let mut add = |own: &PacketTrain| {
        all.extend((0..own.count).map(|at| PacketTrain {
            flags: own.flags & (flags::SYN | flags::FIN),
            ecn: 0,
            dropped: 0,
            dropped_at: PacketTrain::blank().dropped_at,
            ..own.packet(at)
        }));
    };
    read_groups(folder, |rows: Vec<PacketTrain>| rows.iter().for_each(&mut add)).expect("a table");
    all.sort_by_key(|own| (own.time, own.acks, own.seq, own.ack));
    let first = all[0].time;
    all.iter_mut().for_each(|own| own.time = own.time.saturating_sub(first));
    all
}

/// The tables of a run at a point: its own, and that of its capture.
fn tables(at: &str) -> [Vec<PacketTrain>; 2] {
    let folder = tempfile::tempdir().expect("a folder");
    let folders = ["own", "captured"].map(|name| folder.path().join(name));
    folders.iter().for_each(|own| std::fs::create_dir(own).expect("room"));
    let text = format!("{TEXT}[report]\npackets = {{ at = \"{at}\" }}\n");
    let scenario = scenario::load(&Source::text("t.toml", &text), &[], &[]).expect("a scenario");
    let plan = &scenario.plans()[0];
    let table = folders[0].join(FILE);
    let mut own = Trains::create(&table, &plan.resolved).expect("room").expect("packets");
    Simulator
        .run(&plan.resolved, &mut own.before(&mut Recording::default()), &mut ToTheEnd)
        .expect("a run");
    own.finish().expect("a table");

    // Another run of the same scenario, as a capture.
    let path = folder.path().join("c.pcapng");
    let about = About { scenario: &scenario, plan, at: &At::named(at), snap: SNAP };
    let mut capture = Capture::create(&path, &about).expect("room");
    let sink = &mut Recording::default();
    let outcome =
        Simulator.run(&plan.resolved, &mut capture.before(sink), &mut ToTheEnd).expect("a run");
    capture.finish(outcome.end, outcome.complete).expect("a capture");
    let inputs = [Input { name: "c.pcapng".into(), path }];
    let watch = &mut captured::ToTheEnd;
    let all = overview(&inputs, watch).expect("a capture");
    let chosen = all.busiest(&Selection::default());
    let judged: Vec<Judged> = all.judge(&inputs, &chosen[..1], None, watch).expect("a flow");
    captured::packets::keep(&inputs, &all, &judged[0], &folders[1].join(FILE), watch)
        .expect("a table");
    folders.map(|own| packets(&own))
}

#[test]
fn a_capture_gives_the_table_of_the_run() {
    let [own, captured] = tables("sender-qdisc");
    assert!(own.iter().filter(|row| row.resent).count() > 10);
    assert!(own.iter().any(|row| row.sacks[0] != (0, 0)));
    for (own, captured) in own.iter().zip(&captured) {
        assert_eq!(own, captured);
    }
    assert_eq!(own.len(), captured.len());
}
