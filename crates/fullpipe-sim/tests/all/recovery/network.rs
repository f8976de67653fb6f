//! Two endpoints and the network between them, which does as it is told to single packets.

use fullpipe_sim::ecn::Ecn;
use fullpipe_sim::tcp::metrics::Metrics;
use fullpipe_sim::tcp::receiver::Receiver;
use fullpipe_sim::tcp::sender::{Sender, Writer};
use fullpipe_sim::tcp::{Ack, Output, Segment, Transmission};
use fullpipe_sim::units::Time;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes in a segment.
pub const SEGMENT: u32 = 1000;
const ONE_WAY_MS: u64 = 50;

/// What the application does and what happens to packets; segments are numbered from 0, and `5/2` is
/// the second transmission of segment 5.
#[derive(Default)]
pub struct Plan {
    /// When how many segments are written, in tenths.
    writes: Vec<(u64, u64)>,
    /// When the application closes.
    closes: Option<u64>,
    lost: BTreeSet<(u64, u32)>,
    doubled: BTreeSet<(u64, u32)>,
    marked: BTreeSet<(u64, u32)>,
    delayed: BTreeMap<(u64, u32), u64>,
    /// What the host's own queue refuses.
    refused: BTreeSet<(u64, u32)>,
    /// ACKs that are lost, by their number.
    lost_acks: BTreeSet<u64>,
    /// SO_RCVBUF.
    pub rcvbuf: Option<u64>,
    /// Whether rows of ACKs show their windows.
    windows: bool,
    /// Skbs wait in the host until the link has sent them, and take so much memory there besides their data, bytes.
    host: Option<u64>,
    /// Whether the same was done before, by another connection to the same host.
    pub earlier: bool,
    /// When the receiving application rests: from, until.
    rests: Option<(u64, u64)>,
    end: u64,
    /// Rows before this time are not shown.
    from: u64,
}

fn number<T: std::str::FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("{text} is not a number"))
}

/// `5`, `5/2`, `5..8`
fn packets(text: &str) -> Vec<(u64, u32)> {
    if let Some((start, end)) = text.split_once("..") {
        return (number(start)..number(end)).map(|n| (n, 1)).collect();
    }
    match text.split_once('/') {
        Some((segment, copy)) => vec![(number(segment), number(copy))],
        None => vec![(number(text), 1)],
    }
}

impl Plan {
    /// A line of a golden file.
    pub fn line(&mut self, words: &[&str]) {
        let all = |rest: &[&str]| rest.iter().flat_map(|w| packets(w)).collect::<Vec<_>>();
        match words {
            ["write", amount] => self.writes.push((0, tenths(amount))),
            ["write", amount, "at", ms] => self.writes.push((number(ms), tenths(amount))),
            ["close", "at", ms] => self.closes = Some(number(ms)),
            ["lose", rest @ ..] => self.lost.extend(all(rest)),
            ["refuse", rest @ ..] => self.refused.extend(all(rest)),
            ["mark", rest @ ..] => self.marked.extend(all(rest)),
            ["double", rest @ ..] => self.doubled.extend(all(rest)),
            ["delay", rest @ .., "by", ms] => {
                self.delayed.extend(all(rest).into_iter().map(|p| (p, number(ms))));
            }
            ["lose-acks", rest @ ..] => {
                self.lost_acks.extend(all(rest).into_iter().map(|p| p.0));
            }
            ["rcvbuf", bytes] => self.rcvbuf = Some(number(bytes)),
            ["rest", from, until] => self.rests = Some((number(from), number(until))),
            ["windows"] => self.windows = true,
            ["host", bytes] => self.host = Some(number(bytes)),
            ["earlier"] => self.earlier = true,
            ["from", ms] => self.from = number(ms),
            ["end", ms] => self.end = number(ms),
            _ => panic!("{words:?} is no setting"),
        }
    }
}

fn tenths(text: &str) -> u64 {
    (number::<f64>(text) * 10.0).round() as u64
}

enum Event {
    Data(Segment),
    Ack(Ack),
    Write(u64),
    Close,
    Read,
    /// An skb has left the host.
    Left,
}

/// See the module's description.
pub struct Network<'a> {
    sender: Sender,
    receiver: Receiver,
    plan: &'a Plan,
    link: Link<'a>,
    coming: BTreeMap<(Time, u64), Event>,
    acks: u64,
    write_left: u64,
    /// Whether what leaves the host first is coming.
    leaving: bool,
    rows: Vec<String>,
}

/// Where the sender's packets go.
struct Link<'a> {
    plan: &'a Plan,
    now: Time,
    free: Time,
    copies: BTreeMap<u64, u32>,
    arrivals: Vec<(Time, Segment)>,
    sent: Vec<Told>,
    skbs: u64,
    /// When what leaves the host, and its memory.
    held: Vec<(Time, u64)>,
}

