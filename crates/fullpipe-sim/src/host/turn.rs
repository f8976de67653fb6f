//! Requests and answers: programs at both ends of a connection, each of which writes after it has read enough.
//!
//! A program that asks may have several requests without an answer: a window of its own. This module also counts
//! unanswered messages.
//!
//! Limits:
//! - Both programs continue at once and without a pace, and do no other work.
//! - If `cpu` costs something, writing and reading lock the socket separately.
//! - SACKs make a data segment longer than the MTU. `--pcap` of such a flow is refused.
//! - The second implementation of the tests has no such flow. Real Linux validates it in `scenarios/parity`:
//!   `requests.toml`, `programs.toml`, `messages.toml` and `quickack.toml`, and random scenarios draw it.

use crate::config::{App, Flow};
use crate::host::receiving::ReceivingFlow;
use crate::host::shared::Shared;
use crate::host::{Host, Process};
use crate::tcp::sender::Writer;
use crate::trace::{EventKind, MOST_ANSWERS};
use crate::units::Time;

/// Messages of a connection, as the program at one end counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialogue {
    /// Whether this end answers; else it asks.
    answers: bool,
    /// Bytes of one own message, and of one message of the other end.
    own: u64,
    others: u64,
    /// Most requests without an answer.
    in_flight: u64,
    /// Bytes of all requests, if they end.
    requests: u64,
}

impl Dialogue {
    /// Counters of a program that sends the flow `own` and receives the flow `other` on one connection.
    pub(super) fn new(own: &Flow, other: &Flow) -> Dialogue {
        let answers = own.answers.is_some();
        let asks = if answers { other } else { own };
        Dialogue {
            answers,
            own: own.message(),
            others: other.message(),
            in_flight: asks.in_flight().into(),
            requests: asks.bytes.unwrap_or(u64::MAX),
        }
    }

    /// Counter of a flow's unanswered messages; none where it has no messages.
    pub(super) fn one_way(own: &Flow) -> Option<Dialogue> {
        let App::Messages { size, .. } = own.app else { return None };
        let requests = own.bytes.unwrap_or(u64::MAX);
        Some(Dialogue { answers: false, own: size, others: 0, in_flight: u64::MAX, requests })
    }

    /// True for unanswered messages.
    pub(super) fn is_one_way(&self) -> bool {
        self.others == 0
    }

    /// Bytes left of the message in progress; 0 between messages.
    pub(super) fn left(&self, written: u64) -> u64 {
        match written % self.own {
            0 => 0,
            begun => self.own - begun,
        }
    }

    /// Whether this end may write, after so many bytes written and read. A program that `ends` waits for all answers.
    fn has_come(&self, written: u64, read: u64, ends: bool) -> bool {
        let is_begun = self.left(written) > 0;

        // The answering end waits until the next request is read whole.
        if self.answers {
            let answered = (written / self.own).saturating_mul(self.others);
            let asked = (answered.saturating_add(self.others)).min(self.requests);
            return is_begun || answered < self.requests && read >= asked;
        }

        let ends = ends || written >= self.requests;
        if is_begun && written < self.requests {
            return true;
        }

        // The asking end may have `in_flight` requests without an answer, the next one included.
        let without_answer = if ends { 0 } else { self.in_flight - 1 };
        let answered = self.begun(written).saturating_sub(without_answer);
        read >= answered.saturating_mul(self.others)
    }

    /// Own messages begun within `written` bytes.
    pub(super) fn begun(&self, written: u64) -> u64 {
        written.div_ceil(self.own)
    }

    /// Most bytes that the program of this end may have read, when it has `written` and `read` so many. A program that
    /// answers reads one request, then writes its answer: it reads nothing while it `writes`. A program that asks reads at
    /// any time, one answer after the other.
    fn most_read(&self, written: u64, read: u64, writes: bool) -> u64 {
        match self.answers {
            true if writes => read,
            true => (written / self.own + 1).saturating_mul(self.others),
            false => (read / self.others + 1).saturating_mul(self.others),
        }
    }

    /// Whether this end asks, and its next byte begins a request.
    pub(super) fn begins_request(&self, written: u64) -> bool {
        !self.answers && self.left(written) == 0
    }

    /// Whether this end asks with several requests in flight: a thread writes, and another one reads.
    fn asks_ahead(&self) -> bool {
        !self.answers && self.in_flight > 1
    }

    /// Answers that were read completely.
    fn answered(&self, read: u64) -> u64 {
        read / self.others
    }

    /// Whether the application closes the connection after its last write: the asking one does.
    pub(super) fn closes(&self) -> bool {
        !self.answers
    }
}

/// Unanswered messages, as the reading program counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arriving {
    /// Bytes of one message, and of all.
    size: u64,
    bytes: u64,
    /// Messages that were read completely.
    read: u64,
}

