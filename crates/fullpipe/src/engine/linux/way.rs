//! The path as routers with qdiscs, and where the trace's stages are found among them.

use super::pieces::{Capacity, Piece, piece, tbf};
use crate::scenario::{Element, Resolved};
use fullpipe_guest::plan::{Drops, Qdisc, Router, Watch, Way};
use fullpipe_guest::record::{LEFT_DEVICE, RIGHT_DEVICE, qdisc_handle};
use fullpipe_sim::trace::StageInfo;
use fullpipe_sim::units::{Framing, Rate};

/// Largest packet that TCP hands down to be split by the card (GSO_MAX_SIZE), bytes.
const GSO_MAX_SIZE: u32 = 65_536;
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
pub(super) fn routers(run: &Resolved) -> Result<(Vec<Router>, Vec<Watched>), (String, String)> {
    let (there, back) = (direction(&run.path.forward, run)?, direction(&run.path.back, run)?);
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

fn direction(elements: &[Element], run: &Resolved) -> Result<Direction, (String, String)> {
    let mut direction = Direction::default();
    for element in elements {
        let found = piece(&element.ask(run), run.path.mtu);
        match found.map_err(|why| (element.name().to_string(), why))? {
            Piece::Qdiscs(qdiscs, capacity) => direction.pass(stage(element, capacity), qdiscs),
            Piece::Drops(drops) => direction.lose(stage(element, None), drops),
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
    fn lose(&mut self, info: StageInfo, drops: Drops) {
        let flow = drops.flow;
        let joins = |way: &&mut Way| {
            way.qdiscs.is_empty() && way.drops.iter().all(|other| other.flow != flow)
        };
        match self.ways.last_mut().filter(joins) {
            Some(way) => way.drops.push(drops),
            None => self.ways.push(Way { drops: vec![drops], qdiscs: Vec::new() }),
        }
        self.stages.push((info, self.ways.len() - 1, Some(flow)));
    }
}

fn stage(element: &Element, capacity: Capacity) -> StageInfo {
    let (unit, capacity) = capacity.map_or(("segment", None), |(unit, n)| (unit, Some(n)));
    let (name, kind) = (element.name().into(), element.kind());
    StageInfo { index: 0, name, kind, direction: "", unit, capacity }
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