impl Link<'_> {
    fn segment(&mut self, mut segment: Segment, again: bool) {
        let number = segment.seq / u64::from(SEGMENT);
        let copy = self.copies.entry(segment.seq).or_insert(0);
        *copy += 1;
        let packet = (number, *copy);
        self.free = self.free.max(self.now) + Time::ms(1);
        let delay = self.plan.delayed.get(&packet).copied().unwrap_or(0);
        let arrival = self.free + Time::ms(ONE_WAY_MS - 1 + delay);
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
        self.tell(segment, again, mark);
    }

    /// Whether the host's queue refuses an skb, which then counts as one more transmission of its first segment.
    fn refuses(&mut self, skb: &Transmission) -> bool {
        let number = skb.seq / u64::from(SEGMENT);
        let copy = self.copies.get(&skb.seq).map_or(1, |copies| copies + 1);
        let refuses = self.plan.refused.contains(&(number, copy));
        if refuses {
            self.copies.insert(skb.seq, copy);
            let (start, end) = (skb.seq, skb.seq + u64::from(skb.len));
            let told =
                Told { skb: self.skbs, start, end, again: skb.retransmission, mark: "x".into() };
            self.sent.push(told);
        }
        refuses
    }

    /// Segments of an skb to which the same happens are told together.
    fn tell(&mut self, segment: Segment, again: bool, mark: String) {
        let end = segment.end();
        match self.sent.last_mut() {
            Some(last) if last.skb == self.skbs && last.mark == mark => last.end = end,
            _ => self.sent.push(Told { skb: self.skbs, start: segment.seq, end, again, mark }),
        }
    }
}

/// What was sent, for a row.
struct Told {
    skb: u64,
    start: u64,
    end: u64,
    again: bool,
    mark: String,
}

impl Told {
    fn text(&self) -> String {
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
        while at < skb.len || skb.fin && at == 0 {
            let len = (skb.len - at).min(SEGMENT);
            let (seq, cwr) = (skb.seq + u64::from(at), skb.cwr && at == 0);
            at += len;
            let push = at == skb.len && (at > SEGMENT || skb.push);
            let fin = at == skb.len && skb.fin;
            let Transmission { tsval, tsecr, ecn, .. } = skb;
            let segment = Segment { seq, len, tsval, tsecr, push, fin, ecn, cwr };
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

fn shown(start: u64, end: u64) -> String {
    let segments = |bytes: u64| format!("{}", bytes as f64 / f64::from(SEGMENT));
    format!("{}..{}", segments(start), segments(end))
}

impl Network<'_> {
    pub fn new<'a>(
        mut sender: Sender,
        receiver: Receiver,
        plan: &'a Plan,
        cached: Option<&Metrics>,
    ) -> Network<'a> {
        sender.writer = Writer::Paused;
        // The handshake has taken a round trip.
        let told = receiver.window.told_first();
        sender.established(Time::ms(100), told, Some(Time::ZERO), cached);
        let link = Link {
            plan,
            now: Time::ms(100),
            free: Time::ZERO,
            copies: BTreeMap::new(),
            arrivals: Vec::new(),
            sent: Vec::new(),
            skbs: 0,
            held: Vec::new(),
        };
        let mut coming = BTreeMap::new();
        for (i, &(at, amount)) in plan.writes.iter().enumerate() {
            coming.insert((Time::ms(100 + at), i as u64), Event::Write(amount));
        }
        if let Some(at) = plan.closes {
            coming.insert((Time::ms(100 + at), 999), Event::Close);
        }
        if let Some((_, until)) = plan.rests {
            coming.insert((Time::ms(100 + until), 999), Event::Read);
        }
        let rows = Vec::new();
        Network {
            sender,
            receiver,
            plan,
            link,
            coming,
            acks: 0,
            write_left: 0,
            leaving: false,
            rows,
        }
    }

    /// Runs to the end of the plan; the rows.
    pub fn run(mut self) -> Vec<String> {
        self.go_on();
        self.rows
    }

    /// Runs to the end of the plan; what the connection leaves for the next one.
    pub fn leave(mut self) -> Metrics {
        self.go_on();
        let mut metrics = Metrics::default();
        self.sender.leave_metrics(&mut metrics);
        metrics
    }

