//! Who has a host's CPU: softirqs, ksoftirqd, programs.

use crate::units::Time;

choice! {
    /// What of the card's packets one pass of NET_RX_SOFTIRQ takes (`net_rx_action`): polls of 64 packets, until the budget
    /// (net.core.netdev_budget) or the time is used up.
    NetRx {
        /// No more than the budget, to the packet; until two jiffies have begun since (2.6.20 `net_rx_action`, `dev->quota`).
        Quotas = "quotas",
        /// Whole polls; until a jiffy has begun since (2.6.24).
        OneJiffy = "one-jiffy",
        /// Three jiffies (2.6.29).
        ThreeJiffies = "three-jiffies",
        /// Two jiffies (3.10).
        TwoJiffies = "two-jiffies",
        /// One poll of each card: a second one needs another pass (3.19). The time is net.core.netdev_budget_usecs, by default
        /// two jiffies (4.12).
        OnePoll = "one-poll",
    }
}

choice! {
    /// When softirqs that find more to do leave it to ksoftirqd (`__do_softirq`).
    SoftirqEnd {
        /// After ten passes (2.6.20).
        Passes = "passes",
        /// Also after 2 ms, or when another process is to run (3.9, with the passes 3.10; 6.12 `handle_softirqs`).
        PassesOrTime = "passes-or-time",
    }
}

choice! {
    /// How a CPU is shared between ksoftirqd and programs.
    Scheduler {
        /// By priority: ksoftirqd, at nice 19, has 5 ms when programs have used up 100 ms (2.6.20 `task_timeslice`, `ksoftirqd`).
        Priorities = "priorities",
        /// Half of 20 ms each, the one that has slept first (2.6.23 `sysctl_sched_latency`, `place_entity`).
        Fair20ms = "fair-20ms",
        /// Half of 5 ms (2.6.32).
        Fair5ms = "fair-5ms",
        /// Half of 6 ms (2.6.34 to 6.5).
        Fair6ms = "fair-6ms",
        /// 0.7 ms each, the one first that is running or was ready first (6.12.117 `sysctl_sched_base_slice`, RUN_TO_PARITY). From
        /// 6.6 on it was 0.75 ms, which is remembered, not read: the change came to 6.12 as a stable release.
        Deadlines = "deadlines",
    }
}

impl Scheduler {
    /// For how long programs and ksoftirqd have the CPU when both want it, on a host with one CPU: up to the first tick after
    /// that.
    pub(crate) fn slices(self) -> [Time; 2] {
        match self {
            Scheduler::Priorities => [Time::ms(100), Time::ms(5)],
            Scheduler::Fair20ms => [Time::ms(10); 2],
            Scheduler::Fair5ms => [Time::us(2500); 2],
            Scheduler::Fair6ms => [Time::ms(3); 2],
            Scheduler::Deadlines => [Time::us(700); 2],
        }
    }

    /// Whether a program has the CPU before ksoftirqd that is woken.
    pub(crate) fn program_first(self) -> bool {
        matches!(self, Scheduler::Priorities | Scheduler::Deadlines)
    }
}
