//! Findings of a run: cause, evidence, cure. The short text leaves out the first one, which the headline names.

use super::Style;
use super::grid::wrap;
use crate::shares::certainty;
use fullpipe_analysis::document::{Finding, Run};
use fullpipe_analysis::rules::{DROPS, HEALTHY};
use fullpipe_analysis::words::percent;

/// Share of the flows' lives from which on a second cause has a line in the short text.
const WORTH: f64 = 0.1;

/// The second cause in one sentence; none where the run has one cause.
pub fn next(run: &Run) -> Option<String> {
    let second =
        run.findings.get(1).filter(|own| own.share_of_time >= WORTH && own.code != HEALTHY)?;
    Some(format!("{}, too: fullpipe explain {}", second.cause, second.code))
}

/// All findings, each with its evidence and its remedy.
pub fn lines(run: &Run, style: Style) -> Vec<String> {
    if run.findings.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new(), style.bold(&format!("findings of {}", run.variant))];
    for own in &run.findings {
        lines.extend(finding(own, style));
    }
    lines
}

fn finding(own: &Finding, style: Style) -> Vec<String> {
    let (share, certain) = (percent(own.share_of_time), certainty(own.confidence));
    let of = if own.rule == DROPS { "the datagrams" } else { "the time" };
    let head = format!("  {} ({}), {share} of {of}, {certain}", own.code, own.group);
    let mut lines = wrap(&head, "  ", style.columns());

    // Texts go from the cause over its reasons to the remedy.
    let mut texts = vec![format!("    {}", own.cause)];
    texts.extend(own.evidence.iter().map(|text| format!("    because {text}")));
    if !own.twins.is_empty() {
        texts.push(format!("    looks the same: {}", own.twins.join(", ")));
    }
    texts.extend(own.would_decide.iter().map(|text| format!("    what decides: {text}")));
    texts.extend(own.remedy.iter().map(|text| format!("    to do: {text}")));
    texts.push(format!("    more: fullpipe explain {}", own.code));
    lines.extend(texts.iter().flat_map(|text| wrap(text, "      ", style.columns())));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_analysis::document::{Confidence, sample};

    fn finding(code: &str, share_of_time: f64) -> Finding {
        Finding {
            code: code.into(),
            group: "window".into(),
            rule: "receive-window".into(),
            cause: "The receive window of receiver stops the flow 20 % of its life".into(),
            share_of_time,
            confidence: Confidence::Likely,
            place: None,
            evidence: vec!["net.ipv4.tcp_rmem allows 6 MiB, the path needs 160 MiB".into()],
            twins: vec!["app_read".into()],
            would_decide: Some("Look at the socket on the receiver".into()),
            remedy: Some("Set the maximum of net.ipv4.tcp_rmem of receiver to 160 MiB".into()),
            setting: None,
        }
    }

    #[test]
    fn a_second_cause_has_one_sentence_where_it_is_worth_it() {
        let mut run = sample::document().runs.remove(0);
        run.findings = vec![finding("sndbuf", 0.6), finding("rwnd_auto", 0.2)];
        let sentence = next(&run).expect("a second cause");
        assert!(
            sentence.ends_with("20 % of its life, too: fullpipe explain rwnd_auto"),
            "{sentence}"
        );
        run.findings[1].share_of_time = 0.05;
        assert_eq!(next(&run), None);
    }

    #[test]
    fn all_parts_of_a_finding_are_shown_in_any_width() {
        let mut run = sample::document().runs.remove(0);
        run.findings = vec![finding("rwnd_auto", 0.2)];
        for width in [80, 120] {
            let text = lines(&run, Style { width, color: false });
            assert!(text.iter().all(|line| line.chars().count() <= width), "{text:?}");
            let text = text.join("\n");
            for part in ["rwnd_auto (window), 20 % of the time, likely", "because", "to do: Set"] {
                assert!(text.contains(part), "{text}");
            }
            assert!(text.contains("looks the same: app_read"), "{text}");
        }
    }
}
