//! The path as routers with qdiscs, and where the trace's stages are found among them.

use super::nic::card_wire;
use super::realise::{self, Capacity, Chain, Realised, Serial, Wire};
use fullpipe_base::rng::Rng;
use fullpipe_base::trace::StageInfo;
use fullpipe_base::units::Time;
use fullpipe_guest::plan::{self, Apart, Drops, Police, Router, Watch, Way};
use fullpipe_guest::record::{INCOMING_HANDLE, LEFT_DEVICE, RIGHT_DEVICE, qdisc_handle};
use fullpipe_scenario::{Element, Host, Impairment, Resolved};

/// Flows that may have a qdisc of their own on one device.
const MOST_APART: usize = 15;

/// Where the counters of a stage are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Counters {
    /// Number of the namespace.
    pub(super) namespace: u16,
    /// Number of its device.
    pub(super) device: u32,
    /// Handle of the qdisc.
    pub(super) handle: u32,
}

/// Source of a stage's counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// A qdisc's counters.
    Qdisc(Counters),
    /// Counters of a qdisc, and of the qdisc below it that marks packets.
    Marking { queue: Counters, by: Counters },
    /// Counters of a qdisc that sends more than arrives, and of one that counted what arrives.
    Copies { after: Counters, before: Counters },
    /// Counters of an ingress qdisc: it counts all packets that arrive, also those that it drops.
    Incoming(Counters),
    /// Counters at the ingress of a router, and of the next router: no packet waits between them.
    Router { before: Counters, after: Counters },
    /// The guest's word at the end about a list of losses.
    List(List),
    /// The emulator of the engine `host`, which samples it.
    Emulator,
}

impl Seen {
    /// The counters that it needs.
    fn counters(self) -> impl Iterator<Item = Counters> {
        let (one, other) = match self {
            Seen::Qdisc(at) | Seen::Incoming(at) => (Some(at), None),
            Seen::Marking { queue: one, by: other }
            | Seen::Copies { after: one, before: other }
            | Seen::Router { before: one, after: other } => (Some(one), Some(other)),
            Seen::List(_) | Seen::Emulator => (None, None),
        };
        one.into_iter().chain(other)
    }

    /// Namespaces that hold its qdiscs.
    pub(super) fn namespaces(self) -> impl Iterator<Item = u16> {
        self.counters().map(|at| at.namespace)
    }
}

/// Which list of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct List {
    pub(super) router: u16,
    pub(super) flow: u16,
    /// Whether the stage is in the direction of ACKs.
    pub(super) back: bool,
}

/// A stage of the trace.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Watched {
    pub(super) info: StageInfo,
    pub(super) seen: Seen,
    /// Rule by which the busy time follows from the sent bytes.
    pub(super) serial: Option<Serial>,
}

/// One direction of the path: the elements on each device, in the packets' order.
#[derive(Default)]
struct Direction {
    ways: Vec<Way>,
    /// Stages with the way that they are on.
    stages: Vec<Placed>,
    /// The wire of the link that was last, until its packets have arrived.
    sent: Vec<(Time, plan::Wire)>,
}

/// A stage, the index of its [`Way`], its part of the way, and the rule for its busy time.
struct Placed {
    info: StageInfo,
    way: usize,
    by: By,
    serial: Option<Serial>,
}

/// Part of a device that a stage describes.
#[derive(Clone, Copy)]
enum By {
    /// Its root qdisc.
    Root,
    /// The root qdisc, and the qdisc of that number, which marks packets.
    Marking(usize),
    /// The root qdisc, behind the previous device's root qdisc.
    Copies,
    /// The qdisc of its flow of that number.
    Apart(usize),
    /// Its token bucket.
    Police,
    /// Its route, which its token bucket and that of the next way count before and behind.
    Router,
    /// Its list of losses of that flow.
    List(u16),
}

/// The qdiscs that the guest has to watch for these stages, each once.
pub(super) fn watches(stages: &[Watched]) -> Vec<Watch> {
    let mut all: Vec<Watch> = Vec::new();
    for Counters { namespace, device, handle } in stages.iter().flat_map(|s| s.seen.counters()) {
        let watch = Watch { namespace, device, handle };
        if !all.contains(&watch) {
            all.push(watch);
        }
    }
    all
}

