//! The scoreboard's ranges against the list of packets that Linux keeps: each with the tags SACKed,
//! lost and retransmitted.

mod random;

use fullpipe_sim::tcp::scoreboard::{Scoreboard, Window};
use fullpipe_sim::tcp::skb::SendQueue;
use proptest::prelude::*;

const MSS: u32 = 100;

/// What may happen; numbers choose among what is possible then.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// An skb of so many bytes is sent.
    Send(u32),
    /// Packets from the first to the second of those out are SACKed.
    Sack(u32, u32),
    /// So many packets are acknowledged.
    Acknowledge(u32),
    /// Losses are marked by FACK.
    Mark,
    /// The next lost packet is sent again, or several.
    Retransmit(u32),
    /// The timer fires.
    Timeout,
    /// The receiver has thrown away what it SACKed.
    Renege,
}

fn step() -> impl Strategy<Value = Step> {
    let (packet, size) = (|| 0..40u32, prop_oneof![1..=99u32, 1..=7u32]);
    prop_oneof![
        4 => size.prop_map(|n| Step::Send(if n < 8 { n * MSS } else { n })),
        4 => (packet(), 0..6u32).prop_map(|(from, count)| Step::Sack(from, count)),
        2 => packet().prop_map(Step::Acknowledge),
        3 => Just(Step::Mark),
        3 => (0..5u32).prop_map(Step::Retransmit),
        1 => Just(Step::Timeout),
        1 => Just(Step::Renege),
    ]
}

/// A packet with its tags.
#[derive(Clone, Copy, Debug, Default)]
struct Packet {
    start: u64,
    end: u64,
    sacked: bool,
    lost: bool,
    retransmitted: bool,
    ever: Option<u32>,
}

/// Both, side by side.
#[derive(Default)]
struct Pair {
    board: Scoreboard,
    queue: SendQueue,
    packets: Vec<Packet>,
    una: u64,
    nxt: u64,
    now: u32,
    /// Below this the list has been searched for packets to send again.
    searched: u64,
}

impl Pair {
    fn window(&mut self) -> (&mut Scoreboard, Window<'_>) {
        let window = Window { queue: &self.queue, snd_una: self.una, snd_nxt: self.nxt, mss: MSS };
        (&mut self.board, window)
    }

    fn perform(&mut self, step: Step) -> Result<(), String> {
        self.now += 1;
        match step {
            Step::Send(len) => self.send(len),
            Step::Sack(from, count) => self.sack(from as usize, count as usize),
            Step::Acknowledge(count) => return self.acknowledge(count as usize),
            Step::Mark => self.mark(),
            Step::Retransmit(count) => return (0..count).try_for_each(|_| self.retransmit()),
            Step::Timeout => self.timeout(),
            Step::Renege => {
                self.packets.iter_mut().for_each(|p| p.sacked = false);
                self.board.forget_sacks();
                self.timeout();
            }
        }
        Ok(())
    }

    fn send(&mut self, len: u32) {
        self.queue.write(len, false);
        self.queue.send(len, self.nxt, self.now, MSS);
        let end = self.nxt + u64::from(len);
        while self.nxt < end {
            let packet_end = (self.nxt + u64::from(MSS)).min(end);
            let packet = Packet { start: self.nxt, end: packet_end, ..Packet::default() };
            self.packets.push(packet);
            self.board.packets_out += 1;
            self.nxt = packet_end;
        }
    }

    fn sack(&mut self, from: usize, count: usize) {
        // The first packet out is what the receiver waits for.
        let Some(last) = self.packets.len().checked_sub(1).filter(|&last| last > 0) else { return };
        let (from, to) = (from.clamp(1, last), (from.max(1) + count).min(last));
        if from > to {
            return;
        }
        for packet in &mut self.packets[from..=to] {
            if !packet.sacked {
                (packet.sacked, packet.lost, packet.retransmitted) = (true, false, false);
            }
        }
        let (start, end) = (self.packets[from].start, self.packets[to].end);
        let (board, window) = self.window();
        board.sack(start, end, window);
    }

