//! What recovery costs a whole run: CPU time per data packet from the moment that a window of 100,000
//! is begun, one in ten of which is lost, until it is acknowledged, against a run that loses nothing,
//! taken in turns. The aim is at most twice.

use fullpipe::engine;
use fullpipe::scenario::{self, Resolved, Source};
use fullpipe_sim::trace::{Control, Event, FlowSample, Sink, StageInfo, StageSample};
use fullpipe_sim::units::Time;
use rustix::time::{ClockId, clock_gettime};
use std::fmt::Write;

/// The window is full when this packet is sent.
const FIRST: u64 = 1_000_000;
const WINDOW: u64 = 100_000;
/// One packet in so many is lost.
const LOST: u64 = 10;
const MSS: u64 = 1460;
const KERNELS: [&str; 5] = ["2.6.20", "2.6.24", "2.6.25", "2.6.32", "3.14"];
const ROUNDS: usize = 3;

/// CPU time of this thread, seconds.
fn cpu_s() -> f64 {
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9
}

/// CPU time, and packets sent, when the window that begins with FIRST was begun and acknowledged.
#[derive(Default)]
struct Stretch {
    begin: Option<(f64, u64)>,
    end: Option<(f64, u64)>,
}

impl Sink for Stretch {
    fn stages(&mut self, _stages: &[StageInfo]) {}

    fn flow(&mut self, sample: &FlowSample) {
        let now = (cpu_s(), sample.segments_sent);
        if sample.segments_sent >= FIRST {
            self.begin.get_or_insert(now);
        }
        if sample.bytes_acked >= (FIRST + WINDOW) * MSS {
            self.end.get_or_insert(now);
        }
    }

    fn stage(&mut self, _sample: &StageSample) {}

    fn event(&mut self, _event: &Event) {}
}

impl Stretch {
    fn ns_per_packet(&self) -> f64 {
        let (begin, end) = self.begin.zip(self.end).expect("the window was acknowledged");
        (end.0 - begin.0) * 1e9 / (end.1 - begin.1) as f64
    }
}

struct ToTheEnd;

impl Control for ToTheEnd {
    fn go_on(&mut self, _now: Time) -> bool {
        true
    }
}

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
        "title = \"holes\"\nseed = 1\n\
         [path]\nmtu = 1500\nforward = [\n\
         {{ kind = \"drop\", name = \"drop\", flow = \"bulk\", segments = [{lost}] }},\n\
         {{ kind = \"link\", name = \"link\", rate = \"10Gbit\", framing = \"ip\", \
         queue = {{ limit = \"300MB\" }} }},\n\
         {{ kind = \"delay\", name = \"delay\", delay = \"60ms\" }},\n]\n\
         back = [{{ kind = \"delay\", name = \"back-delay\", delay = \"60ms\" }}]\n\
         [hosts.sender]\n{host}[hosts.receiver]\n{host}\
         [[flow]]\nname = \"bulk\"\ncongestion = \"reno\"\nsocket_buffer = \"146MB\"\n\
         duration = \"6s\"\n[report]\nsample = \"5ms\"\n"
    );
    let source = Source::text("holes.toml", &text);
    let scenario = scenario::load(&source, &[], &[]).expect("a valid scenario");
    scenario.plans()[0].resolved.clone()
}

fn cost(run: &Resolved) -> f64 {
    let simulator = engine::find("sim").expect("the simulator is an engine");
    let mut stretch = Stretch::default();
    simulator.run(run, &mut stretch, &mut ToTheEnd).expect("a valid run");
    stretch.ns_per_packet()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    println!("ns of CPU per packet, window {WINDOW}: whole, one in {LOST} lost, ratio");
    for kernel in KERNELS.into_iter().filter(|k| std::env::args().any(|a| a==*k)) {
        let (whole, lossy) = (resolved(kernel, false), resolved(kernel, true));
        let rounds: Vec<_> = (0..ROUNDS).map(|_| (cost(&whole), cost(&lossy))).collect();
        let whole = median(rounds.iter().map(|round| round.0).collect());
        let lossy = median(rounds.iter().map(|round| round.1).collect());
        println!("{kernel}: {whole:.0} {lossy:.0} {:.2}", lossy / whole);
    }
}
