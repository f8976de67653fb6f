//! Fair queueing: flows take turns, new ones first, and no packet leaves before its time (Linux 6.12 sch_fq).
//!
//! A flow loses its turn if its first packet is not due yet. A timer with a slack of up to 10 us releases the flow at
//! that time (since 5.7; without slack before).
//!
//! Packets have one priority, which is the middle one of three bands. Bands take turns, too. A flow that was never
//! there before has its first turn in the first band, because `fq_enqueue` lists it before it knows its band. While no
//! flow has a turn, up to eight due packets bypass all flows (`fq_fastpath_check`). 6.1 has no bands and no bypass. TCP
//! sets the departure time of each packet, and thus the pace.
//!
//! A flow may also have a largest rate (`flow_max_rate`, `maxrate` of tc). A packet, or an skb of many, leaves whole.
//! The flow's next one waits for as long as this one takes at the rate. If this one left late, the wait is shorter,
//! down to half of it.
//!
//! Packets without a departure time, and all packets before 4.20, are not held back while their turn lasts. Then they
//! take as long as a turn of full packets at least (6.12 and 3.14 `fq_dequeue`). With such a rate no packet bypasses
//! the flows.
//!
//! Limits:
//! - The `fq` of a path has no rate (`maxrate`), does not pace, and is that of 6.12 also between hosts of 6.1.
//! - Each connection has a queue of its own. In Linux two flows with one hash share a queue. Linux also moves a flow to
//!   another queue after a timeout on its own host (`net.core.txrehash`). Runs on real Linux set it to 0, and a router
//!   does not see that hash.
//! - The timer fires 10 us late unless a packet arrives. In Linux any other timer of that CPU serves it earlier, on
//!   engine `linux` those of the path and of samples too. Several long flows were 11 to 20 % off by it (4 flows at
//!   500 Mb/s, 2 at 100 Mb/s; others below 3 %). In front of a slow card cwnd parts by it; with TSO everything is far
//!   off there (54 to 97 %).
//! - `maxrate` before 4.20 (pauses of at most 125 ms, none while a flow has credit) rests on one table made by hand.
//!   Both comparisons with real Linux are of 6.12.
//! - Before 4.20 a flow's first turn counts twice: for TCP's pace and for `maxrate`. Linux has one credit and one
//!   rate, the smaller.

use super::fifo::List;
use super::{Effects, Packet, Queue, QueueLimit, Size, Verdict, Waiting, check_mtu};
use crate::bounds::demand;
use crate::units::{Rate, Time};
use alloc::collections::{BTreeSet, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Full packets of a turn and, by default, of a flow's first turn (`quantum`, `initial_quantum`).
const QUANTUM: i64 = 2;
const INITIAL_QUANTUM: u32 = 10;
/// Bytes of a band's turn (`fq_init`, FQ_BANDS): the band of a flow never seen before, and the other two.
const BANDS: [i64; 3] = [9 << 16, 3 << 16, 1 << 16];
const UNSEEN: usize = 0;
const USUAL: usize = 1;
/// Pause after which a returning flow has the credit of a full turn at least (`flow_refill_delay`).
const REFILL: Time = Time::ms(40);
/// Packets that bypass the flows while no flow waits.
const BY: u64 = 8;
/// Longest time until a packet's departure; a later packet is refused (`horizon`, `horizon_drop`).
const HORIZON: Time = Time::secs(10);
/// Slack of the timer for flows that wait for their time (`timer_slack`).
const SLACK: Time = Time::us(10);
/// Rate up to which packets without a departure time are held back too, bytes per second (`low_rate_threshold`).
const LOW_RATE: u64 = 550_000 / 8;
/// Longest wait of a flow after a packet; the next constant holds before 4.20.
const LONGEST: Time = Time::secs(1);
const LONGEST_PACED: Time = Time::ms(125);

/// Parameters of fq.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fq {
    /// Most packets of one flow.
    pub flow_limit: u32,
    /// Bytes of a full packet with its Ethernet header (`psched_mtu`).
    pub mtu: u32,
    /// Whether flows have bands, and packets bypass flows while no flow has a turn, as in 6.12.
    pub bands: bool,
    /// Whether `fq` paces each flow itself, as before 4.20: packets have no departure times, and its timer has no
    /// slack.
    pub paces_itself: bool,
    /// Bytes of a flow's first turn (0 to 2,147,483,647), which the rate does not hold back.
    pub initial_quantum: u32,
    /// Largest rate of each flow, in whole bytes per second; Ethernet headers count.
    pub max_rate: Option<Rate>,
}

