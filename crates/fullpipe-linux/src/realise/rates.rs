//! Rates with a queue in front of them.

use super::{Capacity, Chain, Serial, Wire};
use fullpipe_base::path::QueueLimit;
use fullpipe_base::units::{Framing, Rate, Time};
use fullpipe_guest::plan::{self, Change, ETHERNET_HEADER, Qdisc};
use fullpipe_scenario::{Cake, Codel, Discipline, Queue, RateStep, Red, Sending};

/// Why a rate is refused.
const TOO_SLOW: &str = "a rate below 8 bit/s: Linux counts in bytes per second";
/// Time by which a `tbf` may exceed its rate, ns: reading the clock takes one, so that qdiscs' timers are late by a
/// few.
const SLACK_NS: u64 = 20;
/// Time that a card takes ahead, ns, in addition to the largest skb: it has a buffer of its own.
pub(crate) const CARD_AHEAD_NS: u64 = 4_000;

/// A qdisc with the rate, the queue below it, and later changes of the rate.
pub(super) fn rate(sending: &Sending, wire: Wire) -> Result<Chain, String> {
    let Sending { steps, framing, queue } = sending;
    if steps.iter().any(|step| step.rate.0 == 0) {
        return Err("an outage: a qdisc that has stood still is not woken when it ends".into());
    }
    if steps.iter().any(|step| step.rate.0 < 8) {
        return Err(TOO_SLOW.into());
    }
    let frame = wire.largest(*framing);
    let first = steps.first().map(|step| step.rate).ok_or("no rate")?;
    let below = below(queue, frame, first)?;
    let limit = limit(queue)?;
    let exact = is_exact(steps, frame);
    let shaper = |rate| match &queue.discipline {
        Discipline::Cake(shaper) => cake(shaper, rate, *framing, limit),
        Discipline::Red(_) => tbf(rate, SLACK_NS, *framing, frame, limit),
        _ if exact => Qdisc::Htb { rate: rate.0, overhead: beyond_header(*framing) },
        _ => tbf(rate, SLACK_NS, *framing, frame, limit),
    };
    let qdiscs: Vec<Qdisc> = [shaper(first)].into_iter().chain(below).collect();

    // The last qdisc of the chain marks and drops early, where any does.
    let marking = match queue.discipline {
        Discipline::DropTail | Discipline::Fq(_) => None,
        _ => Some(qdiscs.len() - 1),
    };
    let changes = steps[1..]
        .iter()
        .map(|step| {
            let qdisc = shaper(step.rate);
            Change { at_ns: step.at.0, number: 0, qdisc }
        })
        .collect();
    let overhead = beyond_header(*framing);
    // A cake adds the overhead for its rate alone, the others (by their `stab`) for their counters too.
    let uncounted = match queue.discipline {
        Discipline::Cake(_) => overhead.into(),
        _ => 0,
    };

    // The time in use follows from the bytes only where the rate never changes.
    let serial = (steps.len() == 1).then_some(Serial { rate: first.0, uncounted });
    let wires =
        steps.iter().map(|step| (step.at, plan::Wire { rate: step.rate.0, overhead })).collect();
    Ok(Chain { qdiscs, changes, marking, capacity: capacity(queue), serial, wires })
}

/// A token bucket of `burst` bytes, counted by `framing`, and the queue in front of it.
pub(super) fn shaper(
    rate: Rate,
    burst: u32,
    framing: Framing,
    limit: QueueLimit,
    wire: Wire,
) -> Result<Chain, String> {
    if rate.0 < 8 {
        return Err(TOO_SLOW.into());
    }
    let largest = wire.largest(framing);
    if burst < largest {
        return Err(format!("a burst below the largest packet with path.gso; at least {largest}B"));
    }
    let queue = Queue { limit, discipline: Discipline::DropTail };
    let bytes = self::limit(&queue)?;
    let overhead = beyond_header(framing);
    let bucket = Qdisc::Tbf { rate: rate.0, burst, ahead_ns: 0, limit: bytes, overhead };
    let below = below(&queue, largest, rate)?;
    Ok(Chain {
        qdiscs: [bucket].into_iter().chain(below).collect(),
        capacity: capacity(&queue),
        serial: Some(Serial { rate: rate.0, uncounted: 0 }),
        ..Chain::default()
    })
}

/// Whether an `htb` can have these rates: of a packet's time it counts a minute at most (`mbuffer`).
///
/// An `htb` takes a packet from its queue when earlier packets have had their time, as a wire does. A `tbf` releases a
/// packet when there are tokens for it, so a small one earlier, and has taken the next one by then.
fn is_exact(steps: &[RateStep], frame: u32) -> bool {
    steps.iter().all(|step| u64::from(frame) * 8 < step.rate.0.saturating_mul(60))
}

