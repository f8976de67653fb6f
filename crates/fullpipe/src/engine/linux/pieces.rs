//! What the guest is asked for each [`Ask`].

use crate::scenario::{Ask, Losses, Sending};
use fullpipe_guest::plan::{Drops, Loss, Qdisc};
use fullpipe_sim::config::{QueueLimit, Unit};
use fullpipe_sim::units::{Framing, Rate, Time};

/// Bytes of the Ethernet header, which Linux counts with a packet.
const ETHERNET_HEADER: i32 = 14;
/// A rate may be exceeded for so long, ns: qdiscs' timers come late by about 500 ns.
const SLACK_NS: u64 = 4_000;
/// A queue that bounds nothing, packets.
const NO_LIMIT: u32 = 100_000_000;

/// What stands for an element.
pub(super) enum Piece {
    /// Qdiscs on a device of their own.
    Qdiscs(Vec<Qdisc>, Capacity),
    /// A list where packets come into a router.
    Drops(Drops),
}

/// What the stage holds: unit, how many.
pub(super) type Capacity = Option<(&'static str, u64)>;

/// What stands for an element on a path of this MTU.
///
/// # Errors
/// Why nothing does.
pub(super) fn piece(ask: &Ask, mtu: u32) -> Result<Piece, String> {
    match ask {
        Ask::Rate(sending) => rate(sending, mtu),
        Ask::Delay { timer: Some(_), .. } => {
            Err("a delay by a timer is of old kernels' netem".into())
        }
        Ask::Delay { delay, limit, timer: None } => Ok(constant_delay(*delay, *limit)),
        Ask::Lose { unit: Unit::Skb, .. } => {
            Err("here packets on the path are single segments (unit = \"segment\")".into())
        }
        Ask::Lose { law, unit: Unit::Segment } => Ok(loss(*law)),
        Ask::LoseListed(list) => {
            let (flow, segments, acks) = (list.flow, list.segments.clone(), list.acks.clone());
            Ok(Piece::Drops(Drops { flow, segments, acks }))
        }
        _ => Err("this kind of element is not built for Linux yet".into()),
    }
}

fn rate(sending: &Sending, mtu: u32) -> Result<Piece, String> {
    let Sending { steps, framing, queue } = sending;
    let [step] = &steps[..] else {
        return Err("this kind of element is not built for Linux yet".into());
    };
    let frame = mtu + framing.overhead();
    let (limit, child, capacity) = match queue.limit {
        QueueLimit::Bytes(bytes) => {
            let limit = u32::try_from(bytes).map_err(|_| "a queue of 4 GiB or more".to_string())?;
            (limit, Qdisc::Bfifo { limit }, ("byte", bytes))
        }
        QueueLimit::Packets(limit) => {
            (u32::MAX, Qdisc::Pfifo { limit }, ("segment", u64::from(limit)))
        }
    };
    Ok(Piece::Qdiscs(vec![tbf(step.rate, *framing, frame, limit), child], Some(capacity)))
}

fn constant_delay(delay: Time, limit: u32) -> Piece {
    let capacity = (limit < u32::MAX).then_some(("segment", u64::from(limit)));
    Piece::Qdiscs(vec![netem(delay.0, limit.min(NO_LIMIT), Loss::None)], capacity)
}

fn loss(law: Losses) -> Piece {
    let loss = match law {
        Losses::Independent(probability) => Loss::Random { probability },
        Losses::TwoStates { p, r, bad, good } => Loss::GilbertElliott { p, r, bad, good },
    };
    Piece::Qdiscs(vec![netem(0, NO_LIMIT, loss)], None)
}

fn netem(delay_ns: u64, limit: u32, loss: Loss) -> Qdisc {
    let (jitter_ns, duplicate, reorder) = (0, 0.0, 0.0);
    Qdisc::Netem { delay_ns, jitter_ns, limit, loss, duplicate, reorder, seed: 0 }
}

/// A rate that counts by `framing`; packets are `largest` bytes at most, by the same count.
pub(super) fn tbf(rate: Rate, framing: Framing, largest: u32, limit: u32) -> Qdisc {
    let slack = u128::from(rate.0) * u128::from(SLACK_NS) / 8_000_000_000;
    let burst = u32::try_from(slack + u128::from(largest)).unwrap_or(u32::MAX);
    let overhead = framing.overhead() as i32 - ETHERNET_HEADER;
    Qdisc::Tbf { rate: rate.0, burst, limit, overhead }
}