impl Fq {
    /// fq as in 6.12, without a largest rate of flows.
    pub const fn new(flow_limit: u32, mtu: u32) -> Fq {
        let initial_quantum = INITIAL_QUANTUM.saturating_mul(mtu);
        Fq { flow_limit, mtu, bands: true, paces_itself: false, initial_quantum, max_rate: None }
    }

    /// Full packets of a turn.
    pub(crate) const fn turn(&self) -> i64 {
        QUANTUM
    }

    /// Longest wait of a flow after a packet, where `fq` paces itself.
    pub(crate) const fn longest_paced(&self) -> Time {
        LONGEST_PACED
    }

    pub(super) fn check(&self, name: &str) -> Result<(), String> {
        demand(self.flow_limit > 0, format!("{name}: flow_limit of at least 1 packet"))?;
        let rate = self.max_rate.is_none_or(|rate| rate.0 >= 8);
        demand(rate, format!("{name}: max_rate of at least 8 bit/s"))?;
        let credit = self.initial_quantum <= i32::MAX as u32;
        demand(credit, format!("{name}: initial_quantum of at most 2147483647 bytes"))?;
        check_mtu(self.mtu, name)
    }
}

/// List that holds a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlowList {
    /// No list: the flow has had no packets since its last turn.
    Away {
        since: Time,
    },
    New,
    Old,
    /// The throttled flows: its first packet is not due yet.
    Throttled,
}

#[derive(Debug)]
struct FqFlow<P> {
    list: List<P>,
    credit: i64,
    on: FlowList,
    band: usize,
    /// Time at which the next packet may leave by the largest rate; zero: there was no packet yet.
    next: Time,
}

/// Flows of one priority.
#[derive(Debug, Default)]
struct Band {
    new: VecDeque<u16>,
    old: VecDeque<u16>,
    credit: i64,
}

/// State of fq.
#[derive(Debug)]
pub(super) struct Flows<P> {
    fq: Fq,
    limit: QueueLimit,
    /// Packets that bypass all flows.
    by: List<P>,
    flows: Vec<FqFlow<P>>,
    bands: [Band; 3],
    /// Band that has its turn.
    band: usize,
    /// Packets that wait in flows.
    waiting: Size,
    /// Flows that wait for their first packet's time: the time, and their order where times are equal.
    throttled: BTreeSet<(Time, u64, u16)>,
    /// Number of times that a flow began such a wait.
    stopped: u64,
    /// Packets in these flows.
    stopped_packets: u64,
    /// Time at which the timer for these flows is due, without its slack.
    watchdog: Option<Time>,
}

impl<P: Packet> Flows<P> {
    pub(super) fn new(fq: Fq, limit: QueueLimit) -> Flows<P> {
        Flows {
            fq,
            limit,
            by: List::default(),
            flows: Vec::new(),
            bands: Default::default(),
            band: 0,
            waiting: Size::default(),
            throttled: BTreeSet::new(),
            stopped: 0,
            stopped_packets: 0,
            watchdog: None,
        }
    }

    fn quantum(&self, packets: i64) -> i64 {
        packets * i64::from(self.fq.mtu)
    }

    fn flow(&mut self, number: u16) -> &mut FqFlow<P> {
        let credit = self.fq.initial_quantum.into();
        let on = FlowList::Away { since: Time::ZERO };
        while self.flows.len() <= usize::from(number) {
            let (list, next) = (List::default(), Time::ZERO);
            self.flows.push(FqFlow { list, credit, on, band: UNSEEN, next });
        }
        &mut self.flows[usize::from(number)]
    }

