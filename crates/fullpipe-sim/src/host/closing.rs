//! End of a connection in a loop, and start of the next one.
//!
//! The reading program closes its end as soon as it has read all data. Its FIN leaves at once and acknowledges what has
//! arrived (Linux `tcp_send_fin`). The sender answers that FIN with an ACK at once (`tcp_fin`). The program that opened
//! the connection opens the next one when its own FIN is acknowledged or the reader's FIN has arrived, whichever is first.
//! A connection without a successor keeps its socket open at the receiver.
//!
//! Limits: a lost FIN of the receiver is not sent again by a timer of its own; the sender's FIN is.

use core::mem;

use super::Host;
use super::shared::Shared;
use super::timers::Timer;
use crate::tcp::Ack;
use crate::trace::EventKind;
use crate::units::Time;

impl Host {
    /// Closes the reader's end of a loop's connection after all data was read.
    pub(super) fn close_when_read(&mut self, flow: usize, now: Time, shared: &mut Shared) {
        let state = &mut self.receives[flow];
        if !state.closes || state.locked {
            return;
        }
        let has_end = state.tcp.has_ended && state.tcp.readable() == 0;
        // A program that answers reads on until the stream ends.
        let has_all = state.has_read_all && shared.reverse_of[flow].is_none();

        // After the FIN only a scheduled ACK is still owed.
        let owes = !state.closed || state.tcp.acks.is_scheduled();
        if (has_end || has_all) && owes {
            let fin = !mem::replace(&mut state.closed, true);
            let ack = Ack { fin, ..state.tcp.make_ack() };
            self.send_ack(flow, now, &ack, shared);
        }
    }

    /// Schedules the next connection of a loop, once.
    pub(super) fn begin_next(&mut self, flow: usize, now: Time) {
        if let Some((next, after)) = self.sends[flow].next.take() {
            self.timers.set(next, Timer::Start, after.begins(now));
        }
    }

    /// Connects the next flow of a loop; the flow's times count from now on.
    pub(super) fn begin_flow(&mut self, flow: usize, now: Time, shared: &mut Shared) {
        let own = &mut self.sends[flow].config;
        if own.after.is_none() {
            return;
        }
        own.start = now;
        for of in [Some(flow), shared.reverse_of[flow]].into_iter().flatten() {
            shared.event(now, of as u16, EventKind::Began, 0);
        }
    }
}
