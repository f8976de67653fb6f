//! Cost of the engine `linux`: CPU seconds per virtual second of its whole run at two intervals of samples.
//!
//! The whole run is fullpipe's part and the guest's, without analysis and report. Two other measures of the same path
//! in the same kernel are the comparison; all are taken in turns:
//!
//! - *plain*: no samples, and programs that call write(2) and read(2) with 64 KiB, as one would write them;
//! - *unsampled*: no samples, and the engine's own programs, which leave less often to user space.
//!
//! It needs a kernel (`fullpipe kernel build`). Each run boots one, which is counted.

#[path = "../../../benches/measure.rs"]
mod measure;

use fullpipe_guest::boot::{self, Parts};
use fullpipe_guest::plan::{self, Plan};
use fullpipe_guest::record;
use fullpipe_linux::LINUX;
use fullpipe_linux::kernel::{Cache, Entry, Family, Hz, Wanted};
use fullpipe_scenario::engine::Engine;
use fullpipe_scenario::{Resolved, Source, load};
use fullpipe_trace::recording::Recording;
use measure::{ToTheEnd, median, record as record_table};
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

/// The guest that the library carries.
const INIT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/fullpipe-init"));
/// Memory that the engine gives these runs, MiB.
const MEMORY: u64 = 2048;
const ROUNDS: usize = 5;
const FAMILY: &str = "6.12";
const HZ: &str = "1000";
const INTERVALS: [&str; 2] = ["10ms", "1ms"];

/// Rate, MTU, virtual seconds.
/// A path that a run is measured on.
struct Case {
    rate: &'static str,
    mtu: u32,
    seconds: f64,
}

const PATHS: [Case; 4] = [
    Case { rate: "100Mbit", mtu: 1500, seconds: 10.0 },
    Case { rate: "1Gbit", mtu: 1500, seconds: 4.0 },
    Case { rate: "10Gbit", mtu: 1500, seconds: 1.0 },
    Case { rate: "10Gbit", mtu: 9000, seconds: 2.0 },
];

/// A reno flow over 20 ms; the queue holds what the window does not need.
fn scenario(rate: &str, mtu: u32, seconds: f64, sample: &str) -> Resolved {
    let host = format!(
        "kernel = \"3.14\"\nhz = {HZ}\n\
         sysctl = {{ \"net.core.wmem_max\" = \"50MB\", \"net.core.rmem_max\" = \"50MB\" }}\n"
    );
    let text = format!(
        "title = \"cost\"\nseed = 1\nduration = \"{seconds}s\"\nreport = {{ sample = \"{sample}\" }}\n\
         [path]\nmtu = {mtu}\nforward = [\n\
         {{ kind = \"link\", name = \"link\", rate = \"{rate}\", framing = \"ethernet\", \
         queue = {{ limit = \"50MB\" }} }},\n\
         {{ kind = \"delay\", name = \"there\", delay = \"10ms\" }},\n]\n\
         back = [{{ kind = \"delay\", name = \"back\", delay = \"10ms\" }}]\n\
         [hosts.sender]\n{host}[hosts.receiver]\n{host}\
         [[flow]]\nname = \"bulk\"\ncongestion = \"reno\"\nsocket_buffer = \"50MB\"\n\
         duration = \"{seconds}s\"\n"
    );
    let source = Source::text("cost.toml", &text);
    load(&source, &[], &[]).expect("a valid scenario").plans()[0].resolved.clone()
}

