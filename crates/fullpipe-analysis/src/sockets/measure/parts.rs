//! Parts of messages that wait in a socket although both windows have room for them.

use super::super::facts::{Parts, quantile};
use super::{has_room, part, seconds};
use crate::held_parts::Holder;
use crate::view::sender::Look;

/// Shares and times of the parts that wait at `looks`.
pub(super) fn parts(looks: &[Look]) -> Parts {
    let of = |holder| part(looks, |look| holder_of(look) == Some(holder));
    let median_s = |holder| quantile(&times(looks, holder), 0.5);
    Parts {
        by_nagle: of(Holder::Nagle),
        by_cork: of(Holder::Cork),
        nagle_s: median_s(Holder::Nagle),
        cork_s: median_s(Holder::Cork),
    }
}

/// Holder of the data that waits at a look; none unless it is less than a segment and has room.
fn holder_of(look: &Look) -> Option<Holder> {
    let is_part = look.unsent > 0 && look.unsent < u64::from(look.socket.snd_mss);
    let holder = if look.socket.unacked > 0 { Holder::Nagle } else { Holder::Cork };
    (is_part && has_room(look)).then_some(holder)
}

/// Times for which one part was held, seconds: runs of looks between which nothing was written, sent or acknowledged.
/// Each look stands for the time since the one before. A part that only one look has seen may have waited for no time.
fn times(looks: &[Look], holder: Holder) -> Vec<f64> {
    let stands = |a: &Look, b: &Look| {
        let sums = |look: &Look| (look.unsent, look.bytes_sent, look.bytes_acked);
        sums(a) == sums(b) && holder_of(a) == holder_of(b)
    };
    let mut times = Vec::new();
    let mut before = None;
    for run in looks.chunk_by(stands) {
        let last = &run[run.len() - 1];
        if holder_of(last) == Some(holder) {
            let from = before.filter(|_| run.len() > 1).unwrap_or(&run[0]);
            times.push(seconds(from, last));
        }
        before = Some(last);
    }
    times
}
