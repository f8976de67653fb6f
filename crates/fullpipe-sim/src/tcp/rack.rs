//! RACK: a packet is lost if a later one has arrived, and an RTT and a little more has passed.
//!
//! Source: RFC 8985; Linux 6.12 `tcp_rack_advance`, `tcp_rack_reo_wnd`, `tcp_rack_update_reo_wnd`. This is the state of
//! the newest packet that has arrived; `recovery/rack.rs` uses it.

/// Recoveries for which a wider reordering window holds (TCP_RACK_RECOVERY_THRESH).
pub(super) const RECOVERY_THRESH: u32 = 16;
/// Widest reordering window, steps.
const MAX_STEPS: u32 = 255;

/// State of RACK. Fields keep Linux's names.
#[derive(Clone, Copy, Debug)]
pub struct Rack {
    /// Transmission time of the newest packet that has arrived, us.
    pub mstamp: u64,
    /// End of this packet.
    pub end_seq: u64,
    /// RTT of the last arrival, us.
    pub rtt_us: u32,
    /// Whether a packet has arrived since the last search for losses.
    pub advanced: bool,
    /// Width of the reordering window, quarters of the least RTT.
    pub reo_wnd_steps: u32,
    /// Recoveries until the width returns to one step.
    pub reo_wnd_persist: u32,
    /// Whether a D-SACK has arrived that reordering may have caused.
    pub dsack_seen: bool,
    /// Time at which the window was last widened, us (in Linux: the packets delivered then).
    pub widened_us: u64,
    /// Whether reordering was ever observed.
    pub reord_seen: bool,
    /// Time of the ACK in hand, us.
    now_us: u64,
    /// Least RTT before it, us.
    min_rtt_us: u32,
    /// Transmission time of the newest packet in the ACK, us (rs->prior_delivered, by the time instead).
    newest_us: Option<u64>,
    /// Time before which the echoed packet was sent, us.
    echoes_before_us: Option<u64>,
}

impl Default for Rack {
    fn default() -> Rack {
        Rack {
            mstamp: 0,
            end_seq: 0,
            rtt_us: 0,
            advanced: false,
            reo_wnd_steps: 1,
            reo_wnd_persist: 0,
            dsack_seen: false,
            widened_us: 0,
            reord_seen: false,
            now_us: 0,
            min_rtt_us: u32::MAX,
            newest_us: None,
            echoes_before_us: None,
        }
    }
}

impl Rack {
    /// Begins an ACK. It echoes the timestamp of a packet sent before `echoes_before_us`, us, or none.
    pub(super) fn begin(&mut self, now_us: u64, min_rtt_us: u32, echoes_before_us: Option<u64>) {
        (self.now_us, self.min_rtt_us) = (now_us, min_rtt_us);
        self.echoes_before_us = echoes_before_us;
        self.newest_us = None;
    }

    /// Whether the ACK is for a transmission before the one at `sent_us` (tcp_skb_spurious_retrans).
    pub(super) fn is_spurious(&self, sent_us: u64) -> bool {
        self.echoes_before_us.is_some_and(|before| sent_us >= before)
    }

    /// Notes a packet in the ACK that was last sent at `sent_us` (tcp_rate_skb_delivered).
    pub(super) fn deliver(&mut self, sent_us: u64) {
        self.newest_us = self.newest_us.max(Some(sent_us));
    }

    /// Notes the arrival of a packet that ends at `end_seq` and was last sent at `sent_us`.
    pub(super) fn advance(&mut self, sent_us: u64, end_seq: u64, resent: bool) {
        self.deliver(sent_us);
        let rtt_us = self.now_us.saturating_sub(sent_us).min(u64::from(u32::MAX)) as u32;
        if resent && rtt_us < self.min_rtt_us {
            // The ACK is for an earlier transmission.
            return;
        }
        self.advanced = true;
        self.rtt_us = rtt_us;
        if (sent_us, end_seq) > (self.mstamp, self.end_seq) {
            (self.mstamp, self.end_seq) = (sent_us, end_seq);
        }
    }

    /// tcp_rack_update_reo_wnd, after an ACK with news: widens the window, once per RTT.
    pub(super) fn update_reo_wnd(&mut self) {
        let Some(newest_us) = self.newest_us else { return };
        if newest_us < self.widened_us {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.reo_wnd_steps = (self.reo_wnd_steps + 1).min(MAX_STEPS);
            self.dsack_seen = false;
            self.widened_us = self.now_us;
            self.reo_wnd_persist = RECOVERY_THRESH;
        } else if self.reo_wnd_persist == 0 {
            self.reo_wnd_steps = 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// State that was widened by a D-SACK at 1000 us, before another D-SACK arrived.
    fn widened() -> Rack {
        let mut rack = Rack { dsack_seen: true, ..Rack::default() };
        rack.begin(1000, 100, None);
        rack.advance(900, 5000, false);
        rack.update_reo_wnd();
        assert_eq!((rack.reo_wnd_steps, rack.dsack_seen), (2, false));
        rack.dsack_seen = true;
        rack
    }

    /// An ACK without news leaves the D-SACK to the next one.
    #[test]
    fn an_ack_of_nothing_does_not_widen() {
        let mut rack = widened();
        rack.begin(2000, 100, None);
        rack.update_reo_wnd();
        assert_eq!((rack.reo_wnd_steps, rack.dsack_seen), (2, true));
    }

    /// Once per RTT: packets sent before the window was widened show no needless retransmission since. Newer packets in
    /// earlier ACKs do not matter.
    #[test]
    fn what_was_sent_before_widens_no_further() {
        for (sent_us, steps) in [(999, 2), (1000, 3)] {
            let mut rack = widened();
            rack.begin(2000, 100, None);
            rack.advance(1500, 9000, false);
            rack.begin(2100, 100, None);
            rack.advance(sent_us, 6000, false);
            rack.update_reo_wnd();
            assert_eq!((rack.reo_wnd_steps, rack.dsack_seen), (steps, false), "{sent_us}");
        }
    }

    /// A needless retransmission is noted, too, though it does not count as an arrival.
    #[test]
    fn a_needless_retransmission_is_noted() {
        let mut rack = widened();
        rack.begin(1600, 1000, None);
        rack.advance(1500, 6000, true);
        assert_eq!(rack.mstamp, 900, "sooner than a round trip takes");
        rack.update_reo_wnd();
        assert_eq!(rack.reo_wnd_steps, 3);
    }
}
