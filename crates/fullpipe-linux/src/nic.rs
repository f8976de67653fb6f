//! The cards of hosts: a rate, and the queue in front of it.

use super::realise::{self, CARD_AHEAD_NS, Serial, Wire, codel, fq_codel, red, tbf};
use super::topology::{Counters, Seen, Watched};
use fullpipe_base::path::{Direction, QueueLimit};
use fullpipe_base::trace::StageInfo;
use fullpipe_base::units::{Framing, Rate};
use fullpipe_guest::plan::{self, Qdisc};
use fullpipe_guest::record::{LEFT_DEVICE, RIGHT_DEVICE, qdisc_handle};
use fullpipe_scenario::{Codel, Host, QdiscKind};

/// A host's card: its rate, and the queue in front of it, which accepts or drops what TCP hands down. The card takes
/// what the largest skb ahead of its wire ([`card_wire`]), and a little more.
///
/// `red` counts its idle time from a dequeue that finds no packet. A `tbf` peeks before it dequeues, and a peek at
/// `red` looks no further than its queue. So an `ets` stands between them: it peeks by dequeuing from `red`. It also
/// reports to TCP at once what `red` drops (`ets_qdisc_enqueue`), which a `netem` would not.
pub(super) fn card(host: &Host, mtu: u32) -> Vec<Qdisc> {
    let (rate, framing) = shaped(host, mtu);
    let largest = Wire { mtu, gso: host.config.tso }.largest(framing);
    let shaper = tbf(rate, CARD_AHEAD_NS, framing, largest, u32::MAX);
    let packet = host.config.nic_rate.time_for(u64::from(mtu + Framing::EthernetWire.overhead()));
    match (host.qdisc.kind, &host.qdisc.red) {
        (QdiscKind::Red, Some(shape)) => {
            vec![shaper, Qdisc::Ets, red(shape, host.qdisc.limit(), packet)]
        }
        _ => vec![shaper, host_queue(&host.qdisc)],
    }
}

/// The rate of a host's card, and how the qdiscs in front of it count packets.
fn shaped(host: &Host, mtu: u32) -> (Rate, Framing) {
    counted(host.config.nic_rate, mtu, host.config.tso || looks_at_bytes(&host.qdisc))
}

/// Time for which a card sends the packets that its qdiscs have counted.
pub(super) fn serial(host: &Host, mtu: u32) -> Serial {
    Serial { rate: shaped(host, mtu).0.0, uncounted: 0 }
}

/// Whether the queue's decisions depend on the bytes of packets.
fn looks_at_bytes(queue: &fullpipe_scenario::Qdisc) -> bool {
    use QdiscKind::{Bfifo, Codel, Fq, FqCodel, Netem, Pfifo, PfifoFast, Red};
    match queue.kind {
        Bfifo | Codel | FqCodel | Red => true,
        Fq => queue.maxrate.is_some(),
        PfifoFast | Pfifo | Netem => false,
    }
}

/// A rate on an Ethernet wire, and the framing by which packets are counted: `as_frames`, with their header alone.
///
/// Of a packet of many segments Linux counts each with its Ethernet header, as long as no overhead is to be added
/// (qdisc_pkt_len_init, not __qdisc_calculate_pkt_len). An added overhead counts below the rate too, where a queue of
/// bytes would find packets larger than they are. So the rate is the one without overhead, for full segments.
fn counted(rate: Rate, mtu: u32, as_frames: bool) -> (Rate, Framing) {
    match as_frames {
        true => (rate.in_frames(mtu), Framing::Ethernet),
        false => (rate, Framing::EthernetWire),
    }
}

/// The wire of a card, which sends one segment after the other, though its qdiscs release all segments of a packet at
/// once.
pub(super) fn card_wire(host: &Host, Wire { mtu, gso }: Wire) -> plan::Wire {
    let (rate, framing) = counted(host.config.nic_rate, mtu, gso);
    plan::Wire { rate: rate.0, overhead: realise::beyond_header(framing) }
}

/// The queue of a host.
fn host_queue(queue: &fullpipe_scenario::Qdisc) -> Qdisc {
    let limit = queue.limit();
    let fifo = match queue.limit {
        QueueLimit::Bytes(_) => Qdisc::Bfifo { limit },
        QueueLimit::Packets(_) => Qdisc::Pfifo { limit },
    };
    match queue.kind {
        // Red has more than one, see `card`.
        QdiscKind::PfifoFast | QdiscKind::Pfifo | QdiscKind::Bfifo | QdiscKind::Red => fifo,
        QdiscKind::Fq => Qdisc::Fq {
            limit,
            flow_limit: queue.flow_limit.unwrap_or(limit),
            initial_quantum: queue.initial_quantum,
            max_rate: queue.maxrate.map(|rate| (rate.0 / 8) as u32),
        },
        QdiscKind::FqCodel => {
            fq_codel(queue.codel.unwrap_or(Codel { ecn: true, ..Codel::OF_LINUX }), limit)
        }
        QdiscKind::Codel => codel(queue.codel.unwrap_or(Codel::OF_LINUX), limit),
        QdiscKind::Netem => queue.netem.map_or(fifo, |netem| host_netem(netem, limit)),
    }
}

fn host_netem(netem: fullpipe_scenario::Netem, limit: u32) -> Qdisc {
    let fullpipe_scenario::Netem { delay, loss } = netem;
    let loss = match loss > 0.0 {
        true => plan::Loss::Random { probability: loss },
        false => plan::Loss::default(),
    };
    Qdisc::Netem(plan::Netem { delay_ns: delay.0, limit, loss, ..plan::Netem::default() })
}

/// Qdiscs that packets pass on their way out of a host if the card is no limit: nothing waits there.
pub(super) fn open(queue: &fullpipe_scenario::Qdisc) -> Vec<Qdisc> {
    match queue.kind {
        QdiscKind::PfifoFast | QdiscKind::Pfifo | QdiscKind::Bfifo => Vec::new(),
        QdiscKind::Codel | QdiscKind::Red => Vec::new(),
        QdiscKind::Fq | QdiscKind::FqCodel | QdiscKind::Netem => vec![host_queue(queue)],
    }
}

/// Stage of a host's queue, from the number of the host's namespace and the direction of its packets. [`serial`]
/// computes how busy the card is.
pub(super) fn card_stage(
    host: &str,
    goes: Direction,
    queue: &fullpipe_scenario::Qdisc,
    namespace: usize,
) -> Watched {
    let (unit, capacity) = match queue.limit {
        QueueLimit::Bytes(bytes) => ("byte", bytes),
        QueueLimit::Packets(packets) => ("skb", packets.into()),
    };
    let (direction, device) = match goes {
        Direction::Forward => ("forward", RIGHT_DEVICE),
        Direction::Backward => ("back", LEFT_DEVICE),
    };
    let namespace = namespace as u16;
    let name = format!("{host}.qdisc");
    let (kind, capacity) = ("qdisc", Some(capacity));
    let info = StageInfo { index: 0, name, kind, direction, unit, capacity, timed: false };
    let counters = |number| Counters { namespace, device, handle: qdisc_handle(number) };

    // RED is two qdiscs: the first one holds the queue, the second one marks.
    let seen = match queue.kind {
        QdiscKind::Red => Seen::Marking { queue: counters(1), by: counters(2) },
        _ => Seen::Qdisc(counters(1)),
    };
    Watched { info, seen, serial: None }
}
