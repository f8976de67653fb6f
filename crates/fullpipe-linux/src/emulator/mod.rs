//! The path between the hosts: each packet waits in a queue of the kernel (NFQUEUE) until its verdict is due.
//!
//! | file | concern |
//! |---|---|
//! | `queue.rs` | packets and verdicts as netlink messages |
//! | `lane.rs` | one direction: link elements, and the packets that wait for their fate or their time |
//! | `lateness.rs` | how late packets left |
//! | `handed_over.rs` | what the guest sends: the queues, the start |
//! | `work.rs` | the thread: packets in, verdicts out, samples |
//!
//! The elements are the simulator's own ([`fullpipe_sim::link`]). A packet of many segments (GSO) is one train of packets
//! there, so that each segment has its own fate.

mod handed_over;
mod lane;
mod lateness;
mod queue;
mod work;

use crate::topology::{Seen, Watched};
use fullpipe_base::trace::{Counter, StageInfo, StageSample};
use fullpipe_scenario::Resolved;
use fullpipe_sim::link::chain::Chain;
use fullpipe_sim::stage::Samples;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Longest wait for a sample once the guest has ended.
const MOMENT: Duration = Duration::from_millis(200);

/// Stages of the path at one sample.
#[derive(Default)]
pub(crate) struct Sampled {
    /// Time of the sample, ns from the run's start.
    pub(crate) time: u64,
    pub(crate) stages: Vec<StageSample>,
    /// Counters of the emulator, at the run's end alone.
    pub(crate) counters: Vec<Counter>,
}

/// The thread that gives verdicts. It ends when this is dropped.
pub(crate) struct Emulator {
    samples: Receiver<Sampled>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), String>>>,
}

impl Emulator {
    /// Starts the thread for the path of `resolved`; the guest hands its queues over by `socket`.
    pub(crate) fn start(socket: UnixStream, resolved: &Resolved) -> Emulator {
        let (send, samples) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let (run, stopped) = (resolved.clone(), stop.clone());
        let body = move || work::work(&socket, &run, &send, &stopped);
        Emulator { samples, stop, thread: Some(thread::spawn(body)) }
    }

    /// Samples that have come since the last call.
    pub(crate) fn samples(&self) -> impl Iterator<Item = Sampled> {
        self.samples.try_iter()
    }

    /// Waits for the samples up to the run's end, ns; a moment at most.
    pub(crate) fn last_samples(&self, end: u64) -> Vec<Sampled> {
        let mut all: Vec<Sampled> = Vec::new();
        while all.last().is_none_or(|own| own.time < end) {
            match self.samples.recv_timeout(MOMENT) {
                Ok(own) => all.push(own),
                Err(_) => break,
            }
        }
        all
    }

    /// The reason for which the thread has ended before the run; none: it works.
    pub(crate) fn failure(&mut self) -> Option<String> {
        let ended = self.thread.take_if(|thread| thread.is_finished())?;
        match ended.join() {
            Ok(done) => done.err(),
            Err(_) => Some("the emulator of the path has panicked".into()),
        }
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The elements of both directions, forward first.
fn chains(run: &Resolved) -> [Chain; 2] {
    let around = run.surroundings();
    let samples = Samples::every(run.report.sample, run.duration);
    [&run.path.forward, &run.path.back].map(|elements| {
        let elements: Vec<_> = elements.iter().map(|element| element.config(&around)).collect();
        let mut chain = Chain::new(&elements, run.seed, samples);
        // The packets that an element drops are needed by name.
        chain.watch(None);
        chain
    })
}

/// The stages of the trace.
pub(crate) fn stages(run: &Resolved) -> Vec<Watched> {
    let mut all = Vec::new();
    for (chain, direction) in chains(run).iter_mut().zip(["forward", "back"]) {
        all.extend(chain.stages_mut().map(|stage| StageInfo { direction, ..stage.info() }));
    }
    let numbered = all.into_iter().zip(0..);
    let stages = numbered.map(|(info, index)| StageInfo { index, ..info });
    stages.map(|info| Watched { info, seen: Seen::Emulator, serial: None }).collect()
}
