//! Two experiments compared: only the differences.

use super::grid::{Column, lay_out, number, words, wrap};
use super::sections::{Section, fit};
use super::summary::{EACH, LINES};
use super::{Style, apart};
use fullpipe_analysis::compare::{Change, Comparison, FlowPair, Pair, Setting};
use fullpipe_analysis::limits;
use fullpipe_analysis::numbers;

const SETTINGS: [Column; 3] = [words("scenario"), words("a"), words("b")];
const CHANGES: [Column; 4] =
    [words("result"), number("a", ""), number("b", ""), number("difference", "")];

/// Longest value of a setting that is shown whole.
const SHOWN: usize = 24;

/// The comparison as text, ending in a newline.
pub fn compare(comparison: &Comparison, style: Style) -> String {
    let mut lines: Vec<String> = vec![style.bold(&comparison.headline), String::new()];
    for pair in &comparison.runs {
        lines.extend(self::pair(pair, style));
    }
    lines.extend(left_over(comparison, style));
    lines.join("\n") + "\n"
}

/// The comparison in few lines: the first differences of each pair of runs.
pub fn compare_short(comparison: &Comparison, style: Style) -> String {
    let pairs = comparison.runs.iter().map(|pair| self::pair(pair, style));
    let mut sections = vec![Section::whole(vec![style.bold(&comparison.headline)])];
    if comparison.runs.len() <= EACH {
        sections.extend(pairs.map(|lines| Section::lines(lines, 0)));
    } else {
        sections.push(Section::items(pairs.collect(), 0, "pairs"));
    }
    sections.push(Section::lines(left_over(comparison, style), 6));
    fit(sections, LINES, "--full", style).join("\n") + "\n"
}

/// Runs that only one side has.
fn left_over(comparison: &Comparison, style: Style) -> Vec<String> {
    let sides = [("a", &comparison.only_a), ("b", &comparison.only_b)].into_iter();
    let texts = sides
        .flat_map(|(side, names)| names.iter().map(move |name| format!("only in {side}: {name}")));
    texts.flat_map(|text| wrap(&text, "", style.columns())).collect()
}

/// Two runs compared.
pub fn pair(pair: &Pair, style: Style) -> Vec<String> {
    let name = match pair.a == pair.b {
        true => pair.a.clone(),
        false => format!("a: {}; b: {}", pair.a, pair.b),
    };
    let mut changes: Vec<Vec<String>> = pair.flows.iter().flat_map(flow).collect();

    // Places with equal drops are left out.
    changes.extend(pair.drops.iter().filter(|c| !c.same()).map(|c| row(c, "dropped, ", 0)));
    // Where anything differs marks are shown in any case: that they are alike says something, too.
    if !changes.is_empty() || pair.marks.iter().any(|change| !change.same()) {
        changes.extend(pair.marks.iter().map(|change| row(change, "marked, ", 0)));
    }
    changes.extend(pair.findings.iter().map(finding));
    let mut lines: Vec<String> =
        wrap(&name, "", style.columns()).iter().map(|line| style.bold(line)).collect();

    // Settings of the scenario go before the changes that they cause.
    let settings = settings(&pair.scenario, style);
    let none = settings.is_empty() && changes.is_empty();
    lines.extend(settings);
    lines.extend(table(&CHANGES, &changes, style));
    let unlike = pair.flows.iter().filter_map(unlike_plateaus);
    lines.extend(unlike.flat_map(|text| wrap(&text, "  ", style.columns())));
    let apart = pair.flows.iter().flat_map(|flow| apart::lines(&flow.name, &flow.distance, style));
    let apart: Vec<String> = apart.collect();

    // The verdict needs all parts: only now is it clear that nothing differs.
    let none = none && apart.is_empty();
    lines.extend(apart);
    lines.extend(pair.unpaired_flows.iter().map(|flow| format!("  only in one: flow {flow}")));
    match none {
        true if pair.flows.iter().all(same) => lines.push("  no difference".into()),
        true => lines.push("  no difference that so many digits would show".into()),
        false => {}
    }
    lines
}

/// Says that the times to 90 % are of different rates, where both runs have such a time.
fn unlike_plateaus(flow: &FlowPair) -> Option<String> {
    let (a, b) = flow.unlike_plateaus()?;
    Some(format!(
        "{}: plateaus of {} and {}: the times to 90 % of them do not compare",
        flow.name,
        numbers::rate(a),
        numbers::rate(b)
    ))
}

/// Whether the values of both runs are the same to the last digit.
fn same(flow: &FlowPair) -> bool {
    flow.metrics.iter().chain(&flow.limits).all(Change::same)
}

/// Differences between two scenarios; nothing where there are none.
pub fn settings(all: &[Setting], style: Style) -> Vec<String> {
    table(&SETTINGS, &all.iter().map(setting).collect::<Vec<_>>(), style)
}

