//! Calls of a mount: how much of its connections' data was of use.

use crate::analysis::are_unanswered;
use crate::scenario::{NfsOperation, Resolved};
use fullpipe_base::trace::Counter;
use fullpipe_base::units::Time;

/// Answered calls of a mount and their transmissions, as its client counts them (Linux `/proc/self/mountstats`).
pub(super) struct Calls {
    host: String,
    /// Beginning of the counters' names: "nfs.READ.".
    prefix: String,
    /// Wait after which a call is sent again; none where no call is, and of writes, whose unanswered calls may not be sent.
    timeo: Option<Time>,
    answered: u64,
    transmissions: u64,
}

impl Calls {
    /// Calls of the mount that has a connection of this index; none where the flow is not a mount's.
    pub(super) fn of(run: &Resolved, index: usize) -> Option<Calls> {
        let (mount, _) = run.mounts().find(|(_, connections)| connections.contains(&index))?;
        let reads = mount.operation == NfsOperation::Read;
        let operation = if reads { "READ" } else { "WRITE" };
        Some(Calls {
            host: mount.host().into(),
            prefix: format!("nfs.{operation}."),
            timeo: mount.retry().filter(|_| reads).map(|own| own.timeo),
            answered: 0,
            transmissions: 0,
        })
    }

    /// Notes a counter, which is cumulative.
    pub(super) fn count(&mut self, counter: &Counter) {
        if *counter.host != *self.host {
            return;
        }
        match counter.name.strip_prefix(&self.prefix) {
            Some("ops") => self.answered = counter.value,
            Some("ntrans") => self.transmissions = counter.value,
            _ => {}
        }
    }

    /// Share of the data that belongs to answered calls, each once, in a life that `lasts` so long (0 to 1).
    pub(super) fn useful(&self, lasts: Time) -> f64 {
        if are_unanswered(self.answered, self.timeo, lasts) {
            return 0.0;
        }
        match self.answered {
            // Calls that are under way have no count yet.
            0 => 1.0,
            calls => calls as f64 / self.transmissions.max(calls) as f64,
        }
    }
}
