//! The headline and the findings of a view of sockets.
//!
//! Of several copies of the judged flow the cause that holds most bytes counts. The path's rate is unknown here, so a
//! rate is given alone.

use super::facts::Facts;
use super::rules::verdicts;
use super::verdict::Verdict;
use super::{TOO_SHORT, measure, receiver};
use crate::document::{Confidence, Finding, Grade, Headline};
use crate::headline::said;
use crate::rules::{by_code, group};
use crate::view;
use crate::words::{percent, rate_of, sentences};

/// Share of time below which it says nothing.
const LEAST_SHARE: f64 = 0.01;

/// Sentences without a verdict: the cause shows at the other end alone.
const UNKNOWN: [&str; 2] = [
    "The sockets of this host do not show what limits the flow",
    "Look at those of the other host (`ss -tmi` there)",
];
/// Sentences without a verdict on a text.
const UNSEEN: [&str; 2] = [
    "These figures do not show what limits the flow",
    "Look at the sender's socket while it sends (`ss -tin`)",
];
/// Beginning of the names of rules about counters.
const COUNTED: &str = "counted-";

/// Headline and findings of one view.
pub(crate) type Answer = (Headline, Vec<Finding>);

/// A judged connection with its verdicts, the first one first.
pub(super) struct Judged {
    /// Name of its host.
    pub host: String,
    /// Rate of its bytes, Mb/s.
    pub mbit: f64,
    /// Bytes that were acknowledged or received.
    pub bytes: u64,
    /// Whether nothing was in the socket at any look.
    pub rests: bool,
    /// Verdicts.
    pub verdicts: Vec<Verdict>,
}

/// From the sockets of the sending host.
pub(crate) fn of_sender(sight: &view::sender::Sight) -> Answer {
    if let Some(flow) = sight.flows.iter().find(|flow| flow.pasted.no_socket) {
        return of_counters(&measure::facts(sight, flow));
    }
    let judged = sight.flows.iter().filter(|flow| flow.judged);
    let is_pasted = sight.flows.iter().any(|flow| !flow.pasted.hidden.is_empty());
    let judged = judged.map(|flow| {
        let facts = measure::facts(sight, flow);
        let verdicts = verdicts(&facts);
        let rests = facts.whole.empty >= 1.0;
        Judged { host: facts.host, mbit: facts.mbit, bytes: facts.acked, rests, verdicts }
    });
    let unknown = if is_pasted { UNSEEN } else { UNKNOWN };
    answer(judged.collect(), sight.partial, "acknowledged", unknown)
}

/// From the counters of a host alone.
fn of_counters(facts: &Facts) -> Answer {
    let all = verdicts(facts).into_iter().map(|own| match own.rule.starts_with(COUNTED) {
        true => own,
        false => Verdict { share: 0.0, does: "drops packets", ..own },
    });
    let verdicts: Vec<Verdict> = all.collect();
    let Some(first) = verdicts.first() else {
        let text = "These counters show no drops and no losses that matter.".to_string();
        let confidence = Some(Confidence::CannotTell);
        return (Headline { confidence, ..said(Grade::CannotTell, text) }, vec![]);
    };
    let findings = verdicts.iter().map(|own| Finding {
        cause: format!("{} {}", own.who, own.does),
        ..finding(own, &facts.host)
    });
    let findings: Vec<Finding> = findings.collect();
    let text = sentences([
        format!("{}: {}", findings[0].cause, first.evidence.join(", and ")),
        first.remedy.clone().unwrap_or_default(),
    ]);
    (said(grade(first), text).about(&findings[0]), findings)
}

/// From the sockets of the receiving host.
pub(crate) fn of_receiver(sight: &view::receiver::Sight) -> Answer {
    let judged = sight.flows.iter().filter(|flow| flow.judged);
    let judged = judged.map(|flow| receiver::judged(sight, flow)).collect();
    answer(judged, sight.partial, "received", UNKNOWN)
}

