//! The accepting end of a connection during the handshake.

use super::Receiver;
use crate::tcp::profile::{RttClock, RttSource};
use crate::tcp::sender::metrics::Metrics;
use crate::units::Time;

impl Receiver {
    /// Notes a SYN and its SYN-ACK; returns the SYN-ACK's timestamp, 0 without timestamps.
    pub fn on_syn(&mut self, now: Time) -> u32 {
        self.answered = Some((now, self.answered.is_some()));
        self.tick(now);
        if self.timestamps { self.tsval() } else { 0 }
    }

    /// Ends the handshake. A timestamp's echo gives its RTT (2.6.20 `tcp_rcv_state_process`). Since 3.12 the RTT is
    /// also known without timestamps, if the SYN-ACK was sent once (3.14 `tcp_synack_rtt_meas`). Returns the time of
    /// the SYN-ACK then.
    ///
    /// `with_data`: the last packet has data and has overtaken the bare ACK. Then its echo gives no second sample (only
    /// `tcp_rcv_established` calls 6.12 `tcp_rcv_rtt_measure_ts`).
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

    /// Takes the metrics of an earlier connection to the same host, after [`Self::on_accept`]. They give a timeout, and
    /// a pause between segments counts as long beyond it (3.14 and 6.12 `tcp_init_metrics`, `tcp_event_data_recv`).
    pub fn take_metrics(&mut self, cached: &Metrics) {
        cached.apply_rtt(self.profile.cached_metrics, self.timestamps, &mut self.acks.rtt, 0);
    }
}
