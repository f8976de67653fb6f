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
    /// Wait after which a call is sent again; none where no call is.
    timeo: Option<Time>,
    /// Bytes after which the server has the first call: 0 of a mount that reads.
    first: u64,
    /// Time at which a connection had these bytes acknowledged.
    from: Option<Time>,
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
            timeo: mount.retry().map(|own| own.timeo),
            first: if reads { 0 } else { mount.bytes().min(mount.wsize.into()) },
            from: None,
            answered: 0,
            transmissions: 0,
        })
    }

    /// Notes the acknowledged bytes of one of the mount's connections.
    pub(super) fn acked(&mut self, bytes: u64, now: Time) {
        if self.from.is_none() && bytes >= self.first {
            self.from = Some(now);
        }
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

    /// Share of the data that belongs to answered calls, each once, in a life that ends at `end` (0 to 1).
    pub(super) fn useful(&self, end: Time) -> f64 {
        let waited = self.from.map_or(Time::ZERO, |from| end.saturating_sub(from));
        if are_unanswered(self.answered, self.timeo, waited) {
            return 0.0;
        }
        match self.answered {
            // Calls that are under way have no count yet.
            0 => 1.0,
            calls => calls as f64 / self.transmissions.max(calls) as f64,
        }
    }
}
