//! Byte queue limits: how many bytes the transmit ring is given ahead of the wire. Unit of decision: the skb.
//!
//! Beyond the limit the driver's queue is stopped, and skbs wait in the qdisc. The limit grows when the ring ran dry
//! though more was waiting, and shrinks by what lay in the ring for nothing. Linux 3.3 on; as in 6.12
//! lib/dynamic_queue_limits.c (`dql_queued`, `dql_completed`) and include/linux/netdevice.h
//! (`netdev_tx_sent_queue`, `netdev_tx_completed_queue`).
//!
//! Limits:
//! - An skb counts and completes whole, as with a card that does TSO, when its last segment is on the wire, or at the
//!   interrupt that `tx_coalesce` delays.
//! - While the ring is stopped, the next skb has already left the discipline. TCP small queues count an skb until it
//!   is in the ring, then as without BQL.
//! - No kernel profile has BQL unless the scenario sets it. The limit grows until the card does not run dry, so no
//!   scenario has BQL as a flow's limit, and no limit has its name.

use crate::jiffy_clock::JiffyClock;
use crate::units::Time;
use alloc::collections::VecDeque;

/// The limit of a queue that was never used, and the least one, bytes (`dql_init`: min_limit).
const LEAST: u64 = 0;
/// The greatest limit, bytes (include/linux/dynamic_queue_limits.h: DQL_MAX_LIMIT).
pub const GREATEST: u64 = u32::MAX as u64 / 2 - u32::MAX as u64 / 16;

/// The limit, and what it follows from. Times are jiffies.
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
    /// How things stood at the completion before.
    before: Before,
    /// Least slack that completions showed since `slack_since`; none yet: as much as can be (lowest_slack).
    slack: u64,
    /// When the limit was last made larger, or its slack taken away (slack_start_time).
    slack_since: u64,
    /// For how long slack has to last (slack_hold_time).
    hold: u64,
}

/// How things stood at a completion.
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
    /// That of a ring which is taken into use at jiffy 0, in a kernel with so many jiffies per second: slack
    /// has to last for a second (net/core/dev.c `netdev_init_one_queue`).
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

    /// An skb of so many bytes enters the ring (`dql_queued`).
    pub fn enter(&mut self, bytes: u64) {
        self.last = bytes;
        self.queued += bytes;
    }

    /// So many of the bytes in the ring are found sent at `jiffy` (`dql_completed`).
    pub fn complete(&mut self, jiffy: u64, bytes: u64) {
        debug_assert!(bytes <= self.queued - self.completed);
        let Before { queued, over: was_over, .. } = self.before;
        let over = (self.queued - self.completed).saturating_sub(self.limit);
        let completed = self.completed + bytes;
        // All that was in the ring at the completion before.
        let caught_up = completed >= queued;
        let ran_dry = over > 0 && completed == self.queued;
        let limit = if ran_dry || (was_over > 0 && caught_up) {
            self.restart(jiffy);
            self.limit + completed.saturating_sub(queued) + was_over
        } else if !caught_up {
            self.without_slack(jiffy, bytes)
        } else {
            self.limit
        };
        let limit = limit.clamp(LEAST, GREATEST);
        let over = if limit == self.limit { over } else { 0 };
        self.before = Before { queued: self.queued, last: self.last, over };
        (self.limit, self.completed) = (limit, completed);
    }

    /// The limit, less what completions of a whole hold time did not need. The ring was busy since the one before.
    fn without_slack(&mut self, jiffy: u64, bytes: u64) -> u64 {
        let Before { last, over, .. } = self.before;
        // Twice what is completed at once is enough.
        let unused = (self.limit + over).saturating_sub(2 * bytes);
        // So is less by that part of an skb which still was within the limit.
        let of_last = if over > 0 { last.saturating_sub(over) } else { 0 };
        self.slack = self.slack.min(unused.max(of_last));
        if jiffy <= self.slack_since + self.hold {
            return self.limit;
        }
        let limit = self.limit.saturating_sub(self.slack);
        self.restart(jiffy);
        limit
    }

    /// Slack is looked for from now on.
    fn restart(&mut self, jiffy: u64) {
        (self.slack, self.slack_since) = (u64::MAX, jiffy);
    }
}

/// The limit at work on a ring, which says in advance when its skbs will be sent. An skb is completed as its last
/// segment is on the wire; what is completed at one time is found by one poll of the driver.
pub(super) struct Bql {
    limit: Limit,
    ticks: JiffyClock,
    /// Skbs in the ring: when each is completed, ns, and its bytes.
    in_ring: VecDeque<(u64, u64)>,
    /// Whether the queue is stopped (__QUEUE_STATE_STACK_XOFF).
    stopped: bool,
}

impl Bql {
    /// That of an empty ring, of a host with so many jiffies per second.
    pub(super) fn new(hz: u32) -> Bql {
        Bql {
            limit: Limit::new(hz),
            ticks: JiffyClock::jiffies(hz),
            in_ring: VecDeque::new(),
            stopped: false,
        }
    }

    /// An skb of so many bytes enters, of which the last one is sent at `done` (`netdev_tx_sent_queue`). All that was
    /// completed before is told already.
    pub(super) fn enter(&mut self, bytes: u64, done: u64) {
        self.limit.enter(bytes);
        self.stopped = self.limit.available() < 0;
        self.in_ring.push_back((done, bytes));
    }

    /// Everything that is sent by `now` is completed (`netdev_tx_completed_queue`).
    pub(super) fn complete(&mut self, now: u64) {
        while let Some(&(at, _)) = self.in_ring.front().filter(|(at, _)| *at <= now) {
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

    /// Whether nothing may enter.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// When the queue may be started again: the next completion, if it is stopped. At the last one it is, for all of
    /// the limit is free then.
    pub(super) fn next_chance(&self) -> Option<u64> {
        self.in_ring.front().filter(|_| self.stopped).map(|(done, _)| *done)
    }
}
