//! The path as routers with qdiscs, and where the trace's stages are found among them.

use fullpipe_guest::plan::{Drops, Loss, Qdisc, Router, Watch, Way};
use fullpipe_guest::record::{LEFT_DEVICE, RIGHT_DEVICE, qdisc_handle};
use fullpipe_sim::config::{self, Element, QueueLimit};
use fullpipe_sim::trace::StageInfo;
use fullpipe_sim::units::{Framing, Rate};

/// Bytes of the Ethernet header, which Linux counts with a packet.
const ETHERNET_HEADER: i32 = 14;
/// Largest packet that TCP hands down to be split by the card (GSO_MAX_SIZE), bytes.
const GSO_MAX_SIZE: u32 = 65_536;
/// A rate may be exceeded for so long, ns: qdiscs' timers come late by about 500 ns.
const SLACK_NS: u64 = 4_000;
/// A queue that bounds nothing, packets.
const NO_LIMIT: u32 = 100_000_000;

/// Where the counters of a stage are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Counters {
    /// Namespace: 0 the sender, then the routers, then the receiver.
    pub(super) namespace: u16,
    /// Number of its device.
    pub(super) device: u32,
    /// Handle of the qdisc.
    pub(super) handle: u32,
}

/// What tells about a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// A qdisc's counters.
    Qdisc(Counters),
    /// The guest's word at the end about a list of losses.
    List(List),
}

/// Which list of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct List {
    pub(super) router: u16,
    pub(super) flow: u16,
    /// Whether it stands on the ACKs' way.
    pub(super) back: bool,
}

/// A stage of the trace.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Watched {
    pub(super) info: StageInfo,
    pub(super) seen: Seen,
}

impl Watched {
    /// The qdisc that the guest has to watch for it.
    pub(super) fn qdisc(&self) -> Option<Watch> {
        let Seen::Qdisc(Counters { namespace, device, handle }) = self.seen else { return None };
        Some(Watch { namespace, device, handle })
    }
}

/// One direction of the path: what stands on each device, in the order in which packets come to it.
#[derive(Default)]
struct Direction {
    ways: Vec<Way>,
    /// Stages with the way that they are on; the flow of which a list loses packets.
    stages: Vec<(StageInfo, usize, Option<u16>)>,
}

/// The routers of a path and the stages on them, data's way first.
///
/// # Errors
/// Name of the element that cannot be had, and why.
pub(super) fn routers(
    forward: &[Element],
    back: &[Element],
    mtu: u32,
) -> Result<(Vec<Router>, Vec<Watched>), (String, String)> {
    let (there, back) = (direction(forward, mtu)?, direction(back, mtu)?);
    let count = there.ways.len().max(back.ways.len()).max(1);
    let mut routers = vec![Router::default(); count];
    for (router, way) in routers.iter_mut().zip(&there.ways) {
        router.forward = way.clone();
    }
    for (router, way) in routers.iter_mut().rev().zip(&back.ways) {
        router.back = way.clone();
    }
    let ahead = there.stages.into_iter().map(|(info, way, list)| {
        watched(StageInfo { direction: "forward", ..info }, way, RIGHT_DEVICE, list)
    });
    let behind = back.stages.into_iter().map(|(info, way, list)| {
        watched(StageInfo { direction: "back", ..info }, count - 1 - way, LEFT_DEVICE, list)
    });
    Ok((routers, ahead.chain(behind).collect()))
}

fn watched(info: StageInfo, router: usize, device: u32, list: Option<u16>) -> Watched {
    let router = router as u16;
    let qdisc = Counters { namespace: router + 1, device, handle: qdisc_handle(0) };
    let list = list.map(|flow| List { router, flow, back: device == LEFT_DEVICE });
    Watched { info, seen: list.map_or(Seen::Qdisc(qdisc), Seen::List) }
}

fn direction(elements: &[Element], mtu: u32) -> Result<Direction, (String, String)> {
    let mut direction = Direction::default();
    for element in elements {
        let why = |why: String| (element.name().to_string(), why);
        match element {
            Element::Drop(list) => direction.lose(list),
            Element::Link(link) => {
                let (qdiscs, capacity) = link_qdiscs(link, mtu).map_err(why)?;
                direction.pass(stage(&link.name, "link", capacity), qdiscs);
            }
            Element::Delay(delay) if delay.timer.is_none() => {
                let limit = delay.limit.min(NO_LIMIT);
                let capacity =
                    (delay.limit < u32::MAX).then_some(("segment", u64::from(delay.limit)));
                let qdisc = netem(delay.delay.0, limit, Loss::None, 0);
                direction.pass(stage(&delay.name, "delay", capacity), vec![qdisc]);
            }
            Element::Loss(loss) if loss.unit == config::Unit::Segment => {
                let lost = Loss::Random { probability: loss.probability };
                direction.pass(stage(&loss.name, "loss", None), vec![netem(0, NO_LIMIT, lost, 0)]);
            }
            Element::GilbertElliott(ge) if ge.unit == config::Unit::Segment => {
                let (p, r, bad, good) = (ge.p, ge.r, ge.loss_bad, ge.loss_good);
                let lost = Loss::GilbertElliott { p, r, bad, good };
                let info = stage(&ge.name, "gilbert-elliott", None);
                direction.pass(info, vec![netem(0, NO_LIMIT, lost, 0)]);
            }
            Element::Delay(_) => {
                return Err(why("a delay by a timer is of old kernels' netem".into()));
            }
            Element::Loss(_) | Element::GilbertElliott(_) => {
                return Err(why(
                    "here packets on the path are single segments (unit = \"segment\")".into(),
                ));
            }
            _ => return Err(why("this kind of element is not built for Linux yet".into())),
        }
    }
    Ok(direction)
}

