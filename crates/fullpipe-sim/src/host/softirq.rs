//! CPU time of softirqs before programs: passes of NET_RX_SOFTIRQ with their budget and time, and rounds of passes.
//! After these ksoftirqd shares the CPU with programs.
//!
//! Source: Linux 2.6.20 and 2.6.24, 6.1 and 6.12 net/core/dev.c (`net_rx_action`, `process_backlog`), kernel/softirq.c
//! (`__do_softirq`, `handle_softirqs`, `invoke_softirq`, `irq_exit`, `__local_bh_enable_ip`), kernel/sched.c and
//! fair.c. The profile has the differences between versions.
//!
//! Inferred, where the sources leave more open than a host with one CPU and no other processes needs:
//! - Packets that take no CPU time leave nothing to share. They use up budgets, and softirqs continue.
//! - All programs of a host are one task with the weight of ksoftirqd. A task keeps the CPU up to the first tick at
//!   which the time of its turn is over. A program that wakes during ksoftirqd's turn waits for its end. The clock
//!   measures turns, as without CONFIG_IRQ_TIME_ACCOUNTING.
//! - In a program's turn three events let softirqs run: ticks, ends of calls that copy, and interrupts of a driver
//!   without NAPI. Ends of calls that read a datagram count from 2.6.25 on. A driver with NAPI has its interrupt off.
//! - A poll that leaves the ring empty ends the softirq, even if it took its full weight. NAPI would poll once more
//!   then, because a driver's `poll` that returns its weight stays on the list. That poll would find nothing, or later
//!   arrivals.
//!
//! Limits:
//! - ksoftirqd has a program's weight; the nice of -5 in kernels around 2.6.25 is missing. Turns are whole ticks.
//! - No run of real Linux validates this, because its CPU takes no time. Linux makes ten rounds of softirqs and then
//!   lets programs continue. If softirqs take no time they end here when no packet is left. In front of a NIC that
//!   takes no time (1 Tb/s) a run was 40 % off by this (docs/how-true.md).
//! - A NIC has one queue and a weight of 64. RPS, threaded NAPI, busy polling and `net.core.dev_weight` are missing.
//! - A poll sees the packets that were in the ring at its start. Other softirqs (timers) take no part in passes.
//! - A host has one NIC. Since 3.19 a pass polls it once. So a host with endless softirqs never uses up the default of
//!   `net.core.netdev_budget`, and seldom the time. `softnet.time_squeeze` counts accordingly.

use super::receive::WEIGHT;
use crate::config::Host;
use crate::jiffy_clock::JiffyClock;
use crate::tcp::profile::{NetRx, Profile, Scheduler, SoftirqEnd};
use crate::units::Time;

/// net.core.netdev_budget (2.6.20 to 6.12 `netdev_budget`).
const BUDGET: u32 = 300;
/// Passes after which ksoftirqd takes over (MAX_SOFTIRQ_RESTART).
pub(super) const MOST_PASSES: u32 = 10;
/// Longest time of the passes, ms (MAX_SOFTIRQ_TIME).
const LONGEST_MS: u64 = 2;

/// State of the softirqs of a host.
pub(super) struct Softirq {
    net_rx: NetRx,
    end: SoftirqEnd,
    alone: bool,
    read_locks: bool,
    scheduler: Scheduler,
    jiffies: JiffyClock,
    budget: i64,
    /// Longest pass, and longest round of passes, jiffies.
    limits: [u64; 2],
    round: Option<Round>,
    owner: CpuOwner,
    /// Time at which a round left its rest to ksoftirqd, and end of the time for which programs that want the CPU have
    /// it then.
    gave_up: Time,
    held_until: Time,
    /// Passes that ended before their work (/proc/net/softnet_stat).
    pub(super) time_squeeze: u64,
}

/// Successive passes.
struct Round {
    began: Time,
    passes: u32,
    pass_began: Time,
    /// Rest of this pass's budget.
    budget: i64,
}

/// Owner of the CPU.
#[derive(Clone, Copy)]
enum CpuOwner {
    /// Softirqs; ksoftirqd sleeps.
    Softirqs,
    /// ksoftirqd, at least until this time.
    Ksoftirqd(Time),
    /// Programs, until this time; ksoftirqd waits.
    Programs(Time),
}

/// Demand of programs for the CPU at the end of a poll.
#[derive(Clone, Copy)]
pub(super) struct Wish {
    /// Whether a program is to run, or runs.
    pub(super) run: bool,
    /// Whether a program is to run, and none ran at the start of the softirqs.
    pub(super) woken: bool,
}

impl Softirq {
    pub(super) fn new(host: &Host, profile: &Profile) -> Softirq {
        let ticks = |us: u64| (us * u64::from(host.hz)).div_ceil(1_000_000);

        // net_rx_action gives up after this many jiffies.
        let of_pass = match profile.net_rx {
            NetRx::OneJiffy => 1,
            NetRx::Quotas | NetRx::TwoJiffies => 2,
            NetRx::ThreeJiffies => 3,
            // A setting below two jiffies has no effect.
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
            owner: CpuOwner::Softirqs,
            gave_up: Time::ZERO,
            held_until: Time::ZERO,
            time_squeeze: 0,
        }
    }

