//! Receive window of a system that counts data instead of memory ([`System`](crate::config::System)).
//!
//! Source: RFC 9293, section 3.8.6.2.2 (a window opens by a segment or half the buffer at least). The growth of
//! Windows' window is not published. Here it follows the bytes read per round trip, as Linux's does (inferred).

use super::window::{ReceiveWindow, SYN_ACK_WINDOW};
use crate::config::DataWindow;

/// State of the window, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    /// Window while the reader has read all data.
    bytes: u64,
    /// Largest window.
    most: u64,
    /// Data in order that is unread.
    unread: u64,
}

impl State {
    /// Bytes that may still arrive.
    pub(super) fn free(self) -> u64 {
        self.bytes.saturating_sub(self.unread)
    }

    /// Window without unread data, bytes.
    pub(super) fn full(self) -> u64 {
        self.bytes
    }

    /// Window to offer, in whole units of 2^`scale` bytes; 0 below a segment of `mss` bytes and half the buffer.
    pub(super) fn select(self, mss: u64, scale: u32) -> u64 {
        let free = self.free();
        let least = mss.min(self.bytes / 2);
        if free < least { 0 } else { free >> scale << scale }
    }
}

impl ReceiveWindow {
    /// A window that follows `own` instead of memory.
    pub(crate) fn of_data(mut self, own: DataWindow) -> ReceiveWindow {
        let DataWindow { first, most, scale } = own;
        self.data = Some(State { bytes: first, most, unread: 0 });
        (self.rcvbuf, self.window_clamp, self.rcv_ssthresh) = (first, first, first);
        self.wscale = scale;
        self.rcv_wnd = first.min(SYN_ACK_WINDOW);
        self
    }

    /// Sets the amount of unread data in order, bytes.
    pub(super) fn note_unread(&mut self, bytes: u64) {
        if let Some(own) = &mut self.data {
            own.unread = bytes;
        }
    }

    /// Lets the window grow to `window` bytes, up to its largest size.
    pub(super) fn tune_data(&mut self, window: u64) {
        let Some(own) = &mut self.data else { return };
        own.bytes = own.bytes.max(window.min(own.most));
        (self.rcvbuf, self.window_clamp, self.rcv_ssthresh) = (own.bytes, own.bytes, own.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Receiver;
    use crate::config::{Autotuning, Host, System};
    use crate::tcp::Segment;
    use crate::tcp::profile::find;
    use crate::units::Time;
    use alloc::vec::Vec;

    const MSS: u32 = 1460;

    fn receiver(system: System, rcvbuf: Option<u64>) -> Receiver {
        let host = Host { system, ..Host::plain("6.12") };
        Receiver::new(find("6.12").expect("it is known"), &host, MSS, rcvbuf)
    }

    /// Windows of the ACKs of `count` segments, each of which is read at once if `reads`.
    fn windows(tcp: &mut Receiver, count: u64, reads: bool) -> Vec<u64> {
        let mut offered = Vec::new();
        for number in 0..count {
            let now = Time::us(number * 10);
            let seq = number * u64::from(MSS);
            let ack = tcp.on_segment(now, Segment { seq, len: MSS, ..Segment::default() });
            offered.extend(ack.map(|ack| ack.window));
            if reads {
                offered.extend(tcp.read(now, MSS.into()).map(|ack| ack.window));
            }
        }
        offered
    }

    #[test]
    fn a_fixed_window_stays_while_the_reader_keeps_up() {
        let mut tcp = receiver(System::FixedWindow(262_144), None);
        assert_eq!(tcp.window.syn_ack_window(), 65_535);
        let offered = windows(&mut tcp, 1000, true);
        // An ACK before the read offers less by the unread data; none offers more.
        assert!(offered.iter().all(|own| (260_000..=262_144).contains(own)), "{offered:?}");
    }

    /// Memory has no effect: a window of full segments fills to the last one that fits, and the right edge stays.
    #[test]
    fn data_that_nobody_reads_closes_the_window() {
        let mut tcp = receiver(System::FixedWindow(10 * u64::from(MSS)), None);
        let offered = windows(&mut tcp, 10, false);
        assert_eq!(tcp.make_ack().window, 0);
        let left = offered.iter().map(|own| own / u64::from(MSS));
        assert!(
            left.clone().zip(left.skip(1)).all(|(before, after)| after < before),
            "{offered:?}"
        );
        assert_eq!((tcp.dropped, tcp.prunes), (0, 0));
        assert!(tcp.read(Time::ms(1), 10 * u64::from(MSS)).is_some_and(|ack| ack.window == 14_600));
    }

    #[test]
    fn what_a_program_asks_for_is_the_window_of_windows() {
        let mut tcp = receiver(System::Windows(Autotuning::Normal), Some(212_992));
        let offered = windows(&mut tcp, 1000, true);
        assert!(offered.iter().all(|own| (210_000..=212_992).contains(own)), "{offered:?}");
        assert_eq!(tcp.window.wscale, 2);
    }
}
