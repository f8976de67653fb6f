//! How long softirqs have the CPU before programs: passes of NET_RX_SOFTIRQ with their budget and their time, rounds of
//! passes, and ksoftirqd, which shares the CPU with programs when these are used up.
//!
//! Source: Linux 2.6.20 and 2.6.24, 6.1 and 6.12 net/core/dev.c (`net_rx_action`, `process_backlog`), kernel/softirq.c
//! (`__do_softirq`, `handle_softirqs`, `invoke_softirq`, `irq_exit`, `__local_bh_enable_ip`), kernel/sched.c and fair.c; what
//! differs between versions is in the profile.
//!
//! Inferred, where the sources leave more open than a host with one CPU and no other processes needs:
//! - Packets that take no time of the CPU leave nothing to share: what they use up is counted, and softirqs go on.
//! - All programs of a host are one task beside ksoftirqd, of its weight. Who has the CPU keeps it up to the first tick at
//!   which the time of its turn is over; a program that wakes during ksoftirqd's turn waits for that. Turns are measured by
//!   the clock, as without CONFIG_IRQ_TIME_ACCOUNTING.
//! - Of what lets softirqs run in a program's turn there are ticks, the ends of calls that copy (of those that read a datagram
//!   from 2.6.25 on), and interrupts of a driver without NAPI (one with NAPI has its interrupt off).
//! - A poll that finds the ring empty behind it ends the softirq, also where it took as many packets as it may, after which NAPI polls
//!   once more (a driver's `poll` that returns its weight stays on the list): that poll would find nothing, or what has come since.
//!
//! Limits:
//! - The weight of ksoftirqd is a program's; the nice of -5 that kernels around 2.6.25 give it is missing. Turns are
//!   whole ticks.
//! - No run of real Linux validates this, because its CPU takes no time. Linux works off ten rounds of softirqs and then
//!   lets programs go on; if softirqs take no time they end here when nothing is left. In front of a card that takes
//!   no time (1 Tb/s) a run was 40 % off by it (docs/how-true.md).
//! - A card has one queue and a weight of 64. RPS, threaded NAPI, busy polling and `net.core.dev_weight` are missing.
//! - A poll sees what was in the ring as it began. Other softirqs (timers) take no part in passes.
//! - A host has one card. Since 3.19 a pass polls it once, so a host whose softirqs do not end never uses up the
//!   default of `net.core.netdev_budget`, and seldom the time: `softnet.time_squeeze` counts accordingly.

use super::receive::WEIGHT;
use crate::config::Host;
use crate::jiffy_clock::JiffyClock;
use crate::tcp::profile::{NetRx, Profile, Scheduler, SoftirqEnd};
use crate::units::Time;

/// net.core.netdev_budget (2.6.20 to 6.12 `netdev_budget`).
const BUDGET: u32 = 300;
/// Passes after which ksoftirqd goes on (MAX_SOFTIRQ_RESTART).
pub(super) const MOST_PASSES: u32 = 10;
/// How long they take at most, ms (MAX_SOFTIRQ_TIME).
const LONGEST_MS: u64 = 2;

/// See the module's description.
pub(super) struct Softirq {
    net_rx: NetRx,
    end: SoftirqEnd,
    alone: bool,
    read_locks: bool,
    scheduler: Scheduler,
    jiffies: JiffyClock,
    budget: i64,
    /// Jiffies of a pass, and of a round of them.
    limits: [u64; 2],
    round: Option<Round>,
    turn: Turn,
    /// When a round has left the rest to ksoftirqd, and until when programs that want the CPU have it then.
    gave_up: Time,
    held_until: Time,
    /// Passes that ended before their work (/proc/net/softnet_stat).
    pub(super) time_squeeze: u64,
}

/// Passes that follow each other.
struct Round {
    began: Time,
    passes: u32,
    pass_began: Time,
    /// What is left of the budget of this pass.
    budget: i64,
}

/// Who has the CPU.
#[derive(Clone, Copy)]
enum Turn {
    /// ksoftirqd sleeps: softirqs first.
    Softirqs,
    /// ksoftirqd, up to then at least.
    Ksoftirqd(Time),
    /// Programs, and ksoftirqd waits.
    Programs(Time),
}

/// What programs want of the CPU as a poll ends.
#[derive(Clone, Copy)]
pub(super) struct Wish {
    /// One is to run, or does.
    pub(super) run: bool,
    /// One is to run, and none did when the softirqs came.
    pub(super) woken: bool,
}

impl Softirq {
    pub(super) fn new(host: &Host, profile: &Profile) -> Softirq {
        let ticks = |us: u64| (us * u64::from(host.hz)).div_ceil(1_000_000);
        let of_pass = match profile.net_rx {
            NetRx::OneJiffy => 1,
            NetRx::Quotas | NetRx::TwoJiffies => 2,
            NetRx::ThreeJiffies => 3,
            // Less than two jiffies cannot be set.
            NetRx::OnePoll => ticks(host.sysctl.netdev_budget_usecs.unwrap_or(0).into()).max(2),
        };
        Softirq {
            net_rx: profile.net_rx,
            end: profile.softirq_end,
            alone: profile.ksoftirqd_alone,
            read_locks: profile.datagram_read_locks,
            scheduler: profile.scheduler,
            jiffies: JiffyClock::jiffies(host.hz),
            budget: host.sysctl.netdev_budget.unwrap_or(BUDGET).into(),
            limits: [of_pass, ticks(LONGEST_MS * 1000)],
            round: None,
            turn: Turn::Softirqs,
            gave_up: Time::ZERO,
            held_until: Time::ZERO,
            time_squeeze: 0,
        }
    }

