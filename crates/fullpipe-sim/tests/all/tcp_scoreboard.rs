//! The scoreboard's ranges against the list of packets that Linux keeps: each with the tags SACKed,
//! lost and retransmitted.

use crate::random;
use fullpipe_sim::ranges::SeqRange;
use fullpipe_sim::tcp::scoreboard::{Acked, Sacked, Scoreboard, Window};
use fullpipe_sim::tcp::skb::SendQueue;
use fullpipe_sim::units::Time;
use proptest::prelude::*;

const MSS: u32 = 100;
const REORDERING: usize = 3;

/// Events; numbers choose among the possible ones.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// An skb of so many bytes is sent.
    Send(u32),
    /// Packets from the first to the second of those out are SACKed.
    Sack(u32, u32),
    /// Acknowledges so many packets.
    Acknowledge(u32),
    /// Losses are marked by FACK, or by RFC 6675.
    Mark,
    MarkByCount,
    /// Retransmissions older than the highest SACK are lost.
    LoseAgain,
    /// The next packet is sent again forward, without proof of loss.
    Forward,
    /// A D-SACK of the packet.
    Twice(u32),
    /// The losses were none.
    Undo,
    /// The next lost packet is sent again, or several.
    Retransmit(u32),
    /// The timer fires.
    Timeout,
    /// The timer fires where losses are found by time: what was sent so many steps ago is lost.
    TimeoutByAge(u32),
    /// The receiver has thrown away what it SACKed.
    Renege,
}

fn step() -> impl Strategy<Value = Step> {
    let (packet, size) = (|| 0..40u32, prop_oneof![1..=99u32, 1..=7u32]);
    prop_oneof![
        4 => size.prop_map(|n| Step::Send(if n < 8 { n * MSS } else { n })),
        4 => (packet(), 0..6u32).prop_map(|(from, count)| Step::Sack(from, count)),
        2 => packet().prop_map(Step::Acknowledge),
        2 => Just(Step::Forward),
        2 => packet().prop_map(Step::Twice),
        1 => Just(Step::Undo),
        3 => (0..5u32).prop_map(Step::Retransmit),
    ]
}

/// Further steps of a kernel that finds losses by the numbers of segments.
fn step_by_number() -> impl Strategy<Value = Step> {
    prop_oneof![
        18 => step(),
        3 => Just(Step::Mark),
        3 => Just(Step::MarkByCount),
        2 => Just(Step::LoseAgain),
        1 => Just(Step::Timeout),
        1 => Just(Step::Renege),
    ]
}

