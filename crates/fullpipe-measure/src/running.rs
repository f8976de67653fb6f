//! The time between start and end of a test, which is alike at both ends.

use crate::account::{Account, Behind, Counted};
use crate::control::{Control, Lost, SLICE};
use crate::data::{Flow, Load};
use crate::outcome::{Outcome, Stream, Watch};
use crate::parameters::{Parameters, Protocol};
use crate::results::{Counts, Cpu, Results};
use crate::socket;
use crate::state::State;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

/// Time without a byte of data after which a test is given up.
const SILENT: Duration = Duration::from_secs(120);
/// Time behind the planned end after which a server does not wait for the client any more.
const OVERTIME: Duration = Duration::from_secs(60);
/// Wait for a state behind the failure of a stream.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Manner of a running test.
pub(crate) struct Plan {
    /// Time from one interval to the next; none: there is one interval.
    pub(crate) every: Option<Duration>,
    /// Whether this end decides the end: it is the client.
    pub(crate) decides: bool,
}

/// Reason why data does not flow any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Time or bytes are through.
    Through,
    /// The peer has sent this state.
    Said(State),
    /// The control connection is lost.
    Lost(Lost),
    /// A stream is lost.
    Stream(String),
    /// No data for a long time.
    Silent,
}

/// A test with its streams.
pub(crate) struct Running {
    pub(crate) parameters: Parameters,
    pub(crate) flows: Vec<Flow>,
    account: Account,
    begun: Instant,
    /// CPU time at the first counted moment, and that moment.
    cpu: [f64; 2],
    counted_from: Instant,
    mss: u32,
    buffers: [u64; 2],
    congestion: Option<String>,
    used: Cpu,
}

impl Running {
    /// A test on these streams.
    pub(crate) fn new(parameters: Parameters, mut flows: Vec<Flow>) -> Running {
        let first = flows.first().map(Flow::socket);
        let state = first.and_then(socket::state);
        let congestion = first.and_then(|own| rustix::net::sockopt::tcp_congestion(own).ok());
        let buffers = first.map_or([0; 2], socket::buffers);
        let counted = flows.iter_mut().map(Flow::look).collect();
        Running {
            account: Account::new(counted, parameters.omit > 0),
            parameters,
            flows,
            begun: Instant::now(),
            cpu: socket::cpu_time(),
            counted_from: Instant::now(),
            mss: state.map_or(0, |own| own.snd_mss),
            buffers,
            congestion,
            used: Cpu::default(),
        }
    }

    /// The streams.
    pub(crate) fn streams(&self) -> Vec<Stream> {
        self.flows.iter().map(|own| own.stream.clone()).collect()
    }

    /// Sends and receives until the end; `go_on` is asked besides the watch.
    pub(crate) fn run(
        &mut self,
        control: &mut Control,
        plan: &Plan,
        watch: &mut dyn Watch,
        go_on: &mut dyn FnMut(&mut dyn Watch) -> bool,
    ) -> End {
        let num = Some(self.parameters.num).filter(|own| *own > 0);
        let streams = self.streams();
        let omit = Duration::from_secs(self.parameters.omit.into());

        // Bytes before the first counted moment are not limited.
        let budget = num.filter(|_| plan.decides && omit.is_zero());
        let load = Load {
            block: self.parameters.len as usize,
            rate: self.parameters.bandwidth,
            budget: budget.map(|own| Arc::new(AtomicU64::new(own))),
            wide: self.parameters.wide_counters,
        };
        self.begun = Instant::now();
        self.counted_from = self.begun;
        self.cpu = socket::cpu_time();
        self.flows.iter_mut().for_each(|own| own.start(self.begun, load.clone()));

        let mut zero = omit;
        let mut is_omitting = !omit.is_zero();
        if !is_omitting {
            watch.begins(&streams);
        }
        let mut next = plan.every;
        let mut last_bytes = (0, Duration::ZERO);
        loop {
            let now = self.begun.elapsed();

            // The omitted part ends with an interval.
            if is_omitting && now >= omit {
                let counted = self.look();
                watch.interval(&streams, self.account.cut(now, &counted));
                self.account.begin(now);
                (self.cpu, self.counted_from) = (socket::cpu_time(), Instant::now());
                (is_omitting, zero, next) = (false, now, plan.every.map(|every| now + every));
                watch.begins(&streams);
            }

            // The end of a whole interval may be the end of the test.
            let time = Some(self.parameters.time).filter(|own| *own > 0 && num.is_none());
            let until = time.map(|own| zero + Duration::from_secs(own.into()));
            let is_over = plan.decides && !is_omitting && self.is_through(until, now);
            if is_over || next.is_some_and(|next| now >= next) {
                let counted = self.look();
                watch.interval(&streams, self.account.cut(now, &counted));
                next = next.zip(plan.every).map(|(next, every)| after(next, every, now));
            }
            if is_over {
                return self.end(End::Through, watch);
            }

            // A dead peer is noticed by its silence.
            let bytes: u64 = self.flows.iter().map(Flow::bytes).sum();
            if bytes != last_bytes.0 {
                last_bytes = (bytes, now);
            }
            let late = !plan.decides && until.is_some_and(|until| now > until + OVERTIME);
            if now - last_bytes.1 > SILENT || late {
                return self.end(End::Silent, watch);
            }
            if let Some(why) = self.flows.iter().find_map(Flow::failure)
                && plan.decides
            {
                // A server that was stopped says so on the control connection.
                let heard = control.state(LAST_WORDS, &mut || go_on(watch));
                let end = heard.map_or(End::Stream(why), End::Said);
                return self.end(end, watch);
            }

            // The next thing to do is not later than this.
            let turn = [next, until.filter(|_| !is_omitting), is_omitting.then_some(omit)];
            let wait = turn.into_iter().flatten().min().map_or(SLICE, |at| at.saturating_sub(now));
            let wait = if num.is_some() { wait.min(Duration::from_millis(2)) } else { wait };
            let heard = control.state(wait.min(SLICE), &mut || go_on(watch));
            match heard {
                Err(Lost::Late(_)) => {}
                Err(why) => return self.end(End::Lost(why), watch),
                Ok(state) => return self.end(End::Said(state), watch),
            }
        }
    }

