//! Problems of real people (scenarios/field): the first line of each run has the rate, the share of the path, the place,
//! and the setting or the place that cures it. The page docs/field.md is made from these lines.

use crate::made::{by_two, made};
use crate::marked;
use crate::without_scenario::has_the_same_findings;
use fullpipe::analysis;
use fullpipe::analysis::document::{Document, Headline, Run};
use fullpipe::scenario::{self, Plan, Source};
use std::fmt::Write;
use std::path::Path;
use std::sync::OnceLock;

const PAGE: &str = "docs/field.md";

/// A case: scenario, the variant that people had trouble with, its place, and words that the line must have.
pub struct Case {
    pub file: &'static str,
    variant: &'static str,
    place: &'static str,
    words: &'static [&'static str],
    /// Words of a verdict that names the cure that people found; none where they found none, or one for something else.
    reported_cure: Option<&'static str>,
}

const fn case(
    file: &'static str,
    variant: &'static str,
    place: &'static str,
    words: &'static [&'static str],
    reported_cure: Option<&'static str>,
) -> Case {
    Case { file, variant, place, words, reported_cure }
}

/// Every scenario of the folder. The words are those of the line; the cure is the report's.
pub const CASES: &[Case] = &[
    case(
        "01-sndbuf-locked",
        "SO_SNDBUF 64 KiB",
        "sender.send_buffer",
        &["SO_SNDBUF", "ask for none"],
        Some("ask for none"),
    ),
    case(
        "03-parallel",
        "1 stream",
        "sender.send_buffer",
        &["net.ipv4.tcp_wmem", "4 MiB"],
        Some("use 4 connections"),
    ),
    case(
        "04-http2-window",
        "HTTP/2, window of 64 KB",
        "sender.application",
        &["The program's own window on receiver", "no sysctl raises this window"],
        Some("a larger window"),
    ),
    case(
        "05-windows",
        "window 208 KiB",
        "receiver.receive_buffer",
        &["SO_RCVBUF", "208 KiB", "autotuninglevel normal"],
        Some("Windows tunes the window up to 16 MiB"),
    ),
    case(
        "06-ipxe",
        "window 256 KB",
        "receiver.receive_buffer",
        &["announces 256 KiB", "announce 13 MiB"],
        Some("announce 13 MiB"),
    ),
    case(
        "07-netem-sender",
        "netem on the sender, limit 1000",
        "sender.send_buffer",
        &["net.ipv4.tcp_wmem"],
        None,
    ),
    case("08-netem-udp", "base", "delay", &["limit", "1,000 packets"], None),
    case(
        "09-policer-burst",
        "burst 15 KB",
        "police",
        &["burst", "15 kB", "pace"],
        Some("Raise the burst"),
    ),
    case(
        "11-tun-reorder",
        "threads reorder, 500 packets",
        "threads",
        &["Reordering", "in order"],
        Some("one thread"),
    ),
    case(
        "13-metrics-cache",
        "metrics are kept",
        "sender",
        &["net.ipv4.tcp_no_metrics_save", "5.6"],
        Some("net.ipv4.tcp_no_metrics_save"),
    ),
    case(
        "15-tcp-mem",
        "tcp_mem of 16 MiB",
        "receiver.receive_buffer",
        &["net.ipv4.tcp_mem", "hoarder-1 … hoarder-200", "read, or close"],
        Some("raise net.ipv4.tcp_mem"),
    ),
    case(
        "16-nfs-timeo",
        "rsize 1 MiB",
        "sender",
        &["NFS calls that time out", "times in all before their answers", "timeo=600"],
        Some("timeo=600"),
    ),
    case("17-notsent-lowat", "lowat 128 KiB", "link", &["The path is full", "set nothing"], None),
    case(
        "18-udp-rcvbuf",
        "208 KiB, as it is",
        "receiver.udp_socket",
        &["208 KiB", "does not read for", "SO_RCVBUF of 2 MiB"],
        Some("an SO_RCVBUF of 2 MiB"),
    ),
    case(
        "19-write-size",
        "writes of 1500 bytes",
        "sender.cpu",
        &["CPU of sender", "writes 1.5 kB at a time", "write 128 KiB at a time"],
        Some("write 128 KiB at a time"),
    ),
    case(
        "20-nagle",
        "as it is",
        "receiver.application",
        &["Nagle's rule on receiver", "delayed ACK", "TCP_NODELAY"],
        Some("TCP_NODELAY"),
    ),
    case(
        "21-bbr-loss",
        "cubic",
        "loss",
        &["by chance, not by a full queue", "bbr"],
        Some("net.ipv4.tcp_congestion_control = bbr"),
    ),
    case(
        "23-bloat",
        "drop tail, 500 kB",
        "link",
        &["standing queue of 335 ms", "fq_codel or cake"],
        Some("fq_codel or cake"),
    ),
    case(
        "24-ring-overrun",
        "ring of 64",
        "receiver.rx_ring",
        &["64 descriptors", "ethtool -G rx", "pace"],
        None,
    ),
    case(
        "25-xrdp",
        "SO_SNDBUF 32768",
        "sender.send_buffer",
        &["SO_SNDBUF", "ask for none"],
        Some("ask for none"),
    ),
    case(
        "26-no-window-scaling",
        "no scaling",
        "receiver.receive_buffer",
        &["net.ipv4.tcp_window_scaling", "larger buffers do not help"],
        Some("window_scaling on"),
    ),
    case(
        "27-autotune-2017",
        "4 MB",
        "sender",
        &["Slow start", "connections starts anew", "Keep one connection open"],
        Some("SO_RCVBUF"),
    ),
    case(
        "28-defaults-150ms",
        "defaults",
        "sender.send_buffer",
        &["net.ipv4.tcp_wmem", "net.ipv4.tcp_rmem"],
        Some("net.ipv4.tcp_wmem"),
    ),
    case(
        "29-autotune-2025",
        "6.16",
        "sender.send_buffer",
        &["net.ipv4.tcp_wmem", "67 MB"],
        Some("Use Linux 6.18"),
    ),
    case(
        "30-kops-jumbo",
        "rmem default 131072",
        "receiver.receive_buffer",
        &["cannot grow", "net.ipv4.tcp_rmem", "the MTU of receiver"],
        Some("default (second number) of net.ipv4.tcp_rmem"),
    ),
    case(
        "31-nfs-one-connection",
        "one connection",
        "receiver.send_buffer",
        &["net.ipv4.tcp_wmem", "4 MiB"],
        Some("mount with nconnect="),
    ),
];

