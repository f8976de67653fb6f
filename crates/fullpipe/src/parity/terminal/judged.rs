//! Distances between simulator and real Linux: a line per run, the bars, and the misses.

use super::messages::messages;
use crate::numbers::ABSENT;
use crate::parity::bars::{Bar, Figure, Judged, Miss};
use crate::parity::distance::Unit;
use crate::report::terminal::Style;
use crate::report::terminal::grid::{Column, lay_out, number, words, wrap};

const RUNS: [Column; 9] = [
    words("run"),
    number("apart", "%"),
    number("worst", "%"),
    number("at", "s"),
    number("cwnd", "% same"),
    number("resent", "Linux"),
    number("", "sim"),
    number("complete", "Linux, s"),
    number("", "sim, s"),
];
/// Columns that a narrow table leaves out, and the room that the rest leaves for a name. A longer one has lines of its own.
const WIDE_ONLY: [usize; 2] = [2, 3];
const NAME: usize = 34;
const BARS: [Column; 5] =
    [words("with"), words("what"), number("is", ""), number("bar", ""), words("")];

/// Lines on the judged runs and the judge, and an empty line.
pub fn parity_head(lines: &[String], style: Style) -> String {
    let lines = lines.iter().flat_map(|line| wrap(line, "", style.columns()));
    lines.map(|line| line + "\n").collect::<String>() + "\n"
}

/// The runs, then [`bars`], [`messages`] and [`misses`].
pub fn parity(units: &[Unit], judged: &[Judged], missed: &[Miss], style: Style) -> String {
    let mut lines = runs(units, style);
    lines.push(String::new());
    lines.extend(bars(judged, style));
    lines.extend(messages(units, style));
    lines.extend(misses(missed, style));
    lines.join("\n") + "\n"
}

fn runs(units: &[Unit], style: Style) -> Vec<String> {
    // Narrow terminals leave out the columns that matter least.
    let kept = |n: &usize| style.wide() || !WIDE_ONLY.contains(n);
    let long = |unit: &Unit| !style.wide() && unit.name().chars().count() > NAME;
    let rows: Vec<Vec<String>> = units
        .iter()
        .map(|unit| {
            let name = if long(unit) { String::new() } else { unit.name() };
            let cells = std::iter::once(name).chain(row(unit)).enumerate();
            cells.filter(|(n, _)| kept(n)).map(|(_, cell)| cell).collect()
        })
        .collect();
    let columns = RUNS.into_iter().enumerate().filter(|(n, _)| kept(n)).map(|(_, column)| column);
    let mut laid = lay_out(&columns.collect::<Vec<_>>(), &rows, style.columns()).into_iter();
    let mut lines: Vec<String> = laid.by_ref().take(2).map(|line| style.faint(&line)).collect();

    // A name that does not fit stands in a line above its row.
    for (unit, line) in units.iter().zip(laid) {
        if long(unit) {
            lines.extend(wrap(&unit.name(), "  ", style.columns()));
        }
        lines.push(line);
    }
    lines
}

/// Cells of a row behind its name.
fn row(unit: &Unit) -> [String; 8] {
    let absent = || ABSENT.to_string();
    let percent = |share: Option<f64>| share.map_or_else(absent, |s| format!("{:.1}", s * 100.0));
    let [resent, resent_sim] = unit.retransmitted.map(|count| count.to_string());
    let seconds = unit.furthest().map_or([None; 2], |completion| completion.seconds);
    let [done, done_sim] = seconds.map(|s| s.map_or_else(absent, |s| format!("{s:.3}")));
    [
        percent(unit.throughput.map(|t| t.mean)),
        percent(unit.throughput.map(|t| t.worst)),
        unit.throughput.map_or_else(absent, |t| format!("{:.1}", t.worst_at_s)),
        percent(unit.cwnd.map(|cwnd| cwnd.same)),
        resent,
        resent_sim,
        done,
        done_sim,
    ]
}

/// The bars, a line each.
pub fn bars(judged: &[Judged], style: Style) -> Vec<String> {
    let rows: Vec<Vec<String>> = judged
        .iter()
        .flat_map(|one| one.figures.iter().map(|figure| bar_row(&one.congestion, figure)))
        .collect();
    let mut lines = lay_out(&BARS, &rows, style.columns());
    lines.remove(1);
    lines[0] = style.faint(&lines[0]);
    let figures = judged.iter().flat_map(|one| &one.figures);
    for (line, figure) in lines[1..].iter_mut().zip(figures) {
        *line = if figure.met { line.clone() } else { style.bad(line) };
    }
    lines
}

fn bar_row(congestion: &str, figure: &Figure) -> Vec<String> {
    let [what, bar] = figure.bar.says();
    let met = if figure.met { "met" } else { "MISSED" };
    vec![congestion.into(), what.into(), value(figure), bar.into(), met.into()]
}

