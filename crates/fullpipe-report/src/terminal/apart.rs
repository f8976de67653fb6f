//! Distance of two runs of a flow: sentences, its intervals and its episodes of loss.

use super::Style;
use super::grid::{Column, lay_out, number, wrap};
use crate::happened;
use fullpipe_analysis::distance::{Apart, Difference, Distance, IntervalPair, Parting, State};
use fullpipe_analysis::losses::{EpisodePair, Losses};
use fullpipe_analysis::numbers;

/// Relative differences and seconds below it are shown as 0.
const LEAST: f64 = 0.0005;
/// Most rows of a table; the document has all.
const ROWS: usize = 20;

const INTERVALS: [Column; 8] = [
    number("to", "s"),
    number("rate a", "Mb/s"),
    number("rate b", "Mb/s"),
    number("apart", ""),
    number("retrans a", "segs"),
    number("retrans b", "segs"),
    number("cwnd a", "pkts"),
    number("cwnd b", "pkts"),
];

const EPISODES: [Column; 6] = [
    number("loss", ""),
    number("at a", "s"),
    number("at b", "s"),
    number("apart", "s"),
    number("retrans a", "segs"),
    number("retrans b", "segs"),
];

/// Everything about one flow; nothing where its runs are equal.
pub fn lines(flow: &str, distance: &Distance, style: Style) -> Vec<String> {
    let sentences = sentences(distance);
    let mut lines: Vec<String> = sentences
        .into_iter()
        .flat_map(|text| wrap(&format!("{flow}: {text}"), "  ", style.columns()))
        .collect();
    if let Some(parting) = &distance.diverged {
        lines.extend(diverged(flow, parting, distance, style));
    }

    // Equal rows are left out: runs often agree for a long time.
    let differing: Vec<&IntervalPair> = distance.intervals.iter().filter(|i| differs(i)).collect();
    let rows = differing.iter().map(|pair| interval(pair)).collect();
    lines.extend(table(&INTERVALS, rows, "intervals that differ", style));
    let rows = distance.losses.pairs.iter().enumerate();
    let rows = rows.map(|(i, pair)| episode(i + 1, pair));

    // Columns 1 and 2, 4 and 5 hold the values of both sides.
    let rows = rows.filter(|row| row[1] != row[2] || row[4] != row[5]);
    lines.extend(table(&EPISODES, rows.collect(), "episodes that differ", style));
    lines
}

fn differs(pair: &IntervalPair) -> bool {
    let IntervalPair { throughput_mbit: rate, retransmitted_segments: resent, cwnd, .. } = pair;
    let [a, b] = rate.map(|rate| numbers::fixed(rate, 1));
    a != b || resent[0] != resent[1] || cwnd[0] != cwnd[1]
}

fn sentences(distance: &Distance) -> Vec<String> {
    let rows = [
        ("throughput per interval differs", distance.throughput),
        ("retransmissions per interval differ", distance.retransmitted),
        ("cwnd differs", distance.cwnd),
    ];

    // Differences that round to nothing have no sentence.
    let rows = rows.into_iter().filter_map(|(what, apart)| {
        let Apart { median, worst, worst_at_s, .. } = apart.filter(|apart| apart.worst >= LEAST)?;
        let at = numbers::fixed(worst_at_s, 2);
        let (median, worst) = (percent(median), percent(worst));
        Some(format!("{what} by {median} (median), at most {worst} (at {at} s)"))
    });

    // Equal counts and times have no sentence either.
    let resent = Some(&distance.retransmissions)
        .filter(|difference| difference.a != difference.b)
        .map(|Difference { a, b, relative }| {
            let (a, b) = (numbers::fixed(*a, 0), numbers::fixed(*b, 0));
            format!("{a} and {b} segments retransmitted, {} apart", percent(*relative))
        });
    let done = distance.completion_s.as_ref().and_then(|Difference { a, b, relative }| {
        let (a, b) = (numbers::fixed(*a, 3), numbers::fixed(*b, 3));
        let text = format!("complete after {a} s and {b} s, {} apart", percent(*relative));
        (a != b).then_some(text)
    });
    rows.chain(resent).chain(done).chain(losses(distance)).collect()
}