/// The routers of a path and the stages on them, data's way first.
///
/// # Errors
/// Name of the element that cannot be had, and why.
pub(super) fn routers(run: &Resolved) -> Result<(Vec<Router>, Vec<Watched>), (String, String)> {
    let hosts = &run.hosts;
    let around = run.surroundings();
    let mut elements = run.path.forward.iter().chain(&run.path.back);
    let answers = elements
        .any(|own| matches!(own.impairment(&around), Impairment::Narrow { icmp: true, .. }));
    let there = direction(&run.path.forward, &hosts.sender, run, answers)?;
    let back = direction(&run.path.back, &hosts.receiver, run, answers)?;
    // Where there are extra hosts a router joins them, which does no more.
    let first = usize::from(!run.host.is_empty());
    // What a router sends back takes the whole way back, so that one lies in front of the other. It passes no host's card:
    // the cards' wires are next to their hosts.
    let [ahead, behind] = [&there, &back].map(|way| way.ways.len());
    let (count, front, beyond) = match answers {
        true => (ahead + behind, behind.saturating_sub(1), ahead.saturating_sub(1)),
        false => (ahead.max(behind).max(1), 0, 0),
    };
    let count = count + first;
    let forward =
        Course { back: false, out: RIGHT_DEVICE, comes_in: LEFT_DEVICE, first, skips: front };
    let backward = Course {
        back: true,
        out: LEFT_DEVICE,
        comes_in: RIGHT_DEVICE,
        first: count - 1,
        skips: beyond,
    };
    let mut routers = vec![Router::default(); count];
    for (number, way) in there.ways.iter().enumerate() {
        routers[usize::from(forward.router(number))].forward = way.clone();
    }
    for (number, way) in back.ways.iter().enumerate() {
        routers[usize::from(backward.router(number))].back = way.clone();
    }
    let ahead = there.stages.into_iter().map(|stage| forward.watched(stage));
    let behind = back.stages.into_iter().map(|stage| backward.watched(stage));
    Ok((routers, ahead.chain(behind).collect()))
}

/// Course of one direction over the routers.
struct Course {
    /// Whether the direction is back, with falling numbers of routers.
    back: bool,
    out: u32,
    comes_in: u32,
    /// The router of the first way.
    first: usize,
    /// Routers between that one and the one of the second way.
    skips: usize,
}

impl Course {
    fn router(&self, way: usize) -> u16 {
        let away = if way > 0 { self.skips + way } else { 0 };
        if self.back { (self.first - away) as u16 } else { (self.first + away) as u16 }
    }

    fn watched(&self, placed: Placed) -> Watched {
        let Placed { info, way, by, serial } = placed;
        let counters =
            |way, device, handle| Counters { namespace: self.router(way) + 1, device, handle };
        let root = |way| counters(way, self.out, qdisc_handle(0));
        let seen = match by {
            By::Root => Seen::Qdisc(root(way)),
            By::Marking(number) => Seen::Marking {
                queue: root(way),
                by: counters(way, self.out, qdisc_handle(number)),
            },
            By::Copies => Seen::Copies { after: root(way), before: root(way - 1) },
            By::Apart(band) => Seen::Qdisc(counters(way, self.out, qdisc_handle(band + 1))),
            By::Police => Seen::Incoming(counters(way, self.comes_in, INCOMING_HANDLE)),
            By::Router => {
                let incoming = |way| counters(way, self.comes_in, INCOMING_HANDLE);
                Seen::Router { before: incoming(way), after: incoming(way + 1) }
            }
            By::List(flow) => Seen::List(List { router: self.router(way), flow, back: self.back }),
        };
        Watched {
            info: StageInfo { direction: if self.back { "back" } else { "forward" }, ..info },
            seen,
            serial,
        }
    }
}

/// Packets on the links of `run`.
pub(super) fn wire(run: &Resolved) -> Wire {
    Wire { mtu: run.path.mtu, gso: run.path.gso }
}

/// The way through `elements`, behind the card of that host. `apart`: the card's wire is a way of its own.
fn direction(
    elements: &[Element],
    host: &Host,
    run: &Resolved,
    apart: bool,
) -> Result<Direction, (String, String)> {
    let sent = vec![(Time::ZERO, card_wire(host, wire(run)))];
    let mut direction = Direction { sent, ..Direction::default() };
    if apart {
        direction.arrive(None);
    }
    let around = run.surroundings();
    for element in elements {
        let failed = |why: String| (element.name().to_string(), why);
        let impairment = element.impairment(&around);
        let mut realised = realise::realise(&impairment, wire(run)).map_err(failed)?;
        realised.seed(Rng::new(run.seed, element.name()).next_u64());

        // Only a chain of qdiscs can take over the wire of the element before it.
        if !matches!(realised, Realised::Qdiscs(_)) {
            direction.arrive(None);
        }
        match realised {
            Realised::Qdiscs(mut chain) => {
                direction.arrive(Some(&mut chain));
                let by = chain.marking.map_or(By::Root, By::Marking);
                direction.pass(stage(element, chain.capacity, run), chain, by);
            }
            Realised::Copies(_) if direction.copies() => {
                return Err(failed("a copy is not copied again: one duplication on a way".into()));
            }
            Realised::Copies(chain) => {
                direction.count();
                direction.pass(stage(element, None, run), chain, By::Copies);
            }
            Realised::Apart(apart) => direction.part(stage(element, None, run), apart),
            Realised::Drops(drops) => {
                direction.lose(stage(element, None, run), behind_handshake(drops, run));
            }
            Realised::Police(police) => direction.police(stage(element, None, run), police),
            Realised::Router(mtu) => direction.answer(stage(element, None, run), mtu),
        }
        if let Impairment::Narrow { mss_clamp: Some(most), .. } = impairment {
            direction.clamp(most);
        }
    }

    // No element follows, so the wire of the last one is a qdisc of its own.
    direction.arrive(None);
    Ok(direction)
}

