//! The answer as text: its first line alone says what is wrong and what to do.

use fullpipe::analysis::document::{Confidence, Document, Finding, Grade, Run};
use fullpipe::analysis::rules::{HEALTHY, by_code, group};
use fullpipe::analysis::view::View;
use fullpipe::numbers::{count, rate, short};
use fullpipe::observation::{Judged, Observation, Seen, Subject};
use fullpipe::report::terminal::Style;
use std::fmt::Write;

/// Connections that are listed where none fits.
const LISTED: usize = 5;
/// Facts that no socket of the sending host shows.
const BEHIND_SENDER: &str = "the rate that the path allows, where on it packets are lost or wait, \
                             and how the receiving program reads";
/// Facts that no socket of the receiving host shows.
const BEHIND_RECEIVER: &str = "why the sender sends no more (its program, send buffer or cwnd), \
                               and where on the path packets are lost or wait";

/// Text of a document.
pub fn text(
    document: &Document,
    observation: &Observation,
    judged: &[Judged],
    style: Style,
) -> String {
    first(document, style) + &reasons(observation, judged, style)
}

/// The answer of a document.
pub fn first(document: &Document, style: Style) -> String {
    let mut out = String::new();
    let answer = match &document.runs[..] {
        [run] => answer(run),
        _ => document.headline.as_ref().map_or_else(String::new, |own| own.text.clone()),
    };
    line(&mut out, style.columns(), "", &answer);
    out
}

/// Connections with their findings, each below an empty line, and the warnings.
pub fn reasons(observation: &Observation, judged: &[Judged], style: Style) -> String {
    let mut out = String::new();
    let width = style.columns();
    for own in judged {
        let subject = &observation.followed.subjects[own.subject];
        out.push('\n');
        line(&mut out, width, "", &about(subject, &own.run));

        // The first line names the worst and the best of several connections only.
        if judged.len() > 1 {
            line(&mut out, width, "  ", &self::answer(&own.run));
        }
        if is_full(&own.run) {
            continue;
        }

        // The first cause explains all that is seen; others are hints. That the path is full is none beside a cause.
        let mut findings = own.run.findings.iter();
        findings.by_ref().take(1).for_each(|own| finding(&mut out, width, own));
        for own in findings.filter(|own| own.group != group(HEALTHY)) {
            let hint = format!("{} ({}, {})", own.cause, own.code, word(own.confidence));
            line(&mut out, width, "  also fits: ", &hint);
        }
        let hidden = match own.run.view.as_deref() == Some(View::ReceiverSockets.name()) {
            true => BEHIND_RECEIVER,
            false => BEHIND_SENDER,
        };
        line(&mut out, width, "  not seen from here: ", hidden);
        let explained = own.run.headline.as_ref().and_then(|own| own.code.as_deref());
        let page = explained.map(|code| format!("`fullpipe explain {code}`"));
        page.iter().for_each(|page| line(&mut out, width, "  more: ", page));
    }
    for own in judged {
        observation.warnings(own.subject).iter().for_each(|it| line(&mut out, width, "note: ", it));
    }
    out
}

