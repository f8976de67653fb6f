//! Result of a test as text: the first line is the answer.

use super::rows::{amount, late};
use super::verdict::Verdict;
use crate::diagnose::line;
use fullpipe::analysis::words::ms;
use fullpipe::numbers::{count, rate, seconds, short};
use fullpipe::report::terminal::Style;
use fullpipe::report::terminal::grid::{Column, lay_out, number, words};
use fullpipe_measure::account;
use fullpipe_measure::outcome::{Ended, Outcome};
use fullpipe_measure::parameters::Protocol;
use fullpipe_measure::results::Counts;
use std::fmt::Write;

/// Text of a result: the verdict's answer, what was measured, then what stands behind the verdict.
pub fn text(outcome: &Outcome, verdict: &Result<Verdict, String>, style: Style) -> String {
    let width = style.columns();
    let mut measured = String::new();
    line(&mut measured, width, "", &answer(outcome));
    let figures = figures(outcome, width);
    match verdict {
        Ok(verdict) => {
            let [answer, rest] = verdict.text(style);
            format!("{answer}\nMeasured: {measured}{figures}{rest}")
        }
        Err(why) => {
            line(&mut measured, width, "", &format!("No verdict: {why}."));
            format!("{measured}\n{figures}")
        }
    }
}

/// Rate and length of the test.
fn answer(outcome: &Outcome) -> String {
    let ways: Vec<String> = [true, false]
        .into_iter()
        .filter_map(|sends| {
            let sum = sum(outcome, sends)?;
            let way = if sends { "to" } else { "from" };
            let again = sum.retransmits.filter(|own| *own > 0);
            let again = again.map(|own| format!(" ({} segments sent again)", count(own)));
            let mbit = account::rate(sum.bytes, sum.seconds) / 1e6;
            let lost = lost(outcome, sends).unwrap_or_default();
            Some(format!(
                "{} {way} {}{}{lost}",
                rate(mbit),
                outcome.peer.ip(),
                again.unwrap_or_default()
            ))
        })
        .collect();
    let lasted = seconds(outcome.account.lasted().as_secs_f64());
    let end = match &outcome.ended {
        Ended::Whole => "",
        Ended::Stopped | Ended::ByPeer => ", then it was stopped",
        Ended::Broken(_) => ", then it broke",
    };
    format!("{} in {lasted}{end}.", ways.join(", and "))
}

/// Datagrams of one direction: loss, order, jitter.
fn lost(outcome: &Outcome, sends: bool) -> Option<String> {
    if outcome.parameters.protocol == Protocol::Tcp {
        return None;
    }
    let (mut lost, mut all, mut jitter, mut out_of_order) = (0, 0, 0.0_f64, 0);
    for place in (0..outcome.streams.len()).filter(|at| outcome.streams[*at].sends == sends) {
        let [sent, received] = outcome.both(place);
        let received = received?;

        // The last ones are missed by nobody but the sender.
        let total = sent.map_or(received.packets, |own| own.packets.max(received.packets));
        let arrived = received.packets.saturating_sub(received.lost);
        (lost, all) = (lost + total.saturating_sub(arrived), all + total);
        jitter = jitter.max(received.jitter);
        out_of_order += outcome.account.out_of_order(place);
    }
    let share = short(lost as f64 * 100.0 / (all as f64).max(1.0));
    Some(format!(
        ", {} of {} datagrams lost ({share} %){}, jitter {}",
        count(lost),
        count(all),
        late(out_of_order),
        ms(jitter * 1000.0)
    ))
}

/// Sum of the streams of one direction, as the receiver has counted them where that is known.
fn sum(outcome: &Outcome, sends: bool) -> Option<Counts> {
    let places = (0..outcome.streams.len()).filter(|at| outcome.streams[*at].sends == sends);
    let mut sum: Option<Counts> = None;
    for place in places {
        let [sent, received] = outcome.both(place);
        let own = received.or(sent)?;
        let again = sent.and_then(|own| own.retransmits);
        let all = sum.get_or_insert_default();
        all.bytes += own.bytes;
        all.seconds = all.seconds.max(own.seconds);
        all.retransmits = match (all.retransmits, again) {
            (None, None) => None,
            (before, own) => Some(before.unwrap_or(0) + own.unwrap_or(0)),
        };
    }
    sum
}

/// Counts of each end.
fn figures(outcome: &Outcome, width: usize) -> String {
    const COLUMNS: [Column; 6] = [
        words("stream"),
        number("sent", ""),
        number("rate", ""),
        number("received", ""),
        number("rate", ""),
        number("again", ""),
    ];
    let mut out = String::new();
    let rows = (0..outcome.streams.len()).map(|place| row(outcome, place)).collect::<Vec<_>>();
    lay_out(&COLUMNS, &rows, width).iter().filter(|own| !own.trim().is_empty()).for_each(|own| {
        _ = writeln!(out, "{}", own.trim_end());
    });
    let own = outcome.own.cpu.total;
    let other = outcome.other.as_ref().map(|own| own.cpu.total);
    let other = other.map_or(String::new(), |own| format!(", the other end {} %", short(own)));
    line(&mut out, width, "", &format!("CPU: this end {} %{other}", short(own)));
    out
}

fn row(outcome: &Outcome, place: usize) -> Vec<String> {
    let stream = &outcome.streams[place];
    let way = if stream.sends { '>' } else { '<' };
    let name = format!("{} {} {way} {}", stream.id, stream.here, stream.there);
    let [sent, received] = outcome.both(place);
    let figures = |own: Option<&Counts>| match own {
        Some(own) => [amount(own.bytes), rate(account::rate(own.bytes, own.seconds) / 1e6)],
        None => ["not known".into(), String::new()],
    };
    let again = sent.and_then(|own| own.retransmits).map_or(String::new(), count);
    let [sent, received] = [sent, received].map(figures);
    [vec![name], sent.to_vec(), received.to_vec(), vec![again]].concat()
}
