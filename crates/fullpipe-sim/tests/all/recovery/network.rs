//! Two endpoints and the network between them, which treats single packets as the plan says.

use super::link::{Link, shown};
use super::plan::{Plan, SEGMENT};
use fullpipe_sim::tcp::receiver::Receiver;
use fullpipe_sim::tcp::sender::metrics::Metrics;
use fullpipe_sim::tcp::sender::{Sender, Writer};
use fullpipe_sim::tcp::{Ack, Segment};
use fullpipe_sim::units::Time;
use std::collections::BTreeMap;

enum Event {
    Data(Segment),
    Ack(Ack),
    Write(u64),
    Close,
    Read,
    /// An skb has left the host.
    Left,
}

/// Two endpoints and the network between them.
pub struct Network<'a> {
    sender: Sender,
    receiver: Receiver,
    plan: &'a Plan,
    link: Link<'a>,
    coming: BTreeMap<(Time, u64), Event>,
    acks: u64,
    write_left: u64,
    taken: u64,
    /// Whether what leaves the host first is coming.
    leaving: bool,
    rows: Vec<String>,
}

impl Network<'_> {
    pub fn new<'a>(
        mut sender: Sender,
        receiver: Receiver,
        plan: &'a Plan,
        cached: Option<&Metrics>,
    ) -> Network<'a> {
        sender.set_writer(Writer::Paused);
        // The handshake has taken a round trip.
        let window = receiver.window.syn_ack_window();
        let asked = Time::ms(plan.begins() - 2 * plan.way);
        sender.established(plan.time(0), window, Some(asked), cached);
        let link = Link::new(plan, plan.time(0));
        let mut coming = BTreeMap::new();
        for (i, &(at, amount)) in plan.writes.iter().enumerate() {
            coming.insert((plan.time(at), i as u64), Event::Write(amount));
        }
        if let Some(at) = plan.closes {
            coming.insert((plan.time(at), 999), Event::Close);
        }
        if let Some((_, until)) = plan.rests {
            coming.insert((plan.time(until), 999), Event::Read);
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
            taken: 0,
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
        let end = self.plan.time(self.plan.end);
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
                self.row(format!("write {}", amount as f64 / 10.0) + &self.taken());
            }
            Event::Close => {
                self.sender.close(&mut self.link);
                self.sender.set_writer(Writer::Done);
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
                self.wake_writer();
                let window = format!(" window {}", ack.window as f64 / f64::from(SEGMENT));
                let shows = self.plan.windows || self.plan.rests.is_some();
                self.row(said(&ack) + if shows { &window } else { "" } + &self.taken());
            }
        }
    }

    /// The receiving application takes all there is, unless it rests.
    fn read(&mut self) -> Option<Ack> {
        let now = self.plan.ms_at(self.link.now);
        let rests = self.plan.rests.is_some_and(|(from, until)| (from..until).contains(&now));
        if rests { None } else { self.receiver.read(self.link.now, self.receiver.readable()) }
    }

    fn send_ack(&mut self, ack: Option<Ack>) {
        let Some(ack) = ack else { return };
        self.acks += 1;
        if !self.plan.lost_acks.contains(&self.acks) {
            self.come(self.link.now + Time::ms(self.plan.way), Event::Ack(ack));
        }
    }

    /// One write(); it sleeps where the send buffer has no room.
    fn write(&mut self) {
        let goal = self.sender.size_goal();
        self.sender.set_writer(Writer::Active);
        while self.write_left > 0 {
            let left = self.write_left.min(u64::from(u32::MAX)) as u32;
            let Some(step) = self.sender.next_copy(goal, left) else {
                self.sender.set_writer(Writer::NoSpace);
                self.sender.push_before_sleep(&mut self.link);
                return self.wake_writer();
            };
            self.write_left -= u64::from(step);
            self.taken += u64::from(step);
            self.sender.copied(step, goal, self.write_left > 0, &mut self.link);
        }
        self.sender.end_write(&mut self.link);
        self.sender.set_writer(Writer::Paused);
    }

    /// A writer that sleeps goes on if there is room now.
    fn wake_writer(&mut self) {
        if self.sender.writer() == Writer::NoSpace && self.sender.has_write_space() {
            self.write();
        }
    }

    /// Bytes that the send buffer has taken so far, as a row shows them.
    fn taken(&self) -> String {
        let taken = self.taken as f64 / f64::from(SEGMENT);
        if self.plan.buffer { format!(" taken {taken}") } else { String::new() }
    }

    fn row(&mut self, event: String) {
        let sent: Vec<_> = self.link.sent.drain(..).map(|row| row.text()).collect();
        let sent = sent.join(" ");
        let now = self.plan.ms_at(self.link.now);
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
        for block in &sacks.blocks[..sacks.count] {
            text += &format!(" {}", shown(block.start, block.end));
        }
    }
    text
}
