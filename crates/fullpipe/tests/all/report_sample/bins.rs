//! Bins of a quarter of a second: deliveries of the flows' intervals, with a thousandth sent again. Two places have
//! queues, and the first one drops in every fourth bin.

use fullpipe::analysis::document::{Bins, Flow, PlaceBins, Rates};

const BIN_S: f64 = 0.25;

pub fn bins(flows: &[Flow], drops: bool) -> Bins {
    let seconds = flows.iter().map(|flow| flow.intervals.len()).max().unwrap_or(0);
    let count = 4 * seconds;
    let flows: Vec<Rates> = flows.iter().map(|flow| rates(flow, count)).collect();
    let delivered = |bin| flows.iter().map(|flow| flow.delivered_bytes[bin]).sum();
    let sum = of_bytes((0..count).map(delivered).collect());
    let place = |stage: &str, most: u64, drops: bool| PlaceBins {
        stage: stage.to_string(),
        mean: (0..count).map(|bin| (bin as u64 * 37 % most) as f64 / 2.0).collect(),
        peak: (0..count).map(|bin| bin as u64 * 37 % most).collect(),
        dropped: (0..count as u64).map(|bin| if drops && bin % 4 == 3 { bin } else { 0 }).collect(),
    };
    Bins {
        bin_s: BIN_S,
        start_s: (0..count).map(|bin| bin as f64 * BIN_S).collect(),
        end_s: (1..=count).map(|bin| bin as f64 * BIN_S).collect(),
        flows,
        sum,
        places: vec![place("sender.tx_ring", 256, drops), place("link", 100, false)],
    }
}

fn rates(flow: &Flow, count: usize) -> Rates {
    let bytes = |bin: usize| flow.intervals.get(bin / 4).map_or(0, |interval| interval.bytes / 4);
    of_bytes((0..count).map(bytes).collect())
}

fn of_bytes(delivered: Vec<u64>) -> Rates {
    let rate = |bytes: &[u64]| bytes.iter().map(|bytes| *bytes as f64 * 8e-6 / BIN_S).collect();
    let again: Vec<u64> = delivered.iter().map(|bytes| bytes / 1000).collect();
    let sent: Vec<u64> = delivered.iter().zip(&again).map(|(new, again)| new + again).collect();
    Rates {
        sent_mbit: rate(&sent),
        delivered_mbit: rate(&delivered),
        acked_bytes: delivered.clone(),
        delivered_bytes: delivered,
        retransmitted_bytes: again,
        sent_bytes: sent,
    }
}
