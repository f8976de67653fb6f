//! `netem`: delay and loss.

use fullpipe_guest::plan::{Chance, Loss, Netem};

use super::{TCA_KIND, TCA_OPTIONS, normal};
use crate::netlink::message::Message;

const TCA_NETEM_CORR: u16 = 1;
const TCA_NETEM_DELAY_DIST: u16 = 2;
const TCA_NETEM_REORDER: u16 = 3;
const TCA_NETEM_LOSS: u16 = 5;
const TCA_NETEM_RATE: u16 = 6;
const TCA_NETEM_RATE64: u16 = 8;
const TCA_NETEM_LATENCY64: u16 = 10;
const TCA_NETEM_JITTER64: u16 = 11;
const TCA_NETEM_PRNG_SEED: u16 = 14;
const NETEM_LOSS_GE: u16 = 2;
/// Bytes per second at which any packet takes less than a nanosecond. With a rate no packet leaves before the one
/// in front of it.
const NO_TIME: u64 = 1_000_000_000_000_000;

/// A probability in the kernel's unit: 1 is 2^32 - 1.
fn share(probability: f64) -> u32 {
    (probability * f64::from(u32::MAX)).round() as u32
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

/// `struct tc_netem_qopt`: latency, limit, loss, gap, duplicate, jitter. Times are given apart, in ns.
fn head(netem: &Netem) -> Vec<u8> {
    let random = match netem.loss {
        Loss::Random { probability } => share(probability),
        Loss::None | Loss::GilbertElliott { .. } => 0,
    };
    let gap = netem.overtake.map_or(0, |overtake| overtake.gap.max(1));
    let duplicate = netem.duplicate.map_or(0, |chance| share(chance.probability));
    words(&[0, netem.limit, random, gap, duplicate, 0])
}

/// Probability and correlation.
fn chance(chance: Chance) -> Vec<u8> {
    words(&[share(chance.probability), share(chance.correlation)])
}

/// Puts [`Qdisc::Netem`](fullpipe_guest::plan::Qdisc::Netem).
pub fn put(to: &mut Message, netem: &Netem) -> &'static str {
    to.text(TCA_KIND, "netem").nest(TCA_OPTIONS, &head(netem), |options| {
        options.u64(TCA_NETEM_LATENCY64, netem.delay_ns);
        put_spread(options, netem);
        if let Some(wire) = netem.wire {
            put_rate(options, wire.rate / 8, wire.overhead);
        }
        if let Some(copied) = netem.duplicate {
            // Of delays, of losses, of copies.
            options.attr(TCA_NETEM_CORR, &words(&[0, 0, share(copied.correlation)]));
        }
        if let Some(overtake) = netem.overtake {
            options.attr(TCA_NETEM_REORDER, &chance(overtake.chance));
        }
        if let Loss::GilbertElliott { p, r, bad, good } = netem.loss {
            // The kernel wants the probability that a packet is not lost in the bad state.
            let model = words(&[share(p), share(r), share(1.0 - bad), share(good)]);
            options.nest(TCA_NETEM_LOSS, &[], |loss| {
                loss.attr(NETEM_LOSS_GE, &model);
            });
        }
        options.u64(TCA_NETEM_PRNG_SEED, netem.seed);
    });
    "netem"
}

fn put_spread(options: &mut Message, netem: &Netem) {
    let Some(spread) = netem.spread else { return };
    options.u64(TCA_NETEM_JITTER64, spread.width_ns);
    if spread.normal {
        options.attr(TCA_NETEM_DELAY_DIST, &normal::table());
    }
    if spread.keep_order {
        put_rate(options, NO_TIME, 0);
    }
}

/// `struct tc_netem_rate`: rate (given apart), overhead, size of cells, their overhead.
fn put_rate(options: &mut Message, bytes_per_second: u64, overhead: i32) {
    options.attr(TCA_NETEM_RATE, &words(&[0, overhead as u32, 0, 0]));
    options.u64(TCA_NETEM_RATE64, bytes_per_second);
}
