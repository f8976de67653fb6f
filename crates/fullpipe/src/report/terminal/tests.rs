//! The whole text against golden files (`FULLPIPE_BLESS=1` rewrites them), and its promises.

use super::{Style, render, sample};

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
