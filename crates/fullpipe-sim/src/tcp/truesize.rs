//! Sizes of skbs, and of the memory that each takes.

/// struct sk_buff, rounded up, bytes.
pub(super) const SKB_BYTES: u64 = 256;
/// struct skb_shared_info, bytes.
pub(super) const SHARED_INFO: u64 = 320;
