//! Time that calls of a mount cost beyond its data: the server's work, and data that is sent again.

use super::Context;
use fullpipe_base::trace::FlowSample;
use fullpipe_base::units::Time;
use std::collections::BTreeMap;

/// A mount's life and its parts, seconds.
pub struct CallTimes {
    /// From the program's beginning to its end.
    pub life: f64,
    /// Until the connections had carried as many bytes as the files have. Without data sent again all data is there then.
    pub carried: f64,
    /// From then on until the server has answered the last calls, if none is sent again.
    pub answers: f64,
    /// Least time in which the server's threads do the work of all calls.
    pub work: f64,
}

impl CallTimes {
    /// Times of mount `at`; none of a program that has not finished.
    pub fn of(context: &Context, at: usize) -> Option<CallTimes> {
        let meta = &context.meta.nfs[at];
        let connections = context.meta.connections(at, context.meta.flows.len());
        let life = context.lives.flows.get(meta.connection).filter(|life| life.complete)?;
        let since = |time: Time| time.saturating_sub(life.clock).as_secs_f64();
        let round_trip = context.meta.flows.get(meta.connection)?.base_rtt.unwrap_or(Time::ZERO);

        // Several connections share the files.
        let flows = context.traces.flows.get(connections)?;
        let carried = carried(flows.iter().map(|own| &own.samples[..]), meta.bytes)?;

        // What is read has arrived with its answer. What is written has the last call's answer and COMMIT to wait for.
        let [service, trip] = [meta.service, round_trip].map(|own| own.as_secs_f64());
        let answers = if meta.reads { 0.0 } else { service + trip };
        Some(CallTimes {
            life: since(life.end),
            carried: since(carried),
            answers,
            work: work(context, at) + trip,
        })
    }

    /// Share of the life that data sent again costs (0 to 1).
    pub fn again(&self) -> f64 {
        let without = (self.carried + self.answers).max(self.work);
        ((self.life - without) / self.life.max(1e-9)).clamp(0.0, 1.0)
    }

    /// Share of the life that the server's threads need for the work of all calls (0 to 1).
    pub fn busy(&self) -> f64 {
        (self.work / self.life.max(1e-9)).min(1.0)
    }

    /// Share of the life that passes between the last data and the last answer, if no call is sent again (0 to 1).
    pub fn waits(&self) -> f64 {
        (self.answers / self.life.max(1e-9)).min(1.0)
    }
}

/// Least time in which the server's threads do the work of the calls of all its mounts, s.
fn work(context: &Context, at: usize) -> f64 {
    let meta = &context.meta.nfs[at];
    let calls: u64 =
        context.run.nfs.iter().filter_map(|own| own.requests).map(|own| own.count).sum();
    calls.div_ceil(u64::from(meta.threads.max(1))) as f64 * meta.service.as_secs_f64()
}

/// Time at which flows have had as many bytes acknowledged together; none if they never had.
fn carried<'s>(flows: impl Iterator<Item = &'s [&'s FlowSample]>, bytes: u64) -> Option<Time> {
    let samples = flows.enumerate().flat_map(|(flow, own)| own.iter().map(move |one| (flow, *one)));
    let mut samples: Vec<(usize, &FlowSample)> = samples.collect();
    samples.sort_by_key(|(flow, one)| (one.time, *flow));

    // Samples have sums, so each one replaces its flow's last.
    let mut acked = BTreeMap::new();
    samples.into_iter().find_map(|(flow, one)| {
        acked.insert(flow, one.bytes_acked);
        (acked.values().sum::<u64>() >= bytes).then_some(one.time)
    })
}
