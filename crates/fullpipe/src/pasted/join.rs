//! One verdict from several texts: the surest one decides, and counters of a host decide between twins.

use super::{Answer, Kind};
use crate::analysis::document::{Confidence, Headline};
use crate::analysis::words::sentences;
use crate::numbers::rate;

/// Rule of losses that a host counts, wherever they are.
const LOSSES: &str = "counted-losses";

/// The answers, the one that decides first.
pub fn joined(mut all: Vec<Answer>) -> Vec<Answer> {
    // A stable order: certainty, then the kind of the text.
    all.sort_by_key(|own| (u8::from(own.kind == Kind::Host), doubt(own), own.kind));
    let (first, rest) = match all.split_first_mut() {
        Some(both) => both,
        None => return all,
    };
    for other in rest.iter().filter(|own| own.kind == Kind::Host) {
        decide(first, other);
    }
    all
}

/// How unsure an answer is; one without a cause is the least sure.
fn doubt(own: &Answer) -> u8 {
    match own.run.findings.first().map(|own| own.confidence) {
        Some(Confidence::Sure) => 0,
        Some(Confidence::Likely) => 1,
        Some(Confidence::CannotTell) => 2,
        None => 3,
    }
}

/// Counters of a host name one of the causes that look the same to the connection.
fn decide(own: &mut Answer, host: &Answer) {
    if own.kind == Kind::Host {
        return;
    }
    let Some(first) = own.run.findings.first().cloned() else { return };
    let is_twin = |code: &String| first.twins.contains(code) || *code == first.code;
    let Some(found) = host.run.findings.iter().find(|it| is_twin(&it.code)).cloned() else {
        return;
    };
    own.lines.extend(host.lines.iter().cloned());

    // A connection says more about its losses than the host's count of them.
    if found.code == first.code && found.rule == LOSSES {
        own.run.findings[0].evidence.extend(found.evidence);
        return;
    }
    let mut decided = found;
    decided.evidence.push(format!("the connection: {}", first.evidence.join(", ")));
    decided.share_of_time = first.share_of_time;
    let rest = own.run.findings.iter().filter(|it| it.code != decided.code).cloned();
    own.run.findings = std::iter::once(decided.clone()).chain(rest).collect();
    own.run.headline = own.run.headline.take().map(|headline| {
        let text = sentences([
            headline.rate_mbit.map_or_else(String::new, rate),
            format!("{}: {}", decided.cause, decided.evidence.join(", and ")),
            decided.remedy.clone().unwrap_or_default(),
        ]);
        Headline { text, ..headline }.about(&decided)
    });
}
