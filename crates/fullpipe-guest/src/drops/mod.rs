//! Lists of packets to lose or to mark.

mod program;

use std::os::fd::OwnedFd;

use fullpipe_guest::plan::{Drops, Plan};

use crate::bpf::instruction;
use crate::bpf::kernel::{self, Map};
use crate::bpf::packet::Flow;
use crate::error::{Context, Result};
use crate::layout;
use program::{ACKS, COUNTERS, DATA, Target, key, program};

/// Direction of packets: the host towards which they travel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the receiver.
    Forward = 0,
    /// To the sender.
    Back = 1,
}

impl Direction {
    /// Ports that identify the packets of a flow in this direction.
    pub fn packets_of(self, flow: u16, plan: &Plan) -> Flow {
        let (port, of_receiver) = layout::own_port(plan, usize::from(flow));
        let goes_there = (self == Direction::Forward) == of_receiver;
        Flow { port, port_at: if goes_there { 2 } else { 0 } }
    }
}

/// Program that drops or marks the packets of one list.
pub struct Dropper {
    /// Program to attach where packets arrive.
    pub program: OwnedFd,
    /// Number of the router, from 0.
    pub router: usize,
    flow: u16,
    direction: Direction,
    mark: bool,
    counters: Map,
    _list: Map,
}

impl Dropper {
    /// Gives the kernel the program and the maps of a list.
    pub fn load(
        router: usize,
        direction: Direction,
        drops: &Drops,
        plan: &Plan,
    ) -> Result<Dropper> {
        let what = || format!("packets to lose of flow {}", drops.flow);
        let data = drops.segments.iter().map(|number| key(DATA, *number));
        let acks = drops.acks.iter().map(|number| key(ACKS, *number));
        let list = Map::set(&data.chain(acks).collect::<Vec<u64>>()).at(what)?;
        let counters = Map::counters(COUNTERS).at(what)?;
        let code = instruction::assemble(&program(Target {
            flow: direction.packets_of(drops.flow, plan),
            counters: counters.descriptor(),
            list: list.descriptor(),
            mark: drops.mark,
        }));
        let program = kernel::load(&code).at(what)?;
        let Drops { flow, mark, .. } = *drops;
        Ok(Dropper { program, router, flow, direction, mark, counters, _list: list })
    }

    /// Flow, direction, packets with data that arrived, packets with data dropped, ACKs that arrived, ACKs dropped; 1
    /// at the end if they were marked instead of dropped.
    pub fn seen(&self) -> Result<[u64; 7]> {
        let counter = |number| self.counters.counter(number).at(|| "counter of packets to lose");
        let (data, acks) = (counter(DATA)?, counter(ACKS)?);
        let direction = self.direction as u64;
        let (data_met, acks_met) = (counter(DATA + 1)?, counter(ACKS + 1)?);
        Ok([self.flow.into(), direction, data, data_met, acks, acks_met, self.mark.into()])
    }
}