/// The answer of one connection: rate, cause, setting, what to do.
pub(super) fn answer(run: &Run) -> String {
    let Some(headline) = &run.headline else { return String::new() };
    let (Some(cause), Some(first)) = (&headline.cause, run.findings.first()) else {
        return headline.text.clone();
    };
    let healthy = is_full(run).then(|| "Nothing is wrong".to_string());
    let setting = headline.setting.as_ref().and_then(|own| {
        let value = own.value.as_ref()?;
        Some(format!("{} of {} is {value}", own.name, own.host))
    });
    let unsure = (first.confidence == Confidence::Likely && !is_full(run))
        .then(|| "This is likely, not sure".to_string());
    let parts = [
        healthy,
        headline.rate_mbit.map(rate),
        Some(cause.clone()),
        setting,
        first.remedy.clone(),
        unsure,
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{}.", parts.join(". "))
}

/// Whether the path is full, so that nothing is wrong.
pub(super) fn is_full(run: &Run) -> bool {
    run.headline.as_ref().is_some_and(|own| own.grade == Grade::Full)
}

/// The ends of a connection, and its process.
pub fn name(own: &Subject) -> String {
    let process = own.process.as_ref().map(|own| format!(" {} (pid {})", own.name, own.pid));
    format!("{} > {}{}", own.first.here, own.first.there, process.unwrap_or_default())
}

/// A connection with its figures.
pub(super) fn about(own: &Subject, run: &Run) -> String {
    let info = &own.last.info;
    let ms = |us: u32| short(f64::from(us) / 1000.0);
    let received = run.view.as_deref() == Some(View::ReceiverSockets.name());
    let mbit = run.headline.as_ref().and_then(|own| own.rate_mbit).unwrap_or(0.0);
    let again = info.total_retrans.saturating_sub(own.first.info.total_retrans);
    match received {
        true => format!("{}: receives {}", name(own), rate(mbit)),
        false => format!(
            "{}: sends {}, RTT {} ms (least {}), cwnd {}, {} sent again, {}",
            name(own),
            rate(mbit),
            ms(info.rtt),
            ms(info.min_rtt),
            count(info.snd_cwnd.into()),
            count(again),
            own.last.congestion
        ),
    }
}

pub(super) fn word(own: Confidence) -> &'static str {
    match own {
        Confidence::Sure => "sure",
        Confidence::Likely => "likely",
        Confidence::CannotTell => "cannot tell",
    }
}

/// A cause, its evidence, and what to do.
pub(super) fn finding(out: &mut String, width: usize, own: &Finding) {
    let sure = word(own.confidence);
    line(out, width, "  - ", &format!("{} ({}, {sure})", own.cause, own.code));
    own.evidence.iter().for_each(|fact| line(out, width, "      because: ", fact));
    own.remedy.iter().for_each(|what| line(out, width, "      what to do: ", what));
    let titles = own.twins.iter().filter_map(|code| Some(by_code(code)?.title));
    let titles: Vec<&str> = titles.collect();
    if !titles.is_empty() {
        line(out, width, "      looks the same: ", &titles.join("; "));
    }
    own.would_decide.iter().for_each(|see| line(out, width, "      to decide: ", see));
}

/// The connections that exist where none fits.
pub fn none(sought: &str, seen: &[Seen]) -> String {
    let mut text = format!("there is no {sought}");
    if seen.is_empty() {
        text += "; this network namespace has no connection at all";
        return text;
    }
    text += ". The busiest are:";
    for own in seen.iter().take(LISTED) {
        let it = &own.own;
        let _ = write!(text, "\n  {} > {}  {}", it.here, it.there, rate(own.rate / 1e6));
    }
    if seen.len() > LISTED {
        let _ = write!(text, "\n  and {} more", seen.len() - LISTED);
    }
    text
}

/// The connections whose handshake is not answered.
pub fn connecting(seen: &[Seen]) -> String {
    let mut text = String::new();
    for own in seen.iter().take(LISTED) {
        let (it, again) = (&own.own, own.own.info.retransmits);
        let _ = writeln!(
            text,
            "{} > {} is not established: its SYN was sent {} times without an answer",
            it.here,
            it.there,
            u32::from(again) + 1
        );
    }
    text + "look at address and port, whether that host is up, and at firewalls on the way"
}

/// Writes a text with `start` before it, broken at that width; later lines are indented alike.
pub(crate) fn line(out: &mut String, width: usize, start: &str, text: &str) {
    let blank = " ".repeat(start.chars().count());
    let mut line = start.to_string();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let needs = line.chars().count() + word.chars().count() + usize::from(!is_empty);
        if needs > width && !is_empty {
            let _ = writeln!(out, "{line}");
            line = format!("{blank}{word}");
            continue;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    let _ = writeln!(out, "{line}");
}
