//! Breaks: one thing of a healthy draft is changed, so that the flow no longer fills its path.

use super::draft::{App, Draft, Policer, Reorder};
use super::draw::Draw;
use super::healthy::other;

/// Least and greatest strength: a break divides the rate by it.
const STRENGTH: [f64; 2] = [1.5, 6.0];
/// Longest interrupt moderation of a card, us.
const MODERATION: f64 = 8_000.0;
/// Largest cost of a byte that the simulator takes, ps.
const MOST_PER_BYTE: f64 = 1e6;
/// Bytes of an ACK on the wire.
const ACK: f64 = 90.0;
/// Losses of a lossy run at least.
const LOSSES: f64 = 8.0;

/// The draft with one thing broken; none where the draft cannot have this cause.
pub fn broken(draw: &mut Draw, cause: &str, mut draft: Draft) -> Option<Draft> {
    // The break leaves the flow the path's rate over `strength`.
    let strength = draw.between(STRENGTH[0], STRENGTH[1]);
    let (payload, bdp) = (draft.payload(), draft.bdp());
    match cause {
        "ack_path" => ack_path(draw, &mut draft, strength),
        "app_onoff" => pauses(draw, &mut draft, strength),
        "app_read" => {
            draft.reader = Some(payload / strength);
            // A large buffer would hide a slow reader for the whole run.
            draft.receiver.rmem = draft.receiver.rmem.min((6.0 * bdp).max(2e6) as u64);
            draft.rcvbuf = None;
        }
        "app_write" => {
            draft.app = App::Rate(payload / strength);
            draft.write = draw.pick(&[1_000, 4_096, 16_384, 65_536]);
        }
        "compete" => {
            let count = draw.pick(&[1, 1, 2, 3]);
            for _ in 0..count {
                let rival = other(draw, &draft);
                draft.others.push(rival);
            }
        }
        "cpu_receiver" => cpu(draw, &mut draft, strength, false),
        "cpu_sender" => cpu(draw, &mut draft, strength, true),
        "loss" => draft.loss = loss(&draft, strength),
        "nic" => draft.sender.nic = draft.rate / strength,
        "pacing" => pace(draw, &mut draft, strength),
        "policer" => {
            let burst = bdp * draw.between(0.03, 0.4);
            draft.policer = Some(Policer { rate: draft.rate / strength, burst });
        }
        "qdisc" => own_qdisc(draw, &mut draft),
        "reorder" => {
            let late_us = (draft.rtt_us * draw.between(0.05, 0.6)).max(20.0 * draft.packet_us());
            draft.reorder = Some(Reorder { late_us, probability: draw.between(0.003, 0.1) });
        }
        "rwnd_auto" => {
            draft.receiver.rmem = ((2.2 * bdp / strength) as u64).max(30_000);
            draft.rcvbuf = None;
        }
        "rwnd_fixed" => draft.rcvbuf = Some(((1.1 * bdp / strength) as u64).max(10_000)),
        "rx_drop" => receive_ring(draw, &mut draft)?,
        "sack_off" => without_sack(draw, &mut draft),
        "small_buffer" => draft.queue = draw.between(0.005, 0.12),
        "small_mss" => small_mss(draw, &mut draft)?,
        "sndbuf" => send_buffer(draw, &mut draft, strength),
        "ss_short" => {
            draft.congestion = "cubic";
            draft.hystart = false;
            draft.ssthresh = (bdp / draft.mss() / (strength * draw.between(1.0, 6.0))) as u64 + 4;
        }
        "tx_ring" => transmit_ring(draw, &mut draft, strength)?,
        "wscale_off" => {
            // Without scaling 64 KiB suffice for a short path, so nothing would break.
            if bdp < 80_000.0 {
                return None;
            }
            let either = if draw.often(0.5) { &mut draft.sender } else { &mut draft.receiver };
            either.scaling = false;
        }
        _ => return None,
    }
    Some(draft)
}

/// A transfer of a few round trips, which slow start does not leave.
pub fn too_short(draw: &mut Draw, draft: &mut Draft) -> Option<()> {
    let rounds = draw.pick(&[1, 2, 3, 4, 5]);
    let segments = 10.0 * (f64::from(1 << rounds) - draw.linear(0.2, 1.0));
    let bytes = segments * draft.mss();
    draft.bytes = Some(bytes as u64);
    (bytes < 0.6 * draft.bdp()).then_some(())
}

/// A way back that is slow for the ACKs, or that loses many of them.
fn ack_path(draw: &mut Draw, draft: &mut Draft, strength: f64) {
    if draw.often(0.75) {
        // One ACK for two segments.
        let acks = draft.rate / (f64::from(draft.mtu) + 38.0) / 2.0 * ACK;
        draft.back = Some((acks / strength).max(8e3));
        draft.back_queue = draw.pick(&[1000, 3000, 10_000]);
        draft.receiver.gro = draw.often(0.3);
    } else {
        draft.back_loss = draw.between(0.3, 0.9);
    }
}

