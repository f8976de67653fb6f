//! Headlines of runs that are about datagrams.

use super::{listed, said};
use crate::document::{self, AskedBy, Confidence, Datagrams, Grade, Headline, Run, Stage};
use crate::meta::RunMeta;
use crate::numbers;
use crate::rules::{Finding, group, late_datagrams, lost_datagrams};
use crate::words::{percent, rate_of, sentences};
use fullpipe_base::path::Direction;

/// Undelivered share that is a failure of the path and not a single loss.
const LOSSY: f64 = 0.1;
/// Undelivered share that is worth a word beside flows, which cost other traffic some packets.
const NOTICED: f64 = 0.01;
/// Part of the rate that a program asks for from which on it has that rate.
const KEPT: f64 = 0.95;
/// Share of the time from which on a CPU holds a program back.
const BUSY: f64 = 0.9;
/// Undelivered share that is worth a word.
const SOME: f64 = 0.001;

/// The datagrams that the run is about; none where it is about flows.
pub fn subject<'a>(meta: &RunMeta, run: &'a Run) -> Option<&'a Datagrams> {
    let name = meta.main_datagrams.as_ref()?;
    run.datagrams.iter().find(|own| own.name == *name)
}

/// The headline about them.
pub fn headline(meta: &RunMeta, run: &Run, own: &Datagrams) -> Headline {
    let direction = if own.backward { Direction::Backward } else { Direction::Forward };
    let allowed = meta.way(direction).allowed.as_ref().map(|way| way.datagram_mbit(own.size));
    let rate = own.mean_mbit.unwrap_or(0.0);
    let lost = own.undelivered_share;
    let grade = match () {
        () if own.sent == 0 => Grade::NoTraffic,
        () if own.received == 0 => Grade::Failed,
        () if lost >= LOSSY => Grade::Lossy,
        () if lost >= SOME => Grade::Below,
        () => Grade::AsAsked,
    };

    // A program without a rate sends as fast as it can: nothing was asked.
    let asked = own
        .requested_mbit
        .map_or(String::new(), |mbit| format!(", asked for {}", numbers::short(mbit)));
    let failed = if grade == Grade::Failed { "FAILED: no datagram arrived. " } else { "" };
    let first = format!("{failed}{}{asked}", rate_of(rate, allowed));
    let base = Headline {
        rate_mbit: Some(rate),
        allowed_mbit: allowed,
        share: allowed.filter(|mbit| *mbit > 0.0).map(|mbit| rate / mbit),
        ..said(grade, String::new())
    };

    // Some loss at the end of a run is data in flight.
    if lost < SOME {
        let all = format!("All {} datagrams of {} arrive", numbers::count(own.sent), own.name);
        return Headline { text: sentences([first, all, held_by_cpu(own)]), ..base };
    }
    let count =
        format!("{} of {} datagrams", numbers::count(own.undelivered), numbers::count(own.sent));

    // Without a stage that drops, the loss has no place to name.
    match dropper(run, own) {
        None => {
            let host = if own.backward { "sender" } else { "receiver" };
            let reading = own.reading.as_ref();
            match reading.and_then(|reading| late_datagrams(host, reading)) {
                Some(found) => at_place(base, found, &first, &count, lost),
                None => Headline {
                    text: sentences([
                        first,
                        format!("{} ({count}) do not arrive by the end of the run", percent(lost)),
                    ]),
                    ..base
                },
            }
        }
        Some(stage) => {
            let found = lost_datagrams(stage, own.reading.as_ref());
            at_place(base, found, &first, &count, lost)
        }
    }
}

/// Sentence on the CPU of a sending host that keeps its program from the rate that it asks for; empty where it does not.
fn held_by_cpu(own: &Datagrams) -> String {
    let host = if own.backward { "receiver" } else { "sender" };
    let rates = own.requested_mbit.zip(own.sent_mbit);
    let is_slower = rates.is_some_and(|(asked, sent)| sent < KEPT * asked);
    match own.cpu.filter(|cpu| is_slower && cpu.sender >= BUSY) {
        Some(cpu) => format!(
            "The CPU of {host} sends no more: it is busy {} of the time. Let the program send larger datagrams, or several in \
             one call (UDP_SEGMENT, sendmmsg)",
            percent(cpu.sender)
        ),
        None => String::new(),
    }
}

