//! Use of a host's CPU by softirqs, ksoftirqd and programs, and work that a locked socket defers.

pub use crate::jiffy_clock::TimerWheel;
use crate::units::Time;

choice! {
    /// Action of a timer that finds its socket locked by a process.
    LockedTimers {
        /// The timer is set anew: the retransmission timer by HZ/20, the delayed ACK's by HZ/25 (2.6.20
        /// `tcp_write_timer`, `tcp_delack_timer`).
        PutOff = "put-off",
        /// The timer acts when the process releases the socket (3.14 `tcp_release_cb`; the year 2012 for this change is
        /// inferred).
        Released = "released",
    }
}

choice! {
    /// Treatment of packets that arrive while a process owns the socket, and wait in its backlog.
    SocketBacklog {
        /// The packets do not count until they are taken.
        Plain = "plain",
        /// The packets' memory reduces the room in the receive buffer (4.20 `tcp_space`).
        Counted = "counted",
        /// The packets' memory reduces the room, too. One ACK answers all of them when the backlog is empty (6.6
        /// `tcp_release_cb`).
        OneAck = "one-ack",
    }
}

names! { TimerWheel { Cascading = "cascading", Levels = "levels", } }

choice! {
    /// Packets that one pass of NET_RX_SOFTIRQ takes (`net_rx_action`): polls of 64 packets, until the budget
    /// (net.core.netdev_budget) or the time is used up.
    NetRx {
        /// Exactly the budget at most, until two jiffies have begun (2.6.20 `net_rx_action`, `dev->quota`).
        Quotas = "quotas",
        /// Whole polls, until a jiffy has begun (2.6.24).
        OneJiffy = "one-jiffy",
        /// Whole polls, for three jiffies (2.6.29).
        ThreeJiffies = "three-jiffies",
        /// Whole polls, for two jiffies (3.10).
        TwoJiffies = "two-jiffies",
        /// One poll of each NIC: a second one needs another pass (3.19). The time is net.core.netdev_budget_usecs, by
        /// default two jiffies (4.12).
        OnePoll = "one-poll",
    }
}

choice! {
    /// Condition under which softirqs with more work leave it to ksoftirqd (`__do_softirq`).
    SoftirqEnd {
        /// Ten passes (2.6.20).
        Passes = "passes",
        /// Ten passes, or 2 ms, or another process is to run (3.9, with the passes 3.10; 6.12 `handle_softirqs`).
        PassesOrTime = "passes-or-time",
    }
}

choice! {
    /// Sharing of a CPU between ksoftirqd and programs.
    Scheduler {
        /// Priorities: ksoftirqd, at nice 19, has 5 ms when programs have used up 100 ms (2.6.20 `task_timeslice`,
        /// `ksoftirqd`).
        Priorities = "priorities",
        /// Half of 20 ms each; the one that slept longer is first (2.6.23 `sysctl_sched_latency`, `place_entity`).
        Fair20ms = "fair-20ms",
        /// Half of 5 ms (2.6.32).
        Fair5ms = "fair-5ms",
        /// Half of 6 ms (2.6.34 to 6.5).
        Fair6ms = "fair-6ms",
        /// 0.7 ms each; the one that is running or was ready first is first (6.12.117 `sysctl_sched_base_slice`,
        /// RUN_TO_PARITY). The value of 0.75 ms from 6.6 on is remembered, not read; the change reached 6.12 in a
        /// stable release.
        Deadlines = "deadlines",
    }
}

impl Scheduler {
    /// CPU time of programs and of ksoftirqd when both want it, on a host with one CPU: up to the first tick after this
    /// time.
    pub(crate) fn slices(self) -> [Time; 2] {
        match self {
            Scheduler::Priorities => [Time::ms(100), Time::ms(5)],
            Scheduler::Fair20ms => [Time::ms(10); 2],
            Scheduler::Fair5ms => [Time::us(2500); 2],
            Scheduler::Fair6ms => [Time::ms(3); 2],
            Scheduler::Deadlines => [Time::us(700); 2],
        }
    }

    /// Whether a program has the CPU before ksoftirqd that was just woken.
    pub(crate) fn program_first(self) -> bool {
        matches!(self, Scheduler::Priorities | Scheduler::Deadlines)
    }
}