    fn acknowledge(&mut self, count: usize) -> Result<(), String> {
        // Everything SACKed that follows is acknowledged with it.
        let mut count = count.min(self.packets.len());
        while count > 0 && self.packets.get(count).is_some_and(|p| p.sacked) {
            count += 1;
        }
        let Some(last) = count.checked_sub(1) else { return Ok(()) };
        let gone: Vec<_> = self.packets.drain(..=last).collect();
        let una = gone[last].end;
        let (board, window) = self.window();
        let resent = board.acknowledge(una, window);
        self.queue.acknowledge(una);
        self.una = una;
        let expected = (gone.iter().any(|p| p.ever.is_some()), gone[0].ever);
        let found = (resent.any, resent.first);
        if expected == found { Ok(()) } else { Err(format!("resent {found:?}, not {expected:?}")) }
    }

    fn mark(&mut self) {
        const REORDERING: usize = 3;
        let (high_seq, highest) = (self.nxt, self.packets.iter().rposition(|p| p.sacked));
        let Some(highest) = highest else { return };
        let mut marked = highest.saturating_sub(REORDERING - 1).max(1);
        for packet in &mut self.packets {
            if marked == 0 {
                break;
            }
            marked -= 1;
            packet.lost |= !packet.sacked;
        }
        let (board, window) = self.window();
        board.mark_by_fack(REORDERING as u32, high_seq, window);
    }

    /// The list's next packet is lost, not SACKed, not out again, and above those searched before.
    fn retransmit(&mut self) -> Result<(), String> {
        let at = self.searched;
        let eligible = |p: &&mut Packet| p.start >= at && p.lost && !p.retransmitted;
        let packet = self.packets.iter_mut().find(eligible);
        let expected = packet.as_ref().map(|p| (p.start, p.end));
        let now = self.now;
        if let Some(packet) = packet {
            (packet.retransmitted, packet.ever) = (true, Some(now));
            self.searched = packet.end;
        }
        let (board, window) = self.window();
        let found = board.next_lost(window);
        if let Some((start, end)) = found {
            self.board.note_retransmitted(start, end, now);
        }
        if expected == found { Ok(()) } else { Err(format!("next {found:?}, not {expected:?}")) }
    }

    fn timeout(&mut self) {
        for packet in &mut self.packets {
            packet.retransmitted = false;
            packet.lost = !packet.sacked;
        }
        self.searched = self.una;
        let (board, window) = self.window();
        board.mark_all_lost(window);
    }

    fn compare(&mut self) -> Result<(), String> {
        let count =
            |tag: fn(&Packet) -> bool| self.packets.iter().filter(|p| tag(p)).count() as u32;
        let (sacked, lost) = (count(|p| p.sacked), count(|p| p.lost));
        let (out, again) = (self.packets.len() as u32, count(|p| p.retransmitted));
        let highest = self.packets.iter().rposition(|p| p.sacked);
        let fackets = highest.map_or(0, |at| at as u32 + 1);
        let expected = [out, sacked, lost, again, out - sacked - lost + again, fackets];
        let (board, window) = self.window();
        let fackets = board.fackets_out(window);
        let found = [
            board.packets_out,
            board.sacked_out,
            board.lost_out,
            board.retrans_out,
            board.in_flight(),
            fackets,
        ];
        if expected == found { Ok(()) } else { Err(format!("{found:?}, not {expected:?}")) }
    }
}

fn agree(steps: &[Step]) -> Result<(), String> {
    let mut pair = Pair::default();
    for (i, step) in steps.iter().enumerate() {
        pair.perform(*step).and_then(|()| pair.compare()).map_err(|e| {
            format!("step {i} {step:?}: out, sacked, lost, again, in flight, fackets: {e}")
        })?;
    }
    Ok(())
}

#[test]
fn ranges_count_what_tags_count() {
    random::check(4000, prop::collection::vec(step(), 1..80), |steps| agree(steps));
}
