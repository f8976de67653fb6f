//! Byte queue limits: the bound of bytes in the transmit ring ahead of the wire. Unit of decision: the skb.
//!
//! Beyond the limit the driver's queue is stopped, and skbs wait in the qdisc. The limit grows when the ring ran dry
//! although more skbs were waiting. It shrinks by bytes that the ring did not need. Since Linux 3.3.
//!
//! Source: 6.12 lib/dynamic_queue_limits.c (`dql_queued`, `dql_completed`) and include/linux/netdevice.h
//! (`netdev_tx_sent_queue`, `netdev_tx_completed_queue`).
//!
//! Limits:
//! - An skb counts and completes whole, as with a NIC that does TSO. It completes when its last segment is on the wire,
//!   or at the interrupt that `tx_coalesce` delays.
//! - While the ring is stopped, the next skb has already left the qdisc. TCP small queues count an skb until it is in
//!   the ring, then as without BQL.
//! - No kernel profile has BQL unless the scenario sets it. The limit grows until the NIC does not run dry. So no
//!   scenario has BQL as a flow's limit, and no limit has its name.

use crate::jiffy_clock::JiffyClock;
use crate::units::Time;
use alloc::collections::VecDeque;

/// Limit of an unused queue, and the least limit, bytes (`dql_init`: min_limit).
const LEAST: u64 = 0;
/// The greatest limit, bytes (include/linux/dynamic_queue_limits.h: DQL_MAX_LIMIT).
pub const GREATEST: u64 = u32::MAX as u64 / 2 - u32::MAX as u64 / 16;

/// The limit, and the state that decides it. Times are jiffies.
#[derive(Clone, Debug)]
pub struct Limit {
    /// Bytes that may be in the ring before it is stopped.
    limit: u64,
    /// Bytes that ever entered the ring (num_queued).
    queued: u64,
    /// Bytes that were ever completed (num_completed).
    completed: u64,
    /// Bytes of the skb that entered last (last_obj_cnt).
    last: u64,
    /// State at the last completion.
    before: Before,
    /// Least slack of completions since `slack_since`; the largest number before the first one (lowest_slack).
    slack: u64,
    /// Time at which the limit last grew, or its slack was removed (slack_start_time).
    slack_since: u64,
    /// Time for which slack has to last (slack_hold_time).
    hold: u64,
}

/// State at a completion.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    /// Bytes that had ever entered (prev_num_queued).
    queued: u64,
    /// Bytes of the skb that had entered last (prev_last_obj_cnt).
    last: u64,
    /// Bytes in the ring beyond the limit; 0 if the limit changed then (prev_ovlimit).
    over: u64,
}

impl Limit {
    /// Limit of a ring in use from jiffy 0 on, in a kernel with `hz` jiffies per second. Slack has to last for a second
    /// (net/core/dev.c `netdev_init_one_queue`).
    pub fn new(hz: u32) -> Limit {
        Limit {
            limit: LEAST,
            queued: 0,
            completed: 0,
            last: 0,
            before: Before::default(),
            slack: u64::MAX,
            slack_since: 0,
            hold: hz.into(),
        }
    }

    /// Bytes that may be in the ring.
    pub fn bytes(&self) -> u64 {
        self.limit
    }

    /// Bytes that still fit, below 0 where more is in the ring than the limit (`dql_avail`).
    pub fn available(&self) -> i64 {
        (self.limit + self.completed) as i64 - self.queued as i64
    }

    /// Adds an skb of so many bytes to the ring (`dql_queued`).
    pub fn enter(&mut self, bytes: u64) {
        self.last = bytes;
        self.queued += bytes;
    }