fn losses(distance: &Distance) -> Option<String> {
    let losses = &distance.losses;
    let same = losses.a == losses.b && losses.worst_difference_s.unwrap_or(0.0) < LEAST;
    if same && distance.known_until_s.is_none() {
        return None;
    }
    let Losses { a, b, .. } = losses;
    let mut text = format!("{a} and {b} episodes of loss");
    if let (Some(median), Some(worst)) = (losses.median_difference_s, losses.worst_difference_s) {
        let (median, worst) = (numbers::fixed(median, 3), numbers::fixed(worst, 3));
        text += &format!(", paired by order {median} s apart (median), at most {worst} s");
    }
    Some(text + &happened::known(distance).map_or(String::new(), |until| format!("; {until}")))
}

fn diverged(flow: &str, parting: &Parting, distance: &Distance, style: Style) -> Vec<String> {
    let Parting { at_s, from_s, a, b, events_a, events_b } = parting;
    let (at, from) = (numbers::fixed(*at_s, 3), numbers::fixed(from_s.max(0.0), 3));
    let first =
        format!("{flow}: they part at {at} s; the state then, and what happened since {from} s:");
    let mut lines = wrap(&first, "  ", style.columns());
    for (side, now, moments) in [("a", a, events_a), ("b", b, events_b)] {
        let happened = happened::at(parting, moments, distance);
        let text = format!("{side}: {}; {happened}", state(now));
        lines.extend(wrap(&text, "    ", style.columns()));
    }
    lines
}

fn state(state: &State) -> String {
    let ssthresh = state.ssthresh.map_or("infinite".to_string(), |packets| packets.to_string());
    let State { cwnd, in_flight, queue, .. } = state;
    let srtt = state.srtt_us.map_or(numbers::ABSENT.to_string(), |us| {
        format!("{} ms", numbers::fixed(f64::from(us) / 1e3, 2))
    });
    format!("cwnd {cwnd}, ssthresh {ssthresh}, {in_flight} in flight, srtt {srtt}, queue {queue}")
}

/// The first rows under their headings, and how many there are besides.
fn table(columns: &[Column], mut rows: Vec<Vec<String>>, what: &str, style: Style) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let more = rows.len().saturating_sub(ROWS);
    rows.truncate(ROWS);
    let mut lines = lay_out(columns, &rows, style.columns());
    lines.iter_mut().take(2).for_each(|line| *line = style.faint(line));
    if more > 0 {
        lines.push(format!("  and {more} more {what}"));
    }
    lines
}

fn interval(pair: &IntervalPair) -> Vec<String> {
    let IntervalPair { end_s, throughput_mbit: [a, b], retransmitted_segments, cwnd } = pair;
    let apart = percent(fullpipe_analysis::distance::relative(*a, *b));
    let mut row =
        vec![numbers::fixed(*end_s, 2), numbers::fixed(*a, 1), numbers::fixed(*b, 1), apart];
    row.extend(retransmitted_segments.map(numbers::count));
    row.extend(cwnd.map(|packets| numbers::count(packets.into())));
    row
}

fn episode(place: usize, EpisodePair { a, b }: &EpisodePair) -> Vec<String> {
    let at = |seconds: f64| numbers::fixed(seconds, 3);
    vec![
        place.to_string(),
        at(a.at_s),
        at(b.at_s),
        at((a.at_s - b.at_s).abs()),
        numbers::count(a.retransmitted),
        numbers::count(b.retransmitted),
    ]
}

fn percent(share: f64) -> String {
    format!("{} %", numbers::fixed(share * 100.0, 1))
}
