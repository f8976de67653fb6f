//! Link to which the sender's packets go, and their fate there.

use super::plan::{Plan, SEGMENT};
use fullpipe_sim::packet::Ecn;
use fullpipe_sim::tcp::{Output, Segment, Transmission};
use fullpipe_sim::units::Time;
use std::collections::BTreeMap;

/// Link to which the sender's packets go.
pub struct Link<'a> {
    pub plan: &'a Plan,
    pub now: Time,
    pub free: Time,
    pub copies: BTreeMap<u64, u32>,
    pub arrivals: Vec<(Time, Segment)>,
    pub sent: Vec<Transmitted>,
    pub skbs: u64,
    /// Times at which skbs leave the host, and their memory.
    pub held: Vec<(Time, u64)>,
}

impl Link<'_> {
    pub fn new(plan: &Plan, now: Time) -> Link<'_> {
        Link {
            plan,
            now,
            free: Time::ZERO,
            copies: BTreeMap::new(),
            arrivals: Vec::new(),
            sent: Vec::new(),
            skbs: 0,
            held: Vec::new(),
        }
    }

    fn segment(&mut self, mut segment: Segment, again: bool) {
        let number = segment.seq / u64::from(SEGMENT);
        let copy = self.copies.entry(segment.seq).or_insert(0);
        *copy += 1;
        let packet = (number, *copy);
        self.free = self.free.max(self.now) + Time::ms(1);
        let delay = self.plan.delayed.get(&packet).copied().unwrap_or(0);
        let arrival = self.free + Time::ms(self.plan.way - 1 + delay);
        let (lost, doubled) =
            (self.plan.lost.contains(&packet), self.plan.doubled.contains(&packet));
        let marked = self.plan.marked.contains(&packet) && segment.ecn != Ecn::NotEct;
        if marked {
            segment.ecn = Ecn::Ce;
        }
        if !lost {
            self.arrivals.push((arrival, segment));
        }
        if doubled {
            self.arrivals.push((arrival + Time::ms(1), segment));
        }
        let mut mark = String::new();
        mark += if segment.fin { "fin" } else { "" };
        mark += if segment.cwr { "cwr" } else { "" };
        mark += if marked { "^" } else { "" };
        mark += if lost { "!" } else { "" };
        mark += if doubled { "*" } else { "" };
        if delay > 0 {
            mark += &format!("+{delay}");
        }
        self.record(segment, again, mark);
    }

    /// An empty segment that asks for a window; it takes no time to send.
    fn probe(&mut self, skb: &Transmission) {
        let Transmission { seq, tsval, tsecr, .. } = *skb;
        let segment = Segment { seq, tsval, tsecr, ..Segment::default() };
        self.arrivals.push((self.now + Time::ms(self.plan.way), segment));
        let transmitted =
            Transmitted { skb: self.skbs, start: seq, end: seq, again: false, mark: String::new() };
        self.sent.push(transmitted);
    }

    /// Whether the host's queue refuses an skb, which then counts as one more transmission of its first segment.
    fn refuses(&mut self, skb: &Transmission) -> bool {
        let number = skb.seq / u64::from(SEGMENT);
        let copy = self.copies.get(&skb.seq).map_or(1, |copies| copies + 1);
        let refuses = self.plan.refused.contains(&(number, copy));
        if refuses {
            self.copies.insert(skb.seq, copy);
            let (start, end) = (skb.seq, skb.seq + u64::from(skb.len));
            let transmitted = Transmitted {
                skb: self.skbs,
                start,
                end,
                again: skb.retransmission,
                mark: "x".into(),
            };
            self.sent.push(transmitted);
        }
        refuses
    }

    /// Records a segment; segments of an skb with one fate are recorded together.
    fn record(&mut self, segment: Segment, again: bool, mark: String) {
        let end = segment.end();
        match self.sent.last_mut() {
            Some(last) if last.skb == self.skbs && last.mark == mark => last.end = end,
            _ => {
                self.sent.push(Transmitted { skb: self.skbs, start: segment.seq, end, again, mark })
            }
        }
    }
}

/// Transmissions, for a row.
pub struct Transmitted {
    skb: u64,
    start: u64,
    end: u64,
    again: bool,
    mark: String,
}

impl Transmitted {
    /// Text of a row.
    pub fn text(&self) -> String {
        if self.start == self.end && self.mark.is_empty() {
            return "probe".into();
        }
        let again = if self.again { "R" } else { "" };
        format!("{again}{}{}", shown(self.start, self.end), self.mark)
    }
}

impl Output for Link<'_> {
    fn transmit(&mut self, skb: Transmission) -> bool {
        let mut at = 0;
        self.skbs += 1;
        if self.refuses(&skb) {
            return false;
        }
        if skb.len == 0 && !skb.fin {
            self.probe(&skb);
        }
        while at < skb.len || skb.fin && at == 0 {
            let len = (skb.len - at).min(skb.segment);
            let (seq, cwr) = (skb.seq + u64::from(at), skb.cwr && at == 0);
            at += len;
            let push = at == skb.len && skb.push;
            let fin = at == skb.len && skb.fin;
            let Transmission { tsval, tsecr, ecn, .. } = skb;
            let segment =
                Segment { seq, len, gso_size: 0, options: 0, tsval, tsecr, push, fin, ecn, cwr };
            self.segment(segment, skb.retransmission);
            if len == 0 {
                break;
            }
        }
        if let Some(overhead) = self.plan.host {
            self.held.push((self.free, u64::from(skb.len) + overhead));
        }
        true
    }
    fn in_host(&mut self) -> u64 {
        self.held.iter().map(|(_, memory)| memory).sum()
    }
    fn now(&self) -> Time {
        self.now
    }
}

/// Bytes as segments.
pub fn shown(start: u64, end: u64) -> String {
    let segments = |bytes: u64| format!("{}", bytes as f64 / f64::from(SEGMENT));
    format!("{}..{}", segments(start), segments(end))
}
