//! Instructions with which a program finds its packets.

use fullpipe_guest::plan::ETHERNET_HEADER;

use super::instruction::{Label, Op, Register, Width};

/// Result of a call, and of the program.
pub const R0: Register = Register(0);
/// First argument of a call.
pub const R1: Register = Register(1);
/// Second argument of a call.
pub const R2: Register = Register(2);
/// Lost by a call, as all up to here.
pub const R3: Register = Register(3);
/// Context of the packet, for packet loads.
pub const CONTEXT: Register = Register(6);
/// Bytes of the IP header, after [`tcp`].
pub const IP_HEADER: Register = Register(7);
/// End of the stack.
pub const STACK: Register = Register(10);

const IPV4: i32 = 0x800;
const TCP: i32 = 6;

/// Pass to the next filter (TC_ACT_UNSPEC).
const GO_ON: i32 = -1;
/// Drop (TC_ACT_SHOT).
const DROP: i32 = 2;

/// Drops the packet.
pub fn shoot() -> [Op; 2] {
    [Op::Set(R0, DROP), Op::Exit]
}

/// Target for packets that pass to the next filter.
pub fn pass() -> [Op; 3] {
    [Op::Here(Label::Pass), Op::Set(R0, GO_ON), Op::Exit]
}

/// r0 = where the value lies that a map has for the key at that place of the stack; packets pass if it has none.
pub fn look_up(map: i32, key_at: i32) -> [Op; 5] {
    [
        Op::Map(R1, map),
        Op::Move(R2, STACK),
        Op::Add(R2, key_at),
        Op::Lookup,
        Op::If(R0, 0, Label::Pass),
    ]
}

/// A flow, as its packets show it.
#[derive(Clone, Copy)]
pub struct Flow {
    /// The port that identifies the flow.
    pub port: u16,
    /// Offset of that port in the TCP header: 0 the source, 2 the destination.
    pub port_at: i32,
}

/// Lets packets pass that are not IPv4.
pub fn ip() -> Vec<Op> {
    vec![Op::Move(CONTEXT, R1), Op::Packet(Width::Half, 12), Op::IfNot(R0, IPV4, Label::Pass)]
}

/// Lets packets pass that are not TCP.
pub fn tcp() -> Vec<Op> {
    let mut program = ip();
    program.extend([
        // The protocol of the IP header.
        Op::Packet(Width::Byte, ETHERNET_HEADER + 9),
        Op::IfNot(R0, TCP, Label::Pass),
        // The length of the IP header, in words of 4 bytes: TCP begins behind it.
        Op::Packet(Width::Byte, ETHERNET_HEADER),
        Op::And(R0, 15),
        Op::Left(R0, 2),
        Op::Move(IP_HEADER, R0),
    ]);
    program
}

/// Lets packets of other flows pass.
pub fn find(flow: Flow) -> Vec<Op> {
    let mut program = tcp();
    program.extend([
        Op::PacketAt(Width::Half, IP_HEADER, ETHERNET_HEADER + flow.port_at),
        Op::IfNot(R0, i32::from(flow.port), Label::Pass),
    ]);
    program
}
