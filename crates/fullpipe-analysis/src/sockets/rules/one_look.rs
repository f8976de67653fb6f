//! One look at a socket: totals since its beginning, and windows of this moment.
//!
//! Linux counts the time in which window and buffer stop a sender; other rules read that. What remains is cwnd, the
//! program, or a full path. A loss rate bounds cwnd: about 1.22 / sqrt(p) packets with Reno (RFC 3819, 8.5.1). CUBIC has
//! more on long paths.

use super::super::facts::Facts;
use super::super::verdict::Verdict;
use super::Rule;
use crate::numbers::{count, short};
use crate::words::{bytes, percent};

pub const RULE: Rule = Rule { name: "one-look", needs: &[], find };

/// RTT over its least from which on a queue stands at this moment.
const QUEUE: f64 = 1.25;
/// Share of segments sent again from which on losses matter.
const LOSSY: f64 = 1e-4;
/// cwnd of Reno over cwnd now, up to which losses explain cwnd.
const EXPLAINS: f64 = 3.0;
/// Command that shows the rest.
const AGAIN: &str =
    "`ss -tinm` again and again: `while sleep 0.1; do ss -tinmH dst HOST; done > FILE`";

fn find(facts: &Facts) -> Option<Verdict> {
    if !facts.pasted.one_look {
        return None;
    }
    let share = facts.loss.share;
    let queued = facts.inflation();
    let reno = 1.22 / share.max(1e-12).sqrt();
    let bounds = share >= LOSSY && reno <= EXPLAINS * facts.cwnd.last;
    let fills = facts.cwnd.in_flight + (facts.cwnd.last / 32.0).max(1.0) >= facts.cwnd.last;
    let has = facts.cwnd.unsent > 0.0;
    let figures = format!(
        "{} of {} segments were sent again ({})",
        count(facts.loss.retransmitted),
        count(facts.loss.sent),
        percent(share)
    );
    let moment = format!(
        "at this moment RTT is {} times its least, and {} of {} packets of cwnd are in flight",
        short(queued),
        short(facts.cwnd.in_flight),
        short(facts.cwnd.last)
    );
    let waits = format!("{} wait to be sent", bytes(facts.cwnd.unsent as u64));
    Some(match () {
        () if fills && queued >= QUEUE => {
            let own = Verdict::new("none", "The path", 0.0, 0.5)
                .because(moment)
                .because(figures)
                .remedy("Set nothing if this is the rate of the path")
                .twins(&["bloat", "compete", "ack_path"], AGAIN);
            Verdict { does: "may be full, which holds", ..own }
        }
        () if fills && bounds => Verdict::new("loss", "Loss", 0.0, 0.5)
            .because(figures)
            .because(moment)
            .remedy("Look for bad optics, cables or radio links, and for short queues and policers on the path")
            .twins(&["small_buffer", "policer"], AGAIN),
        () if fills && share < LOSSY => Verdict::new("ss_short", "cwnd, which still grows,", 0.0, 0.2)
            .because(moment)
            .because(figures)
            .twins(&["none", "pacing"], AGAIN),
        () if !has => Verdict::new("app_write", "The sending program", 0.0, 0.4)
            .because("at this moment nothing waits to be sent, and cwnd has room")
            .because(figures)
            .remedy("Let the program write more, or in larger pieces")
            .twins(&["cpu_sender", "sndbuf"], AGAIN),
        () => Verdict::new("loss", "Something that one look does not show", 0.0, 0.1)
            .because(moment)
            .because(waits)
            .because(figures)
            .twins(&["none", "pacing", "tx_ring"], AGAIN),
    })
}
