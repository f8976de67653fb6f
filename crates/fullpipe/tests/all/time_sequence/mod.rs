//! Packets as trains, the pyramid over them, and the page that shows both.

mod browser;
mod golden;
mod page;
mod properties;
mod runs;

use crate::made::ToTheEnd;
use fullpipe::analysis::{self, Made, RunMeta, document};
use fullpipe::capture::{Kept, Trains};
use fullpipe::engine;
use fullpipe::scenario::{self, Scenario, SetOption, Source};
use fullpipe::trace::packets::{FILE, PacketTrain};
use fullpipe::trace::recording::Recording;
use fullpipe::trace::table::read_groups;
use fullpipe_sim::trace::{
    Counter, Event, FlowSample, Packet, Point, Sink, StageInfo, StageSample,
};
use std::path::Path;
use tempfile::TempDir;

/// A flow that loses segments on a short path, seen at the receiver unless `sets` say otherwise.
const LOSSY: &str = r#"
title = "Losses"

[path]
forward = [
    { kind = "link", name = "link", rate = "100Mbit", queue = { limit = "100kB" } },
    { kind = "drop", name = "list", flow = "bulk", segments = [40, 41, 300] },
    { kind = "delay", name = "delay", delay = "10ms" },
]
back = [{ kind = "delay", name = "back-delay", delay = "10ms" }]

[hosts.sender]
kernel = "2.6.20"
driver = "requeues"
tso = false
nic_rate = "100Mbit"
tx_ring = "8 descriptors"
sysctl = { "net.core.wmem_max" = "16MB" }

[hosts.receiver]
kernel = "2.6.20"
sysctl = { "net.core.rmem_max" = "16MB" }

[[flow]]
name = "bulk"
congestion = "reno"
socket_buffer = "4MB"
bytes = "4MB"

[report]
packets = { at = "sender-qdisc" }
"#;

/// Everything that a run records, packets too.
#[derive(Default)]
struct Whole {
    recording: Recording,
    packets: Vec<Packet>,
    point: Option<Point>,
}

impl Sink for Whole {
    fn stages(&mut self, stages: &[StageInfo]) {
        self.recording.stages(stages);
    }
    fn flow(&mut self, sample: &FlowSample) {
        self.recording.flow(sample);
    }
    fn stage(&mut self, sample: &StageSample) {
        self.recording.stage(sample);
    }
    fn event(&mut self, event: &Event) {
        self.recording.event(event);
    }
    fn counter(&mut self, counter: &Counter) {
        self.recording.counter(counter);
    }
    fn point(&self) -> Option<Point> {
        self.point
    }
    fn packet(&mut self, packet: &Packet) {
        self.packets.push(packet.clone());
    }
}

/// A run with its packets kept in trains, and also recorded one by one.
struct KeptRun {
    folder: TempDir,
    whole: Whole,
    kept: Kept,
    run: document::Run,
}

fn scenario(sets: &[&str]) -> Scenario {
    let sets: Vec<SetOption> = sets.iter().map(|set| SetOption(set.to_string())).collect();
    let text = format!("{LOSSY}\n");
    let text = text.replace("[[flow]]", "[[flow]]\nduration = \"20s\"");
    scenario::load(&Source::text("lossy.toml", &text), &sets, &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// Runs [`LOSSY`] with these changes.
fn kept(sets: &[&str]) -> KeptRun {
    let scenario = scenario(sets);
    let plan = &scenario.plans()[0];
    let folder = tempfile::tempdir().expect("a directory");
    let made = Trains::create(&folder.path().join(FILE), &plan.resolved).expect("a table");
    let (mut trains, mut whole) = (made.expect("packets are asked for"), Whole::default());
    let simulator = engine::find("sim").expect("the simulator");
    simulator.run(&plan.resolved, &mut trains.before(&mut whole), &mut ToTheEnd).expect("a run");
    let kept = trains.finish().expect("a table");
    let meta = RunMeta::from_plan(&scenario, plan, Made::default());
    let mut run = analysis::run(&meta, &whole.recording);
    let at = plan.resolved.report.packets.as_ref().expect("a point").at.clone();
    let Kept { packets, segments, trains } = kept;
    run.packets = Some(document::Packets { at, packets, segments, trains });
    KeptRun { folder, whole, kept, run }
}

/// The rows of a table.
fn rows(folder: &Path) -> Vec<PacketTrain> {
    let mut rows = Vec::new();
    read_groups(folder, |group| rows.extend(group)).expect("a table");
    rows
}

/// The packets of trains, one by one, in order of time.
fn singles(rows: &[PacketTrain]) -> Vec<PacketTrain> {
    let packets = rows.iter().flat_map(|row| (0..row.count).map(|i| row.packet(i)));
    let mut packets: Vec<PacketTrain> = packets.collect();
    packets.sort_by_key(|packet| packet.time);
    packets
}
