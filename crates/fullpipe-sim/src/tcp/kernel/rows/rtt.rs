//! Clocks of RTT samples, timeouts and timestamps.

use crate::jiffy_clock::JiffyClock;

choice! {
    /// The clock of srtt and the timeout.
    RttClock {
        /// Jiffies (2.6.20 `tcp_rtt_estimator`).
        Jiffies = "jiffies",
        /// Microseconds (3.15).
        Microseconds = "microseconds",
    }
}

choice! {
    /// RTT sample that is taken where there are timestamps.
    RttSource {
        /// The timestamp echoed (2.6.20 `tcp_ack_saw_tstamp`).
        Echo = "echo",
        /// The ACK's own, then a SACK's, then the timestamp's (3.12 `tcp_ack_update_rtt`).
        Ack = "ack",
    }
}

choice! {
    /// Unit of a timestamp (RFC 7323).
    TimestampClock {
        /// Jiffies.
        Jiffies = "jiffies",
        /// Milliseconds, whatever HZ is (4.13 `TCP_TS_HZ`).
        Milliseconds = "milliseconds",
    }
}

impl TimestampClock {
    /// Ticks of the clock in a kernel with `hz` jiffies per second.
    pub(crate) fn ticks(self, hz: u32) -> JiffyClock {
        JiffyClock::jiffies(if self == TimestampClock::Jiffies { hz } else { 1000 })
    }
}

rows! { ($) rtt_rows
    rows {
        rtt_clock: RttClock {
            means: "the clock of srtt and the timeout",
            read_in: "tcp_rtt_estimator",
            values: { V2_6_20: Jiffies, V6_1: Microseconds },
        }

        /// In 2.6.20 `tcp_rtt_estimator`; not since the change of 2014, "tcp: remove 1ms offset in srtt computation".
        whole_jiffy_rtt: bool {
            means: "an RTT of less than a jiffy counts as one",
            read_in: "tcp_rtt_estimator, tcp_update_pacing_rate",
            values: { V2_6_20: true, V3_14: false },
            needs: [Need::InJiffies],
        }

        rtt_source: RttSource {
            means: "which RTT sample is taken where there are timestamps",
            read_in: "tcp_ack_update_rtt",
            values: { V2_6_20: Echo, V3_14: Ack },
            needs: [Need::CwndFirst("the ACK's own, then a SACK's, then the timestamp's")],
        }

        timestamp_clock: TimestampClock {
            means: "what the timestamps of TCP's option count",
            read_in: "tcp_time_stamp_ts, TCP_TS_HZ",
            values: { V2_6_20: Jiffies, V6_1: Milliseconds },
        }
    }
    constants {
        /// Least retransmission timeout, ms (Linux 2.6.20 `TCP_RTO_MIN`).
        rto_min_ms: u64 {
            read_in: "TCP_RTO_MIN",
            values: { V2_6_20: 200 },
        }
    }
}
