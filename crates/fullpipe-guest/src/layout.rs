//! Addresses and ports. Link `k` joins the namespaces `k` and `k + 1`, of which 0 is the sender. Extra hosts have the
//! numbers after the receiver. Their links have the same numbers, and lead to the first router.

use std::net::Ipv4Addr;
use std::ops::Range;

use fullpipe_guest::plan::{FIRST_PORT, MAX_ROUTERS, Nfs, Plan};

use crate::netlink::diag::End;
use crate::netlink::route::Network;

/// Bits that the addresses of a link share.
pub const BITS: u8 = 24;

const _: () =
    assert!(MAX_ROUTERS <= u8::MAX as usize, "a link's number is one byte of its addresses");

/// The network of a link.
pub fn network(link: usize) -> Network {
    Network(Ipv4Addr::new(10, 0, link as u8, 0), BITS)
}

/// A link's end at the sender's side.
pub fn left(link: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, link as u8, 1)
}

/// A link's end at the receiver's side.
pub fn right(link: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, link as u8, 2)
}

/// Ethernet address of a link's end (1: left, 2: right); locally administered.
pub fn mac(link: usize, end: u8) -> [u8; 6] {
    [2, 0, 0, 0, link as u8, end]
}

/// The ends of a flow: the one that sends its data, which connects unless it answers, then the one that receives it.
pub fn ends(plan: &Plan, flow: usize) -> [End; 2] {
    if flow >= plan.flows.len() {
        let mut ends = of_mount(plan, flow);
        ends.rotate_left(usize::from(plan.is_backward(flow)));
        return ends;
    }
    if let Some(asks) = plan.flows[flow].answers {
        let [asks, answers] = connection(plan, asks);
        return [answers, asks];
    }
    connection(plan, flow)
}

/// The ends of a connection: the one that connects first.
fn connection(plan: &Plan, flow: usize) -> [End; 2] {
    let hosts = [left(0), right(plan.routers.len())];
    let [from, to] = if plan.flows[flow].backward { [hosts[1], hosts[0]] } else { hosts };
    [
        End { address: from, port: sender_port(flow, plan.seed) },
        End { address: to, port: receiver_port(flow) },
    ]
}

/// The ends of a connection of a mount: the client, then the server.
fn of_mount(plan: &Plan, connection: usize) -> [End; 2] {
    [
        End {
            address: left(client_of(plan, connection)),
            port: sender_port(connection, plan.seed),
        },
        End { address: server(plan), port: NFS_PORT },
    ]
}

/// Number of the namespace of an extra host, and of its link.
pub fn beside(plan: &Plan, host: usize) -> usize {
    plan.receiver_at() + 1 + host
}

/// Number of the namespace of the host that mounts.
pub fn client_at(plan: &Plan, nfs: &Nfs) -> usize {
    nfs.beside.map_or(0, |host| beside(plan, host))
}

/// Number of the namespace at the sender's side that has an end of that connection.
pub fn client_of(plan: &Plan, connection: usize) -> usize {
    plan.mount_of(connection).map_or(0, |nfs| client_at(plan, nfs))
}

/// Address of the host that mounts.
pub fn client(plan: &Plan, nfs: &Nfs) -> Ipv4Addr {
    left(client_at(plan, nfs))
}

/// Port of nfsd.
pub const NFS_PORT: u16 = 2049;

/// Address of the receiver, which has the server.
pub fn server(plan: &Plan) -> Ipv4Addr {
    right(plan.routers.len())
}

/// Source ports of a mount's connections: the first and the last one.
pub fn mount_ports(plan: &Plan, connections: &Range<usize>) -> [u16; 2] {
    [connections.start, connections.end - 1].map(|number| sender_port(number, plan.seed))
}

/// The port that identifies the packets of a flow or of a mount's connection, and whether the receiver has it.
pub fn own_port(plan: &Plan, flow: usize) -> (u16, bool) {
    if plan.mount_of(flow).is_some() {
        return (sender_port(flow, plan.seed), false);
    }
    let connection = plan.flows.get(flow).and_then(|own| own.answers).unwrap_or(flow);
    let backward = plan.flows.get(connection).is_some_and(|own| own.backward);
    (receiver_port(connection), !backward)
}

/// The ends of datagrams: the one that sends them, then the one that receives them.
pub fn ends_of_datagrams(plan: &Plan, index: usize) -> [End; 2] {
    let hosts = [left(0), right(plan.routers.len())];
    let [from, to] = if plan.datagrams[index].backward { [hosts[1], hosts[0]] } else { hosts };
    // Ports of UDP are no ports of TCP, but a sender's port must not be another receiver's.
    let number = plan.connections() + index;
    [
        End { address: from, port: sender_port(number, plan.seed) },
        End { address: to, port: receiver_port(number) },
    ]
}

/// Port at which the receiver waits for a flow.
pub fn receiver_port(flow: usize) -> u16 {
    FIRST_PORT + flow as u16
}

/// Source port of a flow. The seed moves it, and so changes the flow's hash in a qdisc.
fn sender_port(flow: usize, seed: u64) -> u16 {
    20_001 + (seed % 20_000) as u16 + flow as u16
}
