//! The queue of a host: the meaning of its keys.

use super::format::context::{Context, Place};
use super::format::keys::At;
use super::path::queue::{self, Codel, PathQueue, Red};
use super::show;
use super::written::{self, QdiscKind};
use fullpipe_base::units::{Framing, Rate, Time};
use fullpipe_sim::config::{self, Discipline, QueueLimit};
use serde::Serialize;

/// Packets that codel and netem hold by default (`DEFAULT_CODEL_LIMIT`, `tc`).
const PACKETS: u32 = 1000;

/// The queue between TCP and the driver.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Qdisc {
    /// Its kind.
    #[serde(serialize_with = "show::choice")]
    pub kind: QdiscKind,
    /// Capacity.
    #[serde(serialize_with = "show::queue_limit")]
    pub limit: QueueLimit,
    /// Packets of one flow; none but with fq.
    #[serde(serialize_with = "show::some_packets", skip_serializing_if = "Option::is_none")]
    pub flow_limit: Option<u32>,
    /// Bytes that a flow of fq sends before it is held to a rate; none: ten full packets.
    #[serde(serialize_with = "show::some_size", skip_serializing_if = "Option::is_none")]
    pub initial_quantum: Option<u32>,
    /// Largest rate of each flow of fq, whole bytes per second.
    #[serde(serialize_with = "show::some", skip_serializing_if = "Option::is_none")]
    pub maxrate: Option<Rate>,
    /// None but with codel and fq_codel.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub codel: Option<Codel>,
    /// None but with red.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub red: Option<Red>,
    /// None but with netem.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub netem: Option<Netem>,
}

/// netem: delay and loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Netem {
    /// Delay of each packet.
    #[serde(serialize_with = "show::shown")]
    pub delay: Time,
    /// Probability that a packet is lost (0 to 1).
    pub loss: f64,
}

impl Qdisc {
    /// Capacity in bytes or packets, as Linux takes it.
    pub fn limit(&self) -> u32 {
        match self.limit {
            QueueLimit::Packets(packets) => packets,
            QueueLimit::Bytes(bytes) => u32::try_from(bytes).unwrap_or(u32::MAX),
        }
    }

    /// The queue for the simulator, in front of a card of that rate on a path of that MTU. `pfifo` equals `pfifo_fast`
    /// with packets of one priority.
    pub(super) fn config(&self, nic_rate: Rate, mtu: u32) -> config::Qdisc {
        // All kinds share one written table; each takes what it knows.
        let Qdisc { kind, limit, flow_limit, initial_quantum, maxrate, codel, red, netem } = self;
        let largest = mtu + Framing::Ethernet.overhead();
        let codel = codel.map(|codel| codel.config(largest));
        let packet = u64::from(mtu + Framing::EthernetWire.overhead());
        // A trace link with hardly an opportunity has a mean rate of 0, and so has a card by default.
        let packet_time = Rate(nic_rate.0.max(1)).time_for(packet);
        let discipline = match kind {
            QdiscKind::PfifoFast | QdiscKind::Pfifo => None,
            QdiscKind::Bfifo => Some(Discipline::Fifo),
            QdiscKind::Fq => {
                let flow_limit = flow_limit.unwrap_or(u32::MAX);

                // Keys that are not written have Linux's defaults.
                let usual = config::Fq::new(flow_limit, largest);
                let initial_quantum = initial_quantum.unwrap_or(usual.initial_quantum);
                Some(Discipline::Fq(config::Fq { initial_quantum, max_rate: *maxrate, ..usual }))
            }
            QdiscKind::Codel => codel.map(Discipline::Codel),
            QdiscKind::FqCodel => codel.map(Discipline::FqCodel),
            QdiscKind::Red => red.map(|red| Discipline::Red(red.config(packet_time))),
            QdiscKind::Netem => netem.map(|netem| {
                Discipline::Netem(config::Netem { delay: netem.delay, loss: netem.loss })
            }),
        };
        discipline
            .map_or(config::Qdisc::PfifoFast, |discipline| config::Qdisc::Of(discipline, *limit))
    }
}

/// A queue, by default with the capacity that Linux gives its kind; `pfifo_fast` has the kernel's.
pub(super) fn qdisc(
    written: &written::Qdisc,
    of_kernel: u32,
    mtu: u32,
    cx: &mut Context,
) -> Option<Qdisc> {
    let kind = written.kind.as_ref()?.value;

    // Keys of other kinds are refused first: they would have no effect.
    foreign(written, kind, cx)?;
    let limit = limit(written, kind, of_kernel, mtu, cx)?;
    let asked = as_path_queue(written);
    let flow_limit = written.flow_limit.as_ref();
    let flow_limit = flow_limit.map_or(queue::FQ_FLOW_PACKETS, |at| at.value.0 as u32);

    // RED completes its thresholds from the limit, which is in bytes.
    let red = match (kind, limit) {
        (QdiscKind::Red, QueueLimit::Bytes(limit)) => {
            let mut red = Red::read(&asked, cx)?;
            red.complete(limit);
            Some(red)
        }
        _ => None,
    };
    let codel = match kind {
        QdiscKind::Codel => Some(Codel::read(&asked, false, cx)?),
        QdiscKind::FqCodel => Some(Codel::read(&asked, true, cx)?),
        _ => None,
    };
    let netem = (kind == QdiscKind::Netem).then(|| Netem {
        delay: written.delay.as_ref().map_or(Time::ZERO, |at| Time::ns(at.value.0)),
        loss: written.loss.as_ref().map_or(0.0, |at| at.value.0),
    });
    let flow_limit = (kind == QdiscKind::Fq).then_some(flow_limit);
    let maxrate = written.maxrate.as_ref().map(|at| Rate(at.value.0));
    let initial_quantum = written.initial_quantum.as_ref().map(|at| at.value.0 as u32);
    Some(Qdisc { kind, limit, flow_limit, initial_quantum, maxrate, codel, red, netem })
}

