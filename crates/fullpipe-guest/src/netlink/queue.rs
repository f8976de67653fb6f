//! Queues of packets that wait for verdicts of a program (NFQUEUE), and the rule that sends forwarded packets there.

use std::os::fd::OwnedFd;

use super::message::{ACK, Answer, CREATE, Message};
use crate::error::{Context, Error, Result};
use crate::sys;
use fullpipe_guest::plan::{SEEN_BYTES, WHOLE_QUEUE};
use rustix::net::netlink::NETFILTER;

/// Number of the first netlink socket of a queue.
const FIRST_SOCKET: u32 = 3000;
/// Number of the socket that sets the rule.
const RULE_SOCKET: u32 = 3100;
/// Most packets in a queue.
const MOST: u32 = 1 << 20;
/// Bytes of a queue's receive buffer.
const BUFFER: i32 = 256 << 20;

const SUBSYSTEM_QUEUE: u16 = 3;
const SUBSYSTEM_TABLES: u16 = 10;
const AF_UNSPEC: u8 = 0;
const AF_INET: u8 = 2;

/// `struct nfgenmsg`.
fn head(family: u8, number: u16) -> [u8; 4] {
    let [high, low] = number.to_be_bytes();
    [family, 0, high, low]
}

/// Opens a queue of the caller's namespace: its packets come with their headers alone.
pub fn open(number: u16) -> Result<OwnedFd> {
    const CONFIG: u16 = SUBSYSTEM_QUEUE << 8 | 2;
    const CFG_CMD: u16 = 1;
    const CFG_PARAMS: u16 = 2;
    const CFG_QUEUE_MAXLEN: u16 = 3;
    const CFG_MASK: u16 = 4;
    const CFG_FLAGS: u16 = 5;
    const BIND: u8 = 1;
    const COPY_PACKET: u8 = 2;
    const GSO: u32 = 4;

    let what = || format!("queue {number}");
    let socket = sys::netlink_socket(Some(NETFILTER), FIRST_SOCKET + u32::from(number)).at(what)?;
    sys::receive_buffer(&socket, BUFFER).at(what)?;
    let message = || Message::new(CONFIG, ACK, &head(AF_UNSPEC, number));
    let mut bind = message();
    bind.attr(CFG_CMD, &[BIND, 0, 0, AF_INET]);
    ask(&socket, &mut bind, "binding a queue")?;

    let mut how = message();
    how.attr(CFG_PARAMS, &[&SEEN_BYTES.to_be_bytes()[..], &[COPY_PACKET]].concat());
    how.attr(CFG_QUEUE_MAXLEN, &MOST.to_be_bytes());
    let flags = if number == WHOLE_QUEUE { GSO } else { 0 };
    how.attr(CFG_MASK, &GSO.to_be_bytes()).attr(CFG_FLAGS, &flags.to_be_bytes());
    ask(&socket, &mut how, "settings of a queue")?;
    Ok(socket)
}

fn ask(socket: &OwnedFd, message: &mut Message, what: &str) -> Result<()> {
    sys::send(socket, message.finish(1)).at(|| what)?;
    wait(socket, what)
}

/// Waits for an answer.
fn wait(socket: &OwnedFd, what: &str) -> Result<()> {
    let mut bytes = [0; 4096];
    let len = sys::receive(socket, &mut bytes).at(|| what)?;
    let answer = Answer::from_bytes(&bytes[..len])
        .ok_or_else(|| Error::new(what, "an answer of another kind"))?;
    match answer.errno {
        0 => Ok(()),
        errno => Err(Error::new(what, std::io::Error::from_raw_os_error(errno))),
    }
}

/// Lets all packets that this namespace forwards wait in the queue [`WHOLE_QUEUE`].
pub fn let_wait() -> Result<()> {
    // A kernel has one of two expressions for it.
    rule(target).or_else(|_| rule(expression))
}

