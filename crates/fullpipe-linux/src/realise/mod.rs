//! The guest's elements for each [`Impairment`].

mod rates;

pub(super) use rates::{CARD_AHEAD_NS, beyond_header, codel, fq_codel, red, tbf};

use fullpipe_base::path::Unit;
use fullpipe_base::tcp::largest_skb;
use fullpipe_base::units::{Framing, Time};
use fullpipe_guest::plan::{self, Apart, Change, Drops, LARGEST_BURST, Loss, Netem, Police, Qdisc};
use fullpipe_scenario::config::Distribution;
use fullpipe_scenario::{Chance, Impairment, Listed, Losses, Overtake, Sending, Spread};

/// A queue that bounds nothing, packets.
const NO_LIMIT: u32 = 100_000_000;
/// Why a bucket is refused.
const TOO_MUCH: &str = "a burst of more than 1 GB";
/// Largest width of netem's delays, ns (INT_MAX).
const WIDEST: u64 = 2_147_483_647;

/// Representation of an element in the guest.
pub(super) enum Realised {
    /// Qdiscs on a device of their own.
    Qdiscs(Chain),
    /// Qdiscs like those of a chain, from which more packets may leave than arrive.
    Copies(Chain),
    /// A qdisc for a flow.
    Apart(Apart),
    /// A list where packets enter a router.
    Drops(Drops),
    /// A token bucket where packets enter a router.
    Police(Police),
    /// A router that answers packets of more than so many bytes.
    Router(u32),
}

impl Realised {
    /// Gives a netem the seed of its random numbers.
    pub(super) fn seed(&mut self, seed: u64) {
        let qdiscs = match self {
            Realised::Qdiscs(chain) | Realised::Copies(chain) => chain.qdiscs.as_mut_slice(),
            Realised::Apart(apart) => std::slice::from_mut(&mut apart.qdisc),
            Realised::Drops(_) | Realised::Police(_) | Realised::Router(_) => &mut [],
        };
        for qdisc in qdiscs {
            if let Qdisc::Netem(netem) = qdisc {
                netem.seed = seed;
            }
        }
    }
}

/// Qdiscs, each the child of the one before it.
#[derive(Default)]
pub(super) struct Chain {
    pub(super) qdiscs: Vec<Qdisc>,
    /// Later settings of the qdiscs.
    pub(super) changes: Vec<Change>,
    /// Number of the one that marks packets.
    pub(super) marking: Option<usize>,
    /// Unit and size of the stage's room.
    pub(super) capacity: Capacity,
    /// Time to send a packet, where the rate is constant.
    pub(super) serial: Option<Serial>,
    /// Wires that packets are on behind it, each from its time on; none: they take no time.
    pub(super) wires: Vec<(Time, plan::Wire)>,
}

/// Rule for the time of packets on a wire, from a qdisc's counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Serial {
    /// Constant rate, bits per second.
    pub(super) rate: u64,
    /// Bytes of a packet that the qdisc does not count; may be negative.
    pub(super) uncounted: i64,
}

impl Serial {
    /// Time in which so many bytes of so many packets were sent, ns.
    pub(super) fn busy_ns(self, bytes: u64, packets: u64) -> u64 {
        let whole = i128::from(bytes) + i128::from(packets) * i128::from(self.uncounted);
        let ns = whole.max(0) * 8_000_000_000 / i128::from(self.rate.max(1));
        u64::try_from(ns).unwrap_or(u64::MAX)
    }
}

/// Unit, how many.
pub(super) type Capacity = Option<(&'static str, u64)>;

/// Key of an element that is done otherwise, and how.
pub(super) fn instead(impairment: &Impairment) -> Option<(&'static str, &'static str)> {
    match impairment {
        Impairment::Delay { timer: Some(_), .. } => {
            Some(("timer", "packets leave when they are due"))
        }
        _ => None,
    }
}

/// Packets on a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    /// Largest segment, bytes of IP.
    pub(super) mtu: u32,
    /// Whether packets are as TCP hands them down: many segments in one.
    pub(super) gso: bool,
}

impl Wire {
    /// Bytes of the largest packet, each of its segments counted by `framing`.
    pub(super) fn largest(self, framing: Framing) -> u32 {
        largest_skb(self.mtu, self.gso, framing)
    }
}

