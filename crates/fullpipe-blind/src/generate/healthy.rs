//! Healthy drafts: a path that its flow fills, and decoys that do no harm.
//!
//! Each key that a break changes is drawn here too, so that no key gives the cause away.

use super::draft::{App, Draft, Host, Other, Policer, Reorder};
use super::draw::Draw;

/// Probability of each decoy.
const DECOY: f64 = 0.12;
/// Full packets of a run at most, but for runs of [`SHORTEST_MS`].
const PACKETS: f64 = 250_000.0;
/// No run is shorter, ms.
const SHORTEST_MS: f64 = 3_000.0;
/// No run is longer, ms.
const LONGEST_MS: f64 = 12_000.0;
/// Round trips of a run at least, where it is not longer than [`LONGEST_MS`].
const ROUND_TRIPS: f64 = 30.0;
/// Largest buffer that kernels tune to, bytes.
const LARGE: f64 = 1e9;
/// Window without scaling, bytes.
const UNSCALED: f64 = 65_535.0;

/// Draws a healthy case.
pub fn healthy(draw: &mut Draw) -> Draft {
    let rate = draw.between(20e6, 10e9);
    let rtt_us = draw.between(2e3, 200e3);
    let mtu = mtu(draw, rate);
    let mut draft = Draft {
        seed: draw.below(1 << 30) as u64,
        rate,
        rtt_us,
        forward: draw.linear(0.3, 0.7),
        mtu,
        queue: draw.between(0.5, 2.0),
        duration_ms: 0,
        back: None,
        back_queue: draw.pick(&[100, 1000, 3000, 10_000]),
        back_loss: 0.0,
        loss: 0.0,
        policer: None,
        reorder: None,
        jitter_us: 0.0,
        sender: host(draw, rate),
        receiver: host(draw, rate),
        congestion: draw.pick(&["cubic", "cubic", "cubic", "cubic", "reno"]),
        hystart: !draw.often(0.2),
        ssthresh: 0,
        start_ms: draw.pick(&[0, 0, 100, 500]),
        app: App::Bulk,
        write: draw.pick(&[1_000, 4_096, 16_384, 65_536, 65_536, 262_144]),
        bytes: None,
        reader: None,
        read: draw.pick(&[16_384, 65_536, 262_144]),
        sndbuf: None,
        rcvbuf: None,
        pacing: None,
        others: Vec::new(),
    };

    // The following draws depend on the path's product and on a packet's time.
    draft.duration_ms = duration_ms(draw, &draft);
    costs(draw, &mut draft);
    of_path(draw, &mut draft);
    of_hosts(draw, &mut draft);
    of_flow(draw, &mut draft);
    others(draw, &mut draft);
    draft
}

/// 1500 or 9000 bytes; uncommonly a little less, which is harmless. Fast paths have 9000, so that runs take seconds.
fn mtu(draw: &mut Draw, rate: f64) -> u32 {
    let usual = draw.pick(&[1500, 1500, 1500, 9000]);
    let odd = draw.pick(&[900, 1000, 1200, 1280, 1400]);
    match (draw.often(DECOY), rate) {
        (_, rate) if rate > 1e9 => 9000,
        (true, _) => odd,
        (false, _) => usual,
    }
}

fn duration_ms(draw: &mut Draw, draft: &Draft) -> u64 {
    let wanted = draw.between(SHORTEST_MS, LONGEST_MS);
    let carried = PACKETS * draft.packet_us() / 1e3;
    let trips = (ROUND_TRIPS * draft.rtt_us / 1e3).min(LONGEST_MS);
    let start = draft.start_ms as f64;
    (wanted.min(carried).max(trips).max(SHORTEST_MS) + start).round() as u64
}

/// A host that holds nothing back. Its card is 1.1 to 20 times as fast as the link.
fn host(draw: &mut Draw, rate: f64) -> Host {
    let qdisc = draw.pick(&["fq_codel", "fq", "pfifo_fast"]);
    Host {
        kernel: draw.pick(&["6.12", "6.12", "6.12", "6.1"]),
        qdisc,
        qdisc_limit: draw.often(DECOY).then(|| draw.pick(&[10, 30, 100, 1000, 5000])),
        maxrate: None,
        nic: rate * draw.between(1.1, 20.0),
        tso: !draw.often(DECOY),
        gro: !draw.often(DECOY),
        tx_ring: draw.pick(&[256, 512, 1024, 4096]),
        tx_coalesce_us: 0.0,
        rx_ring: draw.pick(&[256, 512, 1024, 4096]),
        rx_coalesce_us: 0.0,
        copy_ps: 0.0,
        transmit_ns: 0.0,
        receive_ns: 0.0,
        ack_ns: 0.0,
        wmem: LARGE as u64,
        rmem: LARGE as u64,
        sack: true,
        scaling: true,
        timestamps: !draw.often(DECOY / 2.0),
    }
}

/// CPU costs that leave most of the CPU idle, and interrupt moderation that rings outlast.
fn costs(draw: &mut Draw, draft: &mut Draft) {
    let (packet_us, mtu) = (draft.packet_us(), f64::from(draft.mtu));
    for host in draft.hosts() {
        if draw.often(0.7) {
            let share = |draw: &mut Draw| draw.between(0.01, 0.12);
            host.transmit_ns = packet_us * 1e3 * share(draw);
            host.receive_ns = packet_us * 1e3 * share(draw);
            host.ack_ns = packet_us * 1e3 * share(draw);
            host.copy_ps = packet_us * 1e6 / mtu * share(draw);
        }
        if draw.often(0.5) {
            // The ring holds all packets of a moderation interval several times over.
            let outlasts = packet_us * f64::from(host.rx_ring) / 8.0;
            host.rx_coalesce_us = draw.pick(&[10.0f64, 30.0, 50.0, 100.0, 3_000.0]).min(outlasts);
        }
        if draw.often(0.3) {
            let outlasts = packet_us * f64::from(host.tx_ring) / 16.0;
            host.tx_coalesce_us =
                draw.pick(&[10.0f64, 30.0, 100.0, 1_000.0, 3_000.0]).min(outlasts);
        }
    }
}

