//! Facts about a flow that has no scenario and no host at hand.

use crate::analysis::FlowMeta;
use crate::analysis::pasted::Pasted;
use crate::analysis::settings::{Buffer, FlowSettings};
use crate::base::path::Direction;
use crate::base::units::Time;

/// Host whose end a text shows.
pub const HOST: &str = "this host";
/// Name of the other one.
pub const OTHER: &str = "the other host";
/// Bytes of a segment with timestamps, on Ethernet, where the text does not say it.
pub const MSS: u32 = 1448;

/// Facts about a flow that this host sends; `asked`: bytes of SO_SNDBUF.
pub fn flow(name: String, congestion: &str, asked: Option<u64>, pasted: Pasted) -> FlowMeta {
    let (most, tuned) = (u64::MAX, u64::MAX);
    let send = Buffer { asked, most, tuned, counts_data: false };
    FlowMeta {
        name,
        direction: Direction::Forward,
        hosts: [HOST.into(), OTHER.into()],
        congestion: congestion.into(),
        kernel: String::new(),
        start: Time::ZERO,
        follows: false,
        stop: None,
        bytes: None,
        base_rtt: None,
        reverse_flow: None,
        shaper: None,
        settings: FlowSettings { send, ..FlowSettings::default() },
        earlier: None,
        pasted,
    }
}