    /// Earliest time at which packets are taken, while programs want the CPU.
    pub(super) fn held_until(&self) -> Time {
        self.held_until
    }

    /// Time after which a driver's interrupt ends the wait for ksoftirqd; none: interrupts do not end it.
    pub(super) fn interrupts_after(&self) -> Option<Time> {
        (self.held_until > Time::ZERO && !self.alone).then_some(self.gave_up)
    }

    /// Whether a budget has room for more than one packet.
    pub(super) fn has_budget(&self) -> bool {
        self.budget > 1
    }

    /// Most packets of the next poll.
    pub(super) fn most(&self) -> u32 {
        let left = self.round.as_ref().map_or(self.budget, |round| round.budget);
        let quota = self.net_rx == NetRx::Quotas;
        if quota { left.clamp(1, WEIGHT.into()) as u32 } else { WEIGHT }
    }

    /// Begins a poll at `now`; `wanted`: a program wants the CPU.
    pub(super) fn begin(&mut self, now: Time, wanted: bool) {
        if let CpuOwner::Programs(until) = self.owner
            && (now >= until || !wanted)
        {
            self.owner = CpuOwner::Ksoftirqd(self.turn_end(now, 1));
        }
        self.held_until = Time::ZERO;
    }

    /// Ends a poll of `taken` packets, which began with the CPU at `begin` and ended at `end`; `left`: the ring is not
    /// empty.
    pub(super) fn end(&mut self, [begin, end]: [Time; 2], taken: u32, left: bool, wish: Wish) {
        let round = self.round.get_or_insert(Round {
            began: begin,
            passes: 0,
            pass_began: begin,
            budget: self.budget,
        });
        round.budget -= i64::from(taken);
        let since = |from: Time| self.jiffies.at(end) - self.jiffies.at(from);
        let out = round.budget <= 0 || since(round.pass_began) >= self.limits[0];
        let one_poll = self.net_rx == NetRx::OnePoll;
        self.time_squeeze += u64::from(out && (left || one_poll));
        if !left {
            (self.round, self.owner) = (None, CpuOwner::Softirqs);
            return;
        }
        if !out && !one_poll {
            return;
        }
        (round.budget, round.pass_began) = (self.budget, end);
        round.passes += 1;
        let late = self.end == SoftirqEnd::PassesOrTime
            && (since(round.began) >= self.limits[1] || self.owner.ends(end, wish));
        if round.passes >= MOST_PASSES || late {
            let took_time = end > round.began;
            self.round = None;
            if took_time {
                self.leave_the_rest(end, wish.run);
            }
        }
    }

    /// Leaves the rest of the packets to ksoftirqd, from `now` on.
    fn leave_the_rest(&mut self, now: Time, wanted: bool) {
        // The scheduler decides who has the CPU next: ksoftirqd, or a program that waits.
        self.owner = match self.owner {
            CpuOwner::Softirqs if self.scheduler.program_first() => {
                CpuOwner::Programs(self.turn_end(now, 0))
            }
            CpuOwner::Softirqs => CpuOwner::Ksoftirqd(self.turn_end(now, 1)),
            CpuOwner::Ksoftirqd(until) if now >= until && wanted => {
                CpuOwner::Programs(self.turn_end(now, 0))
            }
            owner => owner,
        };
        if let CpuOwner::Programs(until) = self.owner {
            self.gave_up = now;

            // Without ksoftirqd_running an interrupt runs the softirqs anyway, at the next tick at the latest.
            let tick = self.jiffies.after(now, 1);
            self.held_until = if self.alone { until } else { until.min(tick) };
        }
    }

    /// Ends a program's call that took time at `now`, and switches softirqs on (`release_sock`). `read_datagram`: the
    /// call read a datagram, which need not lock the socket.
    pub(super) fn end_call(&mut self, now: Time, read_datagram: bool) {
        if !self.alone && (self.read_locks || !read_datagram) {
            self.held_until = self.held_until.min(now);
        }
    }

    /// Lets packets be taken after an interrupt at `now`.
    pub(super) fn interrupt(&mut self, now: Time) {
        self.held_until = self.held_until.min(now);
    }

    /// End of a turn that begins at `now`, of programs (0) or of ksoftirqd (1): the first tick after its time.
    fn turn_end(&self, now: Time, whose: usize) -> Time {
        let over = now + self.scheduler.slices()[whose];
        let tick = self.jiffies.begin(self.jiffies.at(over));
        if tick == over { over } else { self.jiffies.after(over, 1) }
    }
}

impl CpuOwner {
    /// Whether another process is to run at `now` (need_resched).
    fn ends(self, now: Time, wish: Wish) -> bool {
        match self {
            CpuOwner::Softirqs => wish.woken,
            CpuOwner::Ksoftirqd(until) => wish.run && now >= until,
            CpuOwner::Programs(until) => now >= until,
        }
    }
}
