//! The path: hosts and routers, the links between them, and the qdiscs and programs on their devices.

use std::net::Ipv4Addr;

use fullpipe_guest::plan::{Host, Plan, Router, Way};
use fullpipe_guest::record::{LEFT_DEVICE, RIGHT_DEVICE};
use fullpipe_guest::refusal::{Role, Whose};

use crate::bpf::clamp;
use crate::bpf::classify;
use crate::bpf::police::{self, Policer};
use crate::drops::{Direction, Dropper};
use crate::error::{Error, Result};
use crate::layout;
use crate::namespaces::Namespace;
use crate::netlink::link::{self, End};
use crate::netlink::qdisc::Place;
use crate::netlink::route::{Metrics, Network};
use crate::sysctl;

/// Name of [`LEFT_DEVICE`].
const LEFT: &str = "left";
/// Name of [`RIGHT_DEVICE`].
const RIGHT: &str = "right";
/// Order of the program that clamps the MSS: other programs of a device have small numbers.
const BEHIND_OTHERS: u16 = u16::MAX;
/// Number of the first router's device that leads to the first extra host.
const FIRST_BESIDE: u32 = 10;

fn name_of(device: u32) -> &'static str {
    if device == LEFT_DEVICE { LEFT } else { RIGHT }
}

/// Namespaces and lists of the path, as they were set up.
pub struct Path {
    /// Namespaces from the sender to the receiver, then those of the extra hosts.
    pub namespaces: Vec<Namespace>,
    /// Lists of packets to lose, by router, forward before back.
    pub droppers: Vec<Dropper>,
    /// Token buckets.
    _policers: Vec<Policer>,
}

/// Sets the path of a plan up.
pub fn make(plan: &Plan) -> Result<Path> {
    let mut namespaces = make_namespaces(plan)?;
    let last = plan.receiver_at();
    for link in 0..last {
        let (before, after) = namespaces.split_at_mut(link + 1);

        // A host's larger MTU holds on the link to its first router.
        let ends =
            [(link == 0).then_some(&plan.sender), (link + 1 == last).then_some(&plan.receiver)];
        let larger = ends.into_iter().flatten().filter_map(|own| own.mtu).max();
        let mtu = larger.unwrap_or(plan.mtu);
        join(
            &mut before[link],
            &mut after[0],
            &Link { number: link, device: LEFT_DEVICE, name: LEFT, mtu },
            plan,
        )?;
    }
    route(&mut namespaces[..=last], plan)?;
    let to_receiver = |link| [(layout::right(last - 1), layout::right(link))];
    host(&mut namespaces[0], RIGHT_DEVICE, &plan.sender, &to_receiver(0))?;
    for (number, own) in plan.beside.iter().enumerate() {
        let link = layout::beside(plan, number);
        stand_beside(&mut namespaces, link, number, plan)?;
        host(&mut namespaces[link], RIGHT_DEVICE, &own.host, &to_receiver(link))?;
    }

    // The receiver sends ACKs and data to the sender and to each extra host.
    let clients = std::iter::once(0).chain(last + 1..namespaces.len());
    let to_clients = clients.map(|link| (layout::left(link), layout::left(last - 1)));
    let to_clients: Vec<_> = to_clients.collect();
    host(&mut namespaces[last], LEFT_DEVICE, &plan.receiver, &to_clients)?;

    // Elements of the path stand on the routers, on the sides of both directions.
    let (mut droppers, mut policers) = (Vec::new(), Vec::new());
    for (number, (router, namespace)) in plan.routers.iter().zip(&mut namespaces[1..]).enumerate() {
        for side in sides(router) {
            sort(namespace, &side, plan)?;
            set_qdiscs(namespace, side.out, side.way)?;
            droppers.extend(lose(namespace, number, &side, plan)?);
            policers.extend(limit(namespace, &side)?);
        }
        clamp(namespace, router)?;
    }
    Ok(Path { namespaces, droppers, _policers: policers })
}

/// Makes the namespaces, with their sysctls.
fn make_namespaces(plan: &Plan) -> Result<Vec<Namespace>> {
    let last = plan.receiver_at();
    let make = |number| {
        let namespace = Namespace::make(number)?;
        match number {
            0 => sysctl::set_all(Whose::Host(Role::Sender), &plan.sender.sysctl)?,
            _ if number == last => {
                sysctl::set_all(Whose::Host(Role::Receiver), &plan.receiver.sysctl)?;
            }
            _ if number > last => {
                let beside = number - last - 1;
                sysctl::set_all(Whose::Beside(beside), &plan.beside[beside].host.sysctl)?;
            }
            _ => sysctl::set(Whose::Router, "net/ipv4/ip_forward", "1")?,
        }
        Ok(namespace)
    };
    (0..=last + plan.beside.len()).map(make).collect()
}

