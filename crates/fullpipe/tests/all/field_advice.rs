//! Advice on the problems of real people (scenarios/field): the setting that cured each, and the rate that the cure had.
//!
//! The rate to reach is that of the cure in the report, as the scenario's own variant has it, or the rate that its path
//! allows. Advice may reach it by another setting than the report's: the table says so.

use crate::field::{CASES, Case as Reported, names_the_cure, run_of};
use crate::marked;
use fullpipe::advice::method::{Allowance, Goal};
use fullpipe::advice::trial::{Bench, ToTheEnd};
use fullpipe::advice::{Advice, Case, Scope, advise};
use fullpipe::analysis::document::Flow;
use fullpipe::engine::sim::Simulator;
use fullpipe::numbers;
use fullpipe::scenario::{Scenario, Source, load};
use std::path::Path;

const PAGE: &str = "docs/field.md";

/// A report: scenario, the variant that people had trouble with, and their cure.
struct Report {
    file: &'static str,
    variant: &'static str,
    /// Cure of the report: the setting's name where advice has that setting, else words.
    reported: &'static str,
    /// The variant with that cure; none where the path alone sets the rate to reach.
    cure: Option<&'static str>,
    /// Setting that has to be among the changes; none: nothing is to be set.
    setting: Option<&'static str>,
}

const fn report(
    file: &'static str,
    variant: &'static str,
    reported: &'static str,
    cure: Option<&'static str>,
    setting: Option<&'static str>,
) -> Report {
    Report { file, variant, reported, cure, setting }
}

/// Report with a cure that is not one of a TCP flow that fills its path, with its allowed changes and their goal.
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
        report: report("24-ring-overrun", "ring of 64", UNKNOWN, Some("ring of 1024"), Some(RING)),
        allowance: Allowance::default,
        most_queue_ms: f64::INFINITY,
        most_resent: 0,
    },
    Special {
        report: report(
            "18-udp-rcvbuf",
            "208 KiB, as it is",
            RCVBUF,
            Some("SO_RCVBUF 4 MiB"),
            Some(RCVBUF),
        ),
        allowance: Allowance::default,
        most_queue_ms: f64::INFINITY,
        most_resent: u64::MAX,
    },
    Special {
        report: report("08-netem-udp", "", UNKNOWN, None, Some("limit")),
        allowance: || Allowance { scopes: vec![Scope::Path], ..Allowance::default() },
        most_queue_ms: f64::INFINITY,
        most_resent: u64::MAX,
    },
    Special {
        report: report(
            "23-bloat",
            "drop tail, 500 kB",
            "fq_codel on the router",
            Some("fq_codel"),
            Some(PACE),
        ),
        allowance: || Allowance { goal: Goal::Delay, ..Allowance::default() },
        most_queue_ms: 5.0,
        most_resent: u64::MAX,
    },
];

/// The report has no cure.
const UNKNOWN: &str = "none";
const SNDBUF: &str = "SO_SNDBUF";
/// Window of a system that tunes none.
const OWN: &str = "receive window";
const RCVBUF: &str = "SO_RCVBUF";
const PACE: &str = "SO_MAX_PACING_RATE";
const WINDOW: &str = "the program's window";
const WRITE: &str = "size of a write";
const NODELAY: &str = "TCP_NODELAY";
const RING: &str = "ethtool -G rx";
const MEMORY: &str = "net.ipv4.tcp_mem";
const MTU: &str = "ip link mtu";
const WMEM: &str = "net.ipv4.tcp_wmem";
const METRICS: &str = "net.ipv4.tcp_no_metrics_save";
const SCALING: &str = "net.ipv4.tcp_window_scaling";
const CONTROL: &str = "net.ipv4.tcp_congestion_control";

/// Part of the cure's rate, or of the path where the report has no cure that a run shows.
const REACHED: f64 = 0.95;

