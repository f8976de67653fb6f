//! The first sentence of advice: the settings, and their gain.

use super::Case;
use super::candidates;
use super::change::Change;
use super::method::{ALMOST, COUNTS, EVEN, FULL, Found, Goal, PRICE, more, sooner};
use super::slowest::Slowest;
use super::trial::Outcome;
use crate::analysis::document::Grade;
use crate::analysis::numbers;
use crate::analysis::rules::{HEALTHY, NOTHING};
use crate::analysis::words::{lower, ms, percent, rate_of};

/// Queueing delay from which on a full path deserves a word: this share of the round trip, and this time, ms.
const STANDING: f64 = 0.5;
const LEAST_MS: f64 = 5.0;
/// Share of the path below which the answer also names the limit of the flows with the changes.
const ENOUGH_SHARE: f64 = 0.9;
/// Share of the path below which changes that gain little are not the first words.
const LOW_SHARE: f64 = 0.5;

/// Gain from which on changes are the answer even where most of the path stays empty.
const LARGE_GAIN: f64 = 2.0;

/// The answer for a case.
pub fn answer(case: &Case, found: &Found, engine: &str) -> String {
    let by = match engine {
        "sim" => "simulated".to_string(),
        engine => format!("engine {engine}"),
    };
    let runs = match case.seeds() {
        1 => by,
        runs => format!("{by}, the worst of {runs} runs"),
    };
    match found.changes.is_empty() {
        true => set_nothing(case, found, &runs),
        false => set(case, found, &runs),
    }
}

/// Sentences on the changes: their gain, today's cause, and the remaining limit of the flows.
///
/// Changes that gain little follow the limit of the flows.
fn set(case: &Case, found: &Found, runs: &str) -> String {
    let changes: Vec<String> = found.changes.iter().map(|own| in_words(&own.change)).collect();
    let gain = format!("{}: {} ({runs}).", listed(&changes), gained(case, found));

    // Parts of the text that may be empty come first, so that the sentences below fit together.
    let missed = missed(found);
    let beyond = beyond(&found.cured);
    let has_streams = found.changes.iter().any(|own| own.change.has_copies());
    let is_sooner = sooner(&found.cured, &found.today).is_some_and(|gain| 1.0 + gain >= LARGE_GAIN);
    let gains_much = found.cured.mbit >= LARGE_GAIN * found.today.mbit || is_sooner;
    let would_help = match remedy(found, &found.cured) {
        // The remedy may be streams again, or a setting that is changed already.
        Some(remedy) if beyond.is_some() && !has_streams && !is_made(found) => {
            format!(" What would help more: {}.", lower(remedy))
        }
        _ => String::new(),
    };

    // A path that stays empty for another reason gets that reason first.
    let is_empty = beyond.is_some() && found.cured.share().is_some_and(|share| share < LOW_SHARE);
    if let Some(beyond) = beyond.as_ref().filter(|_| is_empty && !gains_much) {
        return format!(
            "{beyond}, and settings help little. {}{would_help}{missed}",
            capital(&gain)
        );
    }

    // Today's cause is of interest only where the changes are about the rate.
    let cause = found.today.headline.as_ref().and_then(|own| own.cause.as_ref());
    let cause = cause.filter(|_| found.goal == Goal::Rate && !found.today.is_healthy);
    let cause = cause.map_or_else(String::new, |own| format!(" Today {}.", lower(own)));
    let beyond =
        beyond.map_or_else(String::new, |own| format!(" With the changes, {}.", lower(own)));
    format!("{}{cause}{beyond}{would_help}{missed}", capital(&gain))
}

/// "470 of 470 Mb/s (100 %) instead of 12".
fn gained(case: &Case, found: &Found) -> String {
    let wait = if case.has_turns() { "wait" } else { "queue" };
    let (today, cured) = (&found.today, &found.cured);
    let rate = rate_of(cured.mbit, cured.allowed_mbit);

    // Equal settled rates may still differ in their start.
    let is_alike = more(cured.mbit, today.mbit).abs() < COUNTS;
    let grows_sooner = is_alike && more(cured.mean_mbit, today.mean_mbit) > COUNTS;

    // Each goal has its own figure of merit.
    match found.goal {
        Goal::Rate
            if is_of_messages(case, today) || sooner(cured, today).is_some_and(|own| own > 0.0) =>
        {
            let median = within(today, cured, |own| own.message_ms);
            let p95 = within(today, cured, |own| own.message_p95_ms);
            format!("half of the messages {median}, 95 % {p95}")
        }
        Goal::Rate if found.goal.is_closer(cured, today) && is_alike => {
            format!("{rate} as today, and data of a flow arrives that gets nothing today")
        }
        Goal::Rate if grows_sooner => format!(
            "{} in the mean, with the start, instead of {}",
            rate_of(cured.mean_mbit, cured.allowed_mbit),
            numbers::short(today.mean_mbit)
        ),
        Goal::Rate => format!("{rate} instead of {}", numbers::short(today.mbit)),
        Goal::Delay if cured.mbit > today.mbit => format!(
            "{rate} instead of {}, with a {wait} of {}",
            numbers::short(today.mbit),
            ms(cured.queue_ms)
        ),
        Goal::Delay => {
            let [before, after] = [today, cured].map(|own| ms(own.queue_ms));
            format!("{rate} with a {wait} of {after} instead of {before}")
        }
        Goal::Fair => fairer(&rate, today, cured),
    }
}

