//! A conversation with the sending endpoint.
//!
//! Events of the handshake and the application: `established W` (window W), `write N`, `write N done` (the last write).
//! Events of ACKs: `ack N`, `ack N window W`, `ack N echo MS` (a timestamp), `ack N sack A..B C..D`, `acks A..B by N`
//! (an ACK for every N segments). Other events: `timer` (the next one due, at the row's time), `full` (the qdisc takes
//! nothing), `room`, `room N` (it takes N skbs more).
//!
//! State: cwnd, ssthresh (`-`: infinite), packets in flight, congestion state. Sent: each skb, `R` before a retransmission,
//! `probe` for an empty one, `x` before a refused one.

use super::{SEGMENT, bytes, host, perform, profile, range, shown};
use fullpipe_sim::cc::Congestion;
use fullpipe_sim::config::Host;
use fullpipe_sim::ranges::SeqRange;
use fullpipe_sim::tcp::profile::Profile;
use fullpipe_sim::tcp::sender::{Sender, Writer};
use fullpipe_sim::tcp::{Ack, Output, Sacks, Transmission};
use fullpipe_sim::units::Time;

/// More skbs than this are not named one by one.
const MANY: usize = 12;

/// Setup of the endpoint.
pub struct Setup {
    pub profile: &'static Profile,
    pub host: Host,
    pub congestion: &'static str,
    pub parameters: Vec<(String, i64)>,
    pub sndbuf: Option<u64>,
}

impl Default for Setup {
    fn default() -> Setup {
        let profile = profile(|_| {});
        let (host, sndbuf) = (host(), Some(1 << 24));
        Setup { profile, host, congestion: "reno", parameters: Vec::new(), sndbuf }
    }
}

impl Setup {
    /// Checks a conversation.
    pub fn check(&self, table: &str) {
        let (name, hz) = (self.congestion, self.host.hz);
        let cc = Congestion::new(name, &self.parameters, self.profile.name, hz, 1);
        let cc = cc.expect("a congestion control");
        let tcp = Sender::new(self.profile, &self.host, cc, SEGMENT, self.sndbuf);
        let mut talk = Talk { tcp, out: Sent::default(), write_left: 0, then: Writer::Paused };
        talk.out.room = u32::MAX;
        perform(table, |time, event| talk.perform(time, event));
    }
}

/// Takes what is sent.
#[derive(Default)]
struct Sent {
    now: Time,
    room: u32,
    skbs: Vec<String>,
}

impl Output for Sent {
    fn transmit(&mut self, skb: Transmission) -> bool {
        let taken = self.room > 0;
        self.room -= u32::from(taken && self.room < u32::MAX);
        let mark = if skb.retransmission { "R" } else { "" };
        let refused = if taken { "" } else { "x" };
        let text = match skb.len {
            0 => "probe".to_string(),
            len => shown(SeqRange::new(skb.seq, skb.seq + u64::from(len))),
        };
        self.skbs.push(format!("{refused}{mark}{text}"));
        taken
    }
    fn now(&self) -> Time {
        self.now
    }
}

struct Talk {
    tcp: Sender,
    out: Sent,
    write_left: u32,
    /// State of the writer after it has written everything.
    then: Writer,
}

impl Talk {
    fn perform(&mut self, time: u64, event: &str) -> (u64, String, String) {
        let now = match (event, self.tcp.timer()) {
            ("timer", due) => due.expect("a timer runs"),
            (_, Some(due)) if due <= Time::ms(time) => {
                panic!("before {time} comes a timer at {due}")
            }
            _ => Time::ms(time),
        };
        assert!(now >= self.out.now, "{event}: time goes back to {now}");
        self.out.now = now;
        let words: Vec<_> = event.split_whitespace().collect();
        self.event(&words);
        self.wake_writer();
        let skbs = std::mem::take(&mut self.out.skbs);
        let sent = match skbs.len() {
            0..=MANY => skbs.join(" "),
            many => format!("{many} skbs up to {}", skbs[many - 1]),
        };
        (now.as_us() / 1000, self.state(), sent)
    }

    fn event(&mut self, words: &[&str]) {
        match words {
            ["established", window] => {
                let syn_sent = Some(self.out.now);
                self.tcp.set_writer(Writer::Paused);
                self.tcp.established(self.out.now, bytes(window), syn_sent, None);
            }
            ["write", amount, rest @ ..] => {
                self.then = if rest == ["done"] { Writer::Done } else { Writer::Paused };
                self.write_left += bytes(amount) as u32;
                self.write();
            }
            ["ack", number, rest @ ..] => self.ack(bytes(number), rest),
            ["acks", acks, "by", step] => {
                let SeqRange { start: mut at, end } = range(acks);
                while at < end {
                    at += bytes(step);
                    self.ack(at, &[]);
                }
            }
            ["timer"] => self.tcp.on_timer(&mut self.out),
            ["full"] => self.out.room = 0,
            ["room"] => self.out.room = u32::MAX,
            ["room", skbs] => self.out.room = skbs.parse().expect("a number of skbs"),
            _ => panic!("{words:?} is no event"),
        }
    }

    fn ack(&mut self, number: u64, mut rest: &[&str]) {
        let mut window = self.tcp.snd_wnd();
        if let ["window", size, more @ ..] = rest {
            (window, rest) = (bytes(size), more);
        }
        let mut tsecr = 0;
        if let ["echo", ms, more @ ..] = rest {
            // A jiffy is 1 ms, and a run begins five minutes after the host.
            (tsecr, rest) = (300_000 + ms.parse::<u32>().expect("a time"), more);
        }
        let mut sacks = Sacks { blocks: [SeqRange::default(); 4], count: 0 };
        if let ["sack", blocks @ ..] = rest {
            for (slot, block) in sacks.blocks.iter_mut().zip(blocks) {
                *slot = range(block);
            }
            sacks.count = blocks.len();
        }
        let sacks = (sacks.count > 0).then_some(sacks);
        self.tcp
            .on_ack(&Ack { ack: number, window, sacks, tsecr, ..Ack::default() }, &mut self.out);
    }

    /// One write() as long as there is room, as the host does it.
    fn write(&mut self) {
        self.tcp.set_writer(Writer::Active);
        let goal = self.tcp.size_goal();
        while self.write_left > 0 {
            let Some(step) = self.tcp.next_copy(goal, self.write_left) else {
                self.tcp.set_writer(Writer::NoSpace);
                return self.tcp.push_before_sleep(&mut self.out);
            };
            self.write_left -= step;
            self.tcp.copied(step, goal, self.write_left > 0, &mut self.out);
        }
        self.tcp.end_write(&mut self.out);
        self.tcp.set_writer(self.then);
    }

    fn wake_writer(&mut self) {
        if self.tcp.writer() == Writer::NoSpace && self.tcp.has_write_space() {
            self.write();
        }
    }

    fn state(&self) -> String {
        let ssthresh = match self.tcp.ssthresh() {
            0x7fff_ffff => "-".to_string(),
            packets => packets.to_string(),
        };
        let (cwnd, flight, state) = (self.tcp.cwnd(), self.tcp.in_flight(), self.tcp.ca_state());
        format!("{cwnd} {ssthresh} {flight} {state:?}")
    }
}
