//! Advice on the problems of real people (scenarios/field): the setting that cured each, and the rate that the cure had.
//!
//! The rate to reach is that of the cure in the report, as the scenario's own variant has it, or what its path allows.

use crate::marked;
use fullpipe::advice::method::{Allowance, Goal};
use fullpipe::advice::trial::{Bench, ToTheEnd};
use fullpipe::advice::{Advice, Case, Scope, advise};
use fullpipe::engine::sim::Simulator;
use fullpipe::scenario::{Scenario, Source, load};
use std::fmt::Write;
use std::path::Path;

/// A report: scenario, variant, the setting that has to be among the changes (none: nothing is to be set), and the least rate,
/// Mb/s.
struct Report {
    file: &'static str,
    variant: &'static str,
    setting: Option<&'static str>,
    least_mbit: f64,
}

const fn report(
    file: &'static str,
    variant: &'static str,
    setting: Option<&'static str>,
    least_mbit: f64,
) -> Report {
    Report { file, variant, setting, least_mbit }
}

/// Report whose cure is not one of a TCP flow that fills its path: changes that are allowed, and what they are for.
struct Special {
    report: Report,
    allowance: fn() -> Allowance,
    /// Most queueing delay with the advice, ms.
    most_queue_ms: f64,
    /// Most segments that are sent again with the advice.
    most_resent: u64,
}

/// A CPU bounds the rate behind the ring, so that the ring's drops alone show the cure: today 46 segments are sent again.
/// Datagrams need a socket or a delay that holds them; an upload in front of a deep queue needs a pace.
const SPECIAL: &[Special] = &[
    Special {
        report: report("24-ring-overrun", "ring of 64", Some("ethtool -G rx"), 352.0),
        allowance: Allowance::default,
        most_queue_ms: f64::INFINITY,
        most_resent: 0,
    },
    Special {
        report: report("18-udp-rcvbuf", "208 KiB, as it is", Some("SO_RCVBUF"), 950.0),
        allowance: Allowance::default,
        most_queue_ms: f64::INFINITY,
        most_resent: u64::MAX,
    },
    Special {
        report: report("08-netem-udp", "", Some("limit"), 662.0),
        allowance: || Allowance { scopes: vec![Scope::Path], ..Allowance::default() },
        most_queue_ms: f64::INFINITY,
        most_resent: u64::MAX,
    },
    Special {
        report: report("23-bloat", "drop tail, 500 kB", Some("SO_MAX_PACING_RATE"), 8.9),
        allowance: || Allowance { goal: Goal::Delay, ..Allowance::default() },
        most_queue_ms: 5.0,
        most_resent: u64::MAX,
    },
];

/// Each rate is 95 % of what the report's cure reaches in the same scenario (docs/field.md has its line).
const REPORTS: &[Report] = &[
    report("01-sndbuf-locked", "SO_SNDBUF 64 KiB", Some("SO_SNDBUF"), 882.0),
    report("03-parallel", "1 stream", Some("net.ipv4.tcp_wmem"), 490.0),
    report("04-http2-window", "64 KB window, as a receive buffer", Some("SO_RCVBUF"), 291.0),
    report("05-windows", "window 208 KiB", Some("SO_RCVBUF"), 737.0),
    report("06-ipxe", "window 256 KB", Some("SO_RCVBUF"), 159.0),
    report("09-policer-burst", "burst 15 KB", Some("SO_MAX_PACING_RATE"), 87.0),
    report("11-tun-reorder", "threads reorder, 500 packets", Some("SO_MAX_PACING_RATE"), 1032.0),
    report("13-metrics-cache", "metrics are kept", Some("net.ipv4.tcp_no_metrics_save"), 833.0),
    report("16-nfs-timeo", "rsize 1 MiB", None, 89.0),
    report("17-notsent-lowat", "lowat 128 KiB", None, 169.0),
    report("25-xrdp", "SO_SNDBUF 32768", Some("SO_SNDBUF"), 73.0),
    report("26-no-window-scaling", "no scaling", Some("net.ipv4.tcp_window_scaling"), 83.0),
    report("28-defaults-150ms", "defaults", Some("net.ipv4.tcp_wmem"), 8941.0),
    report("29-autotune-2025", "6.18", Some("net.ipv4.tcp_wmem"), 92_000.0),
    report("31-nfs-one-connection", "one connection", Some("net.ipv4.tcp_wmem"), 7847.0),
];

/// The report at 100 Gb/s, whose advice takes a minute: `make studies` asks for it.
const LARGEST: &str = "29-autotune-2025";

#[test]
fn advice_reaches_the_cure_that_people_found() {
    let mut table = String::from("| scenario | variant | advice |\n|---|---|---|\n");
    let mut add = |own: &Report, advice: &Advice| {
        let variant = if own.variant.is_empty() { "base" } else { own.variant };
        writeln!(table, "| `{}` | {variant} | {} |", own.file, advice.answer).expect("text");
    };
    let is_made = |own: &&Report| marked::all_rows() || own.file != LARGEST;
    for own in REPORTS.iter().filter(is_made) {
        add(own, &advised(own, &Allowance::default()));
    }
    for own in SPECIAL {
        let advice = advised(&own.report, &(own.allowance)());
        let queue = advice.advised.queue_ms;
        assert!(queue <= own.most_queue_ms, "{}: {queue:.1} ms", own.report.file);
        let resent = advice.advised.retransmitted;
        assert!(resent <= own.most_resent, "{}: {resent} again", own.report.file);
        add(&own.report, &advice);
    }
    marked::sampled("docs/field.md", "advice", &table);
}

/// Advice on the first run of a scenario, by the simulator.
pub fn of_first_run(scenario: &Scenario, allowance: &Allowance) -> Advice {
    let case = Case::new(scenario, &scenario.plans()[0]).expect("a flow that sends");
    advise(&case, allowance, &bench()).expect("advice")
}

/// Trials by the simulator, two at a time.
pub fn bench() -> Bench<'static> {
    Bench { engine: &Simulator, jobs: 2, watch: &ToTheEnd }
}

/// Advice on a report, which has its setting and reaches its rate.
fn advised(own: &Report, allowance: &Allowance) -> Advice {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/field");
    let source = Source::read(&folder.join(format!("{}.toml", own.file))).expect("the scenario");
    let variants: Vec<String> =
        [own.variant].into_iter().filter(|name| !name.is_empty()).map(Into::into).collect();
    let scenario = load(&source, &[], &variants).expect("the variant");
    let advice = of_first_run(&scenario, allowance);

    let set: Vec<&str> = advice.changes.iter().map(|own| &own.change.setting[..]).collect();
    match own.setting {
        Some(setting) => {
            assert!(set.contains(&setting), "{}: no {setting}: {}", own.file, advice.answer);
        }
        None => assert!(set.is_empty(), "{}: {}", own.file, advice.answer),
    }
    let mbit = advice.advised.mbit;
    assert!(mbit >= own.least_mbit, "{}: {mbit:.1}: {}", own.file, advice.answer);
    advice
}
