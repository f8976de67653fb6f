//! The cause that a headline names.

use super::{ALONE, LITTLE_LESS, SLOW_START, WORTH};
use crate::document::Grade;
use crate::rules::{Cause, Context, FULL, LINK, PROGRAM, SWALLOWED, find, is_quiet, wanting};
use fullpipe_base::limits::{Derived, Limit};

/// Share of the flows' lives for which a link is busy, from which on it is the cause of a path that is full in the end.
const LATE: f64 = 0.8;
/// Part of the missing rate from which on one cause explains it.
const MOST: f64 = 0.8;
/// Name of the limit of a send buffer.
const SEND_BUFFER: &str = Limit::SendBuffer.about().name;
/// Name of the limit of a handshake.
const CONNECTING: &str = Derived::Connecting.about().name;
/// Part of the largest share from which on a slow reader counts as the first cause.
const MUCH: f64 = 0.4;
/// Name of the limit of a slow reader.
const READER: &str = Derived::Reader.about().name;

/// The cause that the line names. A link that is busy for only a part of the time does not explain the missing rate, if
/// another cause does.
pub(super) fn chosen<'c>(context: &Context, all: &'c [Cause]) -> Option<&'c Cause> {
    let mut busy = all.iter().filter(|cause| !is_quiet(&cause.limit));
    let link = all.iter().find(|own| own.limit == LINK);
    let grade = context.grade;
    let varies = context.subject.varies();

    if grade == Grade::Failed {
        // A flow of which nothing arrives may wait in front of a full link, too.
        let is_swallowed = |own: &&Cause| own.is_cut && find(context, own).code == SWALLOWED;
        if let Some(swallowed) = all.iter().find(is_swallowed) {
            return Some(swallowed);
        }
    }

    // On a full path only a cause that is not quiet is worth a word.
    if grade == Grade::Full {
        // A link that carries less for a while is why the rate is low.
        return link.filter(|own| varies && own.share >= WORTH).or(busy.next());
    }

    // A link that carries less for a while, and holds the flows for longer than anything else.
    if let Some(link) = link.filter(|own| varies && all.iter().all(|it| it.share <= own.share)) {
        return Some(link);
    }
    // A program that holds its flow back goes before all places.
    if let Some(program) = held_by_its_program(context, all).or_else(|| held_by_its_reader(all)) {
        return Some(program);
    }
    match grade {
        // The last answers of a mount take a part of its life, and the link has more of it.
        Grade::Below if link.is_some_and(|own| waits_less(context, all, own)) => link,
        // The start alone is missing.
        Grade::Late | Grade::Below if link.is_some_and(|own| own.share >= LATE) => link,
        Grade::Late if link.is_some_and(|own| starts(context, all, own)) => link,
        // A path that is full for most of the time lacks little, and the starts of flows explain it.
        Grade::Below if link.is_some_and(|own| is_mostly_full(context, all, own)) => link,
        Grade::Below if is_crowded(context) && link.is_some_and(|own| own.share >= WORTH) => link,
        Grade::Failed => all.first(),
        // A cause that explains the missing rate, else the largest one, even a quiet one.
        _ => busy.clone().find(|cause| explains(cause)).or(busy.next()).or(all.first()),
    }
}

/// Whether the largest cause beside a link are a mount's last answers, and the link has more of its life.
fn waits_less(context: &Context, all: &[Cause], link: &Cause) -> bool {
    let mut others = all.iter().filter(|own| *own != link && !is_quiet(&own.limit));
    let are_answers = |own: &Cause| own.limit == PROGRAM && context.is_of_mount(own);
    others.next().is_some_and(|own| are_answers(own) && own.share < link.share)
}

/// Whether a cause explains a missing rate. A link has to be busy for nearly all of the time.
fn explains(cause: &Cause) -> bool {
    match cause.limit == LINK {
        true => cause.share >= FULL,
        false => cause.share >= WORTH,
    }
}

/// Whether datagrams take most of the rate that the flows lack.
fn is_crowded(context: &Context) -> bool {
    let lacks = context.subject.share().map_or(0.0, |share| 1.0 - share);
    lacks > 0.0 && context.datagrams() >= MOST * lacks
}

/// The cause of a program that pauses by habit, or with which the flow always catches up. Drops that take more of the time
/// explain both a slow start after a short wait, and the wait of a program for its answers.
fn held_by_its_program<'c>(context: &Context, all: &'c [Cause]) -> Option<&'c Cause> {
    let program = all.iter().find(|own| own.limit == PROGRAM && own.share >= WORTH)?;
    // A mount's connection waits for answers, not for its program.
    if context.is_of_mount(program) {
        return None;
    }
    // Each connection of a loop starts anew: the start counts where it takes more of the time.
    let starts = all.iter().find(|own| own.limit == SLOW_START && !own.is_cut);
    if context.subject.is_loop() && starts.is_some_and(|own| own.share > program.share) {
        return None;
    }

    let one = *wanting(&context.subject.flows).first()?;

    // The wait for a handshake comes before the program's first wait.
    if one.share(CONNECTING) > one.share(PROGRAM) {
        return None;
    }
    let pauses = context.pauses(one);

    // A program that waits for room in its send buffer has more to send.
    let is_blocked = one.share(SEND_BUFFER) > one.share(PROGRAM);
    let is_cut = all.iter().any(|own| own.is_cut && own.share > program.share);
    let waits = pauses.take_time() || pauses.are_a_habit() || pauses.runs_dry() && !is_blocked;
    (waits && !is_cut).then_some(program)
}

/// The cause of a program that reads slowly. It holds the flow in the end: the flow makes up for drops between two of
/// the program's waits.
fn held_by_its_reader(all: &[Cause]) -> Option<&Cause> {
    let most = all.iter().filter(|own| !is_quiet(&own.limit) && own.limit != LINK);
    let most = most.map(|own| own.share).fold(0.0, f64::max);
    all.iter().find(|own| own.limit == READER && own.share >= WORTH.max(MUCH * most))
}

/// Whether nothing but the first slow start keeps a link from being full: it has more of the time than any other cause, or
/// costs little.
fn starts(context: &Context, all: &[Cause], link: &Cause) -> bool {
    let others = all.iter().filter(|own| *own != link && !is_quiet(&own.limit));
    let costs_little = context.subject.share().is_some_and(|share| share >= LITTLE_LESS);
    others.clone().all(|own| (own.limit == SLOW_START && !own.is_cut) || own.share < WORTH)
        && (costs_little || others.clone().all(|own| own.share < link.share))
}

/// Whether a link is full for most of the time, the rate is near the path's, and only slow starts keep the rest back.
fn is_mostly_full(context: &Context, all: &[Cause], link: &Cause) -> bool {
    let costs_little = context.subject.share().is_some_and(|share| share >= LITTLE_LESS);
    costs_little && link.share >= ALONE && starts(context, all, link)
}
