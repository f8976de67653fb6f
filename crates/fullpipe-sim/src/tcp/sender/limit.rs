//! Reason why a sender sends nothing (more): the application, a window, the host, in the order of TCP's checks.

use super::{Sender, Writer};
use crate::tcp::CaState;
use crate::trace::Limit;

impl Sender {
    /// Reason why nothing (more) is sent at this moment.
    pub fn limit(&self) -> Limit {
        let Some(head) = self.queue.head() else { return self.limit_without_data() };
        if !self.is_established {
            return Limit::Idle;
        }
        if self.refused {
            return Limit::Qdisc;
        }
        let mss = self.mss_now();
        let room = self.seq.room();
        let quota = self.cwnd().saturating_sub(self.in_flight());
        // A large skb waits for cwnd or for the window, whichever has less room.
        let waits = self.tso.is_deferred();
        // F-RTO before 3.10 follows a timeout in Open or Disorder, and sends two packets per ACK at most.
        if self.recovery.frto_counter > 0 {
            return Limit::CwndRecovery;
        }
        if quota == 0 || waits && u64::from(quota) * u64::from(mss) <= room {
            return match self.ca_state {
                CaState::Open | CaState::Disorder if self.cwnd() <= self.ssthresh() => {
                    Limit::CwndSlowStart
                }
                CaState::Open | CaState::Disorder => Limit::CwndAvoidance,
                _ => Limit::CwndRecovery,
            };
        }
        if room < u64::from(head.min(mss)) || waits {
            return Limit::ReceiveWindow;
        }
        self.limit_within_windows(head < mss)
    }

    /// Reason within the windows, which would allow more. `partial`: the next segment is not full.
    fn limit_within_windows(&self, partial: bool) -> Limit {
        match self.app.writer() {
            // A partial segment that Nagle's rule holds is the last of the application's data.
            Writer::Paused if partial => Limit::Application,
            // The application is copying the rest of the segment.
            Writer::Active if partial => Limit::SenderCpu,
            Writer::Done if partial && !self.pacing.throttled => Limit::Nagle,
            Writer::NoSpace if partial => Limit::SendBuffer,
            _ if self.departures.waits => Limit::Pacing,
            _ if self.pacing.throttled => Limit::SmallQueues,
            _ => Limit::SenderCpu,
        }
    }

    fn limit_without_data(&self) -> Limit {
        match self.app.writer() {
            _ if !self.is_established => Limit::Idle,
            Writer::Active => Limit::SenderCpu,
            Writer::NoSpace => Limit::SendBuffer,
            Writer::Paused => Limit::Application,
            Writer::Done => Limit::Idle,
        }
    }
}
