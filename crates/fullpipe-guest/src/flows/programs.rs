//! Programs that open connections: one each, or in a loop one after another.

use std::collections::BTreeMap;

use fullpipe_guest::plan::{Flow, Plan};

use super::dialogue::Dialogue;
use super::{Ended, sender};
use crate::error::Result;
use crate::netlink::diag::End;
use crate::{layout, run};

/// Connections that a program opens: mostly one, several of a loop in their order.
pub struct Program {
    opened: Vec<Connection>,
}

/// A connection that a program opens.
struct Connection {
    index: usize,
    flow: Flow,
    ends: [End; 2],
    /// Where the other end answers.
    dialogue: Option<Dialogue>,
}

/// All programs, by the number of the flow that each begins with.
pub fn of(plan: &Plan) -> BTreeMap<usize, Program> {
    let mut programs: BTreeMap<usize, Program> = BTreeMap::new();
    // By the flow that a program opened last, the one that it began with.
    let mut first: BTreeMap<usize, usize> = BTreeMap::new();
    for (index, flow) in plan.flows.iter().enumerate().filter(|(_, flow)| flow.answers.is_none()) {
        let connection = Connection {
            index,
            flow: flow.clone(),
            ends: layout::ends(plan, index),
            dialogue: Dialogue::of(plan, index),
        };

        // A flow that follows another one is opened by the program of that one.
        let of = flow.after.and_then(|after| first.remove(&after.flow)).unwrap_or(index);
        first.insert(index, of);
        programs.entry(of).or_insert(Program { opened: Vec::new() }).opened.push(connection);
    }
    programs
}

impl Program {
    /// Opens the first connection at its time, and each other one when the one before it is closed. A connection that the
    /// kernel gives up ends the program.
    pub fn run(self) -> Result<()> {
        for connection in self.opened {
            let Some(start_ns) = connection
                .flow
                .after
                .map_or(Some(connection.flow.start_ns), |after| after.begins(run::time()))
            else {
                return Ok(());
            };
            if connection.open(start_ns)? == Ended::GivenUp {
                return Ok(());
            }
        }
        Ok(())
    }
}

impl Connection {
    /// Opens it at that time, ns from the run's start; sends, and closes it.
    fn open(self, start_ns: u64) -> Result<Ended> {
        let flow = Flow { start_ns, ..self.flow };
        match self.dialogue {
            Some(dialogue) => dialogue.begun(start_ns).ask(self.ends),
            None => sender::run(self.index, &flow, self.ends),
        }
    }
}
