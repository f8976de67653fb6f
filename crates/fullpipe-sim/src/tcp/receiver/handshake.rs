//! The end of a connection that is connected to, while the handshake lasts.

use super::Receiver;
use crate::tcp::profile::{RttClock, RttSource};
use crate::tcp::sender::metrics::Metrics;
use crate::units::Time;

impl Receiver {
    /// A SYN came and is answered; the answer's timestamp, 0 without timestamps.
    pub fn on_syn(&mut self, now: Time) -> u32 {
        self.answered = Some((now, self.answered.is_some()));
        self.tick(now);
        if self.timestamps { self.clock } else { 0 }
    }

    /// The handshake is over: its RTT is known by a timestamp's echo (2.6.20 `tcp_rcv_state_process`),
    /// since 3.12 also without, if the SYN-ACK went once (3.14 `tcp_synack_rtt_meas`). When that was sent, if so.
    /// What the last packet echoes is not measured a second time, if it is not the bare ACK but has overtaken it
    /// `with_data` (only `tcp_rcv_established` calls 6.12 `tcp_rcv_rtt_measure_ts`).
    pub fn on_accept(&mut self, now: Time, tsecr: u32, with_data: bool) -> Option<Time> {
        self.echo_counted = with_data;
        let by_time = self.profile.rtt_source == RttSource::Ack || !self.profile.cwnd_first();
        self.on_connected(now);
        let (sent, repeated) = self.answered?;
        if self.timestamps || by_time && !repeated {
            let units = match self.profile.rtt_clock {
                _ if repeated => {
                    let age = self.stamps.since_boot(now).saturating_sub(tsecr);
                    self.profile.rtt_clock.of_stamps(age, &self.stamps)
                }
                RttClock::Jiffies => (self.ticks.at(now) - self.ticks.at(sent)) as u32,
                RttClock::Microseconds => now.us_since(sent) as u32,
            };
            self.acks.rtt.sample(units, 0, 0);
        }
        (!repeated).then_some(sent)
    }

    /// What an earlier connection to the same host left, after [`Self::on_accept`]: a pause between segments is one beyond a
    /// timeout that follows from it (3.14 and 6.12 `tcp_init_metrics`, `tcp_event_data_recv`).
    pub fn take_metrics(&mut self, cached: &Metrics) {
        cached.tell_rtt(self.profile.cached_metrics, self.timestamps, &mut self.acks.rtt, 0);
    }
}