/// Reports of flows; 17 had a cure for something that the scenario does not have.
const REPORTS: &[Report] = &[
    report("01-sndbuf-locked", "SO_SNDBUF 64 KiB", SNDBUF, Some(KERNEL), Some(SNDBUF)),
    report("03-parallel", "1 stream", "4 streams", Some("4 streams"), Some(WMEM)),
    report("04-http2-window", "HTTP/2, window of 64 KB", WINDOW, Some("HTTP/1.1"), Some(WINDOW)),
    report("05-windows", "window 208 KiB", RCVBUF, Some("-w 512K"), Some(RCVBUF)),
    report("06-ipxe", "window 256 KB", OWN, Some("window 2 MB"), Some(OWN)),
    report(
        "09-policer-burst",
        "burst 15 KB",
        "the policer's burst",
        Some("burst 50 ms"),
        Some(PACE),
    ),
    report(
        "11-tun-reorder",
        "threads reorder, 500 packets",
        "one thread",
        Some("one thread, 5000 packets"),
        Some(PACE),
    ),
    report(
        "13-metrics-cache",
        "metrics are kept",
        METRICS,
        Some("tcp_no_metrics_save 1"),
        Some(METRICS),
    ),
    report("15-tcp-mem", "tcp_mem of 16 MiB", MEMORY, Some("tcp_mem of 128 MiB"), Some(MEMORY)),
    report("16-nfs-timeo", "rsize 1 MiB", "timeo", Some("timeo 60 s"), Some("timeo")),
    report("17-notsent-lowat", "lowat 128 KiB", "TCP_NOTSENT_LOWAT", Some("lowat 4 MiB"), None),
    report("19-write-size", "writes of 1500 bytes", WRITE, Some("writes of 128 KiB"), Some(WRITE)),
    report("20-nagle", "as it is", NODELAY, Some("TCP_NODELAY"), Some(NODELAY)),
    report("21-bbr-loss", "cubic", CONTROL, Some("bbr"), Some(CONTROL)),
    report("25-xrdp", "SO_SNDBUF 32768", SNDBUF, Some(KERNEL), Some(SNDBUF)),
    report("26-no-window-scaling", "no scaling", SCALING, Some("scaling"), Some(SCALING)),
    report(
        "27-autotune-2017",
        "4 MB",
        "a large SO_RCVBUF",
        Some("one of 10 s"),
        Some("connections"),
    ),
    report(
        "28-defaults-150ms",
        "defaults",
        WMEM,
        Some("tcp_rmem and tcp_wmem 128 MiB"),
        Some(WMEM),
    ),
    report("29-autotune-2025", "6.16", "a repaired kernel", None, Some(WMEM)),
    report("30-kops-jumbo", "rmem default 131072", MTU, Some("MTU 2000"), Some(MTU)),
    report("31-nfs-one-connection", "one connection", "nconnect", Some("nconnect 8"), Some(WMEM)),
];
const KERNEL: &str = "left to the kernel";

/// Reports whose advice takes half a minute or more: `make studies` tries them.
const LARGE: &[&str] =
    &["21-bbr-loss", "27-autotune-2017", "28-defaults-150ms", "29-autotune-2025"];

impl Report {
    /// Rate of the report's own cure once its flows have grown, Mb/s (10^6); of transfers that end, as of advice, the mean.
    fn cure_mbit(&self) -> Option<f64> {
        let run = run_of(self.file, self.cure?);
        let lasts = |flow: &Flow| flow.plateau_mbit.filter(|_| flow.completion_s.is_none());
        let settled: Option<f64> = run.flows.iter().map(lasts).sum();
        let mean = run.headline.as_ref()?.rate_mbit?;
        Some(settled.unwrap_or(mean).max(mean))
    }

    /// A row of the table.
    fn row(&self, advice: &Advice) -> String {
        let variant = if self.variant.is_empty() { "base" } else { self.variant };
        let mut changes = advice.changes.iter();
        let is_same = changes.any(|own| own.change.setting == self.reported);
        let same = match (self.setting, self.reported, is_same) {
            (None, ..) => NOTHING,
            (_, UNKNOWN, _) => NO_CURE,
            (_, _, true) => SAME,
            _ => ANOTHER,
        };
        let of = |mbit: f64| match advice.allowed_mbit {
            Some(allowed) => {
                format!("{} ({:.0} %)", numbers::short(mbit), 100.0 * mbit / allowed)
            }
            None => numbers::short(mbit),
        };
        let cured = self.cure_mbit().map_or("–".into(), of);
        format!(
            "| `{}` | {variant} | {} | {cured} | {same} | {} | {} |\n",
            self.file,
            self.reported,
            of(advice.advised.mbit),
            advice.answer
        )
    }
}

/// Kinds of advice, as the table names them.
const SAME: &str = "the same";
const ANOTHER: &str = "another";
const NOTHING: &str = "nothing to set";
const NO_CURE: &str = "no cure reported";

/// Cases without a trial: the report 07 has no cure, and its netem is no setting of a host.
const NOT_TRIED: &[&str] = &["07-netem-sender"];

