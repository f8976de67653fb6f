//! Where packets were dropped, and where they were marked.

use super::Style;
use super::grid::{Column, lay_out, number, words, wrap};
use fullpipe_analysis::document::{Run, Stage};
use fullpipe_analysis::numbers;
use fullpipe_analysis::trace::stage_info::why_dropped;

const NARROW: [Column; 4] =
    [words("place"), words("way"), number("dropped", "packets"), number("of those sent", "%")];

const WIDE: [Column; 2] = [words("counted in"), words("why")];

/// Room for a place's name in front of the numbers.
const NAME: usize = 40;

/// Drops in one sentence: "dropped: 12,345 at link (0.62 % of those sent)"; none without drops.
pub fn sentence(run: &Run) -> Option<String> {
    let places = run.stages.iter().filter(|stage| stage.dropped > 0).map(|stage| {
        let sent = sent(run, stage).map(|sent| percent(stage.dropped as f64 / sent.max(1) as f64));
        let share = sent.map_or(String::new(), |share| format!(" ({share} %)"));
        format!("{} at {}{share}", numbers::count(stage.dropped), stage.name)
    });
    let places: Vec<String> = places.collect();
    (!places.is_empty()).then(|| format!("dropped: {}", places.join(", ")))
}

/// Heading and table of drops, then [`more`]; nothing where there is nothing to show.
pub fn lines(run: &Run, style: Style) -> Vec<String> {
    let mut lines = drops(run, style);
    let more = more(run);
    if !more.is_empty() {
        lines.push(String::new());
        let texts = more.iter().map(|text| format!("{}: {text}", run.variant));
        lines.extend(texts.flat_map(|text| wrap(&text, "  ", style.columns())));
    }
    lines
}

/// A sentence per place that marked packets, in the packets' order, and per qdisc that requeued skbs or had nothing to do.
pub fn more(run: &Run) -> Vec<String> {
    let marking = run.stages.iter().filter(|stage| stage.marked > 0);
    let marked = marking.map(|stage| {
        let marked = numbers::packets(stage.marked);
        format!("{marked} marked at {} (ECN)", stage.name)
    });
    let requeueing = run.stages.iter().filter(|stage| stage.requeues > 0);
    let requeued = requeueing.map(|stage| {
        let skbs = numbers::count(stage.requeues);
        let what = "times the driver had no descriptor for an skb, which was requeued: a capture sees it twice";
        format!("{}: {skbs} {what}", stage.name)
    });
    let idle = run.idle_qdiscs.iter().map(|qdisc| idle(run, qdisc));
    marked.chain(requeued).chain(idle).collect()
}

/// Note that a qdisc has nothing to do, and the change that would give it work.
fn idle(run: &Run, qdisc: &str) -> String {
    let host = qdisc.trim_end_matches(".qdisc");
    let ring = run.stages.iter().find(|stage| stage.name == format!("{host}.tx_ring"));
    let size =
        ring.and_then(|ring| ring.capacity).map(|size| format!(" of {}", numbers::count(size)));
    let size = size.unwrap_or_default();
    format!(
        "no packet ever waited in {qdisc}, as the card's ring{size} took all; a smaller hosts.{host}.tx_ring, or byte \
         queue limits (hosts.{host}.bql), let packets wait there"
    )
}

fn drops(run: &Run, style: Style) -> Vec<String> {
    let dropping: Vec<&Stage> = run.stages.iter().filter(|stage| stage.dropped > 0).collect();
    if dropping.is_empty() {
        return Vec::new();
    }

    // Narrow terminals have only the columns that name the cause.
    let columns: Vec<Column> = match style.wide() {
        true => NARROW.into_iter().chain(WIDE).collect(),
        false => NARROW.into(),
    };
    let rows: Vec<Vec<String>> = dropping.iter().map(|stage| row(run, stage, style)).collect();
    let mut table = lay_out(&columns, &rows, style.columns()).into_iter();
    let heading = format!("{}: where packets were dropped", run.variant);
    let mut lines = vec![String::new()];
    lines.extend(wrap(&heading, "", style.columns()).iter().map(|line| style.bold(line)));
    lines.extend(table.by_ref().take(2).map(|line| style.faint(&line)));

    // A name that does not fit stands in a line above its row.
    for (stage, line) in dropping.iter().zip(table) {
        if !fits(&stage.name) {
            lines.extend(wrap(&stage.name, "  ", style.columns()));
        }
        lines.push(line);
    }
    lines
}

/// Whether a name has room in front of the numbers; a longer one has a line of its own.
fn fits(name: &str) -> bool {
    name.chars().count() <= NAME
}

fn row(run: &Run, stage: &Stage, style: Style) -> Vec<String> {
    let name = if fits(&stage.name) { stage.name.clone() } else { String::new() };
    let share = sent(run, stage).map(|sent| percent(stage.dropped as f64 / sent.max(1) as f64));
    let share = share.unwrap_or(numbers::ABSENT.into());
    let mut row = vec![name, stage.direction.clone(), numbers::count(stage.dropped), share];
    if style.wide() {
        row.push(if stage.unit == "skb" { "skbs" } else { "segments" }.into());
        row.push(why_dropped(&stage.kind).into());
    }
    row
}

/// Packets that the hosts at the beginning of the direction sent, in the unit in which the stage counts its drops.
///
/// The unit is skbs before the card, which never sees what the qdisc refuses, and segments from there on. None where a
/// real kernel drops skbs: it counts the segments of the skbs that it sends.
fn sent(run: &Run, stage: &Stage) -> Option<u64> {
    let cards: u64 = run
        .stages
        .iter()
        .filter(|s| s.kind == "tx_ring" && s.direction == stage.direction)
        .map(|card| card.entered)
        .sum();
    match (stage.unit.as_str(), cards) {
        ("skb", _) if run.engine == "linux" => None,
        ("skb", _) | (_, 0) => Some(stage.entered + stage.dropped),
        (_, sent) => Some(sent),
    }
}

/// Three significant digits, as losses are rare.
fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent < 0.0001 => "< 0.0001".into(),
        percent if percent < 0.1 => {
            let digits = 2 - percent.log10().floor() as i32;
            numbers::fixed(percent, digits as usize)
        }
        percent => numbers::short(percent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_losses_have_three_digits() {
        let table = [
            (1.0, "100"),
            (0.123_456, "12.3"),
            (0.012_345, "1.23"),
            (0.001_5, "0.15"),
            (0.000_123_4, "0.0123"),
            (0.000_001_234, "0.000123"),
            (0.000_000_1, "< 0.0001"),
        ];
        for (share, expected) in table {
            assert_eq!(percent(share), expected, "{share}");
        }
    }
}