/// Makes a table with a chain of forwarded packets, and with the rule that `fill` writes.
fn rule(fill: fn(&mut Message)) -> Result<()> {
    const NEW_TABLE: u16 = SUBSYSTEM_TABLES << 8;
    const NEW_CHAIN: u16 = SUBSYSTEM_TABLES << 8 | 3;
    const NEW_RULE: u16 = SUBSYSTEM_TABLES << 8 | 6;
    const BATCH_BEGIN: u16 = 0x10;
    const BATCH_END: u16 = 0x11;
    const TABLE_NAME: u16 = 1;
    const CHAIN_TABLE: u16 = 1;
    const CHAIN_NAME: u16 = 3;
    const CHAIN_HOOK: u16 = 4;
    const CHAIN_TYPE: u16 = 7;
    const HOOK_NUMBER: u16 = 1;
    const HOOK_PRIORITY: u16 = 2;
    const RULE_TABLE: u16 = 1;
    const RULE_CHAIN: u16 = 2;
    const RULE_EXPRESSIONS: u16 = 4;
    const LIST_ELEMENT: u16 = 1;
    const FORWARD: u32 = 2;
    const NAME: &str = "fullpipe";

    let edge = |kind| Message::new(kind, 0, &head(AF_UNSPEC, SUBSYSTEM_TABLES));
    let make = |kind, flags| Message::new(kind, CREATE | flags, &head(AF_INET, 0));
    let mut table = make(NEW_TABLE, 0);
    table.text(TABLE_NAME, NAME);
    let mut chain = make(NEW_CHAIN, 0);
    chain.text(CHAIN_TABLE, NAME).text(CHAIN_NAME, NAME);
    chain.nest(CHAIN_HOOK, &[], |hook| {
        hook.attr(HOOK_NUMBER, &FORWARD.to_be_bytes()).attr(HOOK_PRIORITY, &[0; 4]);
    });
    chain.text(CHAIN_TYPE, "filter");
    let mut rule = make(NEW_RULE, ACK);
    rule.text(RULE_TABLE, NAME).text(RULE_CHAIN, NAME);
    rule.nest(RULE_EXPRESSIONS, &[], |list| {
        list.nest(LIST_ELEMENT, &[], fill);
    });

    let mut all = [edge(BATCH_BEGIN), table, chain, rule, edge(BATCH_END)];
    let bytes: Vec<u8> = all.iter_mut().zip(1..).flat_map(|(m, n)| m.finish(n).to_vec()).collect();
    let socket = sys::netlink_socket(Some(NETFILTER), RULE_SOCKET).at(|| "socket of rules")?;
    sys::send(&socket, &bytes).at(|| "rule for forwarded packets")?;
    wait(&socket, "rule for forwarded packets (nf_tables)")
}

const EXPRESSION_NAME: u16 = 1;
const EXPRESSION_DATA: u16 = 2;

/// The target of x_tables, which nf_tables carries (`CONFIG_NFT_COMPAT`).
fn target(element: &mut Message) {
    const TARGET_NAME: u16 = 1;
    const TARGET_REVISION: u16 = 2;
    const TARGET_INFO: u16 = 3;
    const REVISION: u32 = 3;
    element.text(EXPRESSION_NAME, "target").nest(EXPRESSION_DATA, &[], |data| {
        data.text(TARGET_NAME, "NFQUEUE").attr(TARGET_REVISION, &REVISION.to_be_bytes());
        // struct xt_NFQ_info_v3: number, count of queues, flags; padded to 8 bytes.
        let numbers = [WHOLE_QUEUE, 1, 0, 0];
        let info: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        data.attr(TARGET_INFO, &info);
    });
}

/// The expression of nf_tables itself (`CONFIG_NFT_QUEUE`).
fn expression(element: &mut Message) {
    const QUEUE_NUMBER: u16 = 1;
    const QUEUE_TOTAL: u16 = 2;
    element.text(EXPRESSION_NAME, "queue").nest(EXPRESSION_DATA, &[], |data| {
        data.attr(QUEUE_NUMBER, &WHOLE_QUEUE.to_be_bytes()).attr(QUEUE_TOTAL, &1_u16.to_be_bytes());
    });
}
