//! Causes of programs that hold their flows back: they go before all places.

use super::WORTH;
use crate::rules::{Cause, Context, LINK, PROGRAM, is_quiet, wanting};
use fullpipe_base::limits::{Derived, Limit};

/// Part of the largest share from which on a slow reader counts as the first cause.
const MUCH: f64 = 0.4;
/// Limit of a send buffer without room.
const SEND_BUFFER: &str = Limit::SendBuffer.about().name;
/// Limit of a program that reads slowly.
const READER: &str = Derived::Reader.about().name;

/// The cause of a program that pauses by habit, or with which the flow always catches up. Drops that take more of the time
/// explain both a slow start after a short wait, and the wait of a program for its answers.
pub fn held_by_its_program<'c>(context: &Context, all: &'c [Cause]) -> Option<&'c Cause> {
    let program = all.iter().find(|own| own.limit == PROGRAM && own.share >= WORTH)?;
    let one = *wanting(&context.subject.flows).first()?;
    let pauses = context.pauses(one);
    if pauses.take_time() {
        return Some(program);
    }

    // A program that waits for room in its send buffer has more to send.
    let is_blocked = one.share(SEND_BUFFER) > one.share(PROGRAM);
    let is_cut = all.iter().any(|own| own.is_cut && own.share > program.share);
    let waits = pauses.are_a_habit() || pauses.runs_dry() && !is_blocked;
    (waits && !is_cut).then_some(program)
}

/// The cause of a program that reads slowly. It holds the flow in the end: the flow makes up for drops between two of
/// the program's waits.
pub fn held_by_its_reader(all: &[Cause]) -> Option<&Cause> {
    let most = all.iter().filter(|own| !is_quiet(&own.limit) && own.limit != LINK);
    let most = most.map(|own| own.share).fold(0.0, f64::max);
    all.iter().find(|own| own.limit == READER && own.share >= WORTH.max(MUCH * most))
}
