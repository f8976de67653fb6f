//! Window, window scale, socket buffers and the sysctls that allow them.

use super::Question;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Largest window that TCP can advertise: 65535 scaled by 2^14 (RFC 7323, section 2.3), bytes.
pub const LARGEST_WINDOW: u64 = 65535 << 14;
/// Largest value of SO_RCVBUF and SO_SNDBUF after doubling (a C int), bytes.
const LARGEST_BUFFER: u64 = 2 * (i32::MAX as u64 / 2);
/// Default of net.core.rmem_max and wmem_max, bytes (SK_RMEM_MAX; 131071 before 3.0).
const DEFAULT_MAX: u64 = 212_992;
/// Memory of a segment in the send buffer beyond its payload: head room (320) and sk_buff (256) on x86-64, rounded up;
/// bytes.
const SEGMENT_OVERHEAD: u64 = 576;

/// The window that keeps the path full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Payload that the path holds, whole segments, bytes.
    pub needed_bytes: u64,
    /// What one connection can have of it, bytes.
    pub bytes: u64,
    /// `bytes` in full segments.
    pub packets: u64,
    /// Window scale with which that can be advertised (0 to 14).
    pub scale: u8,
    /// What keeps one connection below `needed_bytes`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bound: Option<Bound>,
}

/// A bound of TCP or of the kernel that the path exceeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bound {
    /// Which one.
    pub reason: String,
    /// Payload rate that one connection reaches within it, Mb/s (10^6).
    pub mbit_per_flow: f64,
    /// Parallel connections that fill the path.
    pub flows: u64,
}

/// Socket buffers, both ways to get them, and what allows them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Buffers {
    /// Share of the receive buffer that becomes window.
    pub window_share: f64,
    /// Which rule gives that share.
    pub window_share_rule: String,
    /// True where the share later follows payload / truesize of what the driver delivers.
    pub window_share_measured: bool,
    /// Receive buffer as the kernel counts it, bytes.
    pub receive_bytes: u64,
    /// SO_RCVBUF to request; setsockopt doubles it; bytes.
    pub receive_request_bytes: u64,
    /// Send buffer as the kernel counts it, bytes.
    pub send_bytes: u64,
    /// SO_SNDBUF to request; setsockopt doubles it; bytes.
    pub send_request_bytes: u64,
    /// What a full segment occupies in the send buffer (truesize), bytes.
    pub send_truesize_bytes: u64,
    /// sysctls for programs that request buffers, never below the kernel's defaults; empty where the defaults suffice.
    pub sysctl_request: BTreeMap<String, String>,
}

/// The window for a path.
pub fn window(q: &Question) -> Window {
    let mss = u64::from(q.mss());
    let segments = q.bdp_bytes().div_ceil(u64::from(q.packet())).max(1);
    let needed = segments * mss;
    let in_buffer = window_of(q, LARGEST_BUFFER);
    let bytes = needed.min(LARGEST_WINDOW).min(in_buffer);
    Window {
        needed_bytes: needed,
        bytes,
        packets: (bytes / mss).max(1),
        scale: scale_for(bytes),
        bound: (bytes < needed).then(|| bound(q, bytes, needed)),
    }
}

/// Smallest window scale with which `bytes` can be advertised (at most 14).
pub fn scale_for(bytes: u64) -> u8 {
    (0..14).find(|scale| bytes >> scale <= 65535).unwrap_or(14)
}

/// Window that a receive buffer gives: its share, less one segment that the clamp leaves free.
fn window_of(q: &Question, buffer: u64) -> u64 {
    let share = q.kernel.window_share();
    (buffer * share.num / share.den).saturating_sub(u64::from(q.mss()))
}

fn bound(q: &Question, bytes: u64, needed: u64) -> Bound {
    let reason = if bytes == LARGEST_WINDOW {
        format!("TCP's largest window, 65535 x 2^14 = {LARGEST_WINDOW} bytes (1 GiB)")
    } else {
        format!("the largest socket buffer, {LARGEST_BUFFER} bytes")
    };
    Bound {
        reason,
        mbit_per_flow: bytes as f64 * 8.0 / q.rtt.as_secs_f64() / 1e6,
        flows: needed.div_ceil(bytes),
    }
}