/// Headings without the line of units, which says nothing here.
fn table(columns: &[Column], rows: &[Vec<String>], style: Style) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let mut lines = lay_out(columns, rows, style.columns());
    lines.remove(1);
    lines[0] = style.faint(&lines[0]);
    lines
}

fn setting(setting: &Setting) -> Vec<String> {
    let value = |value: &Option<String>| match value {
        Some(value) => shortened(value),
        None => numbers::ABSENT.to_string(),
    };
    vec![setting.key.clone(), value(&setting.a), value(&setting.b)]
}

fn shortened(value: &str) -> String {
    match value.chars().count() > SHOWN {
        true => value.chars().take(SHOWN - 3).collect::<String>() + "...",
        false => value.to_string(),
    }
}

fn flow(flow: &FlowPair) -> Vec<Vec<String>> {
    let metrics = flow.metrics.iter().filter(|change| !change.same());
    let metrics = metrics.map(|change| row(change, &format!("{}: ", flow.name), 3));
    let limits = flow.limits.iter().filter(|change| !change.same());
    let rows = metrics.chain(limits.map(|change| limit(&flow.name, change)));
    rows.filter(|row| row[1] != row[2]).collect()
}

fn row(change: &Change, prefix: &str, decimals: usize) -> Vec<String> {
    let whole = change.a.into_iter().chain(change.b).all(|value| value.fract() == 0.0);
    let decimals = if whole { 0 } else { decimals };
    let value = |value: Option<f64>| match value {
        Some(value) => numbers::fixed(value, decimals),
        None => numbers::ABSENT.to_string(),
    };
    let difference = change.relative.map_or(numbers::ABSENT.to_string(), numbers::difference);
    vec![format!("{prefix}{}", change.name), value(change.a), value(change.b), difference]
}

/// A cause that one of the runs has.
fn finding(change: &Change) -> Vec<String> {
    let share = |share: Option<f64>| match share {
        Some(share) => format!("{} %", numbers::fixed(share * 100.0, 1)),
        None => numbers::ABSENT.to_string(),
    };
    let name = format!("finding, {}", change.name);
    vec![name, share(change.a), share(change.b), numbers::ABSENT.to_string()]
}