fn of_path(draw: &mut Draw, draft: &mut Draft) {
    if draw.often(0.6) {
        draft.back = Some(draft.rate * draw.between(0.2, 1.0));
    }
    if draw.often(DECOY) {
        draft.back_loss = draw.between(1e-4, 3e-3);
    }
    if draw.often(DECOY) {
        // On average the flow loses a tenth of a packet at most.
        draft.loss = draw.between(1e-3, 0.1) / draft.packets();
    }
    if draw.often(DECOY) {
        // The policer lets more pass than the link does.
        let (rate, burst) = (draw.between(1.5, 5.0), draw.between(1.0, 3.0));
        draft.policer = Some(Policer { rate: draft.rate * rate, burst: draft.bdp() * burst });
    }
    if draw.often(DECOY) {
        // A packet is late by less than a packet's time, so none overtakes it.
        let late_us = draft.packet_us() * draw.between(0.1, 0.6);
        draft.reorder = Some(Reorder { late_us, probability: draw.between(1e-3, 0.1) });
    }
    if draw.often(DECOY) {
        draft.jitter_us = draft.rtt_us * draw.between(0.002, 0.02);
    }
}

fn of_hosts(draw: &mut Draw, draft: &mut Draft) {
    let payload = draft.payload();

    // A buffer has to hold the product and the queue in front of the link.
    let needs = draft.bdp() * (1.0 + draft.queue);
    if draft.sender.qdisc == "fq" && draw.often(2.0 * DECOY) {
        draft.sender.maxrate =
            Some(draft.rate * draw.between(2.0, 3.0)).filter(|rate| *rate < 34e9);
    }
    if draw.often(DECOY) {
        draft.pacing = Some(payload * draw.between(2.0, 8.0));
    }

    // The window without scaling is twice what the flow needs.
    if needs < UNSCALED / 2.0 && draw.often(0.4) {
        draft.receiver.scaling = false;
    }

    // Without losses SACK makes no difference.
    if draw.often(DECOY) {
        draft.sender.sack = draw.often(0.5);
        draft.receiver.sack = draft.sender.sack || draw.often(0.5);
    }
    if draw.often(DECOY) {
        draft.sender.tx_ring = draw.pick(&[32, 64, 128]);
        draft.sender.tx_coalesce_us = 0.0;
    }
    if draw.often(DECOY) {
        draft.receiver.rx_ring = draw.pick(&[32, 64, 128]);
        draft.receiver.rx_coalesce_us = 0.0;
    }
    for host in draft.hosts() {
        if draw.often(3.0 * DECOY) {
            let most = |draw: &mut Draw| (needs * draw.between(6.0, 20.0)).clamp(4e6, LARGE) as u64;
            (host.wmem, host.rmem) = (most(draw), most(draw));
        }
    }
}

fn of_flow(draw: &mut Draw, draft: &mut Draft) {
    let (payload, needs) = (draft.payload(), draft.bdp() * (1.0 + draft.queue));
    if draw.often(DECOY) {
        draft.app = App::Rate(payload * draw.between(1.5, 5.0));
    } else if draw.often(DECOY) {
        // A pause is shorter than the round trip, so the path does not run empty.
        let on = draw.between(100e3, 1e6);
        draft.app = App::OnOff { on, off: (draft.rtt_us * draw.between(0.1, 0.3)).min(on / 4.0) };
    }
    if draw.often(DECOY) {
        draft.reader = Some(payload * draw.between(2.0, 10.0));
    }
    if draw.often(DECOY) {
        draft.sndbuf = Some((needs * draw.between(2.0, 6.0)).clamp(4e5, LARGE) as u64);
    }
    if draw.often(DECOY) {
        draft.rcvbuf = Some((needs * draw.between(3.0, 8.0)).clamp(4e5, LARGE) as u64);
    }
    if draft.congestion == "cubic" && draw.often(DECOY) {
        // Slow start ends only after it has filled the path.
        draft.ssthresh = (draft.bdp() / draft.mss() * draw.between(1.0, 3.0)) as u64 + 10;
    }
}

/// Other flows that take little: at most 4 % of the link together.
fn others(draw: &mut Draw, draft: &mut Draft) {
    if !draw.often(2.0 * DECOY) {
        return;
    }
    let count = draw.pick(&[1, 1, 2]);
    for _ in 0..count {
        let other = Other {
            rate: Some(draft.payload() * draw.between(0.002, 0.04) / f64::from(count)),
            ..other(draw, draft)
        };
        draft.others.push(other);
    }
}

/// A greedy flow that starts before, with or within the judged one.
pub fn other(draw: &mut Draw, draft: &Draft) -> Other {
    let span = draft.duration_ms - draft.start_ms;
    let within = draft.start_ms + (span as f64 * draw.linear(0.0, 0.4)) as u64;
    let start_ms = draw.pick(&[0, draft.start_ms, within]);
    let lasts = draft.duration_ms - start_ms;
    let share = if draw.often(0.7) { 1.0 } else { draw.linear(0.6, 1.0) };
    Other {
        start_ms,
        lasts_ms: ((lasts as f64 * share) as u64).max(1),
        rate: None,
        own_host: draw.often(0.7),
        congestion: draw.pick(&["cubic", "cubic", "reno"]),
    }
}
