//! How a program read datagrams of which it did not get all: its pauses, its rate, and the CPU of its host.
//!
//! The samples of a host's sockets show it: datagrams that arrived, were read and wait.
//!
//! Limits:
//! - Several sockets of a host are one place. A statement about one program holds for all programs that read there.
//! - A pause shorter than a sample is none.

use crate::document::Reading;
use crate::lookup::Traces;
use crate::meta::DatagramsMeta;
use fullpipe_base::trace::StageSample;

/// A sample interval of the sockets.
struct Interval {
    before: StageSample,
    after: StageSample,
    /// Busy time of the host's CPU, ns.
    cpu_ns: u64,
}

impl Interval {
    fn ns(&self) -> u64 {
        (self.after.time - self.before.time).0
    }

    /// Datagrams that arrived, dropped ones included.
    fn came(&self) -> u64 {
        (self.after.entered + self.after.dropped) - (self.before.entered + self.before.dropped)
    }

    fn dropped(&self) -> u64 {
        self.after.dropped - self.before.dropped
    }

    fn read(&self) -> u64 {
        self.after.left - self.before.left
    }

    /// Datagrams waited all the time.
    fn is_waiting(&self) -> bool {
        self.before.waiting > 0 && self.after.waiting > 0
    }

    /// Datagrams waited, and none was read.
    fn is_pause(&self) -> bool {
        self.read() == 0 && self.after.waiting > 0
    }
}

/// How the program with these datagrams read, from the first arrival to the last; none without a socket in the trace.
pub(super) fn reading(own: &DatagramsMeta, traces: &Traces) -> Option<Reading> {
    let host = if own.backward { "sender" } else { "receiver" };
    let socket = traces.stage(&format!("{host}.udp_socket"))?;
    let cpu = traces.stage(&format!("{host}.cpu"));
    let worked = |sample: &StageSample| cpu.map_or(0, |cpu| cpu.at(sample.time).busy_ns);

    let pairs = socket.samples.windows(2);
    let all: Vec<Interval> = pairs
        .map(|pair| Interval {
            before: *pair[0],
            after: *pair[1],
            cpu_ns: worked(pair[1]).saturating_sub(worked(pair[0])),
        })
        .collect();

    // Time before the first and after the last arrival says nothing about the reader.
    let first = all.iter().position(|own| own.came() > 0)?;
    let last = all.iter().rposition(|own| own.came() > 0)?;
    let all = &all[first..=last];

    let span: u64 = all.iter().map(Interval::ns).sum();
    let came: u64 = all.iter().map(Interval::came).sum();
    let mbit =
        |datagrams: u64, ns: u64| datagrams as f64 * f64::from(own.size) * 8e3 / ns.max(1) as f64;

    // A pause begins and ends within an interval. Such intervals show no rate, and their drops belong to the pause.
    let (around, apart): (Vec<_>, Vec<_>) =
        (0..all.len()).partition(|at| is_around_pause(all, *at));
    let sum = |of: &[usize], value: fn(&Interval) -> u64| -> u64 {
        of.iter().map(|at| value(&all[*at])).sum()
    };
    let pauses: Vec<usize> = (0..all.len()).filter(|at| all[*at].is_pause()).collect();
    let paused = share(sum(&pauses, Interval::ns), span);

    // The reader works at full speed only while datagrams wait for it.
    let busy = |at: &usize| all[*at].is_waiting() && all[*at].read() > 0;
    let busy: Vec<usize> = apart.into_iter().filter(busy).collect();
    let rate = mbit(sum(&busy, Interval::read), sum(&busy, Interval::ns));

    // CPU time counts in intervals with a datagram waiting at either end.
    let waits = |at: &usize| all[*at].before.waiting.max(all[*at].after.waiting) > 0;
    let waits: Vec<usize> = (0..all.len()).filter(waits).collect();
    let (pause_ns, in_pause) = longest_pause(all);

    let dropped = all.iter().map(Interval::dropped).sum();
    Some(Reading {
        pause_ms: pause_ns as f64 / 1e6,
        paused_drops: share(sum(&around, Interval::dropped), dropped),
        offered_mbit: mbit(came, span),
        // The reader's rate counts the time in which it pauses, too.
        able_mbit: (!busy.is_empty()).then_some(rate * (1.0 - paused)),
        cpu: share(sum(&waits, |own| own.cpu_ns), sum(&waits, Interval::ns)),
        pause_rcvbuf: (pause_ns > 0)
            .then(|| (in_pause.saturating_mul(memory(all)) / 2).next_power_of_two()),
        asked_rcvbuf: own.rcvbuf,
    })
}

/// The part that one number is of another, 0 to 1.
fn share(part: u64, of: u64) -> f64 {
    (part as f64 / of.max(1) as f64).min(1.0)
}

/// Whether a pause fills that interval, or the one before or behind it.
fn is_around_pause(all: &[Interval], at: usize) -> bool {
    let near = at.saturating_sub(1)..(at + 2).min(all.len());
    all[near].iter().any(Interval::is_pause)
}

/// The longest pause, ns, and the datagrams that arrived in it and in the intervals in which it began and ended.
fn longest_pause(all: &[Interval]) -> (u64, u64) {
    let (mut longest, mut first) = ((0, 0), 0);
    for at in 0..=all.len() {
        if all.get(at).is_some_and(Interval::is_pause) {
            continue;
        }

        // A pause that the end of the samples cuts counts, too.
        let ns = all[first..at].iter().map(Interval::ns).sum();
        if ns > longest.0 {
            let around = first.saturating_sub(1)..(at + 1).min(all.len());
            longest = (ns, all[around].iter().map(Interval::came).sum());
        }
        first = at + 1;
    }
    longest
}

/// Memory of a datagram that waits, bytes, by the sample with most of them.
fn memory(all: &[Interval]) -> u64 {
    let fullest = all.iter().map(|own| &own.after).max_by_key(|sample| sample.waiting);
    fullest.map_or(0, |sample| sample.waiting_bytes / sample.waiting.max(1))
}