fn capacity(queue: &Queue) -> Capacity {
    Some(match queue.limit {
        QueueLimit::Bytes(bytes) => ("byte", bytes),
        QueueLimit::Packets(packets) => ("segment", packets.into()),
    })
}

/// The limit, in its unit. A `tbf` that is changed sets it again below itself.
fn limit(queue: &Queue) -> Result<u32, String> {
    match queue.limit {
        QueueLimit::Bytes(bytes) => {
            u32::try_from(bytes).map_err(|_| "a queue of 4 GiB or more".to_string())
        }
        QueueLimit::Packets(packets) => Ok(packets),
    }
}

/// Qdiscs below the one with the rate; packets have so many bytes at most, and the rate is at first this.
fn below(queue: &Queue, frame: u32, rate: Rate) -> Result<Vec<Qdisc>, String> {
    let limit = limit(queue)?;
    Ok(vec![match &queue.discipline {
        Discipline::DropTail => match queue.limit {
            QueueLimit::Bytes(_) => Qdisc::Bfifo { limit },
            QueueLimit::Packets(_) => Qdisc::Pfifo { limit },
        },
        Discipline::Fq(fq) => {
            Qdisc::Fq { limit, flow_limit: fq.flow_limit, initial_quantum: None, max_rate: None }
        }
        Discipline::Codel(shape) => codel(*shape, limit),
        Discipline::FqCodel(codel) => fq_codel(*codel, limit),
        Discipline::Pie(pie) => {
            Qdisc::Pie { limit, target_us: us(pie.target), update_us: us(pie.update), ecn: pie.ecn }
        }
        Discipline::Red(shape) => {
            let packet = Time(u64::from(frame) * 8_000_000_000 / rate.0.max(1));
            return Ok(vec![asks(), red(shape, limit, packet)]);
        }
        Discipline::Cake(_) => return Ok(Vec::new()),
    }])
}

/// A qdisc that dequeues from `red` also when it is empty: `red` counts its idle time from there on. A `tbf` peeks
/// before it dequeues (`tbf_dequeue`), and a peek at `red` looks no further than its queue. So a qdisc that peeks by
/// dequeuing (`qdisc_peek_dequeued`) stands between them. It has a packet already when the `tbf` sends it, so `red`'s
/// queue is without the packet in transmission. Packets that arrive meanwhile reach `red` when that packet leaves. An
/// `htb` asks no child with an empty queue (`htb_dequeue_tree`): below it `red` would never know.
fn asks() -> Qdisc {
    Qdisc::Netem(super::unlimited())
}

pub(crate) fn codel(codel: Codel, limit: u32) -> Qdisc {
    let Codel { target, interval, ecn } = codel;
    Qdisc::Codel { limit, target_us: us(target), interval_us: us(interval), ecn }
}

pub(crate) fn fq_codel(codel: Codel, limit: u32) -> Qdisc {
    let Codel { target, interval, ecn } = codel;
    Qdisc::FqCodel { limit, target_us: us(target), interval_us: us(interval), ecn }
}

/// RED in front of a rate at which a full packet takes that time.
pub(crate) fn red(red: &Red, limit: u32, packet: Time) -> Qdisc {
    let bytes = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
    Qdisc::Red {
        limit,
        min: bytes(red.min),
        max: bytes(red.max),
        weight_log: red.weight,
        probability: red.probability,
        packet_ns: packet.0,
        ecn: red.ecn,
    }
}

fn cake(cake: &Cake, rate: Rate, framing: Framing, memory: u32) -> Qdisc {
    Qdisc::Cake {
        rate: Some(rate.0),
        rtt_us: us(cake.rtt),
        overhead: beyond_header(framing),
        memory: Some(memory),
        ack_filter: cake.ack_filter,
    }
}

/// Bytes of a packet that a framing counts beyond Linux's own count.
pub(crate) fn beyond_header(framing: Framing) -> i32 {
    framing.overhead() as i32 - ETHERNET_HEADER
}

/// Whole us, as in the scenario.
fn us(time: Time) -> u32 {
    u32::try_from(time.0 / 1000).unwrap_or(u32::MAX)
}

/// A rate that counts by `framing` and may be exceeded for `ahead` ns; packets are `largest` bytes at most, by the same
/// count.
pub(crate) fn tbf(rate: Rate, ahead: u64, framing: Framing, largest: u32, limit: u32) -> Qdisc {
    let overhead = beyond_header(framing);
    Qdisc::Tbf { rate: rate.0, burst: largest, ahead_ns: ahead, limit, overhead }
}
