//! The host's own queue drops packets. Such a drop is no retransmission, but it cuts cwnd.

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::Rule;
use crate::document::{AskedBy, Setting};
use crate::numbers::packets;
use crate::rules::setting;

pub const RULE: Rule = Rule { name: "drops-at-home", needs: &[], find };

/// Round trips for which a drop may stop growth: rarer drops are no cause.
const APART: f64 = 100.0;
/// RTT over its least from which on a queue of the path matters more, unless drops at home alone have set ssthresh.
const QUEUE: f64 = 1.3;
/// RTT over its least, above the effect of one link's queue: a drop at home is no cause then.
const LONG: f64 = 3.0;
/// Bunches of ACKs up to which RTT shows no queue.
const BUNCHES: f64 = 2.0;

fn find(facts: &Facts) -> Option<Verdict> {
    let own = &facts.own;

    // Drops must be frequent, and make up much of all losses.
    let often = own.dropped as f64 * APART >= facts.round_trips && own.dropped > 0;
    let most = own.dropped >= facts.loss.retransmitted / 2;

    // A queue of the path matters more than a few drops at home.
    let inflated = facts.inflation() >= QUEUE && facts.queue() >= BUNCHES;
    let queues = facts.peak_inflation() >= LONG && facts.queue() >= BUNCHES;
    // Ssthresh without any retransmission: TCP heard of the drop from its own queue.
    let alone = own.dropped > 0
        && facts.cwnd.early_ssthresh.is_some()
        && facts.loss.retransmitted <= own.dropped;
    ((alone && !queues) || (often && most && !inflated)).then(|| {
        let points = 0.7 + 0.3 * between(own.dropped as f64, 0.0, 3.0);
        let limit = own.qdisc_limit.map(|n| format!("{n} packets"));
        Verdict::new("qdisc", format!("The qdisc of {}", facts.host), facts.main.cwnd_full, points)
            .because(format!("{} has dropped {}", own.qdisc, packets(own.dropped)))
            .remedy(format!("Raise the limit of {} (tc qdisc)", own.qdisc))
            .setting(Setting {
                value: limit,
                ..setting("tc qdisc limit", &facts.host, AskedBy::Device)
            })
    })
}
