//! Table of causes: codes, groups and titles, in all views and in all outputs.
//!
//! A code names what is wrong, a group where in the chain it is. The rule that found a cause is finer: several rules may
//! share a code. Codes stay; a new cause gets a new code.

/// A cause that findings name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Stable name.
    pub code: &'static str,
    /// Causes of a group are cured at the same place, and are hard to tell apart from afar.
    pub group: &'static str,
    /// Title, a few words.
    pub title: &'static str,
}

const fn known(code: &'static str, group: &'static str, title: &'static str) -> Known {
    Known { code, group, title }
}

/// All causes.
pub const CAUSES: &[Known] = &[
    known("none", "link", "the path is full"),
    known("compete", "link", "others share the path"),
    known("bloat", "link", "a standing queue in front of a full path"),
    known("sndbuf", "send buffer", "the send buffer is too small"),
    known("rwnd_auto", "window", "the maximum of the autotuned receive window is too small"),
    known("rwnd_grow", "window", "autotuning has not grown the receive window yet"),
    known("rwnd_fixed", "window", "the receive buffer that the program asked for is too small"),
    known("wscale_off", "window", "window scaling was not agreed"),
    known("app_read", "reader", "the receiving program reads slowly"),
    known("cpu_receiver", "reader", "the CPU of the receiver is busy"),
    known("app_write", "source", "the sending program writes too little"),
    known("cpu_sender", "source", "the CPU of the sender is busy"),
    known("turns", "source", "requests and answers take turns"),
    known("nagle", "source", "Nagle's rule holds back the last segment"),
    known("app_onoff", "pauses", "the sending program pauses"),
    known("connect", "pauses", "the connection is not established"),
    known("ss_short", "cwnd without loss", "slow start ended early, or the transfer before it"),
    known("metrics", "cwnd without loss", "an earlier connection left a small ssthresh"),
    known("qdisc", "cwnd without loss", "the sender's own queue drops packets"),
    known("loss", "loss", "packets are lost by chance"),
    known("small_mss", "loss", "segments are small, and packets are lost"),
    known("small_buffer", "shallow drop", "a queue of the path is too short"),
    known("policer", "shallow drop", "a policer drops bursts"),
    known("rx_drop", "shallow drop", "the receiving host drops packets before TCP sees them"),
    known("sack_off", "SACK off", "SACK was not agreed, and packets are lost"),
    known("reorder", "reordering", "packets are reordered"),
    known("ack_path", "ACK path", "the way back is slow"),
    known("pacing", "host paced", "a pace that somebody set"),
    known("nic", "host paced", "the sender's card is slow"),
    known("tx_ring", "host paced", "the sender's transmit ring is short"),
    known("nfs", "mount", "the NFS mount waits for its server or its slots"),
    known("udp", "datagrams", "datagrams are lost"),
    known("too_short", "too short", "the transfer is over before anything limits it"),
];

/// The cause with a code; none where no cause has it.
pub fn by_code(code: &str) -> Option<&'static Known> {
    CAUSES.iter().find(|known| known.code == code)
}

/// The group of a code; empty where no cause has it.
pub fn group(code: &str) -> &'static str {
    by_code(code).map_or("", |known| known.group)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn codes_are_unique() {
        let codes: BTreeSet<&str> = CAUSES.iter().map(|known| known.code).collect();
        assert_eq!(codes.len(), CAUSES.len());
    }
}