/// "38 of 40", "1.2 %".
pub fn value(figure: &Figure) -> String {
    match figure.kept {
        Some(kept) => format!("{kept} of {}", figure.of),
        None => format!("{:.1} %", figure.value * 100.0),
    }
}

fn misses(missed: &[Miss], style: Style) -> Vec<String> {
    if missed.is_empty() {
        return Vec::new();
    }
    let head = "further apart than allowed, the worst first (x: times the allowed distance):";
    let mut lines = vec![String::new(), head.into()];
    for miss in missed {
        let what: Vec<String> = miss.misses.iter().map(|(bar, by)| so_much(*bar, *by)).collect();
        let text = format!("{}, {}: {}", miss.run, miss.congestion, what.join(", "));
        lines.extend(wrap(&text, "  ", style.columns()));
        // A command stays one line, so that it can be copied.
        lines.push(style.faint(&format!("    {}", miss.command)));
    }
    lines
}

/// "throughput 5.00 x".
pub fn so_much(bar: Bar, times: f64) -> String {
    let what = match bar {
        Bar::Median | Bar::Near => "throughput",
        Bar::Cwnd => "cwnd",
        Bar::Retransmissions => "retransmissions",
        Bar::Completion => "completion",
        Bar::Messages => "messages",
    };
    match times.is_finite() {
        true => format!("{what} {times:.2} x"),
        false => format!("{what} on one side only"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parity::bars;
    use crate::parity::distance::{Completion, Cwnd, Throughput};

    fn units() -> Vec<Unit> {
        let throughput =
            Throughput { mean: 0.004, median: 0.0, worst: 0.5, worst_at_s: 0.3, intervals: 9 };
        let cwnd = Cwnd { same: 0.98, median: 0.0, worst: 0.1, worst_at_s: 0.3, samples: 40 };
        let near = Unit {
            run: "queue/reno-1bdp".into(),
            of: "queue/reno-1bdp".into(),
            acked: [1, 1],
            congestion: "reno".into(),
            flows: 1,
            alone: true,
            throughput: Some(throughput),
            cwnd: Some(cwnd),
            loss_free: true,
            retransmitted: [0, 0],
            completions: Vec::new(),
            messages: Vec::new(),
            command: "fullpipe run queue.toml --engine sim,linux".into(),
        };
        let completion =
            Completion { flow: "b".into(), seconds: [Some(1.25), None], round_trip_s: 0.02 };
        let far = Unit {
            run: "a-long-name-of-a-file/and-of-a-variant".into(),
            congestion: "cubic".into(),
            alone: false,
            throughput: Some(Throughput { mean: 0.25, ..throughput }),
            retransmitted: [100, 150],
            completions: vec![completion],
            loss_free: false,
            ..near.clone()
        };
        vec![near, far]
    }

    const NARROW: &str = "\
\x20 run              apart    cwnd  resent       complete
                       %  % same   Linux  sim  Linux, s  sim, s
  queue/reno-1bdp    0.4    98.0       0    0         –       –
  a-long-name-of-a-file/and-of-a-variant, cubic
                    25.0    98.0     100  150     1.250       –

  with   what                                           is        bar
  reno   throughput apart, median of the runs        0.4 %  under 3 %  met
  reno   runs whose throughput is under 10 % apart  1 of 1       90 %  met
  reno   loss-free runs with the same cwnd          1 of 1        all  met
  reno   runs with the same retransmissions         1 of 1        all  met
  cubic  throughput apart, median of the runs       25.0 %  under 3 %  MISSED
  cubic  runs whose throughput is under 10 % apart  0 of 1       90 %  MISSED
  cubic  runs with the same retransmissions         0 of 1        all  MISSED
  cubic  flows complete within a round trip         0 of 1       95 %  MISSED

further apart than allowed, the worst first (x: times the allowed distance):
  a-long-name-of-a-file/and-of-a-variant, cubic: completion on one side only,
  retransmissions 5.00 x, throughput 2.50 x
    fullpipe run queue.toml --engine sim,linux
";

    #[test]
    fn runs_bars_and_misses_fit_the_width() {
        let units = units();
        let (judged, missed) = (bars::judge(&units), bars::misses(&units));
        let text = parity(&units, &judged, &missed, Style { width: 80, color: false });
        assert_eq!(text, NARROW);
        let wide = parity(&units, &judged, &missed, Style { width: 120, color: false });
        assert!(wide.contains("a-long-name-of-a-file/and-of-a-variant, cubic"), "{wide}");
        assert!(wide.lines().chain(text.lines()).all(|line| line.chars().count() <= 120));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
