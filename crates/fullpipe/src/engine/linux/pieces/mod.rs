//! What the guest is asked for each [`Ask`].

mod rates;

pub(super) use rates::tbf;

use crate::scenario::{Ask, Chance, Losses, Overtake, Spread};
use fullpipe_guest::plan::{self, Apart, Change, Drops, Loss, Netem, Police, Qdisc};
use fullpipe_sim::config::{Distribution, Unit};
use fullpipe_sim::units::Time;

/// A queue that bounds nothing, packets.
const NO_LIMIT: u32 = 100_000_000;
/// Largest width of netem's delays, ns (INT_MAX).
const WIDEST: u64 = 2_147_483_647;
/// Largest bucket of a policer, bytes.
const LARGEST_BURST: u64 = 1_000_000_000;

/// What stands for an element.
pub(super) enum Piece {
    /// Qdiscs on a device of their own.
    Qdiscs(Chain),
    /// The same, and what leaves may be more than what comes.
    Copies(Chain),
    /// A qdisc for a flow.
    Apart(Apart),
    /// A list where packets come into a router.
    Drops(Drops),
    /// A token bucket where packets come into a router.
    Police(Police),
}

/// Qdiscs, each the child of the one before it.
#[derive(Default)]
pub(super) struct Chain {
    pub(super) qdiscs: Vec<Qdisc>,
    /// What becomes of them.
    pub(super) changes: Vec<Change>,
    /// Number of the one that marks packets.
    pub(super) marking: Option<usize>,
    /// What the stage holds: unit, how many.
    pub(super) capacity: Capacity,
}

/// Unit, how many.
pub(super) type Capacity = Option<(&'static str, u64)>;

/// What stands for an element on a path of this MTU.
///
/// # Errors
/// Why nothing does.
pub(super) fn piece(ask: &Ask, mtu: u32) -> Result<Piece, String> {
    match ask {
        Ask::Rate(sending) => rates::rate(sending, mtu).map(Piece::Qdiscs),
        Ask::Opportunities { .. } => {
            Err("no queue discipline of Linux sends at the times of a trace".into())
        }
        Ask::Delay { timer: Some(_), .. } => {
            Err("a delay by a timer is of old kernels' netem".into())
        }
        Ask::Delay { delay, limit, timer: None } => Ok(Piece::Qdiscs(constant(*delay, *limit))),
        Ask::DelayFlow { flow, delay } => {
            let netem = Netem { delay_ns: delay.0, ..unlimited() };
            Ok(Piece::Apart(Apart { flow: *flow, qdisc: Qdisc::Netem(netem) }))
        }
        Ask::Spread(spread) => varying_delay(*spread).map(Piece::Qdiscs),
        Ask::Overtake(overtake) => going_ahead(*overtake).map(Piece::Qdiscs),
        Ask::Lose { unit: Unit::Skb, .. } => {
            Err("here packets on the path are single segments (unit = \"segment\")".into())
        }
        Ask::Lose { law, unit: Unit::Segment } => Ok(Piece::Qdiscs(loss(*law))),
        Ask::LoseListed(list) => {
            let (flow, segments, acks) = (list.flow, list.segments.clone(), list.acks.clone());
            Ok(Piece::Drops(Drops { flow, segments, acks }))
        }
        Ask::Copy(copied) => {
            let duplicate = Some(chance(*copied));
            Ok(Piece::Copies(one(Netem { duplicate, ..unlimited() })))
        }
        Ask::Police { burst, .. } if *burst > LARGEST_BURST => {
            Err("a burst of more than 1 GB".into())
        }
        Ask::Police { rate, burst, framing } => {
            let overhead = framing.overhead() as i32;
            Ok(Piece::Police(Police { rate: rate.0, burst: *burst, overhead }))
        }
    }
}

fn constant(delay: Time, limit: u32) -> Chain {
    let capacity = (limit < u32::MAX).then_some(("segment", u64::from(limit)));
    let netem = Netem { delay_ns: delay.0, limit: limit.min(NO_LIMIT), ..Netem::default() };
    Chain { capacity, ..one(netem) }
}

fn varying_delay(spread: Spread) -> Result<Chain, String> {
    let Spread { mean, width, distribution, correlation, keep_order } = spread;
    if correlation > 0.0 {
        return Err("next to nothing is left of a correlation in netem's delays".into());
    }
    if width.0 > WIDEST {
        return Err("netem's delays vary by 2.147483647 s at most".into());
    }
    let normal = distribution == Distribution::Normal;
    let spread = Some(plan::Spread { width_ns: width.0, normal, keep_order });
    Ok(one(Netem { delay_ns: mean.0, spread, ..unlimited() }))
}

fn going_ahead(overtake: Overtake) -> Result<Chain, String> {
    let Overtake { delay, chosen_delay, chosen, gap } = overtake;
    if chosen_delay > Time::ZERO {
        return Err("netem lets chosen packets go at once (`chosen_delay` 0), not late".into());
    }
    let overtake = Some(plan::Overtake { chance: chance(chosen), gap });
    Ok(one(Netem { delay_ns: delay.0, overtake, ..unlimited() }))
}

fn loss(law: Losses) -> Chain {
    let loss = match law {
        Losses::Independent(probability) => Loss::Random { probability },
        Losses::TwoStates { p, r, bad, good } => Loss::GilbertElliott { p, r, bad, good },
    };
    one(Netem { loss, ..unlimited() })
}

fn chance(chance: Chance) -> plan::Chance {
    plan::Chance { probability: chance.probability, correlation: chance.correlation }
}

fn unlimited() -> Netem {
    Netem { limit: NO_LIMIT, ..Netem::default() }
}

fn one(netem: Netem) -> Chain {
    Chain { qdiscs: vec![Qdisc::Netem(netem)], ..Chain::default() }
}

/// A queue that passes everything on at once and counts it.
pub(super) fn counter() -> Chain {
    Chain { qdiscs: vec![Qdisc::Pfifo { limit: NO_LIMIT }], ..Chain::default() }
}