/// A link between two neighbours.
struct Link<'a> {
    number: usize,
    /// Number and name of its device at the right neighbour.
    device: u32,
    name: &'a str,
    mtu: u32,
}

/// Joins two neighbours by a link, with `a` on its left and `b` on its right.
fn join(a: &mut Namespace, b: &mut Namespace, own: &Link, plan: &Plan) -> Result<()> {
    let &Link { number: link, device: index, name, mtu } = own;
    let here = End { index: RIGHT_DEVICE, name: RIGHT, mac: layout::mac(link, 1) };
    let there = End { index, name, mac: layout::mac(link, 2) };
    a.netlink.veth(&here, &there, &b.fd, mtu)?;
    let ends = [
        (&mut *a, &here, layout::left(link), &there, layout::right(link)),
        (&mut *b, &there, layout::right(link), &here, layout::left(link)),
    ];

    // Neighbours are fixed, so no ARP packets are on the path.
    for (namespace, end, ip, other, other_ip) in ends {
        namespace.enter()?;
        if !plan.gso {
            link::plain_frames(&namespace.any, end.name)?;
        }
        let netlink = &mut namespace.netlink;
        netlink.up(end.index)?;
        netlink.address(end.index, ip, layout::BITS)?;
        netlink.neighbour(end.index, other_ip, other.mac)?;
    }
    Ok(())
}

/// Gives each namespace the routes to the two outer links.
fn route(namespaces: &mut [Namespace], plan: &Plan) -> Result<()> {
    let last = namespaces.len() - 2;
    for (at, namespace) in namespaces.iter_mut().enumerate() {
        // Namespace `at` lies on the links `at - 1` and `at`.
        if at < last {
            let metrics = bound(plan, at, Direction::Forward);
            namespace.netlink.route(layout::network(last), layout::right(at), metrics)?;
        }
        if at > 1 {
            let metrics = bound(plan, at, Direction::Back);
            namespace.netlink.route(layout::network(0), layout::left(at - 1), metrics)?;
        }
    }
    Ok(())
}

/// Route metrics of namespace `at` in a direction: the MTU of a router that has one.
fn bound(plan: &Plan, at: usize, direction: Direction) -> Metrics {
    let router = at.checked_sub(1).and_then(|number| plan.routers.get(number));
    let way = router.map(|router| match direction {
        Direction::Forward => &router.forward,
        Direction::Back => &router.back,
    });
    Metrics { mtu: way.and_then(|way| way.mtu), ..Metrics::default() }
}

/// Joins an extra host to the first router, and gives the other namespaces a route to it.
fn stand_beside(
    namespaces: &mut [Namespace],
    link: usize,
    number: usize,
    plan: &Plan,
) -> Result<()> {
    let (before, after) = namespaces.split_at_mut(link);
    let name = format!("beside-{number}");
    let mtu = plan.beside[number].host.mtu.unwrap_or(plan.mtu);
    join(
        &mut after[0],
        &mut before[1],
        &Link { number: link, device: FIRST_BESIDE + number as u32, name: &name, mtu },
        plan,
    )?;
    let last = plan.receiver_at() - 1;
    let plain = Metrics::default();
    after[0].netlink.route(layout::network(last), layout::right(link), plain)?;
    // Routers behind the first one send to the extra host by the way back.
    for (at, namespace) in before[..=last + 1].iter_mut().enumerate().skip(2) {
        let metrics = bound(plan, at, Direction::Back);
        namespace.netlink.route(layout::network(link), layout::left(at - 1), metrics)?;
    }
    Ok(())
}

/// Actions of a router on the packets of one direction.
struct Side<'a> {
    way: &'a Way,
    /// Devices by which packets leave and arrive.
    out: u32,
    comes_in: u32,
    direction: Direction,
}

fn sides(router: &Router) -> [Side<'_>; 2] {
    let (left, right) = (LEFT_DEVICE, RIGHT_DEVICE);
    [
        Side { way: &router.forward, out: right, comes_in: left, direction: Direction::Forward },
        Side { way: &router.back, out: left, comes_in: right, direction: Direction::Back },
    ]
}