impl Arriving {
    /// Counter of a flow's messages; none where it has none.
    pub(super) fn of(flow: &Flow) -> Option<Arriving> {
        let App::Messages { size, .. } = flow.app else { return None };
        Some(Arriving { size, bytes: flow.bytes.unwrap_or(u64::MAX), read: 0 })
    }

    /// Bytes up to the end of the next message, after so many bytes were read.
    pub(super) fn left(&self, bytes_read: u64) -> u64 {
        let end = self.read.saturating_add(1).saturating_mul(self.size).min(self.bytes);
        end.saturating_sub(bytes_read)
    }

    /// Takes the next message if it ends within `bytes_read`. The last one may be shorter.
    fn takes(&mut self, bytes_read: u64) -> bool {
        let begins = self.read.saturating_mul(self.size);
        let end = begins.saturating_add(self.size).min(self.bytes);
        let is_whole = end > begins && bytes_read >= end;
        self.read += u64::from(is_whole);
        is_whole
    }
}

impl ReceivingFlow {
    /// Whether the program reads unanswered messages one by one. A program with a rate reads what there is.
    pub(super) fn reads_messages(&self) -> bool {
        self.arriving.is_some() && self.rate.is_none()
    }

    /// Available bytes that one read of unanswered messages takes.
    pub(super) fn readable_of_unanswered(&self, readable: u64) -> u64 {
        match self.arriving {
            Some(arriving) if self.rate.is_none() => {
                readable.min(arriving.left(self.tcp.bytes_read))
            }
            _ => readable,
        }
    }
}

impl Host {
    /// Records an event for each unanswered message that was read completely.
    pub(super) fn report_messages_read(&mut self, flow: usize, now: Time, shared: &mut Shared) {
        let read = self.receives[flow].tcp.bytes_read;
        let Some(arriving) = &mut self.receives[flow].arriving else { return };
        while arriving.takes(read)
            && let Some(began) = shared.began[flow].pop_front()
        {
            if arriving.read <= MOST_ANSWERS {
                shared.event(now, flow as u16, EventKind::MessageRead, (now - began).0);
            }
        }
    }
}

impl Host {
    /// Whether the flow's application may write, as far as the other end decides. A program that `ends` waits for all
    /// answers.
    pub(super) fn has_turn(&self, flow: usize, reverse: Option<usize>, ends: bool) -> bool {
        let (Some(reverse), state) = (reverse, &self.sends[flow]) else { return true };
        let read = self.receives[reverse].tcp.bytes_read;
        state.dialogue.is_none_or(|dialogue| dialogue.has_come(state.written, read, ends))
    }

    /// Available bytes of a flow that its program takes with one read, which ends with a message. A program without
    /// messages takes all that is `readable`.
    pub(super) fn readable_of_message(&self, flow: usize, readable: u64, shared: &Shared) -> u64 {
        let Some(reverse) = shared.reverse_of[flow] else {
            return self.receives[flow].readable_of_unanswered(readable);
        };
        let (state, read) = (&self.sends[reverse], self.receives[flow].tcp.bytes_read);
        let writes = matches!(state.tcp.writer(), Writer::Active | Writer::NoSpace);
        let most = state.dialogue.map(|dialogue| dialogue.most_read(state.written, read, writes));
        most.map_or(readable, |most| readable.min(most.saturating_sub(read)))
    }

    /// Wake-up of programs that wait for whole messages: after a read they look whether one has come.
    pub(super) fn wake_for_messages(&mut self, flow: usize, now: Time, shared: &mut Shared) {
        if self.rpc.has(flow) {
            self.after_message_bytes(flow, now, shared);
        } else if let Some(reverse) = shared.reverse_of[flow] {
            // A thread that reads answers reads on until nothing is left; then the thread that writes has its turn.
            let dialogue = self.sends[reverse].dialogue;
            let has_threads = dialogue.is_some_and(|dialogue| dialogue.asks_ahead());
            if has_threads {
                // It goes on at once: the one that writes waits for the CPU.
                self.read_on(flow, now, shared);
            }
            let ready = self.runnable.len();
            self.wake_for_turn(reverse, flow, now, shared);
            if has_threads && self.woken_preempts && self.runnable.len() > ready {
                self.runnable.rotate_right(1);
            }
        } else if self.receives[flow].reads_messages() {
            self.read_on(flow, now, shared);
        }
    }

    /// Lets the reader go on at once, where there is more to read.
    fn read_on(&mut self, flow: usize, now: Time, shared: &mut Shared) {
        self.after_receiving(flow, now, shared);
        if self.runnable.back() == Some(&Process::Reader(flow)) {
            self.runnable.rotate_right(1);
        }
    }

