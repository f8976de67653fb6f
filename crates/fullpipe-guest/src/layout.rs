//! Addresses and ports. Link `k` joins the namespaces `k` and `k + 1`; namespace 0 is the sender.

use std::net::Ipv4Addr;

use fullpipe_guest::plan::{MAX_ROUTERS, Plan};

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
        let mut ends = mount(plan, flow);
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
    [(from, sender_port(flow, plan.seed)), (to, receiver_port(flow))]
}

/// The ends of a connection of the mount: the client, then the server.
fn mount(plan: &Plan, connection: usize) -> [End; 2] {
    [(left(0), sender_port(connection, plan.seed)), (server(plan), NFS_PORT)]
}

/// Port of nfsd.
pub const NFS_PORT: u16 = 2049;

/// Address of the receiver, which has the server.
pub fn server(plan: &Plan) -> Ipv4Addr {
    right(plan.routers.len())
}

/// Ports from which the mount's connections come: the first and the last one.
pub fn mount_ports(plan: &Plan) -> [u16; 2] {
    [plan.flows.len(), plan.connections() - 1].map(|number| sender_port(number, plan.seed))
}

/// Port at which the receiver waits for a flow.
pub fn receiver_port(flow: usize) -> u16 {
    5001 + flow as u16
}

/// Port from which a flow comes. The seed moves it, and with it what a qdisc makes of the flow's hash.
fn sender_port(flow: usize, seed: u64) -> u16 {
    20_001 + (seed % 20_000) as u16 + flow as u16
}