    /// Whether the client has all it wants.
    fn is_through(&self, until: Option<Duration>, now: Duration) -> bool {
        let (num, blocks) = (self.parameters.num, self.parameters.blockcount);
        let wanted = if num > 0 { num } else { blocks * u64::from(self.parameters.len) };
        match until {
            Some(until) => now >= until,
            None if wanted == 0 => false,
            None => {
                let bytes = |own: &Flow| Counted { bytes: own.bytes(), ..Counted::default() };
                let counted: Vec<Counted> = self.flows.iter().map(bytes).collect();
                self.account.counted_bytes(&counted) >= wanted
            }
        }
    }

    fn look(&mut self) -> Vec<Counted> {
        self.flows.iter_mut().map(Flow::look).collect()
    }

    /// The last interval is over; senders stop, receivers go on.
    fn end(&mut self, end: End, watch: &mut dyn Watch) -> End {
        // The client's own end is the end of an interval already.
        if end != End::Through {
            let counted = self.look();
            let now = self.begun.elapsed();
            let streams = self.streams();
            watch.interval(&streams, self.account.cut(now, &counted));
        }
        watch.ends();
        self.flows.iter().filter(|own| own.stream.sends).for_each(Flow::stop);

        let [user, system] = socket::cpu_time();
        let lasted = self.counted_from.elapsed().as_secs_f64().max(1e-9);
        let share = |now: f64, before: f64| (now - before).max(0.0) / lasted * 100.0;
        let (user, system) = (share(user, self.cpu[0]), share(system, self.cpu[1]));
        self.used = Cpu { total: user + system, user, system };
        end
    }

    /// Waits until the peer's kernel has all that was sent, where the number of bytes is what was asked for.
    pub(crate) fn flush(&self, go_on: &mut dyn FnMut() -> bool) {
        const MOST: Duration = Duration::from_secs(10);
        if self.parameters.num == 0 && self.parameters.blockcount == 0 {
            return;
        }
        let is_left = |own: &Flow| own.stream.sends && own.has_unacknowledged();
        let begun = Instant::now();
        while begun.elapsed() < MOST && go_on() && self.flows.iter().any(is_left) {
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits until the receivers have read what is still on its way: none has read anything for some round trips.
    pub(crate) fn drain(&self, go_on: &mut dyn FnMut() -> bool) {
        // A tail that was lost comes behind a timeout (TCP_RTO_MIN is 200 ms).
        const LEAST: Duration = Duration::from_millis(250);
        const MOST: Duration = Duration::from_secs(10);
        let receivers: Vec<&Flow> = self.flows.iter().filter(|own| !own.stream.sends).collect();
        let quiet = receivers.iter().map(|own| own.rtt() * 2).max().unwrap_or(LEAST).max(LEAST);
        let begun = Instant::now();
        let mut last = (0, begun);
        while begun.elapsed() < MOST && go_on() && !receivers.iter().all(|own| own.is_closed()) {
            let bytes: u64 = receivers.iter().map(|own| own.bytes()).sum();
            if bytes != last.0 {
                last = (bytes, Instant::now());
            }
            if last.1.elapsed() >= quiet {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Results of this end; `drained`: bytes behind the last interval count.
    pub(crate) fn results(&self, drained: bool) -> Results {
        let behind = |own: &Flow| match drained && !own.stream.sends {
            true => own.behind(),
            false => Behind::default(),
        };
        let flows = self.flows.iter().enumerate();
        Results {
            cpu: self.used,
            has_retransmits: self.flows.iter().any(|own| own.stream.sends)
                && self.parameters.protocol == Protocol::Tcp,
            congestion: self.congestion.clone(),
            streams: flows
                .map(|(place, own)| {
                    let counts = self.account.total(place, behind(own));
                    let retransmits = counts.retransmits.filter(|_| own.stream.sends);
                    Counts { retransmits, ..counts }
                })
                .collect(),
        }
    }

    /// The outcome, without what the peer adds.
    pub(crate) fn outcome(self, ends: Ends, own: Results) -> Outcome {
        Outcome {
            is_server: ends.is_server,
            cookie: ends.cookie,
            peer: ends.peer,
            streams: self.streams(),
            parameters: self.parameters,
            account: self.account,
            own,
            other: None,
            ended: crate::outcome::Ended::Whole,
            mss: self.mss,
            buffers: self.buffers,
        }
    }
}

/// Names of a test's ends.
pub(crate) struct Ends {
    pub(crate) is_server: bool,
    pub(crate) cookie: String,
    pub(crate) peer: std::net::SocketAddr,
}

/// The next end of an interval behind `now`.
fn after(next: Duration, every: Duration, now: Duration) -> Duration {
    let mut next = next;
    while next <= now {
        next += every;
    }
    next
}

/// Cookie as text.
pub(crate) fn text(cookie: &[u8]) -> String {
    String::from_utf8_lossy(cookie).trim_end_matches('\0').into()
}
