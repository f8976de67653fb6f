//! The answer of a run in one line: rate, share of the path, cause, and cure.
//!
//! Facts come from the trace and its document, settings from [`RunMeta`], words for a cause from the first of
//! [`rules`](crate::rules) that fires. `judged` compares with expectations and published rows, `together` makes one line of
//! several runs.

mod chosen;
mod confidence;
mod datagrams;
mod judged;
mod mount;
mod remarks;
mod together;

pub use together::document as of_document;
pub(super) use together::{compared, merged};

use super::document::{self, Confidence, Grade, Headline, Run};
use super::lookup::{Lives, Traces};
use crate::meta::RunMeta;
use crate::numbers;
use crate::rules::server_threads;
use crate::rules::server_work::WORK;
use crate::rules::{
    Cause, Context, FULL, Finding, HEALTHY, LINK, PROGRAM, SWALLOWED, Subject, causes,
    few_round_trips, find, group, is_quiet, twins, would_decide,
};
use crate::seen::seen;
use crate::words::{lower, percent, rate_of, sentences};
use chosen::chosen;
use fullpipe_base::limits::Limit;
use remarks::{as_asked, plateau, too_few, varied};

/// The headline of a run, from its finished other parts, and its findings.
pub(super) fn run(
    meta: &RunMeta,
    traces: &Traces,
    lives: &Lives,
    run: &Run,
) -> (Headline, Vec<document::Finding>) {
    let meta = &seen(meta, traces);

    // Datagrams come first where they carry the run's traffic, then flows, then pings.
    let (headline, findings) = match datagrams::subject(meta, run) {
        Some(own) => (datagrams::headline(meta, run, own), Vec::new()),
        None => match Subject::new(meta, lives, run) {
            Some(subject) => {
                let of = |subject: &Subject| {
                    let grade = Grade::CannotTell;
                    of_flows(Context { meta, traces, lives, run, subject, grade })
                };
                // A path that swallows packets stops one flow for good, however well the others do.
                let hung = Subject::hung(meta, lives, run).map(|hung| of(&hung));
                let swallowed = |own: &(Headline, _)| own.0.code.as_deref() == Some(SWALLOWED);
                hung.filter(swallowed).unwrap_or_else(|| of(&subject))
            }
            None => (datagrams::pings(run).unwrap_or_else(no_traffic), Vec::new()),
        },
    };
    (with_judgement(headline, meta, run), findings)
}

/// A headline of a run that may be cut short, with the results of its expectations.
pub(super) fn with_judgement(mut headline: Headline, meta: &RunMeta, run: &Run) -> Headline {
    // A run that was cut short has no other grade.
    if run.partial {
        headline.grade = Grade::Partial;
        let cut = format!("PARTIAL: cut short after {} s", numbers::short(run.duration_s));
        headline.text = sentences([cut, headline.text]);
    }
    if let Some(settled) = settled(meta, run) {
        headline.text = sentences([headline.text, settled]);
    }

    // Judgements come last: they rate the model, not the path.
    headline.judged = judged::run(run);
    if let Some(judged) = &headline.judged {
        headline.text = sentences([headline.text, judged.text.clone()]);
    }
    headline
}

/// That a run ended before its scenario does, because its rate had settled.
fn settled(meta: &RunMeta, run: &Run) -> Option<String> {
    let end = meta.or_settled?.as_secs_f64();
    let is_early = run.duration_s < end - meta.sample.as_secs_f64();
    let at = numbers::seconds(run.duration_s);
    let text = match is_early {
        true => format!(
            "The rate had settled at {at}, and the run ended: what comes later is not judged"
        ),
        false => "The rate did not settle, so the run went on to its end".into(),
    };
    (!run.partial).then_some(text)
}

pub(super) fn no_traffic() -> Headline {
    said(Grade::NoTraffic, "No traffic: the scenario has no flow that sends data.".into())
}

/// A headline of words alone.
pub(super) fn said(grade: Grade, text: String) -> Headline {
    Headline {
        text,
        grade,
        rate_mbit: None,
        allowed_mbit: None,
        share: None,
        cause: None,
        limit: None,
        limit_share: None,
        rule: None,
        code: None,
        group: None,
        confidence: None,
        twins: Vec::new(),
        place: None,
        setting: None,
        queue_ms: None,
        judged: None,
    }
}