impl Direction {
    /// A stage that is a qdisc on a device of its own; a list of losses may stand before it.
    fn pass(&mut self, info: StageInfo, qdiscs: Vec<Qdisc>) {
        match self.ways.last_mut().filter(|way| way.qdiscs.is_empty()) {
            Some(way) => way.qdiscs = qdiscs,
            None => self.ways.push(Way { drops: Vec::new(), qdiscs }),
        }
        self.stages.push((info, self.ways.len() - 1, None));
    }

    /// A list of packets to lose: where they come into a router, so before its qdisc.
    fn lose(&mut self, list: &config::Drop) {
        let config::Drop { name, flow, segments, acks } = list.clone();
        let joins = |way: &&mut Way| {
            way.qdiscs.is_empty() && way.drops.iter().all(|other| other.flow != flow)
        };
        let drops = Drops { flow, segments, acks };
        match self.ways.last_mut().filter(joins) {
            Some(way) => way.drops.push(drops),
            None => self.ways.push(Way { drops: vec![drops], qdiscs: Vec::new() }),
        }
        self.stages.push((stage(&name, "drop", None), self.ways.len() - 1, Some(flow)));
    }
}

fn stage(name: &str, kind: &'static str, capacity: Option<(&'static str, u64)>) -> StageInfo {
    let (unit, capacity) = capacity.map_or(("segment", None), |(unit, n)| (unit, Some(n)));
    StageInfo { index: 0, name: name.into(), kind, direction: "", unit, capacity }
}

fn netem(delay_ns: u64, limit: u32, loss: Loss, seed: u64) -> Qdisc {
    let (jitter_ns, duplicate, reorder) = (0, 0.0, 0.0);
    Qdisc::Netem { delay_ns, jitter_ns, limit, loss, duplicate, reorder, seed }
}

type Capacity = Option<(&'static str, u64)>;

fn link_qdiscs(link: &config::Link, mtu: u32) -> Result<(Vec<Qdisc>, Capacity), String> {
    let frame = mtu + link.framing.overhead();
    let (limit, child, capacity) = match link.limit {
        QueueLimit::Bytes(bytes) => {
            let limit = u32::try_from(bytes).map_err(|_| "a queue of 4 GiB or more".to_string())?;
            (limit, Qdisc::Bfifo { limit }, ("byte", bytes))
        }
        QueueLimit::Packets(limit) => {
            (u32::MAX, Qdisc::Pfifo { limit }, ("segment", u64::from(limit)))
        }
    };
    Ok((vec![tbf(link.rate, link.framing, frame, limit), child], Some(capacity)))
}

/// A rate that counts by `framing`; packets are `largest` bytes at most, by the same count.
fn tbf(rate: Rate, framing: Framing, largest: u32, limit: u32) -> Qdisc {
    let slack = u128::from(rate.0) * u128::from(SLACK_NS) / 8_000_000_000;
    let burst = u32::try_from(slack + u128::from(largest)).unwrap_or(u32::MAX);
    let overhead = framing.overhead() as i32 - ETHERNET_HEADER;
    Qdisc::Tbf { rate: rate.0, burst, limit, overhead }
}

/// A host's card: its rate, and the queue in front of it, which decides about what TCP hands down.
pub(super) fn card(rate: Rate, packets: u32, mtu: u32, tso: bool) -> Vec<Qdisc> {
    let framing = Framing::EthernetWire;
    let segments = if tso { GSO_MAX_SIZE.div_ceil(mtu.max(1)) + 1 } else { 1 };
    let largest = segments * (mtu + framing.overhead());
    vec![tbf(rate, framing, largest, u32::MAX), Qdisc::Pfifo { limit: packets }]
}

/// Stage of the sender's queue.
pub(super) fn card_stage(packets: u32) -> Watched {
    let info = StageInfo {
        index: 0,
        name: "sender.qdisc".into(),
        kind: "qdisc",
        direction: "forward",
        unit: "skb",
        capacity: Some(packets.into()),
    };
    let counters = Counters { namespace: 0, device: RIGHT_DEVICE, handle: qdisc_handle(1) };
    Watched { info, seen: Seen::Qdisc(counters) }
}