fn set_qdiscs(namespace: &mut Namespace, device: u32, way: &Way) -> Result<()> {
    for (number, qdisc) in way.qdiscs.iter().enumerate() {
        namespace.netlink.qdisc(Place::chain(device, number), number, qdisc)?;
    }
    Ok(())
}

/// Gives flows qdiscs of their own.
fn sort(namespace: &mut Namespace, side: &Side<'_>, plan: &Plan) -> Result<()> {
    let flows = &side.way.apart;
    if flows.is_empty() {
        return Ok(());
    }
    namespace.netlink.prio(side.out, flows.len())?;
    for (band, apart) in flows.iter().enumerate() {
        let place = Place::band(side.out, band);
        namespace.netlink.qdisc(place, band + 1, &apart.qdisc)?;
        let program = classify::load(side.direction.packets_of(apart.flow, plan))?;
        namespace.netlink.sort(side.out, band, &program)?;
    }
    Ok(())
}

/// Sets up a host that reaches its peers through a neighbour each.
fn host(
    namespace: &mut Namespace,
    device: u32,
    host: &Host,
    peers: &[(Ipv4Addr, Ipv4Addr)],
) -> Result<()> {
    // A host's own side has qdiscs alone; elements stand on routers.
    let Way { drops, police, apart, qdiscs: _, changes, mtu, mss_clamp } = &host.out;
    let nothing_else = drops.is_empty() && police.is_none() && apart.is_empty();
    let no_router = mtu.is_none() && mss_clamp.is_none();
    if !(nothing_else && changes.is_empty() && no_router) {
        return Err(Error::new("plan", "a host has more than qdiscs"));
    }
    if let Some(segments) = host.gso_max_segs {
        namespace.netlink.gso_max_segs(device, segments)?;
    }
    for (peer, neighbour) in peers.iter().filter(|_| host.initcwnd.is_some()) {
        let metrics = Metrics { initcwnd: host.initcwnd, ..Metrics::default() };
        namespace.netlink.route(Network(*peer, 32), *neighbour, metrics)?;
    }
    if host.gro_flush_timeout_ns > 0 {
        namespace.enter()?;
        link::join_received(&namespace.any, name_of(device), host.gro_flush_timeout_ns)?;
    }
    set_qdiscs(namespace, device, &host.out)
}

/// Loses the packets of lists.
fn lose(
    namespace: &mut Namespace,
    number: usize,
    side: &Side<'_>,
    plan: &Plan,
) -> Result<Vec<Dropper>> {
    let Side { way, comes_in, direction, .. } = *side;
    // clsact holds the programs for incoming packets.
    if looks_at_packets(way) {
        namespace.netlink.clsact(comes_in)?;
    }
    let mut droppers = Vec::new();
    for (order, drops) in way.drops.iter().enumerate() {
        let dropper = Dropper::load(number, direction, drops, plan)?;
        namespace.netlink.attach(comes_in, order as u16 + 1, &dropper.program)?;
        droppers.push(dropper);
    }
    Ok(droppers)
}

/// Puts a token bucket behind the lists.
fn limit(namespace: &mut Namespace, side: &Side<'_>) -> Result<Option<Policer>> {
    let Some(police) = &side.way.police else { return Ok(None) };
    let policer = police::load(police)?;
    let order = side.way.drops.len() as u16 + 1;
    namespace.netlink.attach(side.comes_in, order, &policer.program)?;
    Ok(Some(policer))
}

/// Whether programs look at the packets of a way where they come in.
fn looks_at_packets(way: &Way) -> bool {
    !way.drops.is_empty() || way.police.is_some()
}

/// Clamps the MSS of what comes in by either device.
fn clamp(namespace: &mut Namespace, router: &Router) -> Result<()> {
    let ways = [&router.forward, &router.back];
    let Some(most) = ways.into_iter().filter_map(|way| way.mss_clamp).min() else { return Ok(()) };
    let program = clamp::load(most)?;
    for side in sides(router) {
        if !looks_at_packets(side.way) {
            namespace.netlink.clsact(side.comes_in)?;
        }
        namespace.netlink.attach(side.comes_in, BEHIND_OTHERS, &program)?;
    }
    Ok(())
}

/// Outgoing device of each direction of a router, with the direction's elements.
pub fn ways(router: &Router) -> [(u32, &Way); 2] {
    sides(router).map(|side| (side.out, side.way))
}