/// How many reports there are of each kind, and how many fill their path, by the table of all.
fn summary(table: &str, full: usize) -> String {
    let tried = |file: &str| table.contains(&format!("| `{file}` |"));
    let left: Vec<&str> = CASES.iter().map(|case| case.file).filter(|own| !tried(own)).collect();
    assert_eq!(left, NOT_TRIED);
    let count = |kind: &str| table.matches(&format!("| {kind} |")).count();
    format!(
        "\nOf {}: {} the same setting as in the report, {} another, {} nothing to set, {} without a cure in the report, {} not tried. \
         With advice {full} of the {} tried have {:.0} % of their path or more; the others have {:.0} % of the rate to reach.\n",
        CASES.len(),
        count(SAME),
        count(ANOTHER),
        count(NOTHING),
        count(NO_CURE),
        left.len(),
        CASES.len() - left.len(),
        100.0 * REACHED,
        100.0 * REACHED,
    )
}

/// Columns of the table: the scenario, the rate to reach, and that with advice.
const SCENARIO: usize = 1;
const TO_REACH: usize = 4;
const WITH_ADVICE: usize = 6;

/// Rate at the beginning of a cell, Mb/s; none where it has none.
fn rate_in(cell: &str) -> Option<f64> {
    cell.trim().split(' ').next()?.replace(',', "").parse().ok()
}

/// Reports with a cure whose verdict names that cure, and those in which advice reaches its rate, by the committed table.
#[test]
fn most_reports_end_with_their_cause_and_their_cure() {
    let table = marked::current(PAGE, "advice");
    let row = |case: &Reported| {
        let rows = table.lines().map(|line| line.split('|').collect::<Vec<_>>());
        rows.into_iter().find(|row| {
            row.get(SCENARIO).is_some_and(|own| own.trim() == format!("`{}`", case.file))
        })
    };
    let reaches = |case: &&&Reported| {
        let Some(row) = row(case) else { return false };
        let with = rate_in(row[WITH_ADVICE]).expect("a rate");
        // A report whose cure has no run has the path itself to reach.
        match rate_in(row[TO_REACH]) {
            Some(least) => with >= REACHED * least,
            None => row[WITH_ADVICE].contains("(100 %)"),
        }
    };
    let cured: Vec<&Reported> =
        CASES.iter().filter(|case| names_the_cure(case).is_some()).collect();
    let named = cured.iter().filter(|case| names_the_cure(case) == Some(true)).count();
    let said = format!(
        "Of the {} reports with a cure {named} have it in the verdict, and in {} advice reaches its rate",
        cured.len(),
        cured.iter().filter(reaches).count(),
    );
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let text = std::fs::read_to_string(page).expect("the page");
    assert!(text.contains(&said), "{PAGE}: no \"{said}\"");
    assert!(named >= 21 && cured.iter().filter(reaches).count() >= 22, "{said}");
}

/// Whether advice has the rate of the path.
fn fills(advice: &Advice) -> bool {
    advice.allowed_mbit.is_some_and(|allowed| advice.advised.mbit >= REACHED * allowed)
}

#[test]
fn advice_reaches_the_cure_that_people_found() {
    let mut table = String::from(
        "| scenario | variant | cure in the report | rate to reach, Mb/s (of the path) | setting of advice | rate with advice, Mb/s (of the path) | advice |\n\
         |---|---|---|--:|---|--:|---|\n",
    );
    let mut full = 0;
    let is_made = |own: &&Report| marked::all_rows() || !LARGE.contains(&own.file);
    for own in REPORTS.iter().filter(is_made) {
        let advice = advised(own, &Allowance::default());
        full += usize::from(fills(&advice));
        table += &own.row(&advice);
    }
    for own in SPECIAL {
        let advice = advised(&own.report, &(own.allowance)());
        let queue = advice.advised.queue_ms;
        assert!(queue <= own.most_queue_ms, "{}: {queue:.1} ms", own.report.file);
        let resent = advice.advised.retransmitted;
        assert!(resent <= own.most_resent, "{}: {resent} again", own.report.file);
        full += usize::from(fills(&advice));
        table += &own.report.row(&advice);
    }
    if marked::all_rows() {
        table += &summary(&table, full);
    }
    marked::sampled(PAGE, "advice", &table);
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
    let least = own.cure_mbit().or(advice.allowed_mbit).expect("a cure or a path");
    assert!(mbit >= REACHED * least, "{}: {mbit:.1} of {least:.1}: {}", own.file, advice.answer);
    advice
}