    /// Completes `bytes` of the ring at `jiffy` (`dql_completed`).
    pub fn complete(&mut self, jiffy: u64, bytes: u64) {
        debug_assert!(bytes <= self.queued - self.completed);
        let Before { queued, over: was_over, .. } = self.before;
        let over = (self.queued - self.completed).saturating_sub(self.limit);
        let completed = self.completed + bytes;
        // True if all bytes that were in the ring at the last completion are completed.
        let caught_up = completed >= queued;
        let ran_dry = over > 0 && completed == self.queued;

        // dql_completed: starvation raises the limit, slack lowers it, otherwise it stays.
        let limit = if ran_dry || (was_over > 0 && caught_up) {
            self.restart(jiffy);
            self.limit + completed.saturating_sub(queued) + was_over
        } else if !caught_up {
            self.without_slack(jiffy, bytes)
        } else {
            self.limit
        };
        let limit = limit.clamp(LEAST, GREATEST);

        // A new limit makes the excess over the old one meaningless.
        let over = if limit == self.limit { over } else { 0 };
        self.before = Before { queued: self.queued, last: self.last, over };
        (self.limit, self.completed) = (limit, completed);
    }

    /// The limit without the bytes that completions of a whole hold time did not need. The ring was busy since the last
    /// completion.
    fn without_slack(&mut self, jiffy: u64, bytes: u64) -> u64 {
        let Before { last, over, .. } = self.before;
        // Twice the bytes of one completion are enough.
        let unused = (self.limit + over).saturating_sub(2 * bytes);
        // The part of the last skb that lay within the limit is slack, too.
        let of_last = if over > 0 { last.saturating_sub(over) } else { 0 };
        self.slack = self.slack.min(unused.max(of_last));
        if jiffy <= self.slack_since + self.hold {
            return self.limit;
        }
        let limit = self.limit.saturating_sub(self.slack);
        self.restart(jiffy);
        limit
    }

    /// Begins a new search for slack.
    fn restart(&mut self, jiffy: u64) {
        (self.slack, self.slack_since) = (u64::MAX, jiffy);
    }
}

/// The limit of a ring that knows in advance when its skbs will be sent. An skb completes when its last segment is on
/// the wire. One poll of the driver finds all completions of one time.
pub(super) struct Bql {
    limit: Limit,
    ticks: JiffyClock,
    /// Skbs in the ring: time of completion, ns, and bytes.
    in_ring: VecDeque<(u64, u64)>,
    /// Whether the queue is stopped (__QUEUE_STATE_STACK_XOFF).
    stopped: bool,
}

impl Bql {
    /// Byte queue limits of an empty ring, of a host with `hz` jiffies per second.
    pub(super) fn new(hz: u32) -> Bql {
        Bql {
            limit: Limit::new(hz),
            ticks: JiffyClock::jiffies(hz),
            in_ring: VecDeque::new(),
            stopped: false,
        }
    }

    /// Adds an skb of so many bytes that is completely sent at `done` (`netdev_tx_sent_queue`). The caller has reported
    /// all earlier completions.
    pub(super) fn enter(&mut self, bytes: u64, done: u64) {
        self.limit.enter(bytes);
        self.stopped = self.limit.available() < 0;
        self.in_ring.push_back((done, bytes));
    }

    /// Completes all skbs that are sent by `now` (`netdev_tx_completed_queue`).
    pub(super) fn complete(&mut self, now: u64) {
        while let Some(&(at, _)) = self.in_ring.front().filter(|(at, _)| *at <= now) {
            // One interrupt completes all skbs of its time together.
            let mut bytes = 0;
            while let Some(&(_, more)) = self.in_ring.front().filter(|(done, _)| *done == at) {
                self.in_ring.pop_front();
                bytes += more;
            }
            self.limit.complete(self.ticks.at(Time(at)), bytes);
            // A limit that shrinks does not stop the queue: the next skb does.
            self.stopped &= self.limit.available() < 0;
        }
    }

    /// Whether no skb may enter.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Time at which the queue may start again, if it is stopped: the next completion. The last completion always
    /// starts it, because the whole limit is free then.
    pub(super) fn next_chance(&self) -> Option<u64> {
        self.in_ring.front().filter(|_| self.stopped).map(|(done, _)| *done)
    }
}
