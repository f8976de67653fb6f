//! Windows and buffers of a flow: the receiver's window, cwnd, and the send buffer.

use super::{median, part};
use crate::sockets::facts::{Cwnd, Memory, Window, quantile, spread};
use crate::view::sender::{Flow, Look, Sight};
use fullpipe_base::tcp::INFINITE_SSTHRESH;

/// Receiver's window at all looks, and at those of the main part.
pub(super) fn window(looks: &[Look], main: &[Look]) -> Window {
    let values: Vec<f64> = main.iter().map(|look| look.snd_wnd as f64).collect();
    let changes = main.windows(2).filter(|pair| pair[0].snd_wnd != pair[1].snd_wnd).count();
    let pairs = main.len().saturating_sub(1).max(1) as f64;
    Window {
        shrunk: shrunk(looks, main.len()),
        largest: looks.iter().map(|look| look.snd_wnd).max().unwrap_or(0) as f64,
        first: looks.first().map_or(0.0, |look| look.snd_wnd as f64),
        median: quantile(&values, 0.5),
        low: quantile(&values, 0.05),
        high: quantile(&values, 1.0),
        changes: changes as f64 / pairs,
    }
}

/// Part of its largest size below which a window is clearly smaller.
const SMALLER: f64 = 0.85;

/// Share of looks at which the window is clearly smaller than its largest size so far. Counted are the last `main` looks
/// outside recovery.
fn shrunk(looks: &[Look], main: usize) -> f64 {
    let (mut largest, mut smaller, mut all) = (0.0f64, 0u32, 0u32);

    for (at, look) in looks.iter().enumerate() {
        let window = look.snd_wnd as f64;
        largest = largest.max(window);
        if at + main < looks.len() || look.ca_state >= 3 {
            continue;
        }

        all += 1;
        let rounded = largest - window_step(look);
        smaller += u32::from(window < (SMALLER * largest).min(rounded));
    }
    f64::from(smaller) / f64::from(all.max(1))
}

/// Least step of the receiver's window, bytes.
pub(super) fn window_step(look: &Look) -> f64 {
    f64::from(1u32 << look.socket.snd_wscale.min(14))
}

/// cwnd and ssthresh at the looks.
pub(super) fn cwnd(sight: &Sight, flow: &Flow, looks: &[Look], main: &[Look]) -> Cwnd {
    let fifth = (main.len() / 5).max(1);
    let packets = |look: &Look| f64::from(look.cwnd);
    let (early, late) = (&main[..fifth.min(main.len())], &main[main.len().saturating_sub(fifth)..]);
    let is_set = |look: &&Look| look.ssthresh < INFINITE_SSTHRESH;
    let last = looks.last().copied().unwrap_or_default();

    // A loss before the first look explains an ssthresh as well as one since.
    let lost = flow.earlier.map_or(0, |own| own.retransmitted);
    let is_early = |look: &&Look| look.segments_retransmitted + lost == 0;
    let set = looks.iter().find(is_set).filter(is_early);
    Cwnd {
        median: median(main, packets),
        largest: f64::from(looks.iter().map(|look| look.cwnd).max().unwrap_or(0)),
        last: packets(&last),
        growth: median(late, packets) / median(early, packets).max(1.0),
        early_ssthresh: set.map(|look| f64::from(look.ssthresh)),
        from_the_first: flow.earlier.is_none() && looks.first().is_some_and(|look| is_set(&look)),
        slow_start: last.cwnd < last.ssthresh,
        in_flight: median(main, |look| f64::from(look.in_flight)),
        unsent: last.unsent as f64,
        spread: spread(&main.iter().map(packets).collect::<Vec<f64>>()),
        slow_spread: spread(&means(main)),
        follows: follows(main),
        hystart: sight
            .host
            .counters(&["TcpExt.TCPHystartTrainDetect", "TcpExt.TCPHystartDelayDetect"]),
    }
}

/// Means of cwnd over three looks: rates of rows are such means, too.
fn means(main: &[Look]) -> Vec<f64> {
    let of = |looks: &[Look]| {
        looks.iter().map(|look| f64::from(look.cwnd)).sum::<f64>() / looks.len().max(1) as f64
    };
    main.windows(3.min(main.len().max(1))).map(of).collect()
}

/// Correlation of the rate of each interval with the mean cwnd of its ends.
fn follows(main: &[Look]) -> f64 {
    let pairs = main.windows(2).filter(|pair| pair[1].time > pair[0].time);
    let points: Vec<(f64, f64)> = pairs
        .map(|pair| {
            let cwnd = (f64::from(pair[0].cwnd) + f64::from(pair[1].cwnd)) / 2.0;
            (super::rate(&pair[0], &pair[1]), cwnd)
        })
        .collect();
    let count = points.len().max(1) as f64;
    let mean = points.iter().fold((0.0, 0.0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
    let (rate, cwnd) = (mean.0 / count, mean.1 / count);
    let [mut both, mut rates, mut cwnds] = [0.0; 3];
    for own in &points {
        let (a, b) = (own.0 - rate, own.1 - cwnd);
        both += a * b;
        rates += a * a;
        cwnds += b * b;
    }
    if rates > 0.0 && cwnds > 0.0 { both / (rates * cwnds).sqrt() } else { 0.0 }
}

/// Send buffer and the memory of skbs in the host.
pub(super) fn memory(flow: &Flow, looks: &[Look], main: &[Look]) -> Memory {
    let used = |look: &Look| look.socket.wmem_queued as f64 / look.socket.sndbuf.max(1) as f64;
    Memory {
        used: median(main, used),
        limit: looks.last().map_or(0.0, |look| look.socket.sndbuf as f64),
        first: looks.first().map_or(0.0, |look| look.socket.sndbuf as f64),
        queued: median(main, |look| look.socket.wmem_alloc as f64),
        queueing: part(main, |look| look.socket.wmem_alloc >= 2 * skb(look)),
        asked: flow.buffer.asked,
        tuned: flow.buffer.tuned,
    }
}

/// Memory of an skb of one segment, bytes: the segment and its bookkeeping.
fn skb(look: &Look) -> u64 {
    u64::from(look.socket.snd_mss) + 800
}
