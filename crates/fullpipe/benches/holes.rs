//! Cost of recovery in a whole run: CPU time per packet of a window of 100,000 with one loss in ten packets, against
//! the same transfer without loss, taken in turns. The aim is at most twice.
//!
//! Both runs transfer all of the same bytes. The extra time of the run with losses is charged to the packets of that
//! one window. Packets are data packets sent, retransmissions included.

#[path = "../../../benches/measure.rs"]
mod measure;

use fullpipe::engine::{self, Engine};
use fullpipe::scenario::{self, Resolved, Source};
use fullpipe::trace::recording::Recording;
use fullpipe_sim::trace::EventKind;
use measure::{Cost, Of, ToTheEnd, cpu_ns, report};
use std::fmt::Write;

/// The window is full when this packet is sent.
const FIRST: u64 = 300_000;
const WINDOW: u64 = 100_000;
/// Packets per lost packet.
const LOST: u64 = 10;
const PACKETS: u64 = 600_000;
const MSS: u64 = 1460;
const KERNELS: [&str; 5] = ["2.6.20", "2.6.24", "2.6.25", "2.6.32", "3.14"];
const ROUNDS: usize = 21;

/// 100,000 packets of 1500 bytes are in flight: 10 Gb/s for 120 ms; the windows hold no more.
fn resolved(kernel: &str, lossy: bool) -> Resolved {
    let mut lost = String::new();
    for number in (FIRST..FIRST + WINDOW).step_by(LOST as usize).filter(|_| lossy) {
        let _ = write!(lost, "{number},");
    }
    let host = format!(
        "kernel = \"{kernel}\"\n\
         sysctl = {{ \"net.core.wmem_max\" = \"300MB\", \"net.core.rmem_max\" = \"300MB\", \
         \"net.ipv4.tcp_adv_win_scale\" = 1 }}\n"
    );
    let text = format!(
        "title = \"holes\"\nseed = 1\nduration = \"4s\"\n\
         [path]\nmtu = 1500\nforward = [\n\
         {{ kind = \"drop\", name = \"drop\", flow = \"bulk\", segments = [{lost}] }},\n\
         {{ kind = \"link\", name = \"link\", rate = \"10Gbit\", framing = \"ip\", \
         queue = {{ limit = \"300MB\" }} }},\n\
         {{ kind = \"delay\", name = \"delay\", delay = \"60ms\" }},\n]\n\
         back = [{{ kind = \"delay\", name = \"back-delay\", delay = \"60ms\" }}]\n\
         [hosts.sender]\n{host}[hosts.receiver]\n{host}\
         [[flow]]\nname = \"bulk\"\ncongestion = \"reno\"\nsocket_buffer = \"146MB\"\n\
         bytes = \"{}B\"\n",
        PACKETS * MSS
    );
    let source = Source::text("holes.toml", &text);
    let scenario = scenario::load(&source, &[], &[]).expect("a valid scenario");
    scenario.plans()[0].resolved.clone()
}

/// CPU time of a run, ns, and the packets it sent; `lost` of them were lost, and sent again once each.
fn cost(simulator: &dyn Engine, run: &Resolved, lost: u64) -> (f64, f64) {
    let mut recording = Recording::default();
    let before = cpu_ns();
    let outcome = simulator.run(run, &mut recording, &mut ToTheEnd).expect("a valid run");
    let spent = cpu_ns() - before;
    let events = |kind| recording.events.iter().filter(|event| event.kind == kind).count() as u64;
    let seen = [EventKind::Retransmit, EventKind::Timeout, EventKind::Finished].map(events);
    assert_eq!(seen, [lost, 0, 1], "packets sent again, timeouts, transfers that ended");
    (spent, outcome.segments as f64)
}

/// Cost of a packet without loss and in recovery.
fn round(simulator: &dyn Engine, whole: &Resolved, lossy: &Resolved) -> (f64, f64) {
    let (plain, packets) = cost(simulator, whole, 0);
    let (recovering, with_again) = cost(simulator, lossy, WINDOW / LOST);
    let (packet, window) = (plain / packets, WINDOW as f64);
    (packet, (packet * window + recovering - plain) / (window + with_again - packets))
}

fn measured(simulator: &dyn Engine, kernel: &str) -> Cost {
    let (whole, lossy) = (resolved(kernel, false), resolved(kernel, true));
    let rounds: Vec<_> = (0..ROUNDS).map(|_| round(simulator, &whole, &lossy)).collect();
    Cost::of(kernel, &rounds)
}

fn main() {
    let simulator = engine::find("sim").expect("the simulator is an engine");
    println!("ns of CPU per packet, window {WINDOW}: whole, one in {LOST} lost, ratio");
    report(Of::Run, &KERNELS.map(|kernel| measured(simulator, kernel)));
}
