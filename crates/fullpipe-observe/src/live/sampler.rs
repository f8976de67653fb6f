//! Looks at the chosen connections and at their host, at a steady pace.
//!
//! Limits:
//! - Connections that begin during the observation are not followed.
//! - CPU time is that of the process of the first subject.

use super::choice::{Seen, name};
use super::pace::{Lateness, Pace};
use super::rows::{Flows, requested};
use super::{HOST, Host, Manner, OBSERVER, Subject};
use crate::counters::{self, Counters};
use crate::device::{Devices, since};
use crate::process::{Process, Threads};
use crate::qdisc::Qdisc;
use crate::sockets::{Connection, Sockets};
use crate::tcp_info::TcpInfo;
use crate::unable::Unable;
use fullpipe_base::trace::{Control, Counter, Sink, StageInfo, StageSample};
use fullpipe_base::units::Time;
use std::sync::Arc;
use std::time::Duration;

/// Time between two looks at counters and threads, which cost more than sockets.
const SLOWER: Duration = Duration::from_millis(500);
/// Numbers of the stages.
const QDISC: u16 = 0;
const CPU: u16 = 1;

/// Result of an observation.
#[derive(Clone, Debug)]
pub struct Followed {
    /// The connections, in the order of their flows.
    pub subjects: Vec<Subject>,
    /// Settings of the host.
    pub host: Host,
    /// Lateness and cost.
    pub lateness: Lateness,
    /// Length of the observation.
    pub lasted: Time,
    /// Whether it was ended before its time although connections were there.
    pub stopped: bool,
}

/// The connections are gone before the first look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

/// A connection under observation.
struct Followee {
    first: Connection,
    last: Connection,
    process: Option<Process>,
    flows: Flows,
    looks: Vec<TcpInfo>,
    closed: Option<Time>,
}

/// Follows these connections as long as `manner` says, as `control` allows, and as one of the first `judged` is there.
///
/// # Errors
/// The kernel does not answer.
pub fn follow(
    sockets: &mut Sockets,
    mut chosen: Vec<Seen>,
    judged: usize,
    manner: Manner,
    sink: &mut dyn Sink,
    control: &mut dyn Control,
) -> Result<Result<Followed, Gone>, Unable> {
    name(&mut chosen);
    let mut followees = Vec::new();
    for (number, Seen { own, process, .. }) in chosen.into_iter().enumerate() {
        // Flows are numbered by 16 bits, without a gap for a connection that is gone.
        let Ok(index) = u16::try_from(2 * followees.len()) else { break };
        if let Some(first) = sockets.one(&own)? {
            let (flows, last) = (Flows::new(index, &first), first.clone());
            let (looks, closed) = (Vec::new(), None);
            followees.push(Followee { first, last, process, flows, looks, closed });
        } else if number < judged {
            return Ok(Err(Gone));
        }
    }
    let Some(leading) = followees.first() else { return Ok(Err(Gone)) };
    let mut around = Around::new(leading);
    sink.stages(&around.stages());

    // The pace begins when all first looks are taken.
    let mut pace = Pace::new(manner.every);
    let mut stopped = false;
    loop {
        let is_left = followees.iter().take(judged).any(|own| own.closed.is_none());
        if !is_left || pace.now() >= Time(manner.lasts.as_nanos() as u64) {
            break;
        }
        if !pace.wait(|now| control.go_on(now)) {
            stopped = true;
            break;
        }
        for own in followees.iter_mut().filter(|own| own.closed.is_none()) {
            own.look(sockets, pace.now(), sink)?;
        }
        around.look(pace.now(), sink);
    }
    let lasted = pace.now();
    around.end(lasted, pace.lateness(), sink);

    let tuned = around.host.sysctls.tcp_wmem.map(|own| own[2]);
    let subjects = followees.into_iter().map(|own| Subject {
        sndbuf: requested(&own.looks, tuned),
        first: own.first,
        last: own.last,
        process: own.process,
        closed: own.closed,
    });
    let (subjects, lateness) = (subjects.collect(), pace.lateness());
    Ok(Ok(Followed { subjects, host: around.host, lateness, lasted, stopped }))
}