fn pauses(draw: &mut Draw, draft: &mut Draft, strength: f64) {
    let off = draw.between(100e3, 800e3).max(2.0 * draft.rtt_us);
    draft.app = App::OnOff { on: (off / (strength - 1.0)).max(5e3), off };
}

/// Lets the CPU of an end work on each packet, or on each byte, for longer than the link takes.
fn cpu(draw: &mut Draw, draft: &mut Draft, strength: f64, sends: bool) {
    let (packet_us, mss) = (draft.packet_us(), draft.mss());
    let by_packet = draw.often(0.5);
    let host = if sends { &mut draft.sender } else { &mut draft.receiver };
    let per_packet = if sends { &mut host.transmit_ns } else { &mut host.receive_ns };
    let per_byte = packet_us * 1e6 / mss * strength;
    match by_packet || per_byte > MOST_PER_BYTE {
        true => *per_packet = packet_us * 1e3 * strength,
        false => host.copy_ps = per_byte,
    }
}

/// Probability at which the congestion control's law gives this part of the path's rate.
fn loss(draft: &Draft, strength: f64) -> f64 {
    let window = draft.bdp() / (f64::from(draft.mtu) + 38.0) / strength;
    let reno = 1.5 / (window * window);
    let cubic = draft.rtt_us * 1e-6 / (window / 1.054).powf(4.0 / 3.0);
    let law = if draft.congestion == "reno" { reno } else { reno.min(cubic) };
    law.max(LOSSES * strength / draft.packets()).min(0.2)
}

fn pace(draw: &mut Draw, draft: &mut Draft, strength: f64) {
    match draw.often(0.5) {
        true => draft.pacing = Some(draft.payload() / strength),
        false => {
            draft.sender.qdisc = "fq";
            draft.sender.maxrate = Some(draft.rate / strength);
        }
    }
}

/// A card not much faster than the link, behind a short queue that refuses TCP's bursts.
fn own_qdisc(draw: &mut Draw, draft: &mut Draft) {
    let host = &mut draft.sender;
    host.qdisc = draw.pick(&["fq_codel", "pfifo_fast", "fq"]);
    host.qdisc_limit = Some(draw.pick(&[1, 2, 3, 4, 6, 10, 16]));
    host.maxrate = None;
    host.tx_ring = draw.pick(&[16, 32, 64, 128]);
    host.tso = draw.often(0.4);
    host.nic = draft.rate * draw.between(1.05, 2.0);
}

/// Interrupts so late that packets fill the ring before.
fn receive_ring(draw: &mut Draw, draft: &mut Draft) -> Option<()> {
    let ring = draw.pick(&[16, 32, 64, 128, 256]);
    let filled = draft.packet_us() * f64::from(ring);
    draft.receiver.rx_ring = ring;
    draft.receiver.rx_coalesce_us = filled * draw.between(1.2, 4.0);
    (draft.receiver.rx_coalesce_us <= MODERATION).then_some(())
}

/// No SACK where the queue overflows, or where a few packets are lost.
fn without_sack(draw: &mut Draw, draft: &mut Draft) {
    let either = if draw.often(0.5) { &mut draft.sender } else { &mut draft.receiver };
    either.sack = false;
    draft.hystart = draft.hystart && draw.often(0.3);
    if draw.often(0.4) {
        draft.loss = draw.between(1.0, 6.0) / draft.packets();
    }
}

/// Packets with headers as a large part. Fast paths would need too many of them.
fn small_mss(draw: &mut Draw, draft: &mut Draft) -> Option<()> {
    draft.mtu = draw.pick(&[150, 200, 240, 280]);
    (draft.rate < 300e6).then_some(())
}

/// A buffer that the program asks for, or one that the kernel tunes.
fn send_buffer(draw: &mut Draw, draft: &mut Draft, strength: f64) {
    let wanted = draft.bdp() / strength;
    match draw.often(0.5) {
        true => draft.sndbuf = Some((wanted * draw.linear(0.6, 1.2)).max(8_000.0) as u64),
        false => {
            draft.sndbuf = None;
            draft.sender.wmem = (wanted * draw.linear(1.2, 2.4)).max(20_000.0) as u64;
        }
    }
}

/// A ring so short that the wire waits for the driver's interrupt.
fn transmit_ring(draw: &mut Draw, draft: &mut Draft, strength: f64) -> Option<()> {
    let ring = draw.pick(&[8, 16, 32, 64, 128]);
    draft.sender.tx_ring = ring;
    draft.sender.tx_coalesce_us = draft.packet_us() * f64::from(ring) * strength;
    (draft.sender.tx_coalesce_us <= MODERATION).then_some(())
}