/// Representation of an element on such a path.
///
/// # Errors
/// Why there is none.
pub(super) fn realise(impairment: &Impairment, wire: Wire) -> Result<Realised, String> {
    match impairment {
        // With GSO a packet has many segments, which the guest's elements do not see singly.
        Impairment::Rate(Sending { framing, .. }) | Impairment::Shape { framing, .. }
            if wire.gso && *framing != Framing::Ethernet =>
        {
            Err("Linux counts the segments of a packet with path.gso by framing = \"ethernet\""
                .into())
        }
        Impairment::LoseListed(_)
        | Impairment::MarkListed(_)
        | Impairment::Police { .. }
        | Impairment::Narrow { .. }
            if wire.gso =>
        {
            Err("it looks at segments, of which a packet has many with path.gso".into())
        }
        Impairment::Rate(sending) => rates::rate(sending, wire).map(Realised::Qdiscs),
        Impairment::Shape { burst, .. } if *burst > LARGEST_BURST => Err(TOO_MUCH.into()),
        Impairment::Shape { rate, burst, framing, limit } => {
            rates::shaper(*rate, *burst as u32, *framing, *limit, wire).map(Realised::Qdiscs)
        }
        Impairment::Opportunities { .. } => {
            Err("no queue discipline of Linux sends at the times of a trace".into())
        }
        Impairment::Delay { delay, limit, .. } => Ok(Realised::Qdiscs(constant(*delay, *limit))),
        Impairment::DelayFlow { flow, delay } => {
            let netem = Netem { delay_ns: delay.0, ..unlimited() };
            Ok(Realised::Apart(Apart { flow: *flow, qdisc: Qdisc::Netem(netem) }))
        }
        Impairment::Spread(spread) => varying_delay(*spread).map(Realised::Qdiscs),
        Impairment::Overtake(overtake) => going_ahead(*overtake).map(Realised::Qdiscs),
        Impairment::Lose { unit: Unit::Skb, .. } if !wire.gso => {
            Err("packets on the path are single segments (unit = \"segment\") without path.gso"
                .into())
        }
        Impairment::Lose { unit: Unit::Segment, .. } if wire.gso => {
            Err("packets on the path have many segments (unit = \"skb\") with path.gso".into())
        }
        Impairment::Lose { law, .. } => Ok(Realised::Qdiscs(loss(*law))),
        Impairment::LoseListed(list) => Ok(Realised::Drops(listed(list, false))),
        Impairment::MarkListed(list) => Ok(Realised::Drops(listed(list, true))),
        Impairment::Copy(copied) => {
            let duplicate = Some(chance(*copied));
            Ok(Realised::Copies(one(Netem { duplicate, ..unlimited() })))
        }
        Impairment::Police { burst, .. } if *burst > LARGEST_BURST => Err(TOO_MUCH.into()),
        Impairment::Police { rate, burst, framing } => {
            let overhead = framing.overhead() as i32;
            let police = Police { rate: rate.0, burst: *burst, overhead, largest: None };
            Ok(Realised::Police(police))
        }
        Impairment::Narrow { mtu, icmp: true, .. } => Ok(Realised::Router(*mtu)),
        Impairment::Narrow { mtu, icmp: false, .. } => {
            let largest = Some(*mtu);
            Ok(Realised::Police(Police { rate: 1, burst: 1, overhead: 0, largest }))
        }
    }
}

fn listed(list: &Listed, mark: bool) -> Drops {
    let (flow, segments, acks) = (list.flow, list.segments.clone(), list.acks.clone());
    Drops { flow, segments, acks, mark }
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

/// Wire behind a qdisc with a rate. The qdisc releases a packet that finds the link idle whole and at once; the
/// packet's time on the wire follows. A constant delay takes the wire over; else the wire is a qdisc of its own, which
/// is returned.
pub(super) fn on_the_wire(wires: &[(Time, plan::Wire)], next: Option<&mut Chain>) -> Option<Chain> {
    let (first, later) = wires.split_first()?;
    let along = |netem: Netem| {
        let on = |wire| Qdisc::Netem(Netem { wire: Some(wire), ..netem });
        (
            vec![on(first.1)],
            later
                .iter()
                .map(|(at, wire)| Change { at_ns: at.0, number: 0, qdisc: on(*wire) })
                .collect(),
        )
    };

    // netem has a rate of its own, so a constant delay can be the wire, too.
    if let Some(chain) = next
        && let [Qdisc::Netem(netem)] = *chain.qdiscs
        && is_constant(&netem)
    {
        (chain.qdiscs, chain.changes) = along(netem);
        return None;
    }
    let (qdiscs, changes) = along(unlimited());
    Some(Chain { qdiscs, changes, ..Chain::default() })
}

fn is_constant(netem: &Netem) -> bool {
    let Netem { delay_ns, limit, wire: None, .. } = *netem else { return false };
    *netem == Netem { delay_ns, limit, seed: netem.seed, ..Netem::default() }
}

/// A queue that passes everything on at once and counts it.
pub(super) fn counter() -> Chain {
    Chain { qdiscs: vec![Qdisc::Pfifo { limit: NO_LIMIT }], ..Chain::default() }
}
