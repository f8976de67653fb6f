//! Protection against wrapped sequence numbers (PAWS, RFC 7323).

/// Most ticks by which a timestamp may be older than the last one (TCP_PAWS_WINDOW).
const PAWS_WINDOW: u32 = 1;

/// Whether a timestamp is too old compared with the last one (tcp_paws_check).
pub(super) fn fails_paws(tsval: u32, ts_recent: u32) -> bool {
    ts_recent.saturating_sub(tsval) > PAWS_WINDOW
}