/// Cases with the cure that people found in a finding below the line. 29: `tcp_wmem` holds the flow longer than the slow growth
/// of the window that people repaired.
const BELOW: &[&str] = &["29-autotune-2025"];
/// Cases with another cure than people found. 27: one connection instead of a large SO_RCVBUF, which helps little.
const ANOTHER: &[&str] = &["27-autotune-2017"];

/// Part of a verdict that names the cure that people found.
#[derive(Clone, Copy, PartialEq)]
enum Named {
    /// The first line.
    Above,
    /// A finding below it.
    Below,
    /// None.
    Nowhere,
}

/// The part of a case's verdict with the cure that people found; none where they found none.
fn names_it(case: &Case) -> Option<Named> {
    let run = run_of(case.file, case.variant);
    let line = run.headline.as_ref().expect("a headline");
    let cure = case.reported_cure?;
    let mut remedies = run.findings.iter().filter_map(|found| found.remedy.as_ref());
    Some(match line.text.contains(cure) {
        true => Named::Above,
        false if remedies.any(|remedy| remedy.contains(cure)) => Named::Below,
        false => Named::Nowhere,
    })
}

/// Whether a case's verdict names the cure that people found; none where they found none.
pub fn names_the_cure(case: &Case) -> Option<bool> {
    names_it(case).map(|own| own != Named::Nowhere)
}

/// Checks which verdicts name the cure that people found, and counts them.
fn cures() -> String {
    let which = |answer: Option<Named>| {
        let cases = CASES.iter().filter(|case| names_it(case) == answer);
        cases.map(|case| case.file).collect::<Vec<_>>()
    };
    assert_eq!(which(Some(Named::Below)), BELOW);
    assert_eq!(which(Some(Named::Nowhere)), ANOTHER);
    let named = |files: &[&str]| {
        files.iter().map(|file| format!("`{file}`")).collect::<Vec<_>>().join(", ")
    };
    let none = which(None);
    format!(
        "\nOf {} verdicts on the runs in bold, {} name the cure that people found in the first line, {} in a finding below it \
         ({}), and {} another one ({}). {} have none to compare with ({}).\n",
        CASES.len(),
        which(Some(Named::Above)).len(),
        BELOW.len(),
        named(BELOW),
        ANOTHER.len(),
        named(ANOTHER),
        none.len(),
        named(&none),
    )
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/field")
}