fn of_flows(context: Context) -> (Headline, Vec<document::Finding>) {
    let subject = context.subject;
    let all = causes(&context);
    let grade = grade(&context, &all);
    let whole = &Context { grade, ..context };

    // A loop and the flows beside it have causes of their own.
    let parts = if grade == Grade::Below { subject.parts(whole.lives) } else { Vec::new() };
    let context = &Context { subject: parts.first().unwrap_or(subject), ..*whole };
    let all = if parts.is_empty() { all } else { causes(context) };
    let cause = chosen(context, &all);

    // The finding knows more than the shares: a standing queue, a program that has what it asks for.
    let found = cause.map(|cause| find(context, cause)).unwrap_or_default();
    let grade = match (grade, found.queue_ms, found.as_asked) {
        (Grade::Full, Some(_), _) => Grade::Queue,
        (Grade::Below, _, true) if parts.is_empty() => Grade::AsAsked,
        (grade, ..) => grade,
    };
    let first = cause.map(|cause| Found { cause, finding: found.clone() });
    let beside = beside(context, &parts, found.code);

    // The code depends on the grade, so it follows the correction.
    let found = Finding { code: code(whole, grade, &found), ..found };
    let text = sentences([
        mount::prefix(whole) + &reached(whole, grade),
        cause
            .map(|cause| {
                sentence(context, cause, &found, second(context, &all, cause, &found, grade))
            })
            .unwrap_or_default(),
        found.cure.clone().unwrap_or_default(),
        beside.as_ref().map_or_else(String::new, |(said, _)| said.clone()),
        as_asked(whole),
        varied(whole, cause),
        too_few(whole, cause).unwrap_or_else(|| match found.grows && grade != Grade::Late {
            true => String::new(),
            false => plateau(whole, grade, cause),
        }),
        each(subject),
        datagrams::beside(whole.run),
    ]);
    let confidence = cause.map(|cause| confidence::of(context, cause, &found, &all));
    let mut findings = findings(context, first, &all, confidence);
    let is_new = |own: &document::Finding| findings.iter().all(|known| known.code != own.code);
    let beside = beside.map(|(_, own)| own).filter(is_new);
    findings.extend(beside);
    findings.extend(datagrams::finding(whole.run));
    let headline = Headline {
        rate_mbit: Some(subject.rate),
        allowed_mbit: subject.allowed_mbit(),
        share: subject.share(),
        cause: cause.map(|cause| does(context, cause, &found)),
        limit: cause.map(|cause| cause.limit.clone()),
        limit_share: cause.map(|cause| cause.share),
        rule: (!found.rule.is_empty()).then(|| found.rule.into()),
        code: (!found.code.is_empty()).then(|| found.code.into()),
        group: (!found.code.is_empty()).then(|| group(found.code).into()),
        place: found.place,
        setting: found.setting,
        queue_ms: found.queue_ms,
        confidence,
        ..said(grade, text)
    };
    (headline, findings)
}

/// Sentence and finding of the second part of a subject, where its cause is not that of the first one.
fn beside(
    context: &Context,
    parts: &[Subject],
    first: &str,
) -> Option<(String, document::Finding)> {
    let context = &Context { subject: parts.get(1)?, ..*context };
    let all = causes(context);
    let cause = chosen(context, &all)?;
    let found = find(context, cause);
    if found.code.is_empty() || found.code == first || found.code == HEALTHY {
        return None;
    }
    let text = format!("Beside it, {}", lower(&sentence(context, cause, &found, String::new())));
    let share = found.share.unwrap_or(cause.share);
    let said = does(context, cause, &found);
    Some((text, listed(found, said, share, Confidence::Likely)))
}

/// A cause, and the finding of the rule that fires for it.
struct Found<'c> {
    cause: &'c Cause,
    finding: Finding,
}

/// Findings of the cause that the line names, and of all others that are worth a word; one of each code.
fn findings(
    context: &Context,
    first: Option<Found>,
    all: &[Cause],
    confidence: Option<Confidence>,
) -> Vec<document::Finding> {
    let named = first.as_ref().map(|first| first.cause);
    let others = all.iter().filter(|cause| Some(*cause) != named && cause.share >= WORTH);
    let others = others.filter(|cause| !is_quiet(&cause.limit));
    // A run that ends when its rate has settled is short: its start counts too much.
    let others =
        others.filter(|cause| !(context.meta.or_settled.is_some() && cause.limit == SLOW_START));
    let others = others.map(|cause| Found { cause, finding: find(context, cause) });
    let mut findings: Vec<document::Finding> = Vec::new();

    // One code gets one finding, from its largest share.
    for Found { cause, finding: found } in first.into_iter().chain(others) {
        if found.code.is_empty() || findings.iter().any(|own| own.code == found.code) {
            continue;
        }

        // Confidence compares all causes, so only the first one has it.
        let is_first = Some(cause) == named;
        let confidence = confidence.filter(|_| is_first);
        let sentence = does(context, cause, &found);
        let share = found.share.unwrap_or(cause.share);
        findings.push(listed(found, sentence, share, confidence.unwrap_or(Confidence::Likely)));
    }
    findings
}