    /// Whether a packet bypasses all flows.
    fn goes_by(&self, packet: &Waiting<P>, ahead: Size) -> bool {
        let now = packet.came;
        if packet.packet.departs() > now || !self.fq.bands || self.fq.max_rate.is_some() {
            return false;
        }

        // fq_fastpath_check: an empty queue, or no flow with a turn and no throttled flow that is due.
        let packets = self.waiting.packets + self.by.len() + ahead.packets;
        let have_turns = self.waiting.packets > self.stopped_packets;
        let late = self.throttled.first().is_some_and(|&(until, ..)| until <= now);
        packets == 0 || !have_turns && !late && self.by.len() < BY
    }

    /// Stops the flow at its turn until its first packet's time.
    fn throttle(&mut self, number: u16, until: Time) {
        self.leave_turn(number);
        self.stopped_packets += self.flow(number).list.len();
        self.flow(number).on = FlowList::Throttled;
        self.throttled.insert((until, self.stopped, number));
        self.stopped += 1;
    }

    /// Gives flows their turns back when their time has come.
    fn release(&mut self, now: Time) {
        while let Some(&(until, _, number)) = self.throttled.first()
            && until <= now
        {
            self.throttled.pop_first();
            self.stopped_packets -= self.flow(number).list.len();
            self.join_old(number);
        }
    }

    /// Sets the timer where no packet may leave yet, unless it runs and fires within its slack.
    fn watch(&mut self) {
        let Some(&(until, ..)) = self.throttled.first() else { return };
        let slack = self.slack();
        if !self.watchdog.is_some_and(|at| until <= at && at - until <= slack) {
            self.watchdog = Some(until);
        }
    }

    fn slack(&self) -> Time {
        if self.fq.paces_itself { Time::ZERO } else { SLACK }
    }

    /// Sets when the flow's next packet may leave by the largest rate, after a packet of `bytes` with departure time
    /// `departs`.
    fn pace(&mut self, number: u16, bytes: u32, departs: Time, now: Time) {
        let Some(rate) = self.fq.max_rate else { return };
        let (rate, turn, paces_itself) =
            (rate.0 / 8, self.quantum(QUANTUM) as u64, self.fq.paces_itself);
        let flow = self.flow(number);
        let mut bytes = u64::from(bytes);

        // Without a departure time a low rate ends the turn after each packet; a higher one lets credit be used up
        // first.
        if !paces_itself && departs == Time::ZERO && rate <= LOW_RATE {
            flow.credit = 0;
        } else if paces_itself || departs == Time::ZERO {
            bytes = bytes.max(turn);
            if flow.credit > 0 {
                return;
            }
        }
        let longest = if paces_itself { LONGEST_PACED } else { LONGEST };
        let takes = Time(bytes * 1_000_000_000 / rate).min(longest);

        // A late packet shortens the next wait, down to half.
        let late = match flow.next {
            Time::ZERO => Time::ZERO,
            _ if paces_itself => Time::ZERO,
            next => (now - next).min(Time(takes.0 / 2)),
        };
        flow.next = now + (takes - late);
    }

    fn leave_turn(&mut self, number: u16) {
        match self.flow(number).on {
            FlowList::New => self.bands[self.band].new.pop_front(),
            FlowList::Old => self.bands[self.band].old.pop_front(),
            FlowList::Away { .. } | FlowList::Throttled => None,
        };
    }

    fn join_old(&mut self, number: u16) {
        let flow = self.flow(number);
        flow.on = FlowList::Old;
        let band = flow.band;
        self.bands[band].old.push_back(number);
    }

    /// Ends the turn of a flow that has packets, and credits its next turn.
    fn next_turn(&mut self, number: u16) {
        let quantum = self.quantum(QUANTUM);
        self.flow(number).credit += quantum;
        self.leave_turn(number);
        self.join_old(number);
    }

    /// Ends the turn of a flow without packets. A new flow waits once with the old ones; in 6.1 only if there are any.
    fn is_empty_now(&mut self, number: u16, now: Time) {
        let was_new = self.flow(number).on == FlowList::New;
        self.leave_turn(number);
        if was_new && (self.fq.bands || !self.bands[self.band].old.is_empty()) {
            self.join_old(number);
        } else {
            self.flow(number).on = FlowList::Away { since: now };
        }
    }