fn document(file: &str) -> Document {
    let source = Source::read(&folder().join(format!("{file}.toml"))).expect("the scenario");
    let scenario = scenario::load(&source, &[], &[]).unwrap_or_else(|e| panic!("{file}: {e}"));
    let run = |plan: &Plan| {
        let (run, recording) = made(&scenario, plan);
        has_the_same_findings(&scenario, plan, &run, &recording);
        Run { variant: plan.name(), ..run }
    };
    let runs = scenario.plans().iter().map(run).collect();
    analysis::document(&scenario, &["sim"], runs)
}

/// The documents of all cases, made once.
pub fn documents() -> &'static [Document] {
    static DOCUMENTS: OnceLock<Vec<Document>> = OnceLock::new();
    DOCUMENTS.get_or_init(|| by_two(CASES.len(), |at| document(CASES[at].file)))
}

/// The run of a variant of a case.
pub fn run_of(file: &str, variant: &str) -> &'static Run {
    let at = CASES.iter().position(|case| case.file == file);
    let runs = at.map(|at| &documents()[at].runs).into_iter().flatten();
    let run = runs.into_iter().find(|run| run.variant == variant);
    run.unwrap_or_else(|| panic!("{file}: no {variant}"))
}

/// Rate, allowed rate and share as the line has them, of two sources: the line itself, and the run's flows or datagrams.
fn numbers_agree(name: &str, own: &Headline, run: &Run) {
    let (rate, allowed) = (own.rate_mbit.expect("a rate"), own.allowed_mbit.expect("a bound"));
    let shown = fullpipe::numbers::short(rate);
    assert!(own.text.contains(&format!("{shown} of ")), "{name}: {}", own.text);
    assert!(own.text.contains(&fullpipe::numbers::rate(allowed)), "{name}: {}", own.text);
    assert!(own.text.contains(" %)"), "{name}: {}", own.text);
    assert!(rate > 0.0 && rate <= 1.001 * allowed, "{name}: {rate} of {allowed}");
    let bytes: u64 = run.flows.iter().map(|flow| flow.bytes).sum();
    let udp: f64 = run.datagrams.iter().filter_map(|own| own.mean_mbit).sum();
    // Data that a server sends twice is carried for nothing. A verdict is about flows, or about datagrams alone.
    let most = bytes as f64 * run.useful() * 8e-6 / run.duration_s;
    let least = if bytes > 0 { most } else { udp };
    assert!(rate >= 0.99 * least.min(allowed), "{name}: {rate}, whole run {least}");
}

#[test]
fn the_first_line_leads_to_the_cure() {
    let documents = documents();
    let mut table = String::from("| scenario | variant | first line |\n|---|---|---|\n");
    for (case, document) in CASES.iter().zip(documents) {
        let run = run_of(case.file, case.variant);
        let own = run.headline.as_ref().expect("a headline");
        numbers_agree(case.file, own, run);
        assert_eq!(own.place.as_deref(), Some(case.place), "{}: {}", case.file, own.text);
        for word in case.words {
            assert!(own.text.contains(word), "{}: no \"{word}\" in: {}", case.file, own.text);
        }
        // Whatever is not full is not praised.
        let praised = own.text.contains("set nothing");
        assert_eq!(praised, own.grade == fullpipe::analysis::document::Grade::Full, "{}", own.text);
        let whole = document.headline.as_ref().expect("a headline");
        assert!(whole.rate_mbit.is_some() && whole.place.is_some(), "{}", whole.text);
        assert!(!whole.text.contains('\n'), "{}", whole.text);
        for run in &document.runs {
            let own = run.headline.as_ref().expect("a headline");
            let mark = if run.variant == case.variant { "**" } else { "" };
            let row = format!("| `{}` | {mark}{}{mark} | {} |", case.file, run.variant, own.text);
            writeln!(table, "{row}").expect("a string");
        }
    }
    table += &cures();
    marked::committed(PAGE, "first lines", &table);
}

/// The cases are all that the folder has.
#[test]
fn every_scenario_of_the_folder_is_a_case() {
    let entries = std::fs::read_dir(folder()).expect("the folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    let cases: Vec<String> = CASES.iter().map(|case| format!("{}.toml", case.file)).collect();
    assert_eq!(names, cases);
}