rows! { ($) cpu_rows
    rows {
        locked_timers: LockedTimers {
            means: "what a timer does that finds its socket locked",
            read_in: "tcp_write_timer, tcp_delack_timer, tcp_release_cb",
            values: { V2_6_20: PutOff, V3_14: Released },
            tests: ["locked_socket.rs: a_timer_that_is_put_off_comes_again"],
        }

        socket_backlog: SocketBacklog {
            means: "what waits in the backlog of a socket that a process has",
            read_in: "tcp_space, __tcp_ack_snd_check, tcp_release_cb",
            values: { V2_6_20: Plain, V6_1: Counted, V6_12: OneAck },
            tests: ["socket_backlog.rs: a_backlog_is_acknowledged"],
        }

        timer_wheel: TimerWheel {
            means: "when a timer fires that is due on a tick",
            read_in: "calc_wheel_index",
            values: { V2_6_20: Cascading, V6_1: Levels },
        }

        /// Packets that arrive in the same nanosecond wait too, and so does work of a flow that waited for the host. Of
        /// two tasks that became ready at one time EEVDF (6.6) picks the earlier one, the program. CFS gives more
        /// credit to ksoftirqd, which has slept longer (`handle_softirqs`, `place_entity`).
        woken_first: bool {
            means: "a program that is woken goes before what softirqs have left to do",
            read_in: "handle_softirqs, pick_eevdf",
            values: { V2_6_20: false, V6_12: true },
            tests: ["woken.rs: a_woken_writer_goes_before_the_ack_of_its_nanosecond"],
        }

        /// CFS gives a thread that has slept credit, EEVDF (6.6) none. Earlier kernels than 6.1 were not read.
        woken_preempts: bool {
            means: "a thread that another thread of its program wakes runs before that one goes on",
            read_in: "check_preempt_wakeup, place_entity",
            values: { V2_6_20: false, V6_1: true, V6_12: false },
            tests: ["answers.rs: a_woken_thread_goes_before_the_one_that_wakes_it"],
        }

        net_rx: NetRx {
            means: "what one pass of NET_RX_SOFTIRQ takes, by net.core.netdev_budget and by time",
            read_in: "net_rx_action",
            values: {
                V2_6_20: Quotas,
                V2_6_24: OneJiffy,
                V2_6_32: ThreeJiffies,
                V3_14: TwoJiffies,
                V6_1: OnePoll,
            },
            tests: ["softirq.rs: who_has_the_cpu"],
        }

        softirq_end: SoftirqEnd {
            means: "when softirqs that find more to do leave it to ksoftirqd",
            read_in: "__do_softirq, handle_softirqs",
            values: { V2_6_20: Passes, V3_14: PassesOrTime },
            tests: ["softirq.rs: who_has_the_cpu"],
        }

        /// In 4.9 to 6.4 `ksoftirqd_running`; the revert is of 6.5, which is remembered.
        ksoftirqd_alone: bool {
            means: "while ksoftirqd is to run, no softirq runs at the end of an interrupt, a tick or a program's call",
            read_in: "ksoftirqd_running, invoke_softirq, do_softirq",
            values: { V2_6_20: false, V6_1: true, V6_12: false },
            tests: ["softirq.rs: who_has_the_cpu"],
        }

        /// Reading takes and releases the socket's lock since UDP counts its memory (2.6.25 `udp_recvmsg`, commit
        /// 95766fff6b9a "[UDP]: Add memory accounting."; 6.12 `__skb_recv_udp`, the queue's lock). Before, the queue is
        /// locked against interrupts, and waiting packets are taken at the next tick or interrupt.
        datagram_read_locks: bool {
            means: "reading a datagram lets softirqs run as it ends",
            read_in: "udp_recvmsg, __skb_recv_udp",
            values: { V2_6_20: false, V2_6_25: true },
            tests: ["softirq.rs: who_has_the_cpu"],
        }

        scheduler: Scheduler {
            means: "how ksoftirqd and programs share the CPU",
            read_in: "task_timeslice, sched_slice, place_entity, update_deadline",
            values: {
                V2_6_20: Priorities,
                V2_6_24: Fair20ms,
                V2_6_32: Fair5ms,
                V3_14: Fair6ms,
                V6_12: Deadlines,
            },
            tests: ["softirq.rs: who_has_the_cpu"],
        }
    }
    constants {}
}
