//! The whole text against golden files (`FULLPIPE_BLESS=1` rewrites them), and its promises.

use super::{Style, render, render_every_flow, sample};
use crate::analysis::document::{Document, Medians};

/// The file's text must be `text`; it is rewritten where the environment asks for it.
fn golden(name: &str, text: &str) {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/terminal");
    let path = format!("{directory}/{name}.txt");
    if std::env::var_os("FULLPIPE_BLESS").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(directory).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(&path).unwrap(), "{path}");
}

fn plain(width: usize) -> String {
    render(&sample::document(), Style { width, color: false })
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
}

#[test]
fn the_wide_text_is_the_golden_one() {
    golden("120", &plain(120));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [0, 79, 80, 119, 120, 400] {
        let most = if width >= 120 { 120 } else { 80 };
        for line in plain(width).lines() {
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
    for line in render(&document, Style { width: 80, color: false }).lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn the_path_says_of_which_places_samples_tell() {
    let mut document = sample::document();
    let mut heading = |exact: usize| {
        let places = document.runs[0].picture.places.iter_mut().enumerate();
        places.for_each(|(n, place)| place.exact = n < exact);
        let text = render(&document, Style { width: 400, color: false }).replace('\n', " ");
        let (_, rest) = text.split_once("the path (").expect("a heading");
        rest.split_once(')').expect("its end").0.to_string()
    };
    assert_eq!(heading(0), "bar: mean █, peak ░; times at samples of 0.01 s");
    let some = "bar: mean █, peak ░; times of tx_ring at samples of 0.01 s";
    assert_eq!(heading(3), some);
    assert_eq!(heading(4), "bar: mean █, peak ░");
}

/// Twelve flows that only their names and rates tell apart.
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
fn many_alike_flows_are_a_sum_and_the_extremes() {
    let document = crowded();
    for width in [80, 120] {
        let style = Style { width, color: false };
        let text = render(&document, style);
        let every = render_every_flow(&document, style);
        for line in text.lines().chain(every.lines()) {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
        // The rates of the first second, of 57.2 Mb/s each.
        assert!(text.contains(" 686.4 "), "{text}");
        let (_, verdict) = text.split_once("Verdict").expect("a verdict");
        let shown = |n: usize| verdict.contains(&format!("netperf-{n} "));
        let seen: Vec<usize> = (1..=12).filter(|n| shown(*n)).collect();
        assert_eq!(seen, [1, 12], "{verdict}");
        // 12 flows of 7,150,080 and 16,997,120 bytes in 2 s, once more than 2 s apart.
        assert!(verdict.contains("/ all 12") && verdict.contains(" 1,159.1"), "{verdict}");
        assert!(text.contains("--every-flow") && !every.contains("--every-flow"));
        assert_eq!(every.matches("/ netperf-").count(), 24);
    }
}

#[test]
fn a_run_of_datagrams_is_about_them() {
    let document = sample::with_datagrams();
    let text = render(&document, Style { width: 80, color: false });
    let (_, verdict) = text.split_once("Verdict").expect("a verdict");
    let words = verdict.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("/ udp (partial) – – 894.4 12,452 of 2,000,000 datagrams"), "{words}");
    assert!(
        words.contains(
            "not delivered (0.62 %); dropped on their way, whosever packets: 12,345 at a-link"
        ),
        "{words}"
    );
    assert!(words.contains("beside them bulk: 1,000 bytes of TCP"), "{words}");
    assert!(!words.contains("held back"), "{words}");
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
    let told = "medians: cwnd 14 packets (expected 15 within 2 packets), in flight 4, srtt 5.25 ms";
    assert!(text.contains(told), "{text}");
}

#[test]
fn a_buffer_that_the_kernel_tunes_has_a_bound() {
    let mut document = sample::document();
    document.runs[0].stages[1].tuned_up_to = Some(4 << 20);
    let text = render(&document, Style { width: 80, color: false });
    assert!(text.contains("  ≤ 4 MiB  ") && text.contains("≤: memory up to which"), "{text}");
}
