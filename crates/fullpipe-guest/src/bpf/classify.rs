//! A filter that picks the packets of a flow.

use std::os::fd::OwnedFd;

use super::instruction::{Label, Op, assemble};
use super::kernel;
use super::packet::{Flow, R0, find};
use crate::error::{Context, Result};

/// The filter's own class (cls_bpf).
const ITS_CLASS: i32 = -1;
const NOT_MINE: i32 = 0;

fn program(flow: Flow) -> Vec<Op> {
    let mut program = find(flow);
    program.extend([Op::Set(R0, ITS_CLASS), Op::Exit]);
    program.push(Op::Here(Label::Pass));
    program.extend([Op::Set(R0, NOT_MINE), Op::Exit]);
    program
}

/// Gives the kernel the filter.
pub fn load(flow: Flow) -> Result<OwnedFd> {
    kernel::load(&assemble(&program(flow))).at(|| "filter of a flow")
}