/// A finding as documents have it: its cause in words, and its share of the time (0 to 1).
fn listed(
    found: Finding,
    cause: String,
    share_of_time: f64,
    confidence: Confidence,
) -> document::Finding {
    document::Finding {
        code: found.code.into(),
        group: group(found.code).into(),
        rule: found.rule.into(),
        cause,
        share_of_time,
        confidence,
        place: found.place,
        evidence: found.because.into_iter().collect(),
        twins: twins(found.code, SEES_ALL).iter().map(|code| (*code).into()).collect(),
        would_decide: would_decide(found.code, SEES_ALL).map(Into::into),
        remedy: found.cure,
        setting: found.setting,
    }
}

/// Grade of a run, before its first cause is known.
fn grade(context: &Context, all: &[Cause]) -> Grade {
    let subject = context.subject;
    let aborted = context.run.flows.iter().any(|flow| flow.aborted.is_some());
    let nothing = subject.flows.iter().all(|one| one.flow.bytes == 0);

    // Without data, or without a call that was answered, there is no rate to grade.
    if aborted || nothing || mount::is_unanswered(context) {
        return Grade::Failed;
    }
    let Some(allowed) = subject.allowed_mbit() else { return Grade::CannotTell };
    let is_full = |rate: f64| rate >= FULL * allowed;

    // A plateau that fills the path makes a slow start late, not below.
    match () {
        () if is_full(subject.rate) => Grade::Full,
        () if subject.plateau().is_some_and(is_full) => Grade::Late,
        () if all.iter().all(|cause| is_quiet(&cause.limit)) => Grade::CannotTell,
        () => Grade::Below,
    }
}

/// Code of the cause of the whole run. A full path has no cause, except small packets, other flows, a card or a policer
/// that fill it.
fn code(context: &Context, grade: Grade, found: &Finding) -> &'static str {
    let costs_little = context.subject.share().is_some_and(|share| share >= LITTLE_LESS)
        && SAWTOOTH.contains(&found.code);
    let is_full =
        matches!(grade, Grade::Full | Grade::Queue) || costs_little || found.code == HEALTHY;
    if !is_full || KEPT.contains(&found.code) {
        return found.code;
    }
    match context.others().is_some_and(|share| share >= SHARES) {
        true => "compete",
        false if found.code == "bloat" => found.code,
        false => HEALTHY,
    }
}

/// "285 of 9,415 Mb/s (3 %)", for a sentence that follows the problem.
fn reached(context: &Context, grade: Grade) -> String {
    let subject = context.subject;
    let rate = rate_of(subject.rate, subject.allowed_mbit());
    let aborted = context.run.flows.iter().find_map(|flow| Some((flow, flow.aborted?)));
    match (grade, aborted) {
        (_, Some((flow, aborted))) => {
            // Errno values of Linux: ETIMEDOUT and ECONNRESET.
            let why = match aborted.errno {
                110 => "timed out".to_string(),
                104 => "was reset".to_string(),
                errno => format!("ended with errno {errno}"),
            };
            let at = numbers::seconds(aborted.at_s);
            format!("FAILED: connection {} {why} after {at}. {rate}", flow.name)
        }
        (Grade::Failed, None) if mount::is_unanswered(context) => {
            format!("FAILED: no call was answered. {rate}")
        }
        (Grade::Failed, None) => format!("FAILED: no data{} arrived. {rate}", whose(context)),
        _ => match subject.rests(context.lives) {
            rests if rests >= RESTS => {
                let all = numbers::short(subject.rate * (1.0 - rests));
                format!("{rate} while a connection is open, {all} with the time between them")
            }
            _ => rate,
        },
    }
}

/// Share of the time from the first start to the last end without a flow, from which on the rate is not that of all the time.
const RESTS: f64 = 0.02;

/// " of scp": names of the judged flows, where others of the run carried data.
fn whose(context: &Context) -> String {
    if context.run.flows.iter().all(|flow| flow.bytes == 0) {
        return String::new();
    }
    let mut names = context.subject.flows.iter().map(|one| &one.flow.name[..]);
    let first = names.next().unwrap_or_default();
    match names.count() {
        0 => format!(" of {first}"),
        more => format!(" of {first} and {more} more"),
    }
}