    fn go_on(&mut self) {
        let end = Time::ms(100 + self.plan.end);
        loop {
            let next = self.coming.first_key_value().map(|(&(at, _), _)| at);
            let delack = self.receiver.acks.timer;
            let held = self.receiver.compressed_due();
            let timer = self.sender.timer();
            let pace = self.sender.pacing_timer();
            let now = [next, delack, held, timer, pace].into_iter().flatten().min();
            let Some(now) = now.filter(|&now| now <= end) else { return };
            self.link.now = now;
            if next == Some(now) {
                let (_, event) = self.coming.pop_first().expect("it is there");
                self.handle(event);
            } else if held == Some(now) {
                let ack = self.receiver.on_compressed_timer(now);
                self.send_ack(ack);
            } else if delack == Some(now) {
                let ack = self.receiver.on_delack_timer(now);
                self.send_ack(ack);
            } else if pace == Some(now) {
                self.sender.on_pacing_timer(false, &mut self.link);
                self.row("pace".into());
            } else {
                self.sender.on_timer(&mut self.link);
                self.row("timer".into());
            }
            for (at, segment) in std::mem::take(&mut self.link.arrivals) {
                self.come(at, Event::Data(segment));
            }
            if let Some(&(at, _)) = self.link.held.first()
                && !self.leaving
            {
                self.leaving = true;
                self.come(at, Event::Left);
            }
        }
    }

    fn come(&mut self, at: Time, event: Event) {
        let order = self.coming.range((at, 0)..=(at, u64::MAX)).count() as u64;
        self.coming.insert((at, order + 1000), event);
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Write(amount) => {
                self.write_left += amount * u64::from(SEGMENT) / 10;
                self.write();
                self.row(format!("write {}", amount as f64 / 10.0));
            }
            Event::Close => {
                self.sender.close(&mut self.link);
                self.sender.writer = Writer::Done;
                self.row("close".into());
            }
            Event::Data(segment) => {
                let ack = self.receiver.on_segment(self.link.now, segment);
                let read = self.read();
                self.send_ack(ack);
                self.send_ack(read);
            }
            Event::Left => {
                self.leaving = false;
                self.link.held.remove(0);
                self.sender.on_room_in_host(&mut self.link);
                if !self.link.sent.is_empty() {
                    self.row("left".into());
                }
            }
            Event::Read => {
                let ack = self.read();
                self.send_ack(ack);
            }
            Event::Ack(ack) => {
                self.sender.on_ack(&ack, &mut self.link);
                let window = format!(" window {}", ack.window as f64 / f64::from(SEGMENT));
                let shows = self.plan.windows || self.plan.rests.is_some();
                self.row(said(&ack) + if shows { &window } else { "" });
            }
        }
    }

    /// The receiving application takes all there is, unless it rests.
    fn read(&mut self) -> Option<Ack> {
        let now = self.link.now.as_us() / 1000 - 100;
        let rests = self.plan.rests.is_some_and(|(from, until)| (from..until).contains(&now));
        if rests { None } else { self.receiver.read(self.link.now, self.receiver.readable()) }
    }

    fn send_ack(&mut self, ack: Option<Ack>) {
        let Some(ack) = ack else { return };
        self.acks += 1;
        if !self.plan.lost_acks.contains(&self.acks) {
            self.come(self.link.now + Time::ms(ONE_WAY_MS), Event::Ack(ack));
        }
    }

    /// One write(), into a send buffer that has room for all of it.
    fn write(&mut self) {
        let goal = self.sender.size_goal();
        self.sender.writer = Writer::Active;
        while self.write_left > 0 {
            let left = self.write_left.min(u64::from(u32::MAX)) as u32;
            let step = self.sender.next_copy(goal, left).expect("room");
            self.write_left -= u64::from(step);
            self.sender.copied(step, goal, self.write_left > 0, &mut self.link);
        }
        self.sender.end_write(&mut self.link);
        self.sender.writer = Writer::Paused;
    }

    fn row(&mut self, event: String) {
        let sent: Vec<_> = self.link.sent.drain(..).map(|told| told.text()).collect();
        let sent = sent.join(" ");
        let now = self.link.now.as_us() / 1000 - 100;
        let ssthresh = match self.sender.ssthresh() {
            0x7fff_ffff => "-".to_string(),
            packets => packets.to_string(),
        };
        let (cwnd, flight) = (self.sender.cwnd(), self.sender.in_flight());
        let state = self.sender.ca_state();
        if now >= self.plan.from {
            self.rows
                .push(format!("{now} | {event} | {cwnd} {ssthresh} {flight} {state:?} | {sent}"));
        }
    }
}

fn said(ack: &Ack) -> String {
    let mut text = format!("ack {}", ack.ack as f64 / f64::from(SEGMENT));
    if ack.ece {
        text += " ece";
    }
    if let Some(sacks) = &ack.sacks {
        text += " sack";
        for &(start, end) in &sacks.blocks[..sacks.count] {
            text += &format!(" {}", shown(start, end));
        }
    }
    text
}
