//! A link is full: all is well, a long queue waits in front of it, or other traffic fills it.

use super::context::FULL;
use super::{Cause, Context, Finding, Rule, When, setting};
use crate::document::{AskedBy, Grade};
use crate::numbers;
use crate::words::{ms, total};
use fullpipe_base::limits::Derived;
use fullpipe_base::path::Direction;
use fullpipe_base::units::Time;

/// The rule.
pub const RULE: Rule = Rule { name: "link", code: "none", when: When::Held(&[LINK]), find };

/// Name of the limit of a busy link.
pub const LINK: &str = Derived::Link.about().name;

/// Queueing delay that people notice in calls and shells, ms. Above it a queue is reported if it also lasts for
/// `STANDING` of the round trip.
const NOTICED: f64 = 30.0;

/// Share of the round trip without queues up to which a queue is what TCP needs to fill a path with drop-tail.
const STANDING: f64 = 1.5;

/// Share of the path from which on datagrams are worth a word.
const NOTICEABLE: f64 = 0.1;

/// Disciplines that keep the queue itself short.
const SHORT: [&str; 4] = ["codel", "fq_codel", "pie", "cake"];

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let place = cause.place.clone().unwrap_or_else(|| "the link".into());
    let who = match &place[..] {
        "link" | "the link" => "The link".to_string(),
        name => format!("Link {name}"),
    };

    let busy = Finding { does: "is full and holds", ..Finding::new(who, cause.place.clone()) };
    let varies = varies(context);
    let busy = match &varies {
        Some(why) => busy.because(why.clone()),
        None => busy,
    };

    // A link below full shares its rate with other traffic.
    if !matches!(context.grade, Grade::Full | Grade::Late) {
        return Some(others(context, cause, busy));
    }

    // On a full path a standing queue is the only harm left.
    Some(match standing_queue(context, &place) {
        None => busy,
        Some((queue, base)) => Finding {
            code: "bloat",
            queue_ms: Some(queue),
            ..busy
                .because(format!(
                    "{}a standing queue of {} in front of it makes the round trip {} instead of {}",
                    varies.map_or_else(String::new, |why| format!("{why}, and ")),
                    ms(queue),
                    ms(queue + base),
                    ms(base)
                ))
                .cure(format!(
                    "The path is full. For a short delay put fq_codel or cake on {place}, or \
                        pace the flows just below its rate"
                ))
                .setting(setting("queue", &place, AskedBy::Path))
        },
    })
}

/// Sentence about a path whose rate varies while the flows live: its outages, or its rates.
pub fn varies(context: &Context) -> Option<String> {
    let subject = context.subject;
    let allowed = subject.allowed?;
    let spans = subject.spans(context.lives);
    let [least, most] = allowed.extremes(&spans).map(|share| share * allowed.mbit());
    let mean = numbers::rate(allowed.mbit() * subject.carried);
    let nothing = allowed.outages(&spans).as_secs_f64();
    (least < most).then(|| match nothing > 0.0 {
        true => format!(
            "the path carries nothing for {}, and {mean} in the mean",
            numbers::seconds(nothing)
        ),
        false => format!(
            "the path's rate varies from {} to {}, and is {mean} in the mean",
            numbers::short(least),
            numbers::rate(most)
        ),
    })
}

/// Time within a span in which a way of the flows' connections carries nothing; the way, by its place.
pub fn outage(context: &Context, way: Direction, spans: &[[Time; 2]]) -> Option<(String, Time)> {
    let allowed = context.meta.way(way).allowed.as_ref()?;
    let nothing = allowed.outages(spans);
    (nothing > Time::ZERO).then(|| (allowed.place.clone(), nothing))
}

/// Others, small packets or repetitions take the rest of a busy link.
fn others(context: &Context, cause: &Cause, busy: Finding) -> Finding {
    let flows = &context.subject.flows;
    let resent = total(flows.iter().map(|one| one.flow.retransmitted_segments));
    let bytes = total(flows.iter().map(|one| one.flow.bytes));

    // Repetitions count as full segments, as a share of the flows' data.
    let again = resent as f64 * f64::from(context.meta.mss) / (bytes as f64).max(1.0);
    let most = context.udp().max_by(|a, b| a.1.total_cmp(&b.1));
    let why = match () {
        // Datagrams come first: their rate is known, the other reasons are inferred.
        () if most.is_some() => {
            let sum: f64 = context.udp().map(|(_, mbit)| mbit).sum();
            format!("datagrams take {} of it", numbers::rate(sum))
        }
        // The link has room for more at other times.
        () if cause.share < FULL || context.subject.varies() => return busy,
        () if again > 0.05 => "much of what it carries is sent again".into(),
        () => "other packets, or packets that are not full, take the rest of it".into(),
    };

    // A little UDP is named as the reason, but needs no cure.
    let cure = most.filter(|_| context.datagrams() >= NOTICEABLE).map(|(own, _)| {
        format!(
            "Let {} send less, or give it a faster path: no setting of TCP takes its part",
            own.name
        )
    });
    Finding { cure, ..busy.because(why).code("compete") }
}

/// Queue and round trip without it, ms, where the queue never empties and is long.
fn standing_queue(context: &Context, place: &str) -> Option<(f64, f64)> {
    let base = context.subject.base_rtt()?.as_secs_f64() * 1e3;
    let flows = &context.subject.flows;
    let medians = flows.iter().filter_map(|one| Some(f64::from(one.flow.medians?.srtt_us) / 1e3));
    let rtt = medians.fold(0.0, f64::max);
    let queue = rtt - base;
    let discipline = context.meta.places.get(place).and_then(|own| own.discipline);
    let is_short = discipline.is_some_and(|name| SHORT.contains(&name));
    (queue >= NOTICED && queue >= STANDING * base && !is_short).then_some((queue, base))
}