/// A share with its difference in percentage points.
fn limit(flow: &str, change: &Change) -> Vec<String> {
    let (a, b) = (change.a.unwrap_or(0.0), change.b.unwrap_or(0.0));
    let percent = |share: f64| format!("{} %", numbers::fixed(share * 100.0, 1));
    let points = numbers::difference(b - a).replace('%', "points");
    vec![format!("{flow}: {}", limits::label(&change.name)), percent(a), percent(b), points]
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_analysis::distance::{Apart, Difference, Distance, IntervalPair, Parting, State};
    use fullpipe_analysis::document::{Happened, Moment};
    use fullpipe_analysis::losses::{Episode, EpisodePair, Losses};

    const PLAIN: Style = Style { width: 80, color: false };

    fn change(name: &str, a: f64, b: f64) -> Change {
        Change { name: name.into(), a: Some(a), b: Some(b), relative: Some(b / a - 1.0) }
    }

    fn state(cwnd: u32, ssthresh: Option<u32>) -> State {
        State { cwnd, ssthresh, in_flight: 9, srtt_us: Some(20_500), queue: 1 }
    }

    fn parting() -> Parting {
        let moment = |at_s, what, value| Moment { at_s, what, value };
        Parting {
            at_s: 2.5,
            a: state(10, None),
            b: state(12, Some(8)),
            from_s: 2.44,
            events_a: Vec::new(),
            events_b: vec![
                moment(2.45, Happened::State, 3),
                moment(2.45, Happened::Retransmitted, 1),
            ],
        }
    }

    fn losses() -> Losses {
        let episode = |at_s, retransmitted| Episode { at_s, retransmitted, timeouts: 0 };
        let pairs = vec![EpisodePair { a: episode(2.45, 1), b: episode(2.5, 3) }];
        let apart = Some(0.05);
        Losses { a: 1, b: 2, median_difference_s: apart, worst_difference_s: apart, pairs }
    }

    fn interval(end_s: f64, rate: f64) -> IntervalPair {
        let throughput_mbit = [80.0, rate];
        IntervalPair { end_s, throughput_mbit, retransmitted_segments: [1, 3], cwnd: [10, 12] }
    }

    fn example(metrics: Vec<Change>, scenario: Vec<Setting>) -> Comparison {
        let apart = |median, worst| Some(Apart { pairs: 9, median, worst, worst_at_s: 3.0 });
        let distance = Distance {
            throughput: apart(0.01, 0.25),
            retransmitted: None,
            cwnd: apart(0.0, 0.0),
            retransmissions: Difference { a: 1.0, b: 3.0, relative: 2.0 / 3.0 },
            completion_s: Some(Difference { a: 4.0, b: 5.0, relative: 0.2 }),
            intervals: vec![interval(1.0, 60.0)],
            known_until_s: None,
            losses: losses(),
            diverged: Some(parting()),
        };
        let flow = FlowPair {
            name: "bulk".into(),
            metrics,
            limits: vec![change("cwnd_slow_start", 0.5, 0.25)],
            distance,
        };
        let pair = Pair {
            a: "reno".into(),
            b: "reno".into(),
            scenario,
            flows: vec![flow],
            unpaired_flows: vec!["late".into()],
            drops: vec![change("link", 10.0, 20.0)],
            marks: vec![change("link", 40.0, 40.0)],
            findings: vec![Change {
                name: "sndbuf".into(),
                a: Some(0.98),
                b: None,
                relative: None,
            }],
        };
        Comparison {
            headline: "a and b are equally fast.".into(),
            runs: vec![pair],
            only_a: vec!["bic".into()],
            only_b: Vec::new(),
        }
    }

    #[test]
    fn what_the_digits_do_not_show_is_no_row() {
        let near = |a: f64, b: f64| Difference { a, b, relative: (b - a) / b };
        let apart = Some(Apart { pairs: 9, median: 0.0, worst: 0.0004, worst_at_s: 3.0 });
        let mut comparison = example(vec![change("mean_mbit", 80.0, 80.0001)], Vec::new());
        let pair = &mut comparison.runs[0];
        (pair.drops, pair.unpaired_flows) = (Vec::new(), Vec::new());
        pair.findings = Vec::new();
        pair.flows[0].limits = vec![change("cwnd_slow_start", 0.5, 0.5001)];
        pair.flows[0].distance = Distance {
            throughput: apart,
            completion_s: Some(near(4.0, 4.0001)),
            intervals: vec![IntervalPair {
                throughput_mbit: [80.0, 80.01],
                retransmitted_segments: [1, 1],
                cwnd: [10, 10],
                end_s: 1.0,
            }],
            ..Distance::default()
        };
        let head = "a and b are equally fast.\n\n";
        let none = "reno\n  no difference that so many digits would show\nonly in a: bic\n";
        assert_eq!(compare(&comparison, PLAIN), format!("{head}{none}"));
        let pair = &mut comparison.runs[0];
        (pair.flows[0].metrics, pair.flows[0].limits) = (Vec::new(), Vec::new());
        let none = "reno\n  no difference\nonly in a: bic\n";
        assert_eq!(compare(&comparison, PLAIN), format!("{head}{none}"));
    }

    #[test]
    fn a_short_comparison_fits_a_screen_and_counts_the_rest() {
        let mut comparison = example(vec![change("mean_mbit", 80.0, 40.5)], Vec::new());
        let pair = comparison.runs[0].clone();
        for runs in [1, 6, 72] {
            comparison.runs = vec![pair.clone(); runs];
            let text = compare_short(&comparison, PLAIN);
            assert!(text.lines().count() <= 50, "{runs}: {text}");
            assert_eq!(text.contains(" more "), runs > 1, "{runs}: {text}");
        }
    }

    #[test]
    fn what_differs_is_shown_and_nothing_else() {
        let settings =
            vec![Setting { key: "path.rate".into(), a: Some("\"100Mbit\"".into()), b: None }];
        let metrics = vec![change("mean_mbit", 80.0, 40.5), change("bytes", 7.0, 7.0)];
        let text = compare(&example(metrics, settings), PLAIN);
        assert_eq!(
            text,
            "a and b are equally fast.

reno
  scenario   a          b
  path.rate  \"100Mbit\"  –
  result                       a       b    difference
  bulk: mean_mbit         80.000  40.500       −49.4 %
  bulk: cwnd, slow start  50.0 %  25.0 %  −25.0 points
  dropped, link               10      20      +100.0 %
  marked, link                40      40         0.0 %
  finding, sndbuf         98.0 %       –             –
  bulk: throughput per interval differs by 1.0 % (median), at most 25.0 % (at
  3.00 s)
  bulk: 1 and 3 segments retransmitted, 66.7 % apart
  bulk: complete after 4.000 s and 5.000 s, 20.0 % apart
  bulk: 1 and 2 episodes of loss, paired by order 0.050 s apart (median), at
  most 0.050 s
  bulk: they part at 2.500 s; the state then, and what happened since 2.440 s:
    a: cwnd 10, ssthresh infinite, 9 in flight, srtt 20.50 ms, queue 1; nothing
    b: cwnd 12, ssthresh 8, 9 in flight, srtt 20.50 ms, queue 1; at 2.450 s
    Recovery, 1 segment retransmitted
    to  rate a  rate b   apart  retrans a  retrans b  cwnd a  cwnd b
     s    Mb/s    Mb/s               segs       segs    pkts    pkts
  1.00    80.0    60.0  25.0 %          1          3      10      12
  loss   at a   at b  apart  retrans a  retrans b
            s      s      s       segs       segs
     1  2.450  2.500  0.050          1          3
  only in one: flow late
only in a: bic
"
        );
    }
}
