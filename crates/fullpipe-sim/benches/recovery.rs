//! What recovery costs: CPU time per packet of a sender that loses 10,000 of the 100,000 packets in
//! its window, against the same sender without loss, taken in turns. The aim is at most twice.

#[path = "../../../benches/measure.rs"]
mod measure;

use fullpipe_sim::cc::Congestion;
use fullpipe_sim::config::{Host, Sysctl};
use fullpipe_sim::ranges::SeqRange;
use fullpipe_sim::tcp::profile::{PROFILES, Profile};
use fullpipe_sim::tcp::sender::Sender;
use fullpipe_sim::tcp::{Ack, Output, Sacks, Transmission};
use fullpipe_sim::units::Time;
use measure::{Cost, Of, cpu_ns, report};
use std::collections::VecDeque;

const SEGMENT: u32 = 1000;
const WINDOW: u64 = 100_000;
/// One packet in so many is lost.
const LOST: u64 = 10;
const ROUNDS: usize = 11;

/// Takes everything and remembers what was sent again.
#[derive(Default)]
struct Wire {
    now: Time,
    again: VecDeque<u64>,
}

impl Output for Wire {
    fn transmit(&mut self, skb: Transmission) -> bool {
        if skb.retransmission {
            self.again.push_back(skb.seq / u64::from(SEGMENT));
        }
        true
    }
    fn now(&self) -> Time {
        self.now
    }
}

fn host(kernel: &str) -> Host {
    let room = [4096, 1 << 30, 1 << 30];
    let sysctl = Sysctl {
        rmem_max: 1 << 30,
        wmem_max: 1 << 30,
        tcp_rmem: room,
        tcp_wmem: room,
        tcp_frto: 2,
        ..Sysctl::LINUX_2_6_20
    };
    Host { sysctl, ..Host::plain(kernel) }
}

struct Connection {
    tcp: Sender,
    wire: Wire,
    written: u64,
}

impl Connection {
    fn new(kernel: &str) -> Connection {
        let profile = PROFILES.iter().find(|p| p.name == kernel).expect("it is known");
        let cc = Congestion::new("reno", &[], kernel, 1000, 1).expect("a control");
        let mut tcp = Sender::new(profile, &host(kernel), cc, SEGMENT, Some(1 << 30));
        tcp.established(Time::ms(100), 1 << 40, Some(Time::ZERO), None);
        let wire = Wire { now: Time::ms(100), ..Wire::default() };
        Connection { tcp, wire, written: 0 }
    }

    /// The application keeps ahead of what is acknowledged.
    fn write(&mut self, until: u64) {
        while self.written < until {
            self.written += 1;
            self.tcp.copied(SEGMENT, SEGMENT, self.written < until, &mut self.wire);
        }
        self.tcp.end_write(&mut self.wire);
    }

    fn ack(&mut self, segments: u64, sacks: &[(u64, u64)]) {
        let bytes = |n: u64| n * u64::from(SEGMENT);
        let mut blocks = [SeqRange::default(); 4];
        for (slot, &(start, end)) in blocks.iter_mut().zip(sacks) {
            *slot = SeqRange::new(bytes(start), bytes(end));
        }
        let count = sacks.len();
        let sacks = (count > 0).then_some(Sacks { blocks, count });
        let ack = Ack { ack: bytes(segments), window: 1 << 40, sacks, ..Ack::default() };
        self.wire.now += Time::us(1);
        self.tcp.on_ack(&ack, &mut self.wire);
    }
}

/// CPU time, ns, per packet of a window that arrives whole, and of one that loses one packet in ten.
fn costs(kernel: &str) -> (f64, f64) {
    let mut c = Connection::new(kernel);
    let mut at = 0;
    // Slow start up to the window.
    while u64::from(c.tcp.cwnd()) < WINDOW {
        c.write(at + 3 * WINDOW);
        at += 1;
        c.ack(at, &[]);
    }
    let begin = cpu_ns();
    for _ in 0..WINDOW {
        at += 1;
        c.write(at + 4 * WINDOW);
        c.ack(at, &[]);
    }
    let whole = (cpu_ns() - begin) / WINDOW as f64;
    let begin = cpu_ns();
    lose(&mut c, at);
    (whole, (cpu_ns() - begin) / WINDOW as f64)
}

/// Of the window from `from` on every tenth packet is lost; then what is sent again arrives.
fn lose(c: &mut Connection, from: u64) {
    let mut runs: VecDeque<(u64, u64)> = VecDeque::new();
    let end = from + WINDOW;
    for n in from..end {
        if (n - from).is_multiple_of(LOST) {
            runs.push_front((n + 1, n + 1));
            continue;
        }
        runs[0].1 = n + 1;
        let blocks: Vec<_> = runs.iter().copied().filter(|r| r.0 < r.1).take(4).collect();
        runs.truncate(8);
        c.ack(from, &blocks);
    }
    let mut next = from;
    while next < end {
        let Some(again) = c.wire.again.pop_front() else { break };
        if again == next {
            next += LOST;
        }
        let blocks = if next < end { vec![(next + 1, (next + LOST).min(end))] } else { Vec::new() };
        c.ack(next.min(end), &blocks);
    }
    assert!(next >= end, "everything that was lost has been sent again");
}

fn main() {
    println!("ns of CPU per packet, window {WINDOW}: whole, one in {LOST} lost, ratio");
    let measured = |profile: &Profile| {
        let rounds: Vec<_> = (0..ROUNDS).map(|_| costs(profile.name)).collect();
        Cost::of(profile.name, &rounds)
    };
    report(Of::Sender, &PROFILES.iter().map(measured).collect::<Vec<_>>());
}
