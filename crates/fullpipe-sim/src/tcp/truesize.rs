//! Sizes of skbs, and of their memory.

/// Size of struct sk_buff, rounded up, bytes.
pub(super) const SKB_BYTES: u64 = 256;
/// Size of struct skb_shared_info, bytes.
pub(super) const SHARED_INFO: u64 = 320;
/// Room for headers in front of an skb's data, bytes (MAX_TCP_HEADER of the kernels as built here).
const HEADERS_ROOM: u64 = 192;

/// Memory of an skb with `len` bytes of data in its head, bytes: the head is as large as the allocation (6.1
/// `__alloc_skb`, `ksize`).
pub(super) fn with_data_in_head(len: u32) -> u64 {
    let head = (u64::from(len) + HEADERS_ROOM).next_multiple_of(64) + SHARED_INFO;
    SKB_BYTES + head.next_power_of_two()
}
