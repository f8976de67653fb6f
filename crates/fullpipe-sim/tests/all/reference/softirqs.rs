//! Owner of the CPU when packets arrive faster than it takes them: softirqs, ksoftirqd or programs.
//!
//! ksoftirqd is a process here: it sleeps, has the CPU, or stands behind the programs.

use fullpipe_sim::config::Host;
use fullpipe_sim::tcp::profile::{NetRx, Profile, Scheduler, SoftirqEnd};
use fullpipe_sim::units::Time;

#[derive(PartialEq)]
enum Ksoftirqd {
    Sleeps,
    /// ksoftirqd runs, until the first tick at or after this time.
    Runs(Time),
    /// ksoftirqd waits, at most until this time.
    Waits(Time),
}

/// Softirqs of a host.
pub struct Softirqs {
    net_rx: NetRx,
    ends_early: bool,
    /// Whether pending softirqs run only in ksoftirqd.
    alone: bool,
    /// Time that programs have at a time and time of ksoftirqd, microseconds; the owner who begins.
    shares: [u64; 2],
    programs_begin: bool,
    /// Whether a datagram is read with softirqs as they were.
    unlocked_reads: bool,
    hz: u64,
    budget: i64,
    usecs: Option<u32>,
    ksoftirqd: Ksoftirqd,
    /// Time at which the softirqs stopped, and end of the time for which they do not run.
    stopped: Time,
    closed: Time,
    /// Time since which they have been running, and by passes the packets that each has taken.
    running: Option<Time>,
    passes: Vec<(Time, i64)>,
    pub squeezed: u64,
    /// Turns of ksoftirqd and of programs.
    pub turns: [u64; 2],
}

impl Softirqs {
    pub fn new(host: &Host, profile: &Profile) -> Softirqs {
        let (shares, programs_begin) = match profile.scheduler {
            Scheduler::Priorities => ([100_000, 5_000], true),
            Scheduler::Fair20ms => ([10_000, 10_000], false),
            Scheduler::Fair5ms => ([2_500, 2_500], false),
            Scheduler::Fair6ms => ([3_000, 3_000], false),
            Scheduler::Deadlines => ([700, 700], true),
        };
        Softirqs {
            net_rx: profile.net_rx,
            ends_early: profile.softirq_end == SoftirqEnd::PassesOrTime,
            alone: profile.ksoftirqd_alone,
            shares,
            programs_begin,
            unlocked_reads: !profile.datagram_read_locks,
            hz: host.hz.into(),
            budget: host.sysctl.netdev_budget.map_or(300, i64::from),
            usecs: host.sysctl.netdev_budget_usecs,
            ksoftirqd: Ksoftirqd::Sleeps,
            stopped: Time::ZERO,
            closed: Time::ZERO,
            running: None,
            passes: Vec::new(),
            squeezed: 0,
            turns: [0; 2],
        }
    }

    fn jiffy(&self, time: Time) -> u64 {
        time.0 / (1_000_000_000 / self.hz)
    }

    /// Start of the next jiffy.
    fn tick_after(&self, time: Time) -> Time {
        Time((self.jiffy(time) + 1) * (1_000_000_000 / self.hz))
    }

    /// The first tick at which somebody's share is over who has the CPU from `now` on.
    fn over(&self, now: Time, who: usize) -> Time {
        self.tick_after(Time(now.0 + self.shares[who] * 1000 - 1))
    }

    /// Jiffies that a time of so many microseconds lasts.
    fn lasts(&self, us: u64) -> u64 {
        let jiffy_us = 1_000_000.0 / self.hz as f64;
        (us as f64 / jiffy_us - 1e-6).ceil() as u64
    }

    /// Time before which softirqs do not run while a program wants the CPU.
    pub fn locked_out_until(&self) -> Time {
        self.closed
    }

    pub fn interrupt(&mut self, now: Time) {
        if now > self.stopped {
            self.open(now);
        }
    }

