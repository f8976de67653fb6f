//! A conversation with the receiving endpoint.
//!
//! Events: `data A..B`, `stream A..B` (segments one by one, each read at once), `pieces A..B by N` (segments of this
//! size), `probe`, `read N`, `read` (everything), `timer` (the delayed ACK's, at the row's time).
//!
//! State: data readable, rcv_ssthresh, memory used. Sent: `ack N window W` and SACK blocks.

use super::{SEGMENT, bytes, host, perform, profile, range, segments, shown};
use fullpipe_sim::config::Host;
use fullpipe_sim::ranges::SeqRange;
use fullpipe_sim::tcp::profile::Profile;
use fullpipe_sim::tcp::receiver::Receiver;
use fullpipe_sim::tcp::{Ack, Segment};
use fullpipe_sim::units::Time;

/// Setup of the endpoint.
pub struct Setup {
    pub profile: &'static Profile,
    pub host: Host,
    pub rcvbuf: Option<u64>,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup { profile: profile(|_| {}), host: host(), rcvbuf: Some(1 << 16) }
    }
}

impl Setup {
    /// Checks a conversation.
    pub fn check(&self, table: &str) {
        let mut tcp = Receiver::new(self.profile, &self.host, SEGMENT, self.rcvbuf);
        perform(table, |time, event| talk(&mut tcp, time, event));
    }
}

fn piece(seq: u64, len: u32) -> Segment {
    Segment { seq, len, ..Segment::default() }
}

fn talk(tcp: &mut Receiver, time: u64, event: &str) -> (u64, String, String) {
    let now = match (event, tcp.acks.timer) {
        ("timer", due) => due.expect("the timer runs"),
        (_, Some(due)) if due <= Time::ms(time) => panic!("before {time} comes the timer at {due}"),
        _ => Time::ms(time),
    };
    let words: Vec<_> = event.split_whitespace().collect();
    let many = match words[..] {
        ["stream", all] => Some(stream(tcp, now, range(all), SEGMENT, true)),
        ["pieces", all, "by", size] => {
            Some(stream(tcp, now, range(all), bytes(size) as u32, false))
        }
        _ => None,
    };
    if let Some(sent) = many {
        return (now.as_us() / 1000, state(tcp), sent);
    }
    let ack = match words[..] {
        ["data", segment] => {
            let SeqRange { start, end } = range(segment);
            tcp.on_segment(now, piece(start, (end - start) as u32))
        }
        ["probe"] => tcp.on_segment(now, piece(tcp.rcv_nxt - 1, 0)),
        ["read"] => tcp.read(now, tcp.readable()),
        ["read", amount] => tcp.read(now, bytes(amount)),
        ["timer"] => tcp.on_delack_timer(now),
        _ => panic!("{event} is no event"),
    };
    (now.as_us() / 1000, state(tcp), ack.map_or(String::new(), |ack| said(&ack)))
}

fn state(tcp: &Receiver) -> String {
    [tcp.readable(), tcp.window.rcv_ssthresh, tcp.window.rmem_alloc].map(segments).join(" ")
}

/// Segments of `size` one by one, read as they come or not: how many ACKs, and the last one.
fn stream(tcp: &mut Receiver, now: Time, range: SeqRange, size: u32, read: bool) -> String {
    let (mut count, mut last) = (0, None);
    for seq in (range.start..range.end).step_by(size as usize) {
        let first = tcp.on_segment(now, piece(seq, size));
        let second = read.then(|| tcp.read(now, tcp.readable())).flatten();
        for ack in [first, second].into_iter().flatten() {
            count += 1;
            last = Some(ack);
        }
    }
    last.map_or(String::new(), |ack| format!("{count} acks: {}", said(&ack)))
}

fn said(ack: &Ack) -> String {
    let mut text = format!("ack {} window {}", segments(ack.ack), segments(ack.window));
    if let Some(sacks) = &ack.sacks {
        text += " sack";
        for &block in &sacks.blocks[..sacks.count] {
            text += &format!(" {}", shown(block));
        }
    }
    text
}