/// Steps for a scoreboard that finds losses by age.
fn step_by_age() -> impl Strategy<Value = Step> {
    prop_oneof![18 => step(), 2 => (0..40u32).prop_map(Step::TimeoutByAge)]
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
    /// The step in which it was sent first.
    sent: u32,
    /// `snd_nxt` when it was last sent again.
    sent_before: u64,
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
    /// Highest SACKed byte.
    fack: u64,
    /// Below this everything was looked at for loss (lost_skb_hint).
    marked: u64,
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
            Step::Sack(from, count) => return self.sack(from as usize, count as usize),
            Step::Acknowledge(count) => return self.acknowledge(count as usize),
            Step::Mark => self.mark(),
            Step::MarkByCount => self.mark_by_count(),
            Step::LoseAgain => self.lose_again(),
            Step::Forward => return self.forward(),
            Step::Twice(at) => self.twice(at as usize),
            Step::Undo => {
                self.packets.iter_mut().for_each(|p| p.lost = false);
                self.marked = self.una;
                self.board.unmark(self.una);
            }
            Step::Retransmit(count) => return (0..count).try_for_each(|_| self.retransmit()),
            Step::Timeout => self.timeout(),
            Step::TimeoutByAge(steps) => self.timeout_by_age(steps),
            Step::Renege => {
                self.packets.iter_mut().for_each(|p| p.sacked = false);
                self.fack = 0;
                self.board.forget_sacks();
                self.timeout();
            }
        }
        Ok(())
    }

    fn send(&mut self, len: u32) {
        self.queue.write(len, false, true);
        self.queue.split_head(len);
        self.queue.send(self.nxt, Time::ms(self.now.into()), MSS);
        let end = self.nxt + u64::from(len);
        while self.nxt < end {
            let packet_end = (self.nxt + u64::from(MSS)).min(end);
            let packet =
                Packet { start: self.nxt, end: packet_end, sent: self.now, ..Packet::default() };
            self.packets.push(packet);
            self.board.packets_out += 1;
            self.nxt = packet_end;
        }
    }

    fn sack(&mut self, from: usize, count: usize) -> Result<(), String> {
        // The first packet out is what the receiver waits for.
        let Some(last) = self.packets.len().checked_sub(1).filter(|&last| last > 0) else {
            return Ok(());
        };
        let (from, to) = (from.clamp(1, last), (from.max(1) + count).min(last));
        if from > to {
            return Ok(());
        }
        // A packet that is out again without being lost keeps its R: both copies are on their way.
        let mut expected = Sacked::default();
        for packet in &mut self.packets[from..=to] {
            if !packet.sacked {
                packet.retransmitted &= !packet.lost;
                (packet.sacked, packet.lost) = (true, false);
                expected.packets += 1;
                if packet.ever.is_none() {
                    expected.original = expected.original.or(Some(packet.start));
                    expected.last_original = Some(packet.end - 1);
                }
            }
        }
        let (start, end) = (self.packets[from].start, self.packets[to].end);
        if expected.packets > 0 {
            self.fack = self.fack.max(end);
        }
        let (board, window) = self.window();
        let found = board.sack(start, end, window);
        if expected == found { Ok(()) } else { Err(format!("{found:?}, not {expected:?}")) }
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
        let found = board.acknowledge(una, window);
        self.queue.acknowledge(una, MSS);
        self.una = una;
        self.marked = self.marked.max(una);
        let expected = Acked {
            packets: gone.len() as u32,
            delivered: gone.iter().filter(|p| !p.sacked).count() as u32,
            resent: gone.iter().any(|p| p.ever.is_some()),
            resent_beyond_head: gone[1..].iter().any(|p| p.ever.is_some()),
            original: gone.iter().find(|p| p.ever.is_none() && !p.sacked).map(|p| p.start),
            last_original: (gone.iter().rev())
                .find(|p| p.ever.is_none() && !p.sacked)
                .map(|p| p.end - 1),
        };
        if expected == found { Ok(()) } else { Err(format!("{found:?}, not {expected:?}")) }
    }

    /// Marks the packets below `limit` that were not looked at yet.
    fn mark_below(&mut self, limit: u64) {
        for packet in self.packets.iter_mut().filter(|p| p.end <= limit && p.start >= self.marked) {
            packet.lost |= !packet.sacked;
        }
        self.marked = self.marked.max(limit);
        let (board, window) = self.window();
        board.mark_lost_below(limit, true, window);
    }

    fn mark(&mut self) {
        let Some(highest) = self.packets.iter().rposition(|p| p.end == self.fack) else { return };
        let first = self.packets[0].end;
        let limit = match highest.checked_sub(REORDERING - 1) {
            Some(at) => self.packets[at].start.max(self.una),
            None => self.una,
        };
        let (board, window) = self.window();
        assert_eq!(board.below_fack(REORDERING as u32, window), limit);
        self.mark_below(limit.max(first));
    }

    /// Lost is what has at least three SACKed packets above it.
    fn mark_by_count(&mut self) {
        let sacked: Vec<_> = self.packets.iter().filter(|p| p.sacked).map(|p| p.start).collect();
        let limit = sacked.len().checked_sub(REORDERING).map(|at| sacked[at]);
        let (board, window) = self.window();
        assert_eq!(board.below_sacked(REORDERING as u32, window), limit);
        if let Some(limit) = limit {
            self.mark_below(limit);
        }
    }

    fn lose_again(&mut self) {
        let fack = self.fack;
        for packet in self.packets.iter_mut().filter(|p| p.retransmitted && p.sent_before < fack) {
            packet.retransmitted = false;
            packet.lost |= !packet.sacked;
        }
        let (board, window) = self.window();
        board.mark_lost_retransmissions(0, window);
    }

    fn send_again(&mut self, at: Option<usize>, found: Option<SeqRange>) -> Result<(), String> {
        let (now, nxt) = (self.now, self.nxt);
        let expected = at.map(|at| {
            let packet = &mut self.packets[at];
            (packet.retransmitted, packet.ever, packet.sent_before) = (true, Some(now), nxt);
            SeqRange::new(packet.start, packet.end)
        });
        if let Some(SeqRange { start, end }) = found {
            self.board.note_retransmitted(start, end, Time::ms(now.into()), nxt);
        }
        if expected == found { Ok(()) } else { Err(format!("next {found:?}, not {expected:?}")) }
    }

    /// The list's first packet that is lost and not out again.
    fn retransmit(&mut self) -> Result<(), String> {
        let at = self.packets.iter().position(|p| p.lost && !p.retransmitted);
        let (board, window) = self.window();
        let found = board.next_lost(window);
        self.send_again(at, found.map(|(start, end)| SeqRange::new(start, end)))
    }

    /// The first one below the highest SACK that is neither SACKed nor out again.
    fn forward(&mut self) -> Result<(), String> {
        if !self.packets.iter().any(|p| p.sacked) {
            return Ok(());
        }
        let fack = self.fack;
        let at = self.packets.iter().position(|p| !p.sacked && !p.retransmitted && p.start < fack);
        let (board, window) = self.window();
        let found = board.next_forward(window);
        self.send_again(at, found.map(|(start, end)| SeqRange::new(start, end)))
    }

    /// A D-SACK: the retransmission was needless.
    fn twice(&mut self, at: usize) {
        let Some(packet) = self.packets.get_mut(at) else { return };
        packet.retransmitted = false;
        let (start, end) = (packet.start, packet.end);
        let resent = u32::from(packet.ever.is_some());
        let (board, window) = self.window();
        assert_eq!(board.resent_in(start, end, window), resent);
        board.take_back(start, end, window);
    }

    fn timeout(&mut self) {
        for packet in &mut self.packets {
            packet.retransmitted = false;
            packet.lost = !packet.sacked;
        }
        self.marked = self.nxt;
        let (board, window) = self.window();
        board.mark_all_lost(window.snd_nxt, window);
    }

    /// A packet that is lost already and out again is out no longer; else it is lost. The first packet is old in any
    /// case.
    fn timeout_by_age(&mut self, steps: u32) {
        if self.packets.first().is_some_and(|head| head.sacked) {
            return;
        }
        let Some(by) = self.now.checked_sub(steps) else { return };
        for (i, packet) in self.packets.iter_mut().enumerate() {
            let sent = packet.ever.filter(|_| packet.retransmitted).unwrap_or(packet.sent);
            if packet.sacked || i > 0 && sent > by {
                continue;
            }
            packet.retransmitted &= !packet.lost;
            packet.lost = true;
        }
        let late = self.packets.iter().find(|packet| packet.sent > by);
        let first = self.packets.first().map_or(self.nxt, |head| head.end);
        self.marked = late.map_or(self.nxt, |packet| packet.start).max(first);
        let (board, window) = self.window();
        board.mark_timed_out(Some(u64::from(by) * 1000), window);
    }

    fn compare(&mut self) -> Result<(), String> {
        let count =
            |tag: fn(&Packet) -> bool| self.packets.iter().filter(|p| tag(p)).count() as u32;
        let (sacked, lost) = (count(|p| p.sacked), count(|p| p.lost));
        let (out, again) = (self.packets.len() as u32, count(|p| p.retransmitted));
        let highest = self.packets.iter().rposition(|p| p.sacked);
        let fackets = highest.map_or(0, |at| at as u32 + 1);
        let in_flight = (out + again) - (sacked + lost);
        let expected = [out, sacked, lost, again, in_flight, fackets];
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
    random::check(4000, prop::collection::vec(step_by_number(), 1..80), |steps| agree(steps));
}

#[test]
fn ranges_count_what_tags_count_by_age() {
    random::check(4000, prop::collection::vec(step_by_age(), 1..80), |steps| agree(steps));
}