impl Followee {
    /// Looks at the socket now, and writes its rows.
    fn look(
        &mut self,
        sockets: &mut Sockets,
        now: Time,
        sink: &mut dyn Sink,
    ) -> Result<(), Unable> {
        let Some(look) = sockets.one(&self.last)? else {
            self.closed = Some(now);
            return Ok(());
        };
        let (rows, events) = self.flows.rows(now, &look);
        events.iter().for_each(|event| sink.event(event));
        rows.iter().for_each(|row| sink.flow(row));
        self.looks.push(look.info.clone());
        self.last = look;
        Ok(())
    }
}

/// The host around the connections: queue, CPU, counters.
struct Around {
    host: Host,
    devices: Option<Devices>,
    threads: Option<Threads>,
    /// Counters at the beginning, and the values that were written last.
    begun: Counters,
    written: Counters,
    /// Time of the next look at counters and threads.
    next: Time,
}

impl Around {
    fn new(leading: &Followee) -> Around {
        let mut devices = Devices::open().ok();
        let mut around = Around {
            host: Host::towards(leading.first.there.ip(), devices.as_mut()),
            devices,
            threads: leading.process.as_ref().map(|own| Threads::new(own.pid)),
            begun: counters::now(),
            written: Counters::new(),
            next: Time::ZERO,
        };

        // The first look sets the zero of each thread's time.
        if around.threads.as_mut().is_some_and(|own| own.busiest().is_none()) {
            around.threads = None;
        }
        around
    }

    /// The stages that have samples.
    fn stages(&self) -> Vec<StageInfo> {
        let stage = |index, kind: &'static str, unit, capacity| StageInfo {
            index,
            name: format!("{HOST}.{kind}"),
            kind,
            direction: "forward",
            unit,
            capacity,
            timed: false,
        };
        let queue = self.host.qdisc.as_ref();
        let queue = queue.map(|own| stage(QDISC, "qdisc", "skb", own.limit.map(u64::from)));
        let cpu = self.threads.as_ref().map(|_| stage(CPU, "cpu", "segment", None));
        queue.into_iter().chain(cpu).collect()
    }

    fn queue(&mut self) -> Option<Qdisc> {
        let device = self.host.device.as_ref()?.index;
        self.devices.as_mut()?.qdisc(device).ok().flatten()
    }

    /// Looks at queue, CPU and counters, the latter two now and then.
    fn look(&mut self, now: Time, sink: &mut dyn Sink) {
        if let Some(first) = self.host.qdisc.as_ref().map(|own| own.counted)
            && let Some(queue) = self.queue()
        {
            let own = since(queue.counted, first);
            sink.stage(&StageSample {
                time: now,
                stage: QDISC,
                waiting: own.waiting,
                waiting_bytes: own.waiting_bytes,
                peak: own.waiting,
                entered: own.packets + own.waiting,
                left: own.packets,
                dropped: own.drops,
                marked: own.marks,
                requeues: own.requeues,
                ..StageSample::default()
            });
        }
        if now >= self.next {
            self.next = now + Time(SLOWER.as_nanos() as u64);
            self.slower(now, sink);
        }
    }

    fn slower(&mut self, now: Time, sink: &mut dyn Sink) {
        if let Some(busy_ns) = self.threads.as_mut().and_then(Threads::busiest) {
            sink.stage(&StageSample { time: now, stage: CPU, busy_ns, ..StageSample::default() });
        }
        for (name, value) in counters::now() {
            let since = value.saturating_sub(self.begun.get(&name).copied().unwrap_or(0));
            if self.written.get(&name).copied().unwrap_or(0) != since {
                sink.counter(&counter(now, HOST, &name, since));
                self.written.insert(name, since);
            }
        }
    }

    /// The last look, and the figures of the observation itself.
    fn end(&mut self, now: Time, own: Lateness, sink: &mut dyn Sink) {
        self.slower(now, sink);
        let figures = [
            ("looks", own.looks),
            ("late_p50_ns", own.median),
            ("late_p99_ns", own.p99),
            ("late_max_ns", own.most),
            ("cpu_ns", own.cpu),
        ];
        for (name, value) in figures {
            sink.counter(&counter(now, OBSERVER, &format!("observer.{name}"), value));
        }
    }
}

fn counter(time: Time, host: &str, name: &str, value: u64) -> Counter {
    Counter { time, host: Arc::from(host), name: Arc::from(name), value }
}