/// "within 20 ms instead of 43 ms".
pub(super) fn within(
    today: &Outcome,
    cured: &Outcome,
    time: fn(&Outcome) -> Option<f64>,
) -> String {
    let [before, after] = [today, cured].map(|own| ms(time(own).unwrap_or(0.0)));
    format!("within {after} instead of {before}")
}

/// Whether the time of messages says more than their rate: the programs have one at a time, or send them by the clock.
fn is_of_messages(case: &Case, own: &Outcome) -> bool {
    case.sends_messages() && own.message_ms.is_some()
}

/// Sentence about a short queue that was asked for, and is not reached.
fn missed(found: &Found) -> String {
    let own = &found.cured;
    if found.goal != Goal::Delay || found.goal.is_met(own) {
        return String::new();
    }
    format!(
        " The round trip under load is still {} times the least: no setting that may be changed shortens it more for \
         {} of the rate.",
        numbers::short(own.inflation),
        percent(PRICE)
    )
}

/// The reason for which nothing is to be set.
fn set_nothing(case: &Case, found: &Found, runs: &str) -> String {
    let today = &found.today;
    let reached = rate_of(today.mbit, today.allowed_mbit);

    // A program that asks for too much, or for little, explains more than the path does.
    if let Some(own) = too_many(case).or_else(|| too_slow(case, today)) {
        return format!("{own} ({runs}).");
    }
    let who = if case.datagrams.is_some() { "the datagrams" } else { "the flows" };
    let state = match today.message_ms.zip(today.message_p95_ms) {
        Some(times) if is_of_messages(case, today) => {
            let [median, p95] = [times.0, times.1].map(ms);
            format!("half of the messages come within {median}, 95 % within {p95}")
        }
        _ => format!("{who} have {reached}"),
    };
    let is_full = today.fills(FULL);

    // A pace would trade a little rate for a queue that stands in front of a full path.
    let standing = !candidates::paces(case).is_empty()
        && today.queue_ms >= LEAST_MS
        && today.queue_ms >= STANDING * case.round_trip.as_ns() as f64 / 1e6;

    // A full path may still be shared badly.
    let uneven = today.slowest.as_ref().filter(|own| is_full && own.share() < EVEN);
    if let Some(own) = uneven {
        let slowest = unequal(found, own);
        return format!(
            "Set nothing to fill the path: {who} have {reached} today ({runs}). {slowest}"
        );
    }
    let missed = missed(found);

    // Cases go from a full path to one that nothing helps.
    match (is_full, standing, &today.headline) {
        (true, true, _) if missed.is_empty() => format!(
            "Set nothing: {state} today ({runs}). A queue of {} stands in front of the path: a pace of 97 % \
             would trade 3 % of the rate for it.",
            ms(today.queue_ms)
        ),
        (true, ..) => format!("Set nothing: {state} today ({runs}).{missed}"),
        _ if today.is_healthy && today.fills(ALMOST) => format!(
            "Set nothing: the path is full ({runs}). With other starts and delays {who} may have less: {reached}."
        ),
        (false, _, Some(headline)) if headline.grade == Grade::Full => format!(
            "Set nothing: {state} today ({runs}), and no setting that may be changed gains 2 % or more."
        ),
        (false, _, Some(headline)) => {
            // The first finding's evidence explains the cause.
            let evidence = today.run.findings.first().map(|own| own.evidence.join(", and "));
            let evidence = evidence.filter(|text| !text.is_empty());
            let evidence = evidence.map_or_else(String::new, |text| format!(": {text}"));
            let cause = headline.cause.as_ref();
            let cause = cause.map_or(String::new(), |cause| format!(" {cause}{evidence}."));
            // The cure may be a change that this allowance does not reach.
            let remedy = remedy(found, today)
                .map_or(String::new(), |own| format!(" What would help: {}.", lower(own)));
            format!(
                "No setting that may be changed gains 2 % or more. Today {state} ({runs}).{cause}{remedy}"
            )
        }
        (false, _, None) => format!("Set nothing: {state} ({runs})."),
    }
}