fn answer(judged: Vec<Judged>, partial: bool, verb: &str, unknown: [&str; 2]) -> Answer {
    let rate: f64 = judged.iter().map(|one| one.mbit).sum();
    let is_silent = judged.iter().all(|one| one.bytes == 0);

    // The connection with most data stands for its host.
    let Some(one) = most(&judged) else {
        return (said(Grade::NoTraffic, "No traffic: the host has no connection.".into()), vec![]);
    };
    if is_silent && judged.iter().all(|one| one.rests) {
        return (said(Grade::NoTraffic, "No traffic: the program writes nothing.".into()), vec![]);
    }
    if is_silent {
        let text = sentences([format!("FAILED: no data was {verb}")]);
        return (Headline { rate_mbit: Some(0.0), ..said(Grade::Failed, text) }, vec![]);
    }

    // Without a verdict, the cause shows at the other end alone.
    let Some(first) = one.verdicts.first() else {
        let text = sentences([rate_of(rate, None), unknown[0].into(), unknown[1].into()]);
        let confidence = Some(Confidence::CannotTell);
        let headline = said(Grade::CannotTell, text);
        return (Headline { rate_mbit: Some(rate), confidence, ..headline }, vec![]);
    };
    let findings = one.verdicts.iter().enumerate().map(|(at, verdict)| {
        let own = finding(verdict, &one.host);
        // Only the first one explains all that is seen.
        match own.confidence {
            Confidence::Sure if at > 0 => Finding { confidence: Confidence::Likely, ..own },
            _ => own,
        }
    });
    let findings = findings.collect();
    let headline = headline(first, one, rate, judged.len());

    // A run that was cut short has no other grade.
    let grade = if partial { Grade::Partial } else { headline.grade };
    (Headline { grade, ..headline }, findings)
}

/// The connection with the most bytes, among those of the cause that holds most bytes.
fn most(judged: &[Judged]) -> Option<&Judged> {
    judged.iter().max_by_key(|one| {
        let twins = judged.iter().filter(|own| code(own) == code(one));
        (twins.fold(0_u64, |sum, own| sum.saturating_add(own.bytes)), one.bytes)
    })
}

/// Code of a connection's cause; empty without a verdict.
fn code(one: &Judged) -> &'static str {
    one.verdicts.first().map_or("", |verdict| verdict.code)
}

fn headline(first: &Verdict, one: &Judged, rate: f64, flows: usize) -> Headline {
    let evidence = first.evidence.join(", and ");
    let text = sentences([
        rate_of(rate, None),
        format!("{}: {evidence}", does(first)),
        unsure(first),
        first.remedy.clone().unwrap_or_default(),
        if flows > 1 { format!("{flows} flows") } else { String::new() },
    ]);
    let said = Headline { rate_mbit: Some(rate), ..said(grade(first), text) };
    said.about(&finding(first, &one.host))
}

/// "The send buffer of sender holds the flow 98 % of the time".
fn does(verdict: &Verdict) -> String {
    match verdict.code {
        TOO_SHORT => format!("{} is too short to tell", verdict.who),
        // Packets that wait on the path hold a flow that its cwnd does not hold.
        _ if verdict.share < LEAST_SHARE => format!("{} {} the flow", verdict.who, verdict.does),
        _ => format!(
            "{} {} the flow {} of the time",
            verdict.who,
            verdict.does,
            percent(verdict.share)
        ),
    }
}

/// "It may also be: a policer drops bursts. To decide, see ...".
fn unsure(verdict: &Verdict) -> String {
    let titles = verdict.twins.iter().filter_map(|code| by_code(code)).map(|known| known.title);
    let titles: Vec<&str> = titles.collect();
    let decide = verdict.would_decide.as_deref().map(|see| format!("To decide, see {see}"));
    match (titles.is_empty(), verdict.is_full) {
        (_, true) => String::new(),
        (true, false) => sentences([decide.unwrap_or_default()]),
        (false, false) => sentences([
            format!("It may also be: {}", titles.join("; ")),
            decide.unwrap_or_default(),
        ]),
    }
}

fn grade(first: &Verdict) -> Grade {
    match first.confidence() {
        Confidence::CannotTell => Grade::CannotTell,
        _ if first.is_full => Grade::Full,
        _ if first.code == "pacing" => Grade::AsAsked,
        _ => Grade::Below,
    }
}

fn finding(own: &Verdict, host: &str) -> Finding {
    Finding {
        code: own.code.into(),
        group: group(own.code).into(),
        rule: own.rule.into(),
        cause: does(own),
        share_of_time: own.share,
        confidence: own.confidence(),
        place: Some(host.into()),
        evidence: own.evidence.clone(),
        twins: own.twins.iter().map(|code| (*code).to_string()).collect(),
        would_decide: own.would_decide.clone(),
        remedy: own.remedy.clone(),
        setting: own.setting.clone(),
    }
}