    pub fn call_ends(&mut self, now: Time) {
        self.open(now);
    }

    pub fn datagram_is_read(&mut self, now: Time) {
        if !self.unlocked_reads {
            self.open(now);
        }
    }

    fn open(&mut self, now: Time) {
        if !self.alone && self.closed > now {
            self.closed = now;
        }
    }

    /// Softirqs run at `now`, at the end of something or in ksoftirqd.
    pub fn enter(&mut self, now: Time, wanted: bool) {
        match self.ksoftirqd {
            Ksoftirqd::Waits(until) if until <= now || !wanted => {
                self.turns[0] += 1;
                self.ksoftirqd = Ksoftirqd::Runs(self.over(now, 1));
            }
            _ => {}
        }
        self.closed = Time::ZERO;
    }

    /// Number of packets that a poll may take now.
    pub fn quota(&self) -> usize {
        if self.net_rx != NetRx::Quotas {
            return 64;
        }
        let taken = self.passes.last().map_or(0, |pass| pass.1);
        (self.budget - taken).min(64) as usize
    }

    /// A poll has taken packets from `begin` to `end`.
    pub fn polled(
        &mut self,
        begin: Time,
        end: Time,
        took: usize,
        more: bool,
        wanted: bool,
        idle: bool,
    ) {
        self.running.get_or_insert(begin);
        if self.passes.is_empty() {
            self.passes.push((begin, 0));
        }
        let passes = self.passes.len();
        let (since, taken) = &mut self.passes[passes - 1];
        *taken += took as i64;
        let (since, taken) = (*since, *taken);
        let jiffies = match self.net_rx {
            NetRx::OneJiffy => 1,
            NetRx::Quotas | NetRx::TwoJiffies => 2,
            NetRx::ThreeJiffies => 3,
            NetRx::OnePoll => self.usecs.map_or(2, |us| self.lasts(us.into())).max(2),
        };
        let used_up = taken >= self.budget || self.jiffy(end) >= self.jiffy(since) + jiffies;
        if used_up && (more || self.net_rx == NetRx::OnePoll) {
            self.squeezed += 1;
        }
        if !more {
            self.stop();
            self.ksoftirqd = Ksoftirqd::Sleeps;
        } else if used_up || self.net_rx == NetRx::OnePoll {
            self.passed(end, wanted, idle);
        }
    }

    fn stop(&mut self) {
        self.running = None;
        self.passes.clear();
    }

    /// A pass is over, and softirqs are pending again.
    fn passed(&mut self, now: Time, wanted: bool, idle: bool) {
        let began = self.running.expect("they run");
        let another = match self.ksoftirqd {
            Ksoftirqd::Sleeps => wanted && idle,
            Ksoftirqd::Runs(until) => wanted && until <= now,
            Ksoftirqd::Waits(until) => until <= now,
        };
        let long = self.jiffy(now) >= self.jiffy(began) + self.lasts(2_000);
        if self.passes.len() < 10 && !(self.ends_early && (another || long)) {
            self.passes.push((now, 0));
            return;
        }
        self.stop();
        if now == began {
            return;
        }
        let programs_go_on = match self.ksoftirqd {
            Ksoftirqd::Sleeps => self.programs_begin,
            Ksoftirqd::Runs(until) => until <= now && wanted,
            Ksoftirqd::Waits(_) => false,
        };
        if programs_go_on {
            self.turns[1] += 1;
            self.ksoftirqd = Ksoftirqd::Waits(self.over(now, 0));
        } else if self.ksoftirqd == Ksoftirqd::Sleeps {
            self.turns[0] += 1;
            self.ksoftirqd = Ksoftirqd::Runs(self.over(now, 1));
        }
        if let Ksoftirqd::Waits(until) = self.ksoftirqd {
            self.stopped = now;
            self.closed = if self.alone { until } else { until.min(self.tick_after(now)) };
        }
    }
}