    /// Before this no packets are taken where programs want the CPU.
    pub(super) fn held_until(&self) -> Time {
        self.held_until
    }

    /// When a driver's interrupts, too, let packets be taken that wait for ksoftirqd: those after this time.
    pub(super) fn interrupts_after(&self) -> Option<Time> {
        (self.held_until > Time::ZERO && !self.alone).then_some(self.gave_up)
    }

    /// Whether one packet alone uses no budget up.
    pub(super) fn has_budget(&self) -> bool {
        self.budget > 1
    }

    /// Packets that the next poll takes at most.
    pub(super) fn most(&self) -> u32 {
        let left = self.round.as_ref().map_or(self.budget, |round| round.budget);
        let quota = self.net_rx == NetRx::Quotas;
        if quota { left.clamp(1, WEIGHT.into()) as u32 } else { WEIGHT }
    }

    /// A poll begins at `now`; `wanted`: whether a program wants the CPU.
    pub(super) fn begin(&mut self, now: Time, wanted: bool) {
        if let Turn::Programs(until) = self.turn
            && (now >= until || !wanted)
        {
            self.turn = Turn::Ksoftirqd(self.turn_end(now, 1));
        }
        self.held_until = Time::ZERO;
    }

    /// A poll that began with the CPU at `begin` has taken `taken` packets; the CPU is at `end`, and packets are `left`.
    pub(super) fn end(&mut self, [begin, end]: [Time; 2], taken: u32, left: bool, wish: Wish) {
        let fresh = || Round { began: begin, passes: 0, pass_began: begin, budget: self.budget };
        let round = self.round.get_or_insert_with(fresh);
        round.budget -= i64::from(taken);
        let since = |from: Time| self.jiffies.at(end) - self.jiffies.at(from);
        let out = round.budget <= 0 || since(round.pass_began) >= self.limits[0];
        let one_poll = self.net_rx == NetRx::OnePoll;
        self.time_squeeze += u64::from(out && (left || one_poll));
        if !left {
            (self.round, self.turn) = (None, Turn::Softirqs);
            return;
        }
        if !out && !one_poll {
            return;
        }
        (round.budget, round.pass_began) = (self.budget, end);
        round.passes += 1;
        let late = self.end == SoftirqEnd::PassesOrTime
            && (since(round.began) >= self.limits[1] || self.turn.ends(end, wish));
        if round.passes >= MOST_PASSES || late {
            let took_time = end > round.began;
            self.round = None;
            if took_time {
                self.leave_the_rest(end, wish.run);
            }
        }
    }

    /// ksoftirqd is to go on, from `now`.
    fn leave_the_rest(&mut self, now: Time, wanted: bool) {
        self.turn = match self.turn {
            Turn::Softirqs if self.scheduler.program_first() => {
                Turn::Programs(self.turn_end(now, 0))
            }
            Turn::Softirqs => Turn::Ksoftirqd(self.turn_end(now, 1)),
            Turn::Ksoftirqd(until) if now >= until && wanted => {
                Turn::Programs(self.turn_end(now, 0))
            }
            turn => turn,
        };
        if let Turn::Programs(until) = self.turn {
            self.gave_up = now;
            let tick = self.jiffies.after(now, 1);
            self.held_until = if self.alone { until } else { until.min(tick) };
        }
    }

    /// A call of a program that took time ends at `now`, and with it softirqs are on again (`release_sock`); `read_datagram`: it
    /// read one, which need not lock the socket.
    pub(super) fn end_call(&mut self, now: Time, read_datagram: bool) {
        if !self.alone && (self.read_locks || !read_datagram) {
            self.held_until = self.held_until.min(now);
        }
    }

    /// An interrupt at `now` lets packets be taken.
    pub(super) fn interrupt(&mut self, now: Time) {
        self.held_until = self.held_until.min(now);
    }

    /// When a turn ends that begins at `now`, of programs (0) or of ksoftirqd (1): at the first tick after its time.
    fn turn_end(&self, now: Time, whose: usize) -> Time {
        let over = now + self.scheduler.slices()[whose];
        let tick = self.jiffies.begin(self.jiffies.at(over));
        if tick == over { over } else { self.jiffies.after(over, 1) }
    }
}

impl Turn {
    /// Whether another process is to run at `now` (need_resched).
    fn ends(self, now: Time, wish: Wish) -> bool {
        match self {
            Turn::Softirqs => wish.woken,
            Turn::Ksoftirqd(until) => wish.run && now >= until,
            Turn::Programs(until) => now >= until,
        }
    }
}
