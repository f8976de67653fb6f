//! Requests and answers: the two applications of a connection with data both ways take turns, a write at a time.
//!
//! Limits:
//! - The two applications take turns at once and without a pace, and do nothing else.
//! - If `cpu` costs something, writing and reading lock the socket each for itself.
//! - SACKs make a data segment longer than the MTU. `--pcap` of such a flow is refused.
//! - Random scenarios draw no such flow, and the second implementation of the tests has none. Real Linux validates
//!   them (`scenarios/parity/requests.toml`).

use crate::config::Flow;
use crate::host::{Host, Process};
use crate::tcp::sender::Writer;

/// Whose turn it is, as one end of the connection knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// Whether this end answers, or else asks.
    answers: bool,
    /// Bytes of one write of its own, and of one of the other end.
    own: u64,
    others: u64,
    /// Bytes of all requests, where they end.
    requests: u64,
}

impl Turn {
    /// That of the application of a flow whose connection has that other one, too.
    pub(super) fn new(own: &Flow, other: &Flow) -> Turn {
        let answers = own.answers.is_some();
        let asks = if answers { other } else { own };
        Turn {
            answers,
            own: own.write.into(),
            others: other.write.into(),
            requests: asks.bytes.unwrap_or(u64::MAX),
        }
    }

    /// Whether it is this end's, which has written and read so many bytes.
    fn has_come(&self, written: u64, read: u64) -> bool {
        let writes = written.div_ceil(self.own);
        match self.answers {
            false => read >= writes.saturating_mul(self.others),
            true => {
                let answered = writes.saturating_mul(self.others);
                answered < self.requests && read >= (answered + self.others).min(self.requests)
            }
        }
    }

    /// Whether the application closes the connection when it has written all: the one that asks does.
    pub(super) fn closes(&self) -> bool {
        !self.answers
    }
}

impl Host {
    /// Whether the flow's application may write, as far as it takes turns with the other end's.
    pub(super) fn has_turn(&self, flow: usize, half: Option<usize>) -> bool {
        let (Some(half), state) = (half, &self.sends[flow]) else { return true };
        let read = self.receives[half].tcp.bytes_read;
        state.turn.is_none_or(|turn| turn.has_come(state.written, read))
    }

    /// The application has read something of the other way of its connection: if it is its turn, it goes on.
    pub(in crate::host) fn wake_for_turn(&mut self, flow: usize, half: usize) {
        let waits = self.sends[flow].tcp.writer() == Writer::Paused;
        if waits && self.sends[flow].tcp.is_established() && self.has_turn(flow, Some(half)) {
            self.sends[flow].tcp.set_writer(Writer::Active);
            self.runnable.push_back(Process::Writer(flow));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_answers_alternate() {
        let asks = Turn { answers: false, own: 100, others: 1000, requests: 250 };
        let answers = Turn { answers: true, own: 1000, others: 100, requests: 250 };
        for (turn, written, read, come) in [
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
            assert_eq!(turn.has_come(written, read), come, "{turn:?}: {written}, {read}");
        }
    }
}
