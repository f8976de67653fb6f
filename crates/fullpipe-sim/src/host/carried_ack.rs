//! Segments that carry an ACK of the data that their receiver sends, and ACKs alone.
//!
//! Source: Linux 6.12 `tcp_rcv_established`.

use super::Host;
use super::cpu::Cursor;
use super::receiving::{Arrived, ReverseAck};
use super::shared::Shared;
use crate::tcp::Ack;
use crate::tcp::receiver::Taken;
use crate::units::Time;

impl Host {
    /// The receiving end of the flow's socket, if an ACK of its own data takes the slow path there.
    pub(super) fn end_on_slow_path(
        &self,
        flow: usize,
        ack: &Ack,
        shared: &Shared,
    ) -> Option<usize> {
        let reverse = shared.reverse_of[flow]?;
        let is_fast = self.receives.get(reverse)?.tcp.is_fast_ack(ack);
        (!is_fast || self.sends[flow].tcp.snd_wnd() != ack.window).then_some(reverse)
    }

    /// Sends an ACK of received data that is due after an ACK without data (`__tcp_ack_snd_check`).
    pub(super) fn ack_after_pure_ack(
        &mut self,
        slow: Option<usize>,
        cpu: Time,
        shared: &mut Shared,
    ) {
        if let Some(flow) = slow
            && let Some(ack) = &self.receives[flow].tcp.ack_after_pure_ack(cpu)
        {
            self.send_ack(flow, cpu, ack, shared);
        }
    }

    /// Handles a segment that also has an ACK of the reverse flow. The ACK of a segment outside the window is ignored
    /// (`tcp_validate_incoming`).
    pub(super) fn on_segment_with_ack(
        &mut self,
        flow: usize,
        other: ReverseAck,
        cursor: Cursor,
        arrived: &Arrived,
        shared: &mut Shared,
    ) -> Time {
        let Cursor { cpu, now } = cursor;
        if !self.receives[flow].tcp.is_acceptable(&arrived.segment) {
            self.on_segment(flow, cpu, arrived, shared);
            return cpu;
        }
        let next = self.receives[flow].tcp.rcv_nxt;
        let cpu = match self.is_predicted(flow, other, arrived) {
            true => {
                let sender = &mut self.sends[other.flow].tcp;
                sender.take_timestamp(other.ack.tsval);
                sender.note_window_of(&arrived.segment);
                self.on_segment(flow, cpu, arrived, shared);
                cpu
            }
            false => self.take_ack_and_segment(flow, other, cursor, arrived, shared),
        };

        // tcp_data_ready wakes a writer, too, who sleeps on this socket.
        if self.receives[flow].tcp.rcv_nxt > next {
            self.wake_by_data(other.flow, now, shared);
        }
        self.after_sending(other.flow, now, shared);
        cpu
    }

    /// Whether a segment takes the fast path, and its ACK says nothing new. Then the ACK is not processed, and no data is sent
    /// for it.
    fn is_predicted(&mut self, flow: usize, other: ReverseAck, arrived: &Arrived) -> bool {
        let (receiver, sender) = (&mut self.receives[flow].tcp, &self.sends[other.flow].tcp);
        receiver.follow_sender(sender.wmem_queued());
        receiver.is_fast(&arrived.segment) && sender.expects(&other.ack)
    }

    /// Handles the ACK, then the segment, then transmission in the reverse flow, which carries the ACK of the segment. The fast
    /// path takes the segment first, and sends as late.
    fn take_ack_and_segment(
        &mut self,
        flow: usize,
        other: ReverseAck,
        cursor: Cursor,
        arrived: &Arrived,
        shared: &mut Shared,
    ) -> Time {
        let Cursor { now, .. } = cursor;
        self.receives[flow].tcp.stamp_before_ack(&arrived.segment);
        let cpu = self.process_ack_with_data(other.flow, &other.ack, cursor, shared);
        let taken = self.take_segment(flow, cpu, arrived, shared);
        self.receives[flow].tcp.end_stamped();
        if let Taken::Ack(ack) = &taken {
            self.send_ack(flow, cpu, ack, shared);
        }

        // tcp_data_snd_check: data that the ACK allows may carry the segment's own ACK.
        let cpu = self.go_on_after_ack(other.flow, Cursor { cpu, now }, shared);

        // __tcp_ack_snd_check: what no data has carried is acknowledged now, or delayed.
        if let Taken::Asks(filled) = taken
            && let Some(ack) = &self.receives[flow].tcp.ack_or_delay(cpu, filled)
        {
            self.send_ack(flow, cpu, ack, shared);
        }
        cpu
    }
}