    /// Notes an ACK without data in the socket that sends it, if the socket also sends data.
    pub(super) fn depart_ack(&mut self, flow: usize, shared: &Shared) {
        if let Some(reverse) = shared.reverse_of[flow] {
            self.sends[reverse].tcp.depart_ack(self.receives[flow].tcp.clock());
        }
    }

    /// Wakes the application after a read from the reverse flow, if it may write.
    pub(in crate::host) fn wake_for_turn(
        &mut self,
        flow: usize,
        reverse: usize,
        now: Time,
        shared: &mut Shared,
    ) {
        self.report_answers(flow, reverse, now, shared);
        let waits = self.sends[flow].tcp.writer() == Writer::Paused;
        if waits
            && self.sends[flow].tcp.is_established()
            && self.has_turn(flow, Some(reverse), false)
        {
            self.sends[flow].tcp.set_writer(Writer::Active);
            self.runnable.push_back(Process::Writer(flow));
        }
    }
}

impl Host {
    /// Reports the requests of a flow that were answered.
    fn report_answers(&mut self, flow: usize, reverse: usize, now: Time, shared: &mut Shared) {
        let read = self.receives[reverse].tcp.bytes_read;
        let state = &mut self.sends[flow];
        let answered = state.dialogue.map_or(0, |dialogue| dialogue.answered(read));
        while state.answered < answered
            && let Some(began) = state.asked.pop_front()
        {
            state.answered += 1;
            // Only the first answers are events; the trace would grow without bound.
            if state.answered <= MOST_ANSWERS {
                shared.event(now, flow as u16, EventKind::Answered, (now - began).0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Turn with messages of `own` bytes, and of `others` bytes at the other end.
    fn dialogue(answers: bool, [own, others]: [u64; 2], in_flight: u64, requests: u64) -> Dialogue {
        Dialogue { answers, own, others, in_flight, requests }
    }

    #[test]
    fn requests_and_answers_alternate() {
        let asks = dialogue(false, [100, 1000], 1, 250);
        let answers = dialogue(true, [1000, 100], 1, 250);
        for (dialogue, written, read, come) in [
            (asks, 0, 0, true),
            (asks, 100, 999, false),
            (asks, 100, 1000, true),
            (asks, 250, 2999, false),
            (asks, 250, 3000, true),
            (answers, 0, 99, false),
            (answers, 0, 100, true),
            (answers, 1000, 100, false),
            (answers, 1000, 200, true),
            (answers, 2000, 249, false),
            (answers, 2000, 250, true),
            (answers, 3000, 250, false),
        ] {
            assert_eq!(
                dialogue.has_come(written, read, false),
                come,
                "{dialogue:?}: {written}, {read}"
            );
        }
    }

    #[test]
    fn a_program_that_answers_reads_one_request_and_not_while_it_writes() {
        let answers = dialogue(true, [1000, 100], 4, u64::MAX);
        for (written, read, writes, most) in [
            (0, 0, false, 100),
            (0, 60, false, 100),
            (0, 100, true, 100),
            (400, 100, true, 100),
            (1000, 100, true, 100),
            (1000, 100, false, 200),
        ] {
            assert_eq!(answers.most_read(written, read, writes), most, "{written}, {read}");
        }
        let asks = dialogue(false, [100, 1000], 4, u64::MAX);
        let reads = [0, 999, 1000].map(|read| asks.most_read(400, read, true));
        assert_eq!(reads, [1000, 1000, 2000]);
    }

    #[test]
    fn the_last_message_may_be_shorter() {
        let mut arriving = Arriving { size: 100, bytes: 250, read: 0 };
        let mut takes = |read| core::iter::from_fn(|| arriving.takes(read).then_some(())).count();
        assert_eq!([99, 100, 249, 250, 250].map(&mut takes), [0, 1, 1, 1, 0]);
    }

    #[test]
    fn a_window_is_requests_without_an_answer() {
        let asks = dialogue(false, [100, 10], 3, 1000);
        for (written, read, ends, come) in [
            (200, 0, false, true),
            (300, 9, false, false),
            (300, 10, false, true),
            // The program finishes a message that it has begun.
            (250, 0, false, true),
            (250, 0, true, true),
            // The end waits for every answer.
            (300, 29, true, false),
            (300, 30, true, true),
            (1000, 99, false, false),
            (1000, 100, false, true),
        ] {
            assert_eq!(asks.has_come(written, read, ends), come, "{written}, {read}, {ends}");
        }
        assert_eq!([asks.left(200), asks.left(250)], [0, 50]);

        // The program finishes an answer in several writes; the next one waits for its request.
        let answers = dialogue(true, [100, 10], 3, 1000);
        assert!(answers.has_come(50, 10, false));
        assert!(!answers.has_come(100, 19, false));
        assert!(answers.has_come(100, 20, false));
    }
}
