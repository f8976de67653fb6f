//! Facts about a connection that its first reading has found.

use super::Place;
use fullpipe_base::units::Time;

/// Facts about a connection that are known before its second reading.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Place of the capture.
    pub place: Place,
    /// Least time from here to the receiver and back.
    pub beyond: Time,
    /// Least time from here to the sender and back.
    pub before: Time,
    /// Shift of the receiver's windows; none where no SYN shows it, so that windows are unknown.
    pub scale: Option<u8>,
    /// Bytes of a segment.
    pub mss: u32,
    /// Options that both ends agreed to ([`option`](fullpipe_base::trace::option)).
    pub options: u8,
    /// Time of the first packet.
    pub begin: Time,
    /// Time from the first packet to the last.
    pub lasts: Time,
}

impl Setup {
    /// Least round trip that was measured, us; `u32::MAX` where none was.
    pub fn least_rtt_us(&self) -> u32 {
        match self.beyond.0 + self.before.0 {
            0 => u32::MAX,
            ns => (ns / 1000).clamp(1, u64::from(u32::MAX)) as u32,
        }
    }
}
