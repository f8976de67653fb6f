//! Counts of the simulator at a point, compared with other tools' counts.

use crate::capture_tools::tools::{Tcptrace, Tshark};
use serde_json::Value;

/// Counts of a run, from its document.
pub struct Truth {
    at: String,
    /// Packets in the direction of data and in that of ACKs that passed the point.
    packets: [u64; 2],
    /// Packets that were dropped at or after the point, on data's way.
    dropped: u64,
    /// Whether a packet may be more than a segment.
    skbs: bool,
    pub flows: Vec<Flow>,
}

/// Retransmissions of a flow that were lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct LostAgain {
    pub before_link: u64,
    pub in_link: u64,
    /// Retransmissions that passed and look new at the point, because the end of the stream was lost.
    pub new_at_link: u64,
    pub new_at_receiver: u64,
}

/// A flow, whole: it has ended.
pub struct Flow {
    bytes: u64,
    retransmitted: u64,
}

impl Truth {
    pub fn new(document: &Value, at: &str) -> Truth {
        let run = &document["runs"][0];
        let stages = run["stages"].as_array().expect("stages");
        let count = |name: &str, of: &str| {
            let stage = stages.iter().find(|stage| stage["name"] == name);
            stage.and_then(|stage| stage[of].as_u64()).unwrap_or(0)
        };
        let arrived = |name: &str| count(name, "entered") + count(name, "dropped");
        let packets = match at {
            "sender-qdisc" => [count("sender.qdisc", "left"), count("sender.rx_ring", "left")],
            "sender-wire" => [count("sender.tx_ring", "left"), arrived("sender.rx_ring")],
            "link" => [arrived("link"), arrived("sender.rx_ring")],
            _ => [count("receiver.rx_ring", "left"), count("receiver.qdisc", "left")],
        };
        let after = ["loss", "link", "delay", "receiver.rx_ring"];
        let after = match at {
            "receiver" => &[][..],
            "link" => &after[1..],
            _ => &after[..],
        };
        let flow = |flow: &Value| {
            let number = |name: &str| flow[name].as_u64().expect("a number");
            Flow { bytes: number("bytes"), retransmitted: number("retransmitted_segments") }
        };
        Truth {
            at: at.into(),
            packets,
            dropped: after.iter().map(|name| count(name, "dropped")).sum(),
            skbs: at == "sender-qdisc",
            flows: run["flows"].as_array().expect("flows").iter().map(flow).collect(),
        }
    }

    /// The sender's port of a flow.
    pub fn port(&self, flow: usize) -> u16 {
        40_000 + flow as u16
    }

    /// Retransmissions of a flow that passed the point.
    fn repeated(&self, flow: usize, lost_again: &[LostAgain]) -> u64 {
        let again = &lost_again[flow];
        let lost = match self.at.as_str() {
            "receiver" => again.before_link + again.in_link + again.new_at_receiver,
            "link" => again.before_link + again.new_at_link,
            _ => 0,
        };
        self.flows[flow].retransmitted - lost
    }

    pub fn holds_for_tshark(&self, seen: &Tshark, lost_again: &[LostAgain]) {
        let at = &self.at;
        let ways = [true, false].map(|f| seen.packets.iter().filter(|p| p.forward == f).count());
        assert_eq!(ways.map(|n| n as u64), self.packets, "{at}: packets");
        for (index, flow) in self.flows.iter().enumerate() {
            let port = self.port(index);
            let data = || seen.packets.iter().filter(|p| p.forward && p.port == port);
            let again = data().filter(|p| p.repeated).count() as u64;
            let new: u64 = data().filter(|p| !p.repeated).map(|p| p.len).sum();
            assert_eq!(again, self.repeated(index, lost_again), "{at}: sent again");
            if matches!(at.as_str(), "sender-qdisc" | "sender-wire") {
                assert_eq!(new, flow.bytes, "{at}: bytes");
            }
        }
        let segments: u64 = seen.packets.iter().filter(|p| p.forward).map(dropped_in).sum();
        assert_eq!(segments, self.dropped, "{at}: dropped");
    }

    pub fn holds_for_tcptrace(&self, traced: &Tcptrace, lost_again: &[LostAgain]) {
        let at = &self.at;
        assert_eq!(traced.len(), self.flows.len());
        let sum = |way| -> u64 {
            (0..traced.len()).map(|c| traced.number(c, "total packets", way)).sum()
        };
        assert_eq!([sum(0), sum(1)], self.packets, "{at}: packets");
        for (index, flow) in self.flows.iter().enumerate() {
            let number = |name| traced.number(index, name, 0);
            assert_eq!(number("unique bytes sent"), flow.bytes, "{at}: bytes");
            let again = number("rexmt data pkts") + number("outoforder pkts");
            assert_eq!(again, self.repeated(index, lost_again), "{at}: sent again");
            if self.skbs {
                assert!(number("max segm size") > 1460, "{at}: no skb of several segments");
            }
        }
    }
}

/// Segments of a packet that its comment says were dropped.
fn dropped_in(packet: &crate::capture_tools::tools::Packet) -> u64 {
    match packet.comment.split_once(" of ") {
        _ if packet.comment.is_empty() => 0,
        Some((count, _)) => count.parse().expect("a number"),
        None => 1,
    }
}
