//! The whole text against golden files (`UPDATE_EXPECT=1` rewrites them), and its promises.

use expect_test::expect_file;

use super::{Detail, Style, render, render_as};
use fullpipe_analysis::document::sample;
use fullpipe_analysis::document::{Document, Grade, Headline, Medians, Run};

/// The file's text must be `text`; it is rewritten where the environment asks for it.
fn golden(name: &str, text: &str) {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/terminal");
    expect_file![format!("{directory}/{name}.txt")].assert_eq(text);
}

const NARROW: Style = Style { width: 80, color: false };

fn plain(width: usize) -> String {
    render(&sample::document(), Style { width, color: false })
}

fn full(width: usize) -> String {
    render_as(&sample::document(), Detail::Full, Style { width, color: false })
}

/// The text without escape sequences.
fn stripped(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or("").to_string();
    first
        + &parts.map(|part| part.split_once('m').expect("a colour ends in m").1).collect::<String>()
}

#[test]
fn the_narrow_text_is_the_golden_one() {
    golden("80", &plain(80));
    golden("80-full", &full(80));
}

#[test]
fn the_wide_text_is_the_golden_one() {
    golden("120", &plain(120));
    golden("120-full", &full(120));
}

#[test]
fn a_brief_text_has_a_line_for_each_run() {
    let text = render_as(&sample::many(), Detail::Brief, NARROW);
    assert_eq!(text.lines().count(), 72);
    let first = "1 Gb/s, 0.1 BDP, flow.bulk.slow_start=standard: 9 of 941 Mb/s (1 %).";
    assert!(text.starts_with(first), "{text}");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [0, 79, 80, 119, 120, 400] {
        let most = if width >= 120 { 120 } else { 80 };
        for line in plain(width).lines().chain(full(width).lines()) {
            assert!(line.chars().count() <= most, "{width}: {line}");
        }
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    for width in [80, 120] {
        let colored = render(&sample::document(), Style { width, color: true });
        assert!(colored.contains("\u{1b}[31mPARTIAL"));
        assert_eq!(stripped(&colored), plain(width));
        assert!(!plain(width).contains('\u{1b}'));
    }
}

#[test]
fn the_largest_numbers_of_a_terabit_path_fit_80_columns() {
    let mut document = sample::document();
    let interval = &mut document.runs[0].flows[0].intervals[0];
    (interval.bytes, interval.throughput_mbit) = (125_000_000_000, 1_000_000.0);
    (interval.segments, interval.cwnd, interval.queue) = (86_206_896, 6_906_077, 6_906_077);
    interval.retransmitted_segments = 1_000_000;
    interval.ssthresh = Some(6_906_077);
    for line in render_as(&document, Detail::Full, NARROW).lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn the_path_says_which_places_have_samples() {
    let mut document = sample::document();
    let mut heading = |exact: usize| {
        let places = document.runs[0].picture.places.iter_mut().enumerate();
        places.for_each(|(n, place)| place.exact = n < exact);
        let style = Style { width: 400, color: false };
        let text = render_as(&document, Detail::Full, style).replace('\n', " ");
        let (_, rest) = text.split_once("the path (").expect("a heading");
        rest.split_once(')').expect("its end").0.to_string()
    };
    assert_eq!(heading(0), "bar: mean █, peak ░; times at samples of 0.01 s");
    let some = "bar: mean █, peak ░; times of tx_ring at samples of 0.01 s";
    assert_eq!(heading(3), some);
    assert_eq!(heading(4), "bar: mean █, peak ░");
}

/// Twelve flows that only their names and rates distinguish.
fn crowded() -> Document {
    let mut document = sample::document();
    document.runs.truncate(1);
    let flow = document.runs[0].flows.remove(0);
    let flows = (1..=12).map(|n| {
        let mut flow = flow.clone();
        (flow.name, flow.mean_mbit) = (format!("netperf-{n}"), 100.0 - f64::from(n));
        flow
    });
    document.runs[0].flows = flows.collect();
    document
}

#[test]
fn alike_flows_are_one_row_with_least_median_and_most() {
    let document = crowded();
    for width in [80, 120] {
        let style = Style { width, color: false };
        let text = render(&document, style);
        let every = render_as(&document, Detail::EveryFlow, style);
        let full = render_as(&document, Detail::Full, style);
        for line in text.lines().chain(every.lines()).chain(full.lines()) {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
        // 12 flows of 7,150,080 and 16,997,120 bytes in 2 s; rates of 88 to 99 Mb/s.
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(" 12 1,159 – 88.0 93.0 99.0 0"), "{text}");
        // The rates of the first second, 57.2 Mb/s each, are in the full text alone.
        assert!(!text.contains(" 686.4 ") && full.contains(" 686.4 "), "{full}");
        assert!(full.contains("--every-flow") && !every.contains("--every-flow"));
        let each = every.matches("/ netperf-").count();
        assert_eq!(each, 12, "{every}");
    }
}

#[test]
fn a_run_of_datagrams_is_about_them() {
    let document = sample::with_datagrams();
    let text = render(&document, NARROW);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let row = "cubic, initial_ssthresh 100 (partial) / udp 894.4 –";
    assert!(words.contains(row), "{words}");
    assert!(words.contains("udp: 12,452 of 2,000,000 datagrams not delivered (0.62 %)"), "{words}");
    assert!(words.contains("dropped on their way, whosever packets: 12,345 at a-link"), "{words}");
    assert!(words.contains("beside them bulk: 1,000 bytes of TCP"), "{words}");
    assert!(!words.contains("held back by cwnd"), "{words}");
}

/// Lines that a terminal of that width shows.
fn rows(text: &str, width: usize) -> usize {
    text.lines().map(|line| line.chars().count().div_ceil(width).max(1)).sum()
}

/// Some runs, each with its own name, eight flows, drops, a failed expectation and a published run.
fn loaded(runs: usize, flows: usize) -> Document {
    let mut document = sample::document();
    let run = document.runs.remove(0);
    let one = |n: usize| {
        let mut run: Run = run.clone();
        run.variant = format!("variant {n} with a name that leaves no room beside numbers");
        run.notes = vec![format!("net.core.wmem_max of 4 MiB cuts what flow {n} asks for, 64 MiB")];
        run.headline = Some(headline(0.1, 900.0));
        let flow = run.flows.remove(0);
        run.flows = (0..flows)
            .map(|n| {
                let mut flow = flow.clone();
                (flow.name, flow.mean_mbit) = (format!("bulk-{n}"), 10.0 + n as f64);
                flow
            })
            .collect();
        run
    };
    document.runs = (0..runs).map(one).collect();
    document.missing = (0..runs).map(|n| format!("variant {n}, not begun")).collect();
    document.headline = Some(Headline { text: "word ".repeat(70), ..headline(0.1, 900.0) });
    document
}

fn headline(share: f64, allowed: f64) -> Headline {
    sample::headline(Grade::Below, share, allowed)
}

#[test]
fn a_text_fits_a_screen_whatever_the_number_of_runs_and_flows() {
    let documents = [
        ("one run", loaded(1, 1)),
        ("eight flows", loaded(1, 8)),
        ("four variants of eight flows", loaded(4, 8)),
        ("six variants", loaded(6, 1)),
        ("a hundred variants of nine flows", loaded(100, 9)),
        ("seventy-two runs over axes", sample::many()),
    ];
    for (name, document) in documents {
        for width in [80, 120] {
            let text = render(&document, Style { width, color: false });
            // Two lines say where the results are; one line for each of six runs says that the run has ended.
            let rows = rows(&text, width);
            assert!(rows + 8 <= 60, "{name}: {rows} lines\n{text}");
            let first = text.lines().next().expect("a line");
            assert_eq!(first, document.headline.as_ref().expect("one").text, "{name}");
        }
    }
}

#[test]
fn what_is_cut_is_counted() {
    let text = render(&loaded(100, 9), NARROW);
    let more = |what: &str| -> usize {
        let line = text
            .lines()
            .find(|line| line.ends_with(&format!("more {what}: --full, or report.html")));
        let number = line.unwrap_or_else(|| panic!("{what}: {text}")).split_whitespace().next();
        number.expect("a number").parse().expect("a number")
    };
    let row = |line: &&str| line.trim_start().starts_with("9 ");
    assert_eq!(more("runs") + text.lines().filter(row).count(), 100, "{text}");
    assert_eq!(more("notes") + text.matches("note on variant").count(), 100, "{text}");
    let failed = text.matches("FAILED").count();
    assert_eq!(more("failed expectations") + failed, 100, "{text}");
}

#[test]
fn many_runs_are_a_matrix_that_names_its_axes() {
    let document = sample::many();
    let text = render(&document, NARROW);
    assert!(text.contains("share of what the path allows, %; columns: flow.bulk.slow_start"));
    let mut lines = text.lines().skip_while(|line| !line.contains("columns: flow.bulk"));
    let heads: Vec<&str> = lines.nth(1).expect("heads").split_whitespace().collect();
    assert_eq!(heads[0], "variant");
    assert_eq!(
        heads[1..],
        ["standard", "initial_ssthresh", "limited", "hystart", "hystart++", "search"]
    );
    let row: Vec<&str> = lines.next().expect("a row").split_whitespace().collect();
    assert_eq!(row.join(" "), "1 Gb/s, 0.1 BDP 1.0 2.0 3.0 4.0 5.0 6.0");
    assert!(text.contains("held back most by"), "{text}");
    let all = render_as(&document, Detail::Full, NARROW);
    assert!(all.lines().count() > 1000 && all.contains("the path (bar"), "{}", all.lines().count());
}

#[test]
fn medians_stand_beside_what_is_expected_of_them() {
    let mut document = sample::document();
    let run = &mut document.runs[0];
    run.flows[0].medians = Some(Medians { cwnd: 14, in_flight: 4, srtt_us: 5250 });
    let mut expected = run.expectations[0].clone();
    (expected.metric, expected.interval) = ("flow.bulk.cwnd_median".into(), None);
    (expected.expected, expected.within) = (vec![15.0], "2 packets".into());
    run.expectations.push(expected);
    let text = render(&document, Style { width: 120, color: false });
    let expected =
        "medians: cwnd 14 packets (expected 15 within 2 packets), in flight 4, srtt 5.25 ms";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_buffer_that_the_kernel_tunes_has_a_bound() {
    let mut document = sample::document();
    document.runs[0].stages[1].tuned_up_to = Some(4 << 20);
    let text = render_as(&document, Detail::Full, NARROW);
    assert!(text.contains("  ≤ 4 MiB  ") && text.contains("≤: memory up to which"), "{text}");
}

/// Sockets show no limits and no drops, whatever the number of runs.
#[test]
fn a_view_of_sockets_shows_what_sockets_show() {
    for runs in [1, 9] {
        let mut document = loaded(runs, 1);
        let text = |document: &Document| render(document, NARROW);
        assert!(text(&document).contains("held back"), "{}", text(&document));
        document.runs.iter_mut().for_each(|run| run.view = Some("sender-sockets".into()));
        let seen = text(&document);
        for hidden in ["held back by link", "held back most", "dropped"] {
            assert!(!seen.contains(hidden), "{hidden}: {seen}");
        }
        assert!(seen.contains("view sender-sockets"), "{seen}");
    }
}