/// "Let video send 94.8 Mb/s or less: ..." of datagrams that ask for more than the path has.
fn too_many(case: &Case) -> Option<String> {
    // Datagrams beside flows take their part first.
    if let Some(own) = &case.crowd {
        let [asks, carried] = [own.mbit, own.carried_mbit].map(numbers::rate);
        let name = &own.name;
        return Some(format!(
            "Let {name} send less: it sends {asks}, the path carries {carried} of such datagrams, and the flows get the rest"
        ));
    }
    let asked = case.datagrams.as_ref()?;

    // Datagrams that the run is about are compared with the path.
    let carried = case.allowed.as_ref()?.datagram_mbit(asked.size);
    let [most, asks] = [carried, asked.mbit].map(numbers::rate);
    (asked.mbit > carried && most != asks).then(|| {
        let name = &asked.name;
        format!("Let {name} send {most} or less: it sends {asks}, and the path carries no more")
    })
}

/// "Let the program of video read faster: ..." of datagrams that arrive faster than their program reads.
fn too_slow(case: &Case, today: &Outcome) -> Option<String> {
    let name = &case.datagrams.as_ref()?.name;
    let own = today.run.datagrams.iter().find(|own| own.name == *name)?;
    let reading = own.reading.as_ref().filter(|own| own.is_too_slow())?;
    let [able, offered] = [reading.able_mbit?, reading.offered_mbit].map(numbers::rate);
    Some(format!(
        "Let the program of {name} read faster, or send less: it reads {able} in the mean, and {offered} come. No SO_RCVBUF \
         helps, but of a burst that ends before it is full"
    ))
}

/// Whether the setting that still limits the flows is among the changes of its host.
fn is_made(found: &Found) -> bool {
    let first = found.cured.run.findings.first();
    let Some(setting) = first.and_then(|own| own.setting.as_ref()) else { return false };
    let mut changes = found.changes.iter().map(|own| &own.change);
    changes.any(|own| own.whose == setting.host && own.setting.ends_with(&setting.name))
}

/// Settings that are the whole remedy where a finding names them.
const WHOLE: [&str; 3] = ["net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "read_ahead_kb"];

/// Remedy of the first finding of an outcome's worst run; none of a path that is full, and none that was tried in vain.
fn remedy<'a>(found: &Found, own: &'a Outcome) -> Option<&'a String> {
    // What is cured by nothing has no remedy.
    let is_good = own.headline.as_ref().is_some_and(|own| own.grade.is_good());
    let first = own.run.findings.first().filter(|own| own.code != HEALTHY && !is_good)?;
    let setting = first.setting.as_ref().map_or("", |own| &own.name);
    let is_tried = WHOLE.contains(&setting) && found.settings.contains(setting);
    first.remedy.as_ref().filter(|own| !is_tried && !own.ends_with(NOTHING))
}

/// Cause that limits the flows with the changes; none where these fill nearly all of the path, or have what their programs
/// ask for.
fn beyond(cured: &Outcome) -> Option<&String> {
    let grade = cured.headline.as_ref().map(|own| own.grade);
    if grade == Some(Grade::AsAsked) {
        return None;
    }
    let cause = cured.headline.as_ref()?.cause.as_ref()?;
    cured.share().is_some_and(|share| share < ENOUGH_SHARE).then_some(cause)
}

/// "470 of 470 Mb/s (100 %) with 465 Mb/s for the slowest flow instead of 12".
fn fairer(cured: &str, today: &Outcome, then: &Outcome) -> String {
    let least = |own: &Outcome| own.slowest.as_ref().map_or(own.mbit, |slowest| slowest.mbit);
    let [before, after] = [numbers::short(least(today)), numbers::rate(least(then))];
    format!("{cured} with {after} for the slowest flow instead of {before}")
}

/// Sentence about a flow that has less than its part of the path, and the way to more.
pub fn unequal(found: &Found, own: &Slowest) -> String {
    let has = own.in_words();
    match found.goal {
        Goal::Fair if found.is_bound => format!(
            "{has}, and no setting that may be changed gives it more. Settings that --change leaves out were not tried."
        ),
        Goal::Fair => format!("{has}, and no setting that may be changed gives it more."),
        _ => format!("{has}: --goal fair looks for equal parts."),
    }
}

/// "set tcp_wmem of sender to 16 MiB maximum".
pub(super) fn in_words(change: &Change) -> String {
    let short = change.setting.trim_start_matches("net.ipv4.").trim_start_matches("net.core.");
    match &change.advised[..] {
        "not set" => format!("let {} not set {short}", change.whose),
        advised if ["tcp_rmem", "tcp_wmem"].contains(&short) => {
            format!("set {short} of {} to {advised} maximum", change.whose)
        }
        advised if short == "parallel streams" => format!("use {advised} parallel streams"),
        advised => format!("set {short} of {} to {advised}", change.whose),
    }
}

/// "set a, set b, and let c".
pub(super) fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{}, and {last}", first.join(", ")),
    }
}

/// A sentence that begins with a capital letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Share of the rate that a path keeps when it differs, in words.
pub fn kept(share: Option<f64>) -> String {
    share.map_or_else(String::new, |share| format!(", {} of that path", percent(share)))
}
