//! Both ends of one connection: each sees causes that the other one can only guess.
//!
//! The receiving end knows which of window, buffer and program holds the flow. The sending end knows the rest: its program,
//! its buffer, cwnd and losses. Both observations should be of about the same time.

use super::live::HOST;
use crate::analysis::document::{Confidence, Document, Finding, Headline, Run};
use crate::analysis::view::View;
use crate::analysis::words::sentences;
use crate::numbers::rate;

/// Name of the other host in a joined verdict.
const OTHER: &str = "the other host";
/// Groups of causes that are at the receiving end.
const RECEIVER: [&str; 3] = ["window", "reader", "memory of all sockets"];
/// Code of drops in the receiving host, which that host counts.
const DROPS: &str = "rx_drop";

/// The run of the other end of a connection among those of its observation.
///
/// Address translation changes the names of ends: then the only run of the other view is taken.
pub fn other_end<'a>(own: &Run, document: &'a Document) -> Option<&'a Run> {
    let is_opposite = |run: &&Run| run.view.is_some() && run.view != own.view;
    let mirrored = own.variant.split_once(" > ").map(|(here, there)| format!("{there} > {here}"));
    let same = document.runs.iter().find(|run| Some(&run.variant) == mirrored.as_ref());
    let only = document.runs.first().filter(|_| document.runs.len() == 1);
    same.or(only).filter(is_opposite)
}

/// Lets the other end's findings decide between the causes that look the same from this end.
pub fn join(own: &mut Run, other: &Run) {
    let sends = own.view.as_deref() == Some(View::SenderSockets.name());
    let there = other.findings.first().map(elsewhere);
    let here = own.findings.first().cloned();
    let (sender, receiver) = if sends { (here, there) } else { (there, here) };
    let Some(decided) = decided(sender, receiver) else { return };

    let rest = own.findings.iter().filter(|finding| finding.code != decided.code).cloned();
    own.findings = std::iter::once(decided.clone()).chain(rest).collect();
    own.headline = own.headline.take().map(|headline| {
        let evidence = decided.evidence.join(", and ");
        let text = sentences([
            headline.rate_mbit.map_or_else(String::new, rate),
            format!("{}: {evidence}", decided.cause),
            decided.remedy.clone().unwrap_or_default(),
        ]);
        Headline { text, ..headline }.about(&decided)
    });
}

/// The cause that both ends' first findings leave.
fn decided(sender: Option<Finding>, receiver: Option<Finding>) -> Option<Finding> {
    let is_at_receiver = |own: &Finding| RECEIVER.contains(&own.group.as_str());
    match (sender, receiver) {
        // The sender sees a window, and the receiver sees why it is small.
        (Some(sender), Some(receiver)) if is_at_receiver(&sender) && is_at_receiver(&receiver) => {
            let seen = format!("both ends see it; from the sender: {}", sender.evidence.join(", "));
            let mut decided = receiver;
            decided.evidence.push(seen);
            Some(Finding {
                confidence: Confidence::Sure,
                twins: vec![],
                would_decide: None,
                ..decided
            })
        }
        (Some(sender), Some(receiver)) if sender.twins.contains(&receiver.code) => {
            Some(Finding { twins: vec![], would_decide: None, ..receiver })
        }
        // What the receiver would have counted has not happened.
        (Some(sender), receiver) => {
            let code = receiver.as_ref().map(|own| own.code.as_str());
            let is_out = |twin: &str| {
                let at_receiver = RECEIVER.contains(&crate::analysis::rules::group(twin));
                code != Some(twin) && (at_receiver || twin == DROPS)
            };
            let mut decided = sender;
            decided.twins.retain(|twin| !is_out(twin));
            if decided.twins.is_empty() {
                decided.would_decide = None;
            }
            Some(decided)
        }
        (None, receiver) => receiver,
    }
}

/// A finding of the other end in words of this one.
fn elsewhere(own: &Finding) -> Finding {
    let named = |text: &String| text.replace(HOST, OTHER);
    let mut setting = own.setting.clone();
    if let Some(setting) = &mut setting {
        setting.host = named(&setting.host);
    }
    Finding {
        cause: named(&own.cause),
        place: own.place.as_ref().map(named),
        evidence: own.evidence.iter().map(named).collect(),
        would_decide: own.would_decide.as_ref().map(named),
        remedy: own.remedy.as_ref().map(named),
        setting,
        ..own.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::rules::group;

    fn finding(code: &str, twins: &[&str]) -> Finding {
        Finding {
            code: code.into(),
            group: group(code).into(),
            rule: "rule".into(),
            cause: format!("{code} of {HOST}"),
            share_of_time: 0.9,
            confidence: Confidence::Likely,
            place: Some(HOST.into()),
            evidence: vec!["a fact".into()],
            twins: twins.iter().map(|code| (*code).to_string()).collect(),
            would_decide: Some("a look".into()),
            remedy: None,
            setting: None,
        }
    }

    #[test]
    fn the_receiver_says_why_its_window_is_small() {
        let sender = finding("rwnd_fixed", &["rwnd_auto"]);
        let both = decided(Some(sender), Some(elsewhere(&finding("app_read", &["x"]))));
        let both = both.expect("a cause");
        assert_eq!((both.code.as_str(), both.confidence), ("app_read", Confidence::Sure));
        assert_eq!(both.cause, "app_read of the other host");
        assert!(both.twins.is_empty() && both.would_decide.is_none());
    }

    #[test]
    fn the_sender_says_the_rest_and_the_receiver_rules_its_own_out() {
        let sender = finding("small_buffer", &["policer", "rx_drop"]);
        let own = decided(Some(sender.clone()), None).expect("a cause");
        assert_eq!(
            (own.code.as_str(), &own.twins[..]),
            ("small_buffer", &["policer".to_string()][..])
        );
        let dropped = decided(Some(sender), Some(finding("rx_drop", &[]))).expect("a cause");
        assert_eq!(dropped.code, "rx_drop");

        // Without a verdict of the sender, that of the receiver counts.
        let alone = decided(None, Some(finding("rwnd_auto", &["sndbuf"]))).expect("a cause");
        assert_eq!(alone.code, "rwnd_auto");
        assert_eq!(decided(None, None), None);
    }
}
