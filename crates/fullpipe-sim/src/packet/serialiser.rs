//! Transmission times of packets on a wire.

use crate::units::Rate;

/// Serialisation times at a rate, remembered for the last packet size.
#[derive(Clone, Debug)]
pub struct Serialiser {
    rate: Rate,
    overhead: u32,
    size: u32,
    time: u64,
}

impl Serialiser {
    /// A serialiser for `rate`, which counts `overhead` bytes on top of the IP packet.
    pub fn new(rate: Rate, overhead: u32) -> Serialiser {
        Serialiser { rate, overhead, size: 0, time: 0 }
    }

    /// Bytes of an IP packet of `ip_len` as the rate counts them.
    pub fn bytes(&self, ip_len: u32) -> u32 {
        ip_len + self.overhead
    }

    /// Nanoseconds to serialise an IP packet of `ip_len` bytes.
    pub fn time(&mut self, ip_len: u32) -> u64 {
        if ip_len != self.size {
            self.size = ip_len;
            self.time = self.rate.wire_time(u64::from(self.bytes(ip_len))).0;
        }
        self.time
    }
}
