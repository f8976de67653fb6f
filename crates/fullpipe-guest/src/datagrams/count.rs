//! Counters of programs with datagrams, each at the end of the interval in which it has changed.

use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fullpipe_guest::plan::Plan;
use fullpipe_guest::record::{COUNTERS, DATAGRAM_SOURCES, NAMES};

use super::drops;
use crate::error::{Context, Result};
use crate::out::Out;

/// The program that sends.
pub const SENDER: usize = 0;
/// The program that reads.
pub const READER: usize = 1;

/// Counters of each, by side.
const WHATS: [&[&str]; 2] = [
    &["sent", "refused"],
    &["received", "lost", "reordered", "duplicates", "jitter_ns", "rcvbuf_errors"],
];

static ALL: Mutex<Vec<Counted>> = Mutex::new(Vec::new());

/// Counters of a program.
struct Counted {
    /// Host and names, each on a line; empty once they are recorded.
    names: String,
    /// Length of an interval, ns.
    interval: u64,
    /// End of the interval that `now` is of, ns from the run's start.
    tick: u64,
    now: Vec<u64>,
    last: Vec<u64>,
    /// Changes at the ends of earlier intervals: time, then numbers and values.
    changes: Vec<(u64, Vec<u64>)>,
    /// The socket that counts its drops as the last counter.
    socket: Option<OwnedFd>,
}

/// Makes the counters of all datagrams, without counts yet.
pub fn open(plan: &Plan) {
    let interval = plan.counters_ns.max(1).next_multiple_of(plan.sample_ns);
    let ends = plan.datagrams.iter().flat_map(|own| {
        let hosts = if own.backward { ["receiver", "sender"] } else { ["sender", "receiver"] };
        hosts.into_iter().zip(WHATS).map(|(host, whats)| {
            let names = whats.iter().map(|what| format!("\ndatagrams.{}.{what}", own.name));
            let zeros = vec![0; whats.len()];
            Counted {
                names: host.to_string() + &names.collect::<String>(),
                interval,
                tick: 0,
                now: zeros.clone(),
                last: zeros,
                changes: Vec::new(),
                socket: None,
            }
        })
    });
    *all() = ends.collect();
}

/// Counts the drops of a reader's socket.
pub fn watch(index: usize, socket: &OwnedFd) -> Result<()> {
    let socket = socket.try_clone().at(|| "a socket's drops")?;
    all()[2 * index + READER].socket = Some(socket);
    Ok(())
}

/// Takes a program's counters at a time, ns from the run's start; the counter of drops is read elsewhere.
pub fn take(end: usize, index: usize, time_ns: u64, values: &[u64]) {
    let own = &mut all()[2 * index + end];
    let tick = time_ns.next_multiple_of(own.interval);
    if tick > own.tick {
        own.close();
        own.tick = tick;
        own.look();
    }
    own.now[..values.len()].copy_from_slice(values);
}

/// Records changed values up to a time; `is_last`: at the end of the run.
pub fn record(time_ns: u64, is_last: bool, out: &mut Out) {
    for (number, own) in all().iter_mut().enumerate() {
        let source = usize::from(DATAGRAM_SOURCES) + number;
        if !own.names.is_empty() {
            out.record(NAMES, source, 0, std::mem::take(&mut own.names).as_bytes());
        }
        if own.tick <= time_ns || is_last {
            own.tick = own.tick.min(time_ns);
            own.close();
            own.tick = time_ns;
            own.look();
            own.close();
        }
        for (time, pairs) in own.changes.drain(..) {
            out.numbers(COUNTERS, source, time, &pairs);
        }
    }
}

fn all() -> MutexGuard<'static, Vec<Counted>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Counted {
    /// Asks for the drops of the socket.
    fn look(&mut self) {
        if let (Some(drops), Some(last)) =
            (self.socket.as_ref().and_then(drops), self.now.last_mut())
        {
            *last = drops;
        }
    }

    /// The interval is over.
    fn close(&mut self) {
        let both = self.last.iter().zip(&self.now).enumerate();
        let changed = both.filter(|(_, (before, now))| before != now);
        let pairs: Vec<u64> = changed.flat_map(|(at, (_, now))| [at as u64, *now]).collect();
        if !pairs.is_empty() {
            self.changes.push((self.tick, pairs));
        }
        self.last.copy_from_slice(&self.now);
    }
}
