//! A token bucket that drops packets without tokens, and a limit of the bytes of a packet.
//!
//! Tokens are counted in billionths of a bit, so that nothing is rounded: each nanosecond adds as many as the rate has
//! bits per second.

use std::os::fd::OwnedFd;

use fullpipe_guest::plan::{ETHERNET_HEADER, LARGEST_BURST, Police};

use super::instruction::{Label, Op, Register, Width, assemble};
use super::kernel::{Map, load as load_program};
use super::packet::{R0, R1, R2, R3, STACK, ip, look_up, pass, shoot};
use crate::error::{Context, Error, Result};

/// Tokens that the packet needs.
const NEEDED: Register = Register(7);
/// Address of the tokens, behind which is the time at which they were counted.
const STATE: Register = Register(8);
const TIME_AT: i16 = 8;
/// Billionths of a bit in a byte: 8 times this.
const BILLION: i32 = 1_000_000_000;

/// A bucket in the kernel.
pub struct Policer {
    /// Program to attach where packets arrive.
    pub program: OwnedFd,
    _state: Map,
}

/// Tokens of a full bucket.
fn full(police: &Police) -> u64 {
    police.burst * 8 * 1_000_000_000
}

/// Tokens that the packet needs, from its IP header.
fn need(overhead: i32) -> Vec<Op> {
    vec![
        Op::Packet(Width::Half, ETHERNET_HEADER + 2),
        Op::Move(NEEDED, R0),
        Op::Add(NEEDED, overhead),
        Op::Multiply(NEEDED, 8),
        Op::Multiply(NEEDED, BILLION),
    ]
}

/// Finds the bucket.
fn find(state: i32) -> Vec<Op> {
    let mut program = vec![Op::Set(R0, 0), Op::Store32(STACK, -4, R0)];
    program.extend(look_up(state, -4));
    program.push(Op::Move(STATE, R0));
    program
}

/// r3 = the tokens that there are now. Longer than it takes to fill the bucket does not count.
fn refill(police: &Police) -> Vec<Op> {
    let full = full(police);
    vec![
        Op::Now,
        Op::LoadAt(R1, STATE, TIME_AT),
        Op::Store(STATE, TIME_AT, R0),
        Op::Subtract(R0, R1),
        // The time is bounded before it is multiplied, so that the product cannot overflow.
        Op::Wide(R3, full.div_ceil(police.rate)),
        Op::IfAtMost(R0, R3, Label::Came),
        Op::Move(R0, R3),
        Op::Here(Label::Came),
        Op::Wide(R2, police.rate),
        Op::MultiplyBy(R0, R2),
        Op::Load(R3, STATE),
        Op::AddFrom(R3, R0),
        // The bucket holds no more than its size.
        Op::Wide(R2, full),
        Op::IfAtMost(R3, R2, Label::Filled),
        Op::Move(R3, R2),
        Op::Here(Label::Filled),
    ]
}

/// Drops packets of more bytes.
fn narrow(largest: u32) -> Vec<Op> {
    let mut program = ip();
    program.extend([
        Op::Packet(Width::Half, ETHERNET_HEADER + 2),
        Op::Wide(R3, largest.into()),
        Op::IfAtMost(R0, R3, Label::Pass),
    ]);
    program.extend(shoot());
    program.extend(pass());
    program
}

fn program(police: &Police, state: i32) -> Vec<Op> {
    if let Some(largest) = police.largest {
        return narrow(largest);
    }
    let mut program = ip();
    program.extend(need(police.overhead));
    program.extend(find(state));
    program.extend(refill(police));
    // A packet without enough tokens is dropped and takes none.
    program.extend([Op::IfAtMost(NEEDED, R3, Label::Count), Op::Store(STATE, 0, R3)]);
    program.extend(shoot());
    program.extend([Op::Here(Label::Count), Op::Subtract(R3, NEEDED), Op::Store(STATE, 0, R3)]);
    program.extend(pass());
    program
}

/// Gives the kernel a full bucket.
pub fn load(police: &Police) -> Result<Policer> {
    let what = || "policer";
    if police.rate == 0 || !(1..=LARGEST_BURST).contains(&police.burst) {
        return Err(Error::new(what(), "its rate or its burst is out of bounds"));
    }
    let state = Map::record([full(police), 0]).at(what)?;
    let program = load_program(&assemble(&program(police, state.descriptor()))).at(what)?;
    Ok(Policer { program, _state: state })
}
