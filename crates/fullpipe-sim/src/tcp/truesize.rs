//! Sizes of skbs, and of their memory.

/// Size of struct sk_buff, rounded up, bytes.
pub(super) const SKB_BYTES: u64 = 256;
/// Size of struct skb_shared_info, bytes.
pub(super) const SHARED_INFO: u64 = 320;
