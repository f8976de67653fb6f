//! `netem`: delay and loss.

use fullpipe_guest::plan::{Loss, Qdisc};

use super::{TCA_KIND, TCA_OPTIONS, normal};
use crate::netlink::message::Message;

const TCA_NETEM_DELAY_DIST: u16 = 2;
const TCA_NETEM_REORDER: u16 = 3;
const TCA_NETEM_LOSS: u16 = 5;
const TCA_NETEM_LATENCY64: u16 = 10;
const TCA_NETEM_JITTER64: u16 = 11;
const TCA_NETEM_PRNG_SEED: u16 = 14;
const NETEM_LOSS_GE: u16 = 2;

/// A probability as the kernel has it: of 2^32 - 1.
fn share(probability: f64) -> u32 {
    (probability * f64::from(u32::MAX)).round() as u32
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

/// `struct tc_netem_qopt`: latency, limit, loss, gap, duplicate, jitter. Times are given apart, in ns.
fn head(limit: u32, loss: Loss, duplicate: f64, reorder: f64) -> Vec<u8> {
    let random = match loss {
        Loss::Random { probability } => share(probability),
        Loss::None | Loss::GilbertElliott { .. } => 0,
    };
    // Each packet is asked whether it goes ahead.
    let gap = u32::from(reorder > 0.0);
    words(&[0, limit, random, gap, share(duplicate), 0])
}

/// Puts a [`Qdisc::Netem`].
pub fn put(to: &mut Message, qdisc: &Qdisc) -> &'static str {
    let Qdisc::Netem { delay_ns, jitter_ns, limit, loss, duplicate, reorder, seed } = *qdisc else {
        return "not netem";
    };
    let head = head(limit, loss, duplicate, reorder);
    to.text(TCA_KIND, "netem").nest(TCA_OPTIONS, &head, |options| {
        options.u64(TCA_NETEM_LATENCY64, delay_ns);
        if jitter_ns > 0 {
            options.u64(TCA_NETEM_JITTER64, jitter_ns);
            options.attr(TCA_NETEM_DELAY_DIST, &normal::table());
        }
        if reorder > 0.0 {
            options.attr(TCA_NETEM_REORDER, &words(&[share(reorder), 0]));
        }
        if let Loss::GilbertElliott { p, r, bad, good } = loss {
            // The kernel wants the probability that a packet is not lost in the bad state.
            let model = words(&[share(p), share(r), share(1.0 - bad), share(good)]);
            options.nest(TCA_NETEM_LOSS, &[], |loss| {
                loss.attr(NETEM_LOSS_GE, &model);
            });
        }
        options.u64(TCA_NETEM_PRNG_SEED, seed);
    });
    "netem"
}
