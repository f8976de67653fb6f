//! The emulator's thread.

use super::handed_over::{self, HandedOver};
use super::lane::{Flows, Given, Lane, SEGMENTS_QUEUE, WHOLE_QUEUE};
use super::lateness::Tally;
use super::queue::{Queue, Verdict};
use super::{Sampled, chains};
use fullpipe_base::path::Direction;
use fullpipe_base::trace::{Counter, StageSample};
use fullpipe_base::units::Time;
use fullpipe_guest::record::LEFT_DEVICE;
use fullpipe_scenario::Resolved;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

/// Longest wait for packets, ns: after it the thread looks whether it has to stop.
const LONGEST_WAIT: u64 = 20_000_000;

/// ns of CLOCK_MONOTONIC.
fn clock() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes one structure.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Gives verdicts until `stop`, or until the guest is gone.
pub(super) fn work(
    socket: &UnixStream,
    run: &Resolved,
    samples: &Sender<Sampled>,
    stop: &AtomicBool,
) -> Result<(), String> {
    let received = handed_over::receive(socket).map_err(|e| format!("the queues: {e}"))?;
    // A guest that ended has said why.
    let Some(HandedOver { queues: [whole, segments], start }) = received else { return Ok(()) };
    sharpen();
    let [forward, back] = chains(run);
    let mtu = run.path.mtu;
    let lanes = [
        Lane::new(forward, flows(run, Direction::Forward), mtu),
        Lane::new(back, flows(run, Direction::Backward), mtu),
    ];
    let mut work = Work {
        queues: [Queue::new(whole, WHOLE_QUEUE), Queue::new(segments, SEGMENTS_QUEUE)],
        lanes,
        start,
        sampled: 0,
        given: Vec::new(),
        tally: Tally::default(),
    };
    while !stop.load(Ordering::Relaxed) {
        let now = work.now();
        work.sample(now, run, samples);
        work.act(now).and_then(|()| work.read()).map_err(|e| format!("the path: {e}"))?;
        work.wait(run).map_err(|e| format!("the path: {e}"))?;
    }
    Ok(())
}

/// Flows of the connections whose packets go in that direction. Datagrams have the numbers after the flows.
fn flows(run: &Resolved, direction: Direction) -> Flows {
    let count = run.flow.len();
    let numbers: Vec<u16> = (0..count + run.datagrams.len()).map(|number| number as u16).collect();
    let mut flows = Flows { data: numbers.clone(), acks: numbers };
    for (number, flow) in run.flow.iter().enumerate() {
        let connection = run.answered_by(flow).unwrap_or(number);
        let goes = if flow.direction == direction { &mut flows.data } else { &mut flows.acks };
        goes[connection] = number as u16;
    }
    flows
}

/// Lets the thread wake when it is due, before others where it may.
fn sharpen() {
    // SAFETY: plain system calls; the structure is read only. A refusal does no harm.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        let mut priority: libc::sched_param = std::mem::zeroed();
        priority.sched_priority = 1;
        libc::sched_setscheduler(0, libc::SCHED_FIFO, &priority);
    }
}

struct Work {
    queues: [Queue; 2],
    /// Forward, then back.
    lanes: [Lane; 2],
    /// Start of the run, ns of CLOCK_MONOTONIC.
    start: u64,
    /// Time of the last sample, ns.
    sampled: u64,
    given: Vec<Given>,
    tally: Tally,
}

impl Work {
    /// ns from the run's start.
    fn now(&self) -> u64 {
        clock().saturating_sub(self.start)
    }

    /// Time of the next sample, ns; none after the last one.
    fn next_sample(&self, run: &Resolved) -> Option<u64> {
        let end = run.duration.0;
        (self.sampled < end).then(|| (self.sampled + run.report.sample.0.max(1)).min(end))
    }

    /// Samples the elements at each sample's time up to `now`.
    fn sample(&mut self, now: u64, run: &Resolved, samples: &Sender<Sampled>) {
        while let Some(time) = self.next_sample(run).filter(|time| *time <= now) {
            for lane in &mut self.lanes {
                lane.wake(Time(time), &mut self.given);
            }
            let stages = self.lanes.iter_mut().flat_map(|lane| lane.sample(Time(time)));
            let stages = stages.zip(0..).map(|(sample, stage)| StageSample {
                time: Time(time),
                stage,
                ..sample
            });
            let stages = stages.collect();
            let counters =
                if time == run.duration.0 { self.counters(Time(time)) } else { Vec::new() };
            // The run may have ended.
            let _ = samples.send(Sampled { time, stages, counters });
            self.sampled = time;
        }
    }

    /// Lets elements act, and releases packets that are due.
    fn act(&mut self, now: u64) -> io::Result<()> {
        for lane in &mut self.lanes {
            lane.wake(Time(now), &mut self.given);
        }
        self.give()?;
        for lane in &mut self.lanes {
            while let Some(due) = lane.release(now) {
                self.tally.late.add(now.saturating_sub(due.at));
                self.queues[usize::from(due.queue)].decide(due.id, Verdict::Accept)?;
            }
        }
        self.queues.iter_mut().try_for_each(Queue::flush)
    }

    /// Reads the packets that have come.
    fn read(&mut self) -> io::Result<()> {
        for number in [WHOLE_QUEUE, SEGMENTS_QUEUE] {
            let count = match self.queues[usize::from(number)].read() {
                Err(failed) if failed.raw_os_error() == Some(libc::ENOBUFS) => {
                    self.tally.overruns += 1;
                    0
                }
                other => other?,
            };
            let now = Time(self.now());
            for at in 0..count {
                let Some(packet) = self.queues[usize::from(number)].packet(at) else { continue };
                let lane = &mut self.lanes[usize::from(packet.device != LEFT_DEVICE)];
                match number {
                    WHOLE_QUEUE => lane.take(now, packet.id, packet.bytes, &mut self.given),
                    _ => lane.take_back(packet.id, &mut self.given),
                }
            }
            self.give()?;
        }
        self.queues.iter_mut().try_for_each(Queue::flush)
    }

    /// Counters of the emulator at the run's end.
    fn counters(&mut self, time: Time) -> Vec<Counter> {
        self.tally.drops = self.lanes.iter().map(|lane| lane.drops).sum();
        self.tally.counters(time)
    }

    fn give(&mut self) -> io::Result<()> {
        for Given { queue, id, verdict } in self.given.drain(..) {
            self.queues[usize::from(queue)].decide(id, verdict)?;
        }
        Ok(())
    }

    /// Waits for packets, or for the next time at which there is something to do.
    fn wait(&mut self, run: &Resolved) -> io::Result<()> {
        let sample = self.next_sample(run).unwrap_or(u64::MAX);
        let next = self.lanes.iter_mut().map(Lane::next_time).fold(sample, u64::min);
        let wait = next.saturating_sub(self.now()).min(LONGEST_WAIT);
        let timeout = libc::timespec { tv_sec: 0, tv_nsec: wait as i64 };
        let poll = |queue: &Queue| libc::pollfd {
            fd: queue.socket().as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let mut wanted = self.queues.each_ref().map(poll);
        // SAFETY: two structures to read and write, and a time to read.
        let ready = unsafe { libc::ppoll(wanted.as_mut_ptr(), 2, &timeout, std::ptr::null()) };
        let failed = io::Error::last_os_error();
        match ready {
            -1 if failed.kind() != io::ErrorKind::Interrupted => Err(failed),
            _ => Ok(()),
        }
    }
}
