//! A receiving socket as Linux shows it.
//!
//! Source: Linux 6.12 `tcp_get_info`, `sk_get_meminfo`.

use super::Receiver;
use crate::trace::ReceiverSocket;

impl Receiver {
    /// Window scale that this end offers, bits.
    pub(crate) fn wscale(&self) -> u32 {
        self.window.wscale
    }

    /// State of the socket now; all values are 0 before the connection is established.
    pub fn socket(&self) -> ReceiverSocket {
        if !self.is_connected {
            return ReceiverSocket::default();
        }

        let (rcv_rtt_us, rcv_space) = self.tuning();
        ReceiverSocket {
            rcv_rtt_us,
            rcv_space,
            rcv_ooopack: self.mib.ooo_packets,
            rcv_wnd: self.window.rcv_wnd,
            rcvbuf: self.window.rcvbuf,
            rmem_alloc: self.window.rmem_alloc,
            unread: self.readable(),
            rcv_mss: self.acks.rcv_mss,
            advmss: self.advmss,
            rcv_ssthresh: self.window.rcv_ssthresh,
            bytes_received: self.rcv_nxt - u64::from(self.has_ended),
        }
    }

    /// RTT in microseconds and bytes read in it, of the kernel's autotuning.
    fn tuning(&self) -> (u32, u64) {
        match (&self.growth, &self.space) {
            (Some(growth), _) => ((growth.rtt_us8() >> 3) as u32, growth.space),
            (None, Some(space)) => (space.rtt_us(self.ticks.begin(1).as_us()), space.space()),
            (None, None) => (0, 0),
        }
    }
}
