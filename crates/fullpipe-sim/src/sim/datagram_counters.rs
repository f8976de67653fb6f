//! Datagrams in the trace: counters of the programs at both ends, and each round trip.

use super::Simulation;
use crate::config::{Config, DatagramKind};
use crate::trace::{Counter, Sink};
use crate::units::Time;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Counters of all datagrams and their last values.
pub(super) struct DatagramCounters {
    /// Name of the datagrams, names of their hosts, and whether they are echo requests.
    own: Vec<(String, [Arc<str>; 2], bool)>,
    /// Last values in the trace.
    last_values: BTreeMap<(usize, &'static str), u64>,
}

impl DatagramCounters {
    pub(super) fn new(config: &Config) -> DatagramCounters {
        let own = config.datagrams.iter().map(|own| {
            let hosts = config.hosts_of_datagrams(own).map(|host| host.name.into());
            (own.name.clone(), hosts, matches!(own.kind, DatagramKind::Echo { .. }))
        });
        DatagramCounters { own: own.collect(), last_values: BTreeMap::new() }
    }

    /// Writes the round trips since the last call, each at its time, and the counters that have changed.
    pub(super) fn emit(&mut self, run: &mut Simulation, now: Time, sink: &mut dyn Sink) {
        if self.own.is_empty() {
            return;
        }
        for (time, at, value) in run.shared.take_round_trips() {
            let (name, [host, _], _) = &self.own[at];
            let name = format!("datagrams.{name}.rtt_ns").into();
            sink.counter(&Counter { time, host: host.clone(), name, value });
        }
        for at in 0..self.own.len() {
            for (end, what, value) in counters(run, at, self.own[at].2) {
                // A counter that has never moved is left out.
                if self.last_values.insert((at, what), value).unwrap_or_default() == value {
                    continue;
                }
                let (name, hosts, _) = &self.own[at];
                let (name, host) = (format!("datagrams.{name}.{what}").into(), hosts[end].clone());
                sink.counter(&Counter { time: now, host, name, value });
            }
        }
    }
}

/// Counters of datagrams, each with the end that counts.
fn counters(run: &Simulation, at: usize, echo: bool) -> Vec<(usize, &'static str, u64)> {
    let mut all = Vec::new();
    if let Some(own) = run.hosts.iter().find_map(|host| host.sends_datagrams.get(at)) {
        all.extend([(0, "sent", own.sent), (0, "refused", own.refused)]);
        if echo {
            all.extend([(0, "received", own.answers), (0, "duplicates", own.repeated)]);
        }
    }
    if let Some(own) = run.hosts.iter().find_map(|host| host.receives_datagrams.get(at)) {
        let received = &own.received;
        all.extend([
            (1, "received", received.datagrams),
            (1, "lost", received.lost()),
            (1, "reordered", received.reordered),
            (1, "duplicates", received.duplicates),
            (1, "jitter_ns", received.jitter_ns()),
            (1, "rcvbuf_errors", own.overflows),
        ]);
    }
    all
}
