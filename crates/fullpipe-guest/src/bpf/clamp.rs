//! A router that lowers the MSS which SYNs and SYN-ACKs announce (iptables `TCPMSS`, nft `tcp option maxseg size set`).
//!
//! Source: 6.12 `tcpmss_mangle_packet`, `nft_exthdr_tcp_set_eval`: a larger value is replaced, a smaller one stays.
//!
//! Limits:
//! - The option is looked for where Linux puts it, first of all options (`tcp_options_write`).

use std::os::fd::OwnedFd;

use fullpipe_guest::plan::ETHERNET_HEADER;

use super::instruction::{Label, Op, Register, Width, assemble};
use super::kernel;
use super::packet::{CONTEXT, IP_HEADER, R0, R1, R2, R3, STACK, pass, tcp};
use crate::error::{Context, Result};

const R4: Register = Register(4);
const R5: Register = Register(5);
/// The MSS that the packet announces.
const ANNOUNCED: Register = Register(8);
/// Places in the TCP header: flags, checksum, first option and its value.
const FLAGS: i32 = 13;
const CHECKSUM: i32 = 16;
const OPTION: i32 = 20;
const VALUE: i32 = 22;
const SYN: i32 = 2;
/// Kind 2, 4 bytes (RFC 9293, section 3.2).
const MSS_OPTION: i32 = 0x0204;
/// Bytes of the value, for helpers.
const TWO: i32 = 2;

/// Lets packets pass that announce no larger MSS than `most`.
fn find(most: u16) -> Vec<Op> {
    let mut program = tcp();
    program.extend([
        Op::PacketAt(Width::Byte, IP_HEADER, ETHERNET_HEADER + FLAGS),
        Op::And(R0, SYN),
        Op::If(R0, 0, Label::Pass),
        Op::PacketAt(Width::Half, IP_HEADER, ETHERNET_HEADER + OPTION),
        Op::IfNot(R0, MSS_OPTION, Label::Pass),
        Op::PacketAt(Width::Half, IP_HEADER, ETHERNET_HEADER + VALUE),
        Op::Move(ANNOUNCED, R0),
        Op::Set(R3, most.into()),
        Op::IfAtMost(ANNOUNCED, R3, Label::Pass),
    ]);
    program
}

/// r2 = that place of the packet's TCP header.
fn place(at: i32) -> [Op; 3] {
    [Op::Move(R1, CONTEXT), Op::Move(R2, IP_HEADER), Op::Add(R2, ETHERNET_HEADER + at)]
}

fn program(most: u16) -> Vec<Op> {
    let mut program = find(most);
    program.extend(place(CHECKSUM));
    program.extend([
        Op::Move(R3, ANNOUNCED),
        Op::NetworkOrder(R3),
        Op::Set(R4, most.into()),
        Op::NetworkOrder(R4),
        Op::Store16(STACK, -2, R4),
        Op::Set(R5, TWO),
        Op::FixChecksum,
    ]);
    program.extend(place(VALUE));
    program.extend([
        Op::Move(R3, STACK),
        Op::Add(R3, -2),
        Op::Set(R4, TWO),
        Op::Set(R5, 0),
        Op::Rewrite,
    ]);
    program.extend(pass());
    program
}

/// Gives the kernel the program, to be attached where packets arrive.
pub fn load(most: u16) -> Result<OwnedFd> {
    kernel::load(&assemble(&program(most))).at(|| "clamp of the MSS")
}