/// The first ACK of the end that connects is of the SYN-ACK, and no ACK of the scenario's. Other ACKs of that end are
/// of answers: in their lists the numbers are one more on real Linux.
fn behind_handshake(drops: Drops, run: &Resolved) -> Drops {
    let answers = run.flow[usize::from(drops.flow)].reply_to.is_some();
    Drops {
        acks: drops.acks.into_iter().map(|number| number + u64::from(answers)).collect(),
        ..drops
    }
}

impl Direction {
    /// A stage that is a qdisc on a device of its own, perhaps behind a list of losses.
    fn pass(&mut self, info: StageInfo, mut chain: Chain, by: By) {
        let serial = chain.serial;
        self.sent = std::mem::take(&mut chain.wires);
        self.put(chain);
        self.stages.push(Placed { info, way: self.ways.len() - 1, by, serial });
    }

    /// Puts packets that a link has sent onto its wire, before they arrive at the next element.
    fn arrive(&mut self, next: Option<&mut Chain>) {
        if let Some(wire) = realise::on_the_wire(&std::mem::take(&mut self.sent), next) {
            self.put(wire);
        }
    }

    fn put(&mut self, chain: Chain) {
        let Chain { qdiscs, changes, .. } = chain;
        if self.ways.last().is_none_or(|way| !is_open(way)) {
            self.ways.push(Way::default());
        }
        if let Some(way) = self.ways.last_mut() {
            (way.qdiscs, way.changes) = (qdiscs, changes);
        }
    }

    /// Makes sure that the last qdisc counts the packets of the next element.
    fn count(&mut self) {
        if self.ways.last().is_none_or(|way| way.qdiscs.is_empty()) {
            self.put(realise::counter());
        }
    }

    fn copies(&self) -> bool {
        self.stages.iter().any(|stage| matches!(stage.by, By::Copies))
    }

    /// A list of packets to lose where they enter a router, so before its qdisc. The counter there is for a token
    /// bucket alone.
    fn lose(&mut self, info: StageInfo, drops: Drops) {
        let flow = drops.flow;
        let last = self.ways.last_mut().filter(|way| is_open(way) && way.police.is_none());
        match last.filter(|way| way.drops.iter().all(|other| other.flow != flow)) {
            Some(way) => way.drops.push(drops),
            None => self.ways.push(Way { drops: vec![drops], ..Way::default() }),
        }
        self.stages.push(Placed {
            info,
            way: self.ways.len() - 1,
            by: By::List(flow),
            serial: None,
        });
    }

    /// A qdisc for a flow. It joins the qdiscs of other flows where there are some and the flow has none yet.
    fn part(&mut self, info: StageInfo, apart: Apart) {
        // A router's bands are for one flow each, and a way with other qdiscs has none.
        let joins = self.ways.last().is_some_and(|way| {
            let of_others = way.apart.iter().all(|other| other.flow != apart.flow);
            way.qdiscs.is_empty() && way.apart.len() < MOST_APART && of_others
        });
        if !joins {
            self.ways.push(Way::default());
        }
        let number = self.ways.len() - 1;
        let flows = &mut self.ways[number].apart;
        flows.push(apart);
        self.stages.push(Placed {
            info,
            way: number,
            by: By::Apart(flows.len() - 1),
            serial: None,
        });
    }

    /// Adds a router with an MTU of its own. Token buckets that let all packets pass count them before and behind it.
    fn answer(&mut self, info: StageInfo, mtu: u32) {
        let police =
            Some(Police { rate: 1, burst: 1, overhead: 0, largest: Some(u16::MAX.into()) });
        self.ways.push(Way { police, mtu: Some(mtu), ..Way::default() });
        self.stages.push(Placed { info, way: self.ways.len() - 1, by: By::Router, serial: None });
        self.ways.push(Way { police, ..Way::default() });
    }

    /// The last router clamps the MSS, whichever way a SYN goes.
    fn clamp(&mut self, most: u32) {
        if let Some(way) = self.ways.last_mut() {
            way.mss_clamp = Some(most as u16);
        }
    }

    /// A token bucket where packets enter a router without other elements.
    fn police(&mut self, info: StageInfo, police: Police) {
        self.ways.push(Way { police: Some(police), ..Way::default() });
        self.stages.push(Placed { info, way: self.ways.len() - 1, by: By::Police, serial: None });
    }
}

/// Whether a device has no qdisc yet.
fn is_open(way: &Way) -> bool {
    way.qdiscs.is_empty() && way.apart.is_empty()
}

fn stage(element: &Element, capacity: Capacity, run: &Resolved) -> StageInfo {
    let (unit, capacity) = capacity.map_or(("segment", None), |(unit, n)| (unit, Some(n)));
    let unit = if run.path.gso && unit == "segment" { "skb" } else { unit };
    let (name, kind) = (element.name().into(), element.kind());
    StageInfo { index: 0, name, kind, direction: "", unit, capacity, timed: false }
}