/// Sentences on datagrams that a run beside its flows loses: those of UDP of which a hundredth or more do not arrive.
pub fn beside(run: &Run) -> String {
    let said = lossy(run).map(|own| {
        let lost = format!(
            "{} of the datagrams of {} ({} of {}) do not arrive",
            percent(own.undelivered_share),
            own.name,
            numbers::count(own.undelivered),
            numbers::count(own.sent)
        );
        let Some(stage) = dropper(run, own) else { return lost };
        let found = lost_datagrams(stage, own.reading.as_ref());

        // Flows share the path with the datagrams, so only a host's cure is theirs alone.
        let is_of_host = found.setting.as_ref().is_some_and(|own| own.set_by != AskedBy::Path);
        let cure = found.cure.filter(|_| is_of_host).unwrap_or_default();
        let why = format!("{lost}: {} drops, {}", stage.name, found.because.unwrap_or_default());
        sentences([why, cure])
    });
    sentences(said)
}

/// Finding about the datagrams of which the largest share is dropped; none where a run loses few of them.
pub fn finding(run: &Run) -> Option<document::Finding> {
    let share = |own: &&Datagrams| own.undelivered_share;
    let own = lossy(run).max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let stage = dropper(run, own)?;
    let found = lost_datagrams(stage, own.reading.as_ref());
    let lost = percent(own.undelivered_share);
    let cause = format!("{} {} {lost} of the datagrams of {}", found.who, found.does, own.name);
    Some(listed(found, cause, own.undelivered_share, Confidence::Sure))
}

/// Datagrams of UDP of which too few arrive to leave them out.
fn lossy(run: &Run) -> impl Iterator<Item = &Datagrams> {
    let all = run.datagrams.iter();
    all.filter(|own| own.kind == "udp" && own.undelivered_share >= NOTICED)
}

/// The place of the datagrams' way that drops most.
fn dropper<'a>(run: &'a Run, own: &Datagrams) -> Option<&'a Stage> {
    let way = if own.backward { "back" } else { "forward" };
    let passed =
        run.stages.iter().filter(|stage| stage.direction == way && stage.kind != "receive_buffer");
    passed.filter(|stage| stage.dropped > 0).max_by_key(|stage| stage.dropped)
}

fn at_place(base: Headline, found: Finding, first: &str, count: &str, lost: f64) -> Headline {
    let why = found.because.unwrap_or_default();
    let until = if found.does == "keeps" { " waiting until the end" } else { "" };
    let drops = format!(
        "{} {} {} of the datagrams ({count}){until}: {why}",
        found.who,
        found.does,
        percent(lost)
    );
    Headline {
        text: sentences([first.to_string(), drops, found.cure.unwrap_or_default()]),
        limit: Some("drops".into()),
        limit_share: Some(lost),
        rule: Some(found.rule.into()),
        code: Some(found.code.into()),
        group: Some(group(found.code).into()),
        confidence: Some(Confidence::Sure),
        place: found.place,
        setting: found.setting,
        ..base
    }
}

/// The headline of a run of echo requests alone.
pub fn pings(run: &Run) -> Option<Headline> {
    // A run may ping several hosts: the first one stands for all.
    let own = run.datagrams.iter().find(|own| own.kind == "ping")?;
    let Some(rtt) = own.rtt_ms else {
        let text = format!(
            "FAILED: none of {} pings of {} came back.",
            numbers::count(own.sent),
            own.name
        );
        return Some(said(Grade::Failed, text));
    };
    let text = format!(
        "Round trip {} ms in the mean ({} to {} ms); {} of {} pings lost.",
        numbers::short(rtt.avg),
        numbers::short(rtt.min),
        numbers::short(rtt.max),
        numbers::count(own.lost),
        numbers::count(own.sent)
    );

    // Pings ask for an answer, not for a rate.
    let grade = if own.loss_share >= LOSSY { Grade::Lossy } else { Grade::AsAsked };
    Some(said(grade, text))
}