/// "The send buffer of sender stops the flow 98 % of its life".
fn does(context: &Context, cause: &Cause, found: &Finding) -> String {
    let (flows, life) = match context.subject.flows.len() {
        1 => ("the flow", "its life"),
        _ => ("the flows", "their lives"),
    };
    let flows = context.subject.part.as_deref().unwrap_or(flows);
    let share = percent(found.share.unwrap_or(cause.share));
    format!("{} {} {flows} {share} of {life}", found.who, found.does)
}

/// Sentence of a cause: its effect, its reason, and the next cause.
fn sentence(context: &Context, cause: &Cause, found: &Finding, second: String) -> String {
    let because = found.because.as_ref().map_or(String::new(), |why| format!(": {why}"));
    does(context, cause, found) + &because + &second
}

/// Share of the path from which on no cure gives a fifth more.
const LITTLE_LESS: f64 = 1.0 / 1.2;
/// Codes that stay where the path is full.
const KEPT: [&str; 4] = ["small_mss", "nic", "policer", "compete"];
/// Codes that a path has that is nearly full: growth at first, and cuts at the top of each sawtooth.
const SAWTOOTH: [&str; 2] = ["ss_short", "small_buffer"];
/// Share of the path from which on other flows are worth a word: without them the first one has 1.2 times as much.
const SHARES: f64 = 1.0 / 6.0;
/// Name of the limit of Nagle's rule, and the code of its finding.
const NAGLE: &str = Limit::Nagle.about().name;
/// Name of the limit of slow start.
const SLOW_START: &str = Limit::CwndSlowStart.about().name;
/// Name of the rule with a flow's whole growth as its cause.
const GROWTH: &str = few_round_trips::RULE.name;
/// Share of a flow's life below which a cause is one of several.
const ALONE: f64 = 0.5;
/// Whether the trace shows the whole path: no cause then looks like another one.
const SEES_ALL: bool = true;
/// Share of a flow's life from which on another cause is worth a word.
const WORTH: f64 = 0.1;

/// " (next: receive window 20 %)": the next cause, where the first one holds for less than half of the time, or is a
/// link that idles at times. A transfer that is too short has slow start as its first cause already.
fn second(
    context: &Context,
    all: &[Cause],
    first: &Cause,
    found: &Finding,
    grade: Grade,
) -> String {
    let others = all.iter().filter(|cause| *cause != first && !is_quiet(&cause.limit));
    let others = others.filter(|cause| !(found.rule == GROWTH && cause.limit == SLOW_START));
    let are_threads = found.rule == server_threads::RULE.name;
    let others = others.filter(|cause| !(are_threads && cause.limit == server_threads::THREADS));
    // The finding names the wait of Nagle's rule already.
    let others = others.filter(|cause| !(found.code == NAGLE && cause.limit == NAGLE));
    let next = others.max_by(|a, b| a.share.total_cmp(&b.share));
    let is_idle_link = first.limit == LINK && first.share < FULL && grade != Grade::Full;
    let next = next.filter(|next| is_idle_link || (first.share < ALONE && next.share >= WORTH));
    next.map_or(String::new(), |next| {
        let are_answers = next.limit == PROGRAM && context.is_of_mount(next);
        let named = if are_answers { WORK.into() } else { next.named() };
        format!(" (next: {named} {})", percent(next.share))
    })
}

/// Least and most of several flows.
fn each(subject: &Subject) -> String {
    let rates = || subject.flows.iter().map(|one| one.flow.mean_mbit);
    let (least, most) = (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
    let many = (subject.flows.len() > 1).then(|| {
        let (least, most) = (numbers::short(least), numbers::rate(most));

        // Equal ends, as they are printed, need no range.
        let is_one = most.starts_with(&format!("{least} "));
        let range = if is_one { most } else { format!("{least} to {most}") };
        let is_loop = subject.is_loop() && subject.of_loops() == subject.flows.len();
        let flows: String = match is_loop {
            true if subject.at_once <= 1 => "connections, one after another".into(),
            true => format!("connections, at most {} at a time", subject.at_once),
            false => "flows".into(),
        };
        format!("{} {flows}, each {range}", subject.flows.len())
    });

    // Flows that carry next to nothing would spoil the range.
    let faint = (subject.faint > 0)
        .then(|| format!("{} more carried less than 1 % of the largest", subject.faint));
    let starved = (subject.starved > 0)
        .then(|| format!("{} more got nothing: use fewer flows at a time", subject.starved));
    let parts: Vec<String> = [many, faint, starved].into_iter().flatten().collect();
    parts.join("; ")
}
