//! The first sentence of advice: what to set, and what it gains.

use super::Case;
use super::method::{EVEN, Found, Goal, Kept};
use super::trial::{Outcome, Slowest};
use crate::analysis::numbers;
use crate::analysis::words::{ms, percent, rate_of};

/// Queueing delay from which on a full path deserves a word: this share of the round trip, and this time, ms.
const STANDING: f64 = 0.5;
const LEAST_MS: f64 = 5.0;
/// Share of the path below which the answer also names what limits the flows then.
const EMPTY: f64 = 0.5;

/// The answer for a case.
pub fn answer(case: &Case, found: &Found, engine: &str) -> String {
    let runs = match engine {
        "sim" => "simulated".to_string(),
        engine => format!("engine {engine}"),
    };
    let allowed = found.today.allowed_mbit;
    if !found.changes.is_empty() {
        let set: Vec<String> = found.changes.iter().map(in_words).collect();
        let cured = rate_of(found.cured.mbit, allowed);
        let gained = match found.goal {
            Goal::Rate => format!("{cured} instead of {}", numbers::short(found.today.mbit)),
            Goal::Delay if found.cured.mbit > found.today.mbit => format!(
                "{cured} instead of {}, with a queue of {}",
                numbers::short(found.today.mbit),
                ms(found.cured.queue_ms)
            ),
            Goal::Delay => format!(
                "{cured} with a queue of {} instead of {}",
                ms(found.cured.queue_ms),
                ms(found.today.queue_ms)
            ),
            Goal::Fair => fairer(&cured, &found.today, &found.cured),
        };
        let beyond = beyond(&found.cured);
        return format!("{}: {gained} ({runs}).{beyond}", listed(&set));
    }

    let reached = rate_of(found.today.mbit, allowed);
    let who = if case.datagrams.is_some() { "the datagrams" } else { "the flows" };
    let verdict = found.today.headline.as_ref();
    let is_full = found.today.share().is_some_and(|share| share >= super::method::FULL);
    let standing = found.today.queue_ms >= LEAST_MS
        && found.today.queue_ms >= STANDING * case.round_trip.as_ns() as f64 / 1e6;
    let uneven = found.today.slowest.as_ref().filter(|own| is_full && own.share() < EVEN);
    if let Some(own) = uneven {
        let slowest = unequal(found.goal, own);
        return format!(
            "Set nothing to fill the path: {who} have {reached} today ({runs}). {slowest}"
        );
    }
    match (is_full, standing, verdict) {
        (true, true, _) => format!(
            "Set nothing: {who} have {reached} today ({runs}). A queue of {} stands in front of the path: a pace of 97 % \
             would trade 3 % of the rate for it.",
            ms(found.today.queue_ms)
        ),
        (true, ..) => format!("Set nothing: {who} have {reached} today ({runs})."),
        _ if found.today.is_healthy => format!(
            "Set nothing: the path is full ({runs}). With other starts and delays {who} may have less: {reached}."
        ),
        (false, _, Some(headline)) => {
            let cause = headline.cause.clone().unwrap_or_default();
            let cause = if cause.is_empty() { String::new() } else { format!(" {cause}.") };
            // What helps may be what this allowance does not reach.
            let remedy = found.today.run.findings.first().and_then(|own| own.remedy.as_ref());
            let cause = remedy.map_or(cause.clone(), |remedy| format!("{cause} {remedy}."));
            format!(
                "Set nothing: no setting that may be changed gains 2 % or more. Today {who} have {reached} ({runs}).{cause}"
            )
        }
        (false, _, None) => format!("Set nothing: {who} have {reached} ({runs})."),
    }
}

/// " Beyond that: " with what limits the flows where the changes leave most of the path empty.
fn beyond(cured: &Outcome) -> String {
    let cause = cured.headline.as_ref().and_then(|own| own.cause.as_ref());
    let is_empty = cured.share().is_some_and(|share| share < EMPTY);
    cause.filter(|_| is_empty).map_or_else(String::new, |cause| format!(" Beyond that: {cause}."))
}

/// "470 of 470 Mb/s (100 %) with 465 Mb/s for the slowest flow instead of 12".
fn fairer(cured: &str, today: &Outcome, then: &Outcome) -> String {
    let least = |own: &Outcome| own.slowest.as_ref().map_or(own.mbit, |slowest| slowest.mbit);
    let [before, after] = [numbers::short(least(today)), numbers::rate(least(then))];
    format!("{cured} with {after} for the slowest flow instead of {before}")
}

/// Sentence about a flow that has less than its part of the path, and the way to more.
pub fn unequal(goal: Goal, own: &Slowest) -> String {
    let has = own.in_words();
    match goal {
        Goal::Fair => format!("{has}, and no setting that may be changed gives it more."),
        _ => format!("{has}: --goal fair looks for equal parts."),
    }
}

/// "set tcp_wmem of sender to 16 MiB maximum".
fn in_words(own: &Kept) -> String {
    let change = &own.change;
    let short = change.setting.trim_start_matches("net.ipv4.").trim_start_matches("net.core.");
    match &change.advised[..] {
        "not set" => format!("let {} not set {short}", change.whose),
        advised if short.ends_with("mem") => {
            format!("set {short} of {} to {advised} maximum", change.whose)
        }
        advised if short == "parallel streams" => format!("use {advised} parallel streams"),
        advised => format!("set {short} of {} to {advised}", change.whose),
    }
}

/// "Set a, set b and let c": the verb of a list of its like once.
fn listed(parts: &[String]) -> String {
    let text = match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{}, and {last}", first.join(", ")),
    };
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Share of the rate that a path keeps when it differs, in words.
pub fn kept(share: Option<f64>) -> String {
    share.map_or_else(String::new, |share| format!(", {} of that path", percent(share)))
}