/// The buffers for a window of `window` bytes.
///
/// The receive buffer must hold a segment more than the window, divided by the window's share. The
/// send buffer holds the window with its overhead, and half as much again: a blocked writer is woken
/// only when a third of the buffer is free (`sk_stream_min_wspace`).
pub fn buffers(q: &Question, window: u64) -> Buffers {
    let (mss, share) = (u64::from(q.mss()), q.kernel.window_share());
    let receive = ((window + mss) * share.den).div_ceil(share.num).min(LARGEST_BUFFER);
    let truesize = mss + SEGMENT_OVERHEAD;
    let send = (window.div_ceil(mss) * truesize * 3).div_ceil(2).min(LARGEST_BUFFER);

    // The kernel doubles a requested size, so programs ask for half.
    let (receive_request, send_request) = (receive.div_ceil(2), send.div_ceil(2));
    let defaults = [("net.core.rmem_max", receive_request), ("net.core.wmem_max", send_request)];

    // A request up to the default of rmem_max and wmem_max needs no sysctl.
    let beyond = defaults.into_iter().filter(|(_, request)| *request > DEFAULT_MAX);
    Buffers {
        window_share: share.num as f64 / share.den as f64,
        window_share_rule: share.rule.into(),
        window_share_measured: q.kernel.share_is_measured(),
        receive_bytes: receive,
        receive_request_bytes: receive_request,
        send_bytes: send,
        send_request_bytes: send_request,
        send_truesize_bytes: truesize,
        sysctl_request: beyond.map(|(name, n)| (name.to_string(), n.to_string())).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan;
    use super::*;
    use fullpipe_base::units::{Framing, Rate, Time};
    use fullpipe_scenario::Version;

    fn ask(gbit: u64, rtt_ms: u64, mtu: u32, kernel: Version) -> Question {
        Question {
            rate: Rate::gbit(gbit),
            rtt: Time::ms(rtt_ms),
            mtu,
            framing: Framing::Ip,
            kernel,
            timestamps: false,
        }
    }

    #[test]
    fn the_scale_is_the_smallest_that_fits() {
        let table = [
            (65_535, 0),
            (65_536, 1),
            (131_071, 1),
            (131_072, 2),
            (99_564_520, 11), // 99564520 / 2^11 = 48615; / 2^10 = 97231
            (LARGEST_WINDOW, 14),
            (1 << 40, 14),
        ];
        for (bytes, scale) in table {
            assert_eq!(scale_for(bytes), scale, "{bytes}");
        }
    }

    /// 10 Gb/s x 80 ms, MTU 9000: 11112 packets of 8960 bytes are 99563520 bytes of payload.
    #[test]
    fn buffers_follow_the_kernels_share() {
        let table = [
            // (99563520 + 8960) * 4/3, halved
            (Version::new(2, 6, 20), 132_763_307, 66_381_654),
            // * 2, halved
            (Version::new(4, 19, 0), 199_144_960, 99_572_480),
            (Version::new(6, 12, 0), 199_144_960, 99_572_480),
            // * 256/65, halved
            (Version::new(6, 6, 0), 392_162_383, 196_081_192),
        ];
        for (kernel, counted, requested) in table {
            let plan = plan(&ask(10, 80, 9000, kernel)).unwrap();
            assert_eq!(plan.window.bytes, 99_563_520);
            let got = (plan.buffers.receive_bytes, plan.buffers.receive_request_bytes);
            assert_eq!(got, (counted, requested), "{kernel}");
            assert_eq!(plan.buffers.sysctl_request["net.core.rmem_max"], requested.to_string());
        }
    }

    /// A buffer of 60 MiB as requested gives 3/4 of 120 MiB: 94371840 bytes, less a segment.
    #[test]
    fn a_request_of_60_mib_does_not_fill_10_gbit_at_80_ms() {
        let q = ask(10, 80, 9000, Version::new(2, 6, 20));
        assert_eq!(window_of(&q, 120 << 20), 94_371_840 - 8960);
        assert!(buffers(&q, window(&q).bytes).receive_request_bytes > 60 << 20);
    }

    #[test]
    fn a_writer_that_is_woken_at_two_thirds_still_covers_the_window() {
        for mtu in [576, 1500, 9000] {
            let q = ask(10, 80, mtu, Version::new(6, 12, 0));
            let (window, buffers) = (window(&q), buffers(&q, window(&q).bytes));
            let kept = buffers.send_bytes * 2 / 3 / buffers.send_truesize_bytes;
            assert!(kept >= window.packets && kept <= window.packets + 1, "{mtu}: {kept}");
        }
    }

    /// 1 GiB at 100 ms: 65535 x 2^14 x 8 / 0.1 s = 85.898 Gb/s.
    #[test]
    fn the_largest_window_is_stated_when_it_bites() {
        let narrow = window(&ask(85, 100, 9000, Version::new(2, 6, 20)));
        assert_eq!((narrow.bound, narrow.scale), (None, 14));
        let wide = window(&ask(100, 100, 9000, Version::new(2, 6, 20)));
        let bound = wide.bound.expect("100 Gb/s x 100 ms exceeds a window");
        assert!(bound.reason.contains("1073725440"));
        assert!((bound.mbit_per_flow - 85_898.0).abs() < 0.1, "{bound:?}");
        assert_eq!((wide.bytes, bound.flows), (1_073_725_440, 2));
    }

    #[test]
    fn where_a_quarter_becomes_window_the_buffer_bites_first() {
        let wide = window(&ask(50, 100, 9000, Version::new(6, 6, 0)));
        assert!(wide.bound.unwrap().reason.contains("socket buffer"));
        assert_eq!(wide.bytes, 2_147_483_646 * 65 / 256 - 8960);
    }
}
