//! The handshake takes long: a lost SYN or SYN-ACK, or a transfer that is short against its round trip.

use super::{Cause, Context, Finding, Rule, When, outage, setting};
use crate::document::{AskedBy, Grade};
use crate::numbers;
use fullpipe_base::trace::EventKind;
use fullpipe_base::units::Time;

/// The rule.
pub const RULE: Rule =
    Rule { name: "connecting", code: "connect", when: When::Held(&["connecting"]), find };

/// Wait before a SYN is sent again (Linux `TCP_TIMEOUT_INIT`).
const SYN_AGAIN: Time = Time::secs(1);

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let [from, to] = &one.meta.hosts;
    let finding = Finding::new("Connecting", Some(from.clone()));
    let established = context.traces.flows[one.index].first(EventKind::Established);
    let start = context.lives.flows[one.index].start;
    let took = established.map(|event| event.time.saturating_sub(start));

    // An unfinished handshake has waited until the run's end.
    let waited = took.unwrap_or_else(|| context.lives.end.saturating_sub(start));
    // A round trip of more than a second has its SYN sent again, too, and nothing is lost.
    let in_time = one.meta.base_rtt.unwrap_or_default() + SYN_AGAIN;
    let dropped = context.run.stages.iter().find(|stage| stage.dropped > 0);
    let is_late = waited >= in_time && (took.is_some() || dropped.is_some());

    // A handshake in time makes the transfer, or the run, too short.
    if !is_late {
        let longer = "Let the run last some round trips";
        let (why, cure) = match took {
            None => ("the run ends before the handshake does", longer),
            Some(_) if context.grade == Grade::Failed => {
                ("the run ends before the first data arrives", longer)
            }
            Some(_) => (
                "the transfer is short against the round trip of the handshake",
                super::few_round_trips::reuse(context),
            ),
        };
        let about = setting("connection", from, AskedBy::Program);
        let finding = finding.because(why).cure(cure).setting(about);
        return Some(if took.is_some() { finding.code("too_short") } else { finding });
    }

    // A way that is out keeps the handshake, and need not lose it.
    let span = [[start, start + waited]];
    let ways = [one.meta.direction, one.meta.direction.turned()];
    if let Some((place, lasts)) = ways.into_iter().find_map(|way| outage(context, way, &span)) {
        let why = format!(
            "{place} carries nothing for {} of that time",
            numbers::seconds(lasts.as_secs_f64())
        );
        let cure = format!("Let {place} be up before: no setting helps");
        return Some(finding.because(why).cure(cure).setting(setting(
            "outage",
            &place,
            AskedBy::Path,
        )));
    }

    // Drops elsewhere may be the handshake's: the stage is named as a hint.
    let dropped = dropped.map_or(String::new(), |own| format!("; {} drops packets", own.name));
    Some(
        finding
            .because(format!(
                "SYN or SYN-ACK between {from} and {to} is lost and sent again{dropped}"
            ))
            .cure("Find what drops or filters packets of the handshake")
            .setting(setting("SYN", from, AskedBy::Path)),
    )
}
