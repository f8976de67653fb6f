//! Wait of a large skb that may be sent only in part.
//!
//! Source: `tcp_tso_should_defer` of Linux 2.6.25, 2.6.28, 2.6.33 and 3.14; of 6.1 and 6.12.

use super::Sender;
use crate::tcp::profile::TsoDeferral;
use crate::tcp::{CaState, Output};
use fullpipe_base::tcp::GSO_MAX_SIZE;

/// Longest pause after which a sender still waits, and longest time until the awaited ACK.
const MILLISECOND_NS: u64 = 1_000_000;

/// Room that the first unsent skb waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum Waits {
    /// Room in cwnd.
    Cwnd,
    /// Room in the receiver's window.
    Window,
    /// Anything else: more to send, the host.
    Other,
}

/// Part of the first unsent skb that may be sent now, bytes.
struct Room {
    skb: u64,
    window: u64,
    quota: u64,
}

impl Room {
    fn limit(&self) -> u64 {
        self.window.min(self.quota)
    }
}

impl Sender {
    /// Whether the first unsent skb waits, if it is larger than a segment; `segs`: most segments of an skb.
    pub(in crate::tcp) fn defers(&mut self, segs: u32, out: &impl Output) -> Option<Waits> {
        let now = self.jiffies(out.now());
        let rule = self.profile.tso_deferral;
        let waits = match rule {
            TsoDeferral::Never => None,
            TsoDeferral::NextAck => self.waits_for_ack(segs, out),
            _ => self.should_defer(now).then_some(Waits::Other),
        };
        self.tso.note_deferral(waits.is_some(), now, rule == TsoDeferral::Once);
        waits
    }

    fn room(&self) -> Option<Room> {
        let head = self.queue.head().filter(|&head| head > self.mss_now())?;
        let quota = self.cwnd().saturating_sub(self.in_flight());
        Some(Room {
            skb: head.into(),
            window: self.seq.room(),
            quota: u64::from(quota) * u64::from(self.tso.mss_cache()),
        })
    }

    /// Whether `limit` is a third of the smaller window, which is enough to send.
    fn is_large_share(&self, limit: u64) -> bool {
        let chunk = self.seq.wnd().min(u64::from(self.cwnd()) * u64::from(self.tso.mss_cache()));
        // limit >= chunk / divisor, rounded down.
        (limit + 1).saturating_mul(u64::from(self.profile.tso_win_divisor)) > chunk
    }

    fn should_defer(&self, now: u32) -> bool {
        let Some(room) = self.room() else { return false };
        // The wait lasts at most a tick.
        if self.ca_state != CaState::Open || self.tso.has_waited(now) || self.queue.head_ends() {
            return false;
        }
        let rule = self.profile.tso_deferral;

        // A whole skb with others behind it is sent; the last skb may still grow.
        let last = self.queue.tail_is_only() || rule == TsoDeferral::Any;
        let whole = !last && room.limit() >= room.skb;
        let full = match rule {
            TsoDeferral::Once => u64::from(GSO_MAX_SIZE.min(self.size_goal())),
            _ => GSO_MAX_SIZE.into(),
        };
        !(room.limit() >= full || whole || self.is_large_share(room.limit()))
    }

    /// Wait for an ACK, since 4.20. A sender waits only if it has sent data within the last millisecond, and only for
    /// an ACK that is due within a millisecond, or half an RTT.
    fn waits_for_ack(&self, segs: u32, out: &impl Output) -> Option<Waits> {
        let room = self.room()?;
        let now = out.now();
        if self.ca_state >= CaState::Recovery
            || now.saturating_sub(self.departures.next).0 > MILLISECOND_NS
        {
            return None;
        }

        // Enough for a full skb, for all of this one, or for a third of the window.
        let full = u64::from(segs) * u64::from(self.tso.mss_cache());
        let whole = !self.queue.tail_is_only() && room.limit() >= room.skb;
        if room.limit() >= full || whole || self.is_large_share(room.limit()) {
            return None;
        }

        // The next ACK is expected an srtt after the oldest packet was sent.
        let oldest = self.last_sent(self.seq.una())?;
        // srtt is in 1/8 us.
        let srtt_ns = u64::from(self.rtt.srtt) * 125;
        let due = (oldest.0 + srtt_ns).saturating_sub(now.0);
        if due > (srtt_ns >> 1).min(MILLISECOND_NS) {
            return None;
        }

        // The limit that stops the skb counts as that of the flow (is_cwnd_limited, is_rwnd_limited).
        let by_cwnd = room.quota < room.window;
        match room.limit() <= room.skb {
            true if by_cwnd => Some(Waits::Cwnd),
            true => Some(Waits::Window),
            false if self.queue.head_ends() => None,
            _ => Some(Waits::Other),
        }
    }
}
