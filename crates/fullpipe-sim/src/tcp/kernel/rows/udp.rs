//! UDP sockets: memory of waiting datagrams.

/// Size of struct sk_buff, bytes, as it counts (`SKB_TRUESIZE`).
const SK_BUFF: u64 = 256;
/// Size of struct skb_shared_info, bytes.
const SHARED_INFO: u64 = 320;
/// Bytes of an skb's head without the datagram's payload: headers of IP and UDP (28), room for those of Ethernet (16),
/// and 15 (`__ip_append_data`).
const DATAGRAM_HEAD: u64 = 59;
/// Multiple of bytes to which a head is rounded up (`SKB_DATA_ALIGN`).
const CACHE_LINE: u64 = 64;

choice! {
    /// Memory that a datagram takes in a socket.
    DatagramMemory {
        /// Payload, and an skb with a head.
        PayloadAndHead = "payload-and-head",
        /// Head from kmalloc, of 512 bytes at least, and the skb (read in 6.1 `__alloc_skb`).
        Slab = "slab",
        /// Head from kmalloc and the skb; a head of up to 576 bytes is from skb_small_head_cache (6.3 `kmalloc_reserve`).
        SlabOrSmallHead = "slab-or-small-head",
    }
}

impl DatagramMemory {
    /// Memory of a datagram of `size` bytes of payload, bytes; `overhead` is that of an skb without its data.
    pub fn truesize(self, size: u64, overhead: u64) -> u64 {
        let head = (size + DATAGRAM_HEAD).next_multiple_of(CACHE_LINE) + SHARED_INFO;
        let smallest = match self {
            DatagramMemory::PayloadAndHead => return size + overhead,
            DatagramMemory::Slab => 512,
            DatagramMemory::SlabOrSmallHead => 576,
        };
        let given = if head <= smallest { smallest } else { head.next_power_of_two() };
        given + SK_BUFF
    }
}

rows! { ($) udp_rows
    rows {
        datagram_memory: DatagramMemory {
            means: "memory that a datagram takes in a socket",
            read_in: "__ip_append_data, __alloc_skb, kmalloc_reserve",
            values: { V2_6_20: PayloadAndHead, V6_1: Slab, V6_12: SlabOrSmallHead },
            tests: ["udp_reader.rs: datagram_memory"],
        }

        /// Since 4.13 `udp_rmem_release`.
        udp_memory_batches: bool {
            means: "memory of read datagrams counts until it is a quarter of the buffer, while datagrams wait that a read took over",
            read_in: "__skb_recv_udp, udp_rmem_release",
            values: { V2_6_20: false, V6_1: true },
            tests: ["udp_reader.rs: udp_memory_batches"],
        }
    }
    constants {}
}