/// CPU seconds of this process and of its children that have ended.
fn cpu_s() -> f64 {
    let of = |who| {
        // SAFETY: zeros are a valid rusage; the kernel writes one.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        assert_eq!(unsafe { libc::getrusage(who, &mut usage) }, 0);
        [usage.ru_utime, usage.ru_stime]
            .map(|time| time.tv_sec as f64 + time.tv_usec as f64 / 1e6)
            .iter()
            .sum::<f64>()
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

/// CPU seconds that it takes.
fn cost(run: impl FnOnce()) -> f64 {
    let before = cpu_s();
    run();
    cpu_s() - before
}

fn whole_run(resolved: &Resolved) {
    let engine: &dyn Engine = &LINUX;
    let mut recording = Recording::default();
    let outcome = engine.run(resolved, &mut recording, &mut ToTheEnd).expect("a run");
    assert!(outcome.complete && !recording.flows.is_empty());
}

/// The plan without samples.
fn unsampled(resolved: &Resolved, plain: bool) -> Plan {
    let mut plan = fullpipe_linux::plan(resolved).expect("a plan");
    plan.sample_ns = 2 * plan.end_ns;
    plan.flows.iter_mut().for_each(|flow| flow.plain = plain);
    plan
}

/// Runs a plan in the kernel, and nothing else.
fn bare_run(kernel: &Path, plan: &Plan) {
    let root = tempfile::tempdir().expect("a directory");
    for directory in boot::DIRECTORIES {
        fs::create_dir(root.path().join(directory)).expect("a directory");
    }
    let init = root.path().join(boot::INIT);
    fs::write(&init, INIT).expect("the guest");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&init, mode).expect("the guest's mode");
    let text = serde_json::to_vec(plan).expect("a text");
    fs::write(root.path().join(plan::FILE), text).expect("the plan");
    let memory_directory = &fullpipe_linux::memory_directory();
    let parts = Parts { kernel, memory_mib: MEMORY, memory_directory, seed: 1, words: &[] };
    let mut command = boot::command(&parts, root.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().expect("the kernel starts").success());
    let records = fs::read(root.path().join(record::FILE)).expect("records");
    let done = record::Head { kind: record::DONE, index: 0, len: 0, time_ns: plan.end_ns };
    assert!(records.ends_with(&done.to_bytes()), "the run goes to its end");
}

/// CPU seconds per virtual second: plain, unsampled, and sampled at each of the intervals.
fn round(kernel: &Path, case: &Case) -> [f64; 4] {
    let &Case { rate, mtu, seconds } = case;
    let sampled = INTERVALS.map(|sample| scenario(rate, mtu, seconds, sample));
    let plans = [true, false].map(|plain| unsampled(&sampled[0], plain));
    [
        cost(|| bare_run(kernel, &plans[0])),
        cost(|| bare_run(kernel, &plans[1])),
        cost(|| whole_run(&sampled[0])),
        cost(|| whole_run(&sampled[1])),
    ]
    .map(|cpu| cpu / seconds)
}

/// A row of the table: medians of the costs, and of the ratios of each round.
fn row(kernel: &Path, case: &Case) -> String {
    let rounds: Vec<[f64; 4]> = (0..ROUNDS).map(|_| round(kernel, case)).collect();
    let of = |value: &dyn Fn(&[f64; 4]) -> f64| median(rounds.iter().map(value).collect());
    let number = |value: f64| format!("{value:.3}");
    let mut cells =
        vec![format!("{}, {}", case.rate, case.mtu), number(of(&|r| r[0])), number(of(&|r| r[1]))];
    for at in [2, 3] {
        cells.push(number(of(&|r| r[at])));
        cells.push(format!("{:.2}", of(&|r| r[at] / r[0])));
        cells.push(format!("{:.2}", of(&|r| r[at] / r[1])));
    }
    println!("{}", cells.join(" | "));
    format!("\n| {} |", cells.join(" | "))
}

/// Seconds that a run of 0.1 s takes, and its CPU seconds.
fn short_run() -> [f64; 2] {
    let resolved = scenario("1Gbit", 1500, 0.1, "1ms");
    let one = |_| {
        let begun = Instant::now();
        let cpu = cost(|| whole_run(&resolved));
        [begun.elapsed().as_secs_f64(), cpu]
    };
    let rounds: Vec<[f64; 2]> = (0..ROUNDS).map(one).collect();
    [0, 1].map(|at| median(rounds.iter().map(|round| round[at]).collect()))
}

fn kernel() -> Option<Entry> {
    let (family, hz): (Family, Hz) = (FAMILY.parse().ok()?, HZ.parse().ok()?);
    Cache::of_user().ok()?.find(&Wanted { family, hz, ..Wanted::default() })
}

fn main() {
    let Some(entry) = kernel() else {
        println!("skipped: fullpipe kernel build --version {FAMILY} --hz {HZ}");
        return;
    };
    let build = entry.record.as_ref().expect("a whole kernel").cpu_s;
    let head = "| path: rate, MTU | plain | unsampled | 10 ms | of plain | of unsampled | 1 ms | of plain | of unsampled |\n\
                |---|--:|--:|--:|--:|--:|--:|--:|--:|";
    println!("{head}");
    let rows: String = PATHS.iter().map(|path| row(&entry.kernel(), path)).collect();
    let [seconds, cpu] = short_run();
    let text = format!(
        "{head}{rows}\n\nA run of 0.1 s at 1 Gb/s takes {seconds:.2} s, of CPU {cpu:.2} s, from its start to its last sample. \
         The build of this kernel took {build:.0} CPU seconds."
    );
    println!("{}", text.lines().last().unwrap_or_default());
    record_table("cost", |_| text);
}