/// The keys that queues of the path have, too.
fn as_path_queue(written: &written::Qdisc) -> PathQueue {
    PathQueue {
        place: written.place,
        wrong: written.wrong,
        limit: written.limit.clone(),
        discipline: None,
        ecn: written.ecn.clone(),
        target: written.target.clone(),
        interval: written.interval.clone(),
        update: None,
        min: written.min.clone(),
        max: written.max.clone(),
        probability: written.probability.clone(),
        weight: written.weight.clone(),
        flow_limit: None,
        rtt: None,
        ack_filter: None,
    }
}

/// The limit, in the kind's unit.
fn limit(
    written: &written::Qdisc,
    kind: QdiscKind,
    of_kernel: u32,
    mtu: u32,
    cx: &mut Context,
) -> Option<QueueLimit> {
    // Default lengths of Linux, in packets.
    let packets = match kind {
        QdiscKind::PfifoFast | QdiscKind::Pfifo | QdiscKind::Bfifo => Some(of_kernel),
        QdiscKind::Fq => Some(queue::FQ_PACKETS),
        QdiscKind::FqCodel => Some(queue::FQ_CODEL_PACKETS),
        QdiscKind::Codel | QdiscKind::Netem => Some(PACKETS),
        QdiscKind::Red => None,
    };

    // bfifo and red count bytes, all others packets.
    let in_bytes = matches!(kind, QdiscKind::Bfifo | QdiscKind::Red);
    let Some(at) = &written.limit else {
        let packet = u64::from(mtu + Framing::Ethernet.overhead());
        if packets.is_none() {
            cx.error("missing-key", written.place, "red needs `limit`")
                .expected("a size such as \"1MB\"");
        }

        // A default in bytes is that of the packets, each of full size.
        return packets.map(|packets| match in_bytes {
            true => QueueLimit::Bytes(u64::from(packets) * packet),
            false => QueueLimit::Packets(packets),
        });
    };
    match (at.value.0, in_bytes) {
        (QueueLimit::Packets(_), false) => Some(at.value.0),
        // The kernel keeps byte limits in 32 bits.
        (QueueLimit::Bytes(bytes), true) if bytes <= u64::from(u32::MAX) => Some(at.value.0),
        (_, in_bytes) => {
            let expected =
                if in_bytes { "a size below 4GiB" } else { "packets such as \"1000 packets\"" };
            cx.error("bad-value", at.place, "the kind has its limit in another unit")
                .expected(expected);
            None
        }
    }
}

/// Reports keys of other kinds.
fn foreign(written: &written::Qdisc, kind: QdiscKind, cx: &mut Context) -> Option<()> {
    fn place<T>(at: &Option<At<T>>) -> Option<Place> {
        at.as_ref().map(|at| at.place)
    }
    let codel = ["target", "interval", "ecn"];

    // Keys that each kind has besides `limit`.
    let own: &[&str] = match kind {
        QdiscKind::PfifoFast | QdiscKind::Pfifo | QdiscKind::Bfifo => &[],
        QdiscKind::Fq => &["flow_limit", "initial_quantum", "maxrate"],
        QdiscKind::FqCodel | QdiscKind::Codel => &codel,
        QdiscKind::Red => &["min", "max", "probability", "weight", "ecn"],
        QdiscKind::Netem => &["delay", "loss"],
    };
    let keys = [
        ("flow_limit", place(&written.flow_limit)),
        ("initial_quantum", place(&written.initial_quantum)),
        ("maxrate", place(&written.maxrate)),
        ("ecn", place(&written.ecn)),
        ("target", place(&written.target)),
        ("interval", place(&written.interval)),
        ("min", place(&written.min)),
        ("max", place(&written.max)),
        ("probability", place(&written.probability)),
        ("weight", place(&written.weight)),
        ("delay", place(&written.delay)),
        ("loss", place(&written.loss)),
    ];
    let mut found = Some(());
    for (key, place) in keys {
        let Some(place) = place.filter(|_| !own.contains(&key)) else { continue };
        let keys = ["limit"].iter().chain(own).copied().collect::<Vec<_>>().join(", ");
        cx.error("conflict", place, format!("`{key}` is of another kind"))
            .expected(format!("with this one: {keys}"));
        found = None;
    }
    found
}