    /// Lets a flow that has been away wait for its turn.
    fn come_back(&mut self, number: u16, now: Time) {
        let (quantum, bands) = (self.quantum(QUANTUM), self.fq.bands);
        let flow = self.flow(number);
        if let FlowList::Away { since } = flow.on {
            flow.on = FlowList::New;

            // After a pause the flow has at least a full turn.
            if now.saturating_sub(since) > REFILL {
                flow.credit = flow.credit.max(quantum);
            }
            let next = if bands { USUAL } else { UNSEEN };
            let band = core::mem::replace(&mut flow.band, next);
            self.bands[band].new.push_back(number);
        }
    }

    /// The flow that has its turn, in the band that has its turn. If the band has no flow or no credit, the next band
    /// with both has the turn (`fq_pband_head_select`).
    fn head(&mut self) -> Option<u16> {
        let mut without = 0;
        loop {
            let Band { new, old, credit } = &self.bands[self.band];
            let head = new.front().or(old.front()).filter(|_| *credit > 0 || !self.fq.bands);
            if head.is_some() || without == BANDS.len() || !self.fq.bands {
                return head.copied();
            }
            without += 1;
            self.band = (self.band + 1) % BANDS.len();
            let (band, turn) = (&mut self.bands[self.band], BANDS[self.band]);

            // The next band gets its credit; unused credit is not kept.
            band.credit = (band.credit + turn).min(turn);
            if band.credit <= 0 {
                without = 0;
            }
        }
    }
}

impl<P: Packet> Queue<P> for Flows<P> {
    fn enqueue(&mut self, packet: Waiting<P>, ahead: Size, effects: &mut Effects<P>) -> Verdict {
        let refuse = |packet, effects: &mut Effects<P>| {
            effects.dropped.push(packet);
            Verdict::Refused
        };
        if !self.waiting.and(1, packet.bytes).fits(self.limit) {
            return refuse(packet, effects);
        }
        let (number, now) = (packet.packet.connection(), packet.came);

        // A packet too far in the future is dropped (horizon_drop).
        if packet.packet.departs() > now + HORIZON {
            return refuse(packet, effects);
        }
        if self.goes_by(&packet, ahead) {
            self.by.push(packet);
            return Verdict::Taken;
        }

        // The flow holds flow_limit packets already.
        let most = u64::from(self.fq.flow_limit);
        if self.flow(number).list.len() >= most {
            return refuse(packet, effects);
        }
        self.come_back(number, now);
        self.waiting.packets += 1;
        self.waiting.bytes += u64::from(packet.bytes);
        let flow = self.flow(number);
        flow.list.push(packet);
        self.stopped_packets += u64::from(flow.on == FlowList::Throttled);
        Verdict::Taken
    }

    fn dequeue(&mut self, now: Time, _effects: &mut Effects<P>) -> Option<Waiting<P>> {
        let slack = self.slack();
        self.watchdog.take_if(|at| *at + slack <= now);
        if let Some(packet) = self.by.pop() {
            return Some(packet);
        }
        if self.waiting.packets == 0 {
            return None;
        }
        // fq_check_throttled: flows that are due return.
        self.release(now);
        loop {
            let Some(number) = self.head() else {
                self.watch();
                return None;
            };
            let flow = self.flow(number);
            // Without credit the flow goes to the end of the line.
            if flow.credit <= 0 {
                self.next_turn(number);
                continue;
            }
            let Some(first) = flow.list.first() else {
                self.is_empty_now(number, now);
                continue;
            };
            // Before its time the flow is throttled.
            let departs = first.packet.departs();
            let until = departs.max(flow.next);
            if until > now {
                flow.next = until;
                self.throttle(number, until);
                continue;
            }
            let packet = flow.list.pop()?;
            flow.credit -= i64::from(packet.bytes);
            self.bands[self.band].credit -= i64::from(packet.bytes);
            self.waiting.packets -= 1;
            self.waiting.bytes -= u64::from(packet.bytes);
            self.pace(number, packet.bytes, departs, now);
            return Some(packet);
        }
    }

    fn due(&self) -> Option<Time> {
        self.watchdog.map(|at| at + self.slack())
    }

    fn each(&self, each: &mut dyn FnMut(&P)) {
        self.by.each(each);
        self.flows.iter().for_each(|flow| flow.list.each(each));
    }
}
