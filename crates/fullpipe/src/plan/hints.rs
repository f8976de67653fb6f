//! Hints on other settings of a path: pacing, qdisc, MTU, streams, rings, memory. No hint is a setting to copy blindly;
//! each says when it is due.
//!
//! Limits:
//! - No run proves a hint.

use super::Demand;
use crate::numbers;
use crate::scenario::outline;
use crate::sizing::sizes::{self, Buffers, MOST_STREAMS, PACES_ITSELF, SHALLOW, mib, sizes};
use fullpipe_base::units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Advice that depends on something that the path's numbers do not say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hint {
    /// "loss", "streams", "mtu", "pacing", "qdisc", "rings", "memory", "one flow" or "connections".
    pub about: String,
    /// When it is due, what to do, and what it gains.
    pub text: String,
}

/// Below this rate larger frames are not worth a word.
const FAST: Rate = Rate::mbit(500);
/// MTU with jumbo frames.
const JUMBO: u32 = 9000;
/// Time for which a ring holds arriving packets while the CPU is away: a timer tick with HZ 1000.
const AWAY: Time = Time::ms(1);
/// A usual ring of a card, and the largest that is advised, descriptors.
const RINGS: [u64; 2] = [512, 8192];

/// Every hint for the path. `own`: the buffers that the hosts will have. `needed`: the flows that fill the path, where
/// the requested ones do not.
pub fn hints(demand: &Demand, own: Buffers, needed: Option<u64>) -> Vec<Hint> {
    // Memory and pace are for the advised number of flows.
    let advised = needed.filter(|n| *n <= MOST_STREAMS);
    let many = demand.with_flows(advised.unwrap_or(demand.flows.into()));

    // Hints in the order of their effect; those without a text drop out.
    let all = [
        ("loss", loss(demand)),
        ("streams", needed.map(streams)),
        ("mtu", mtu(demand)),
        ("pacing", Some(pacing(&many))),
        ("qdisc", Some(qdisc(demand))),
        ("rings", rings(demand)),
        ("memory", Some(memory(&many, own))),
        ("one flow", alone(demand, own)),
        ("connections", reconnect(demand, own)),
    ];
    all.into_iter()
        .filter_map(|(about, text)| Some(Hint { about: about.into(), text: text? }))
        .collect()
}

fn loss(demand: &Demand) -> Option<String> {
    let packets = sizes::lossy_window(demand)?.min(demand.path.bdp_packets());
    let name = demand.congestion.as_deref().unwrap_or("cubic");
    Some(format!(
        "a loss of {} leaves one flow of {name} {} packets in flight on average, {} (RFC 9438, section 5). Find \
         the loss; or use parallel flows, or bbr, which does not take loss as congestion",
        outline::probability(demand.loss),
        numbers::short(packets),
        numbers::rate(sizes::lossy_mbit(demand))
    ))
}

fn streams(needed: u64) -> String {
    match needed > MOST_STREAMS {
        true => format!("{} parallel flows would fill the path: too many", numbers::count(needed)),
        false => {
            format!("by arithmetic {needed} parallel flows fill the path (iperf3 -P {needed})")
        }
    }
}

fn mtu(demand: &Demand) -> Option<String> {
    let path = &demand.path;

    // Slow paths gain too little from large packets.
    if path.mtu >= JUMBO || path.rate < FAST {
        return None;
    }
    let large = Demand { path: crate::sizing::Question { mtu: JUMBO, ..*path }, ..demand.clone() };
    let (own, more) = (demand.payload_mbit(), large.payload_mbit());
    let fewer = f64::from(large.path.mss()) / f64::from(path.mss());
    Some(format!(
        "MTU 9000 carries {} instead of {} of payload ({}) in {} times fewer packets, where every device of the path has \
         it. Test: ping -M do -s 8972",
        numbers::rate(more),
        numbers::short(own),
        numbers::difference(more / own - 1.0),
        numbers::short(fewer)
    ))
}

fn pacing(demand: &Demand) -> String {
    let queue = (demand.path.bdp_bytes() as f64 * SHALLOW) as u64;
    let pace = sizes::paced(demand);
    let flow = if demand.flows == 1 { "the flow" } else { "each flow" };
    format!(
        "where the queue of the path is below {} (0.4 of the bandwidth-delay product), let {flow} send just below the \
         path: SO_MAX_PACING_RATE {} bytes/s (iperf3 --fq-rate {}K). It must be no higher than the true rate, and at most 3 % below",
        mib(queue),
        numbers::count(pace),
        pace * 8 / 1000
    )
}

fn qdisc(demand: &Demand) -> String {
    match demand.path.kernel >= PACES_ITSELF {
        true => "leave it: TCP paces without fq since 4.13. `fq maxrate` is no substitute: the excess waits in the host"
            .into(),
        false => "net.core.default_qdisc = fq, where pacing is due: this kernel paces with fq alone".into(),
    }
}

fn rings(demand: &Demand) -> Option<String> {
    let packets = demand.path.rate.0 as f64 / 8.0 / f64::from(demand.path.packet());
    let away = (packets * AWAY.as_secs_f64()).ceil() as u64;
    let ring = away.next_power_of_two().clamp(RINGS[0], RINGS[1]);
    (ring > RINGS[0]).then(|| format!(
        "1 ms of the path are {} packets. If rx_missed or rx_no_buffer grow (ethtool -S DEV), ethtool -G DEV rx {ring}. \
         Leave the transmit ring",
        numbers::count(away)
    ))
}

fn memory(demand: &Demand, own: Buffers) -> String {
    let flows = u64::from(demand.flows);
    format!(
        "at most {} at the sender and {} at the receiver, if all buffers were full at once",
        mib(own.send.saturating_mul(flows)),
        mib(own.receive.saturating_mul(flows))
    )
}

/// The sizes for a flow that has the path alone, where buffers are sized for several.
fn alone(demand: &Demand, own: Buffers) -> Option<String> {
    // Nothing is set for several flows: nothing is to be set for one.
    if own == sizes(demand).today {
        return None;
    }
    let one = sizes(&Demand { flows: 1, ..demand.clone() }).advised;
    (one != own).then(|| {
        format!(
            "a sysctl holds for every socket: a flow that has the path alone needs {} of tcp_rmem and {} of tcp_wmem",
            mib(one.receive),
            mib(one.send)
        )
    })
}

fn reconnect(demand: &Demand, own: Buffers) -> Option<String> {
    (own.receive != sizes(demand).today.receive).then(|| {
        "a connection that is open keeps its old receive buffer: connect again after setting tcp_rmem".into()
    })
}
