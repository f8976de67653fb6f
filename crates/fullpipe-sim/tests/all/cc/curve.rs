//! CUBIC after a loss: the curve, its limits, and Reno's pace as the least.

use super::*;

const HZ: f64 = 250.0;
/// 410 / 1024 packets per s^3.
const C: f64 = 0.400390625;

/// Parameters without the rules that could hide the curve.
const BARE: [(&str, i64); 2] = [("tcp_friendliness", 0), ("max_increment", 0)];

/// The curve in floats: W(t) = maximum + C (t - K)^3, from `start` at t = 0.
fn w(maximum: f64, start: f64, c: f64, t: f64) -> f64 {
    let k = ((maximum - start) / c).cbrt();
    maximum + c * (t - k).powi(3)
}

/// A flow with a loss at 10,000 and an epoch that starts at a window of 8000.
fn epoch(parameters: &[(&str, i64)], kernel: &str) -> Congestion {
    let mut flow = after_loss("cubic", parameters, kernel, 10_000);
    flow.sock_mut().snd_ssthresh = 2;
    set_cwnd(&mut flow, 8000);
    flow.cong_avoid(0, 1);
    flow
}

/// Window that the curve requires `seconds` into the epoch, computed from the growth at 50 packets below `near`.
fn target(flow: &mut Congestion, seconds: f64, near: f64) -> f64 {
    let cwnd = near as u32 - 50;
    flow.sock_mut().jiffies = EPOCH + (seconds * HZ) as u32;
    set_cwnd(flow, cwnd);
    let count = f64::from(acks_to_grow(flow) - 1) * 2.0;
    f64::from(cwnd) + f64::from(cwnd) / count
}

#[test]
fn points_on_the_curve() {
    // s, packets: 10000 + 0.400390625 (t - 17.0942)^3, where 17.0942^3 = 2000 / 0.400390625
    let table = [
        (1.0, 8330.9),
        (2.0, 8623.1),
        (5.0, 9291.7),
        (10.0, 9857.0),
        (15.0, 9996.3),
        (17.0, 10000.0),
        (20.0, 10009.8),
        (25.0, 10197.8),
        (30.0, 10860.7),
        (40.0, 14811.9),
    ];
    for (t, packets) in table {
        let mut flow = epoch(&BARE, "2.6.20");
        let read = target(&mut flow, t, packets);
        assert!((read - packets).abs() <= 2.0, "at {t} s: {read}, {packets} expected");
    }
}

#[test]
fn the_origin_is_reached_in_time_from_any_distance() {
    for distance in [20, 100, 500, 1000, 3000, 5000, 8000, 9900] {
        let mut flow = after_loss("cubic", &BARE, "2.6.20", 10_000);
        flow.sock_mut().snd_ssthresh = 2;
        set_cwnd(&mut flow, 10_000 - distance);
        flow.cong_avoid(0, 1);
        let expected = w(10_000.0, f64::from(10_000 - distance), C, 1.0);
        let read = target(&mut flow, 1.0, expected);
        assert!((read - expected).abs() <= 3.0, "{distance}: {read}, {expected} expected");
    }
}

#[test]
fn each_loss_begins_a_new_epoch() {
    let mut flow = epoch(&BARE, "2.6.20");
    flow.sock_mut().jiffies = EPOCH + 2500;
    set_cwnd(&mut flow, 9857);
    flow.cong_avoid(0, 1);
    set_cwnd(&mut flow, 11_000);
    assert_eq!(flow.ssthresh(), 8797);
    set_cwnd(&mut flow, 8797);
    flow.cong_avoid(0, 1);
    let expected = w(11_000.0, 8797.0, C, 5.0);
    let read = target(&mut flow, 15.0, expected);
    assert!((read - expected).abs() <= 2.0, "{read}, {expected} expected");
}

#[test]
fn bic_scale_makes_the_curve_steeper() {
    for scale in [10, 41, 82, 410] {
        let mut flow = epoch(&[BARE[0], BARE[1], ("bic_scale", scale)], "2.6.20");
        let expected = w(10_000.0, 8000.0, scale as f64 * 10.0 / 1024.0, 3.0);
        let read = target(&mut flow, 3.0, expected);
        assert!((read - expected).abs() <= 2.5, "bic_scale {scale}: {read}, {expected} expected");
    }
}

#[test]
fn without_a_maximum_above_it_the_curve_starts_flat_at_the_window() {
    let mut flow = after_loss("cubic", &BARE, "2.6.20", 5000);
    flow.sock_mut().snd_ssthresh = 2;
    set_cwnd(&mut flow, 6000);
    assert_eq!(acks_to_grow(&mut flow), 300_001, "100 x 6000 / 2, + 1");
    let mut flow = after_loss("cubic", &BARE, "2.6.20", 5000);
    flow.sock_mut().snd_ssthresh = 2;
    set_cwnd(&mut flow, 6000);
    flow.cong_avoid(0, 1);
    let expected = 6000.0 + C * 1000.0;
    let read = target(&mut flow, 10.0, expected);
    assert!((read - expected).abs() <= 2.0, "{read}, {expected} expected");
}

#[test]
fn a_whole_epoch_follows_the_curve_within_a_round_trip() {
    let mut flow = after_loss("cubic", &BARE, "2.6.20", 10_000);
    assert_eq!(flow.sock().snd_ssthresh, 7998);
    set_cwnd(&mut flow, 7999);
    let rtt = 0.08;
    let mut seconds = 0.0;
    while seconds < 40.0 {
        let cwnd = flow.sock().snd_cwnd;
        flow.sock_mut().jiffies = EPOCH + (seconds * HZ) as u32;
        flow.cong_avoid(0, 1);
        seconds += rtt / f64::from(cwnd);
        let now = f64::from(flow.sock().snd_cwnd);
        let least = w(10_000.0, 7999.0, C, (seconds - rtt).max(0.0)) - 2.0;
        let most = w(10_000.0, 7999.0, C, seconds) + 2.0;
        assert!((least..=most).contains(&now), "{seconds} s: {now} in {least}..{most}?");
    }
}

#[test]
fn growth_is_at_most_max_increment_per_100_ms() {
    // At 8000 packets and an RTT of 80 ms (20 jiffies) 16 packets per 100 ms are one per
    // 8000 x 250 x 8 / (10 x 16 x 160) = 625 packets; without a limit the curve at 2 s and at 35 s
    // asks for one per 12 and one per 1. ACKs: cnt x 16 / 32 + 1.
    // kernel, timestamps, seconds (K is 17.1); ACKs per packet
    let table = [
        ("2.6.20", true, 2, 313),
        ("2.6.20", true, 35, 313),
        ("2.6.20", false, 2, 7), // delay unknown: no limit
        ("2.6.20", false, 35, 2),
        ("2.6.22", true, 2, 7), // below the origin: no limit
        ("2.6.22", true, 35, 313),
        ("2.6.26", true, 2, 7), // none at all
        ("2.6.26", true, 35, 2),
    ];
    for (kernel, timestamps, seconds, acks) in table {
        let parameters = [("tcp_friendliness", 0), ("no_loss_cnt", 0), ("beta", 819)];
        let mut flow = epoch(&parameters, kernel);
        let now = EPOCH + seconds * 250;
        flow.sock_mut().jiffies = now;
        if timestamps {
            flow.sock_mut().saw_tstamp = 1;
            flow.sock_mut().rcv_tsecr = now - 20;
            flow.pkts_acked(&AckSample { pkts_acked: 2, rtt_us: 80_000, in_flight: 0 });
        }
        set_cwnd(&mut flow, 8000);
        assert_eq!(acks_to_grow(&mut flow), acks, "{kernel} {timestamps} {seconds}");
    }
}

#[test]
fn delay_is_taken_from_samples_since_2_6_23_and_never_in_an_epochs_first_second() {
    // Limits as above: 8000 x 250 x 8 / (160 x delay in jiffies x 8), scaled by 16 / 32, + 1.
    // RTT in us, kernel; ACKs per packet at 8000 packets, 20 s into the epoch
    let table = [
        (80_000, "2.6.23", 313),  // 20 jiffies: 625
        (77_000, "2.6.23", 313),  // 19.25, rounded up
        (160_000, "2.6.23", 157), // 40 jiffies: 312
        (80_000, "2.6.22", 2),    // no timestamps: no limit, 8000 / 2009 = 3
    ];
    for (rtt_us, kernel, acks) in table {
        let mut flow = epoch(&[("tcp_friendliness", 0)], kernel);
        flow.sock_mut().jiffies = EPOCH + 249;
        flow.pkts_acked(&AckSample { pkts_acked: 2, rtt_us: 1000, in_flight: 0 });
        flow.sock_mut().jiffies = EPOCH + 20 * 250;
        flow.pkts_acked(&AckSample { pkts_acked: 2, rtt_us, in_flight: 0 });
        flow.pkts_acked(&AckSample { pkts_acked: 2, rtt_us: 900_000, in_flight: 0 });
        flow.pkts_acked(&AckSample { pkts_acked: 2, rtt_us: -1, in_flight: 0 });
        set_cwnd(&mut flow, 8000);
        assert_eq!(acks_to_grow(&mut flow), acks, "{kernel} {rtt_us}");
    }
}

#[test]
fn a_delay_of_zero_counts_as_an_eighth_of_a_jiffy_and_no_echo_as_none() {
    let mut flow = epoch(&[("tcp_friendliness", 0)], "2.6.23");
    flow.sock_mut().jiffies = EPOCH + 20 * 250;
    flow.pkts_acked(&AckSample { pkts_acked: 2, rtt_us: 0, in_flight: 0 });
    set_cwnd(&mut flow, 8000);
    assert_eq!(acks_to_grow(&mut flow), 50_001, "8000 x 2000 / 160 = 100000, / 2, + 1");
    let mut flow = epoch(&[("tcp_friendliness", 0)], "2.6.20");
    flow.sock_mut().jiffies = EPOCH + 2 * 250;
    flow.sock_mut().saw_tstamp = 1;
    set_cwnd(&mut flow, 8000);
    assert_eq!(acks_to_grow(&mut flow), 7, "as without timestamps");
}

#[test]
fn friendliness_counts_acks() {
    // At 16 packets Reno's window grows by one per 16 x 23 / 8 = 46 ACKs, on the next one. The curve
    // is flat at 16 for 1.3 s: one per 1600 packets, 801 ACKs.
    // ACKs of the epoch when the count is computed; Reno's window; ACKs per packet
    let table = [(46, 16, 801), (47, 17, 9), (92, 17, 9), (93, 18, 5), (138, 18, 5), (139, 19, 3)];
    for (acks, reno, per_packet) in table {
        let mut flow = after_loss("cubic", &[], "2.6.20", 10);
        set_cwnd(&mut flow, 16);
        (1..acks).for_each(|_| flow.cong_avoid(0, 1));
        flow.sock_mut().jiffies += 8;
        flow.cong_avoid(0, 1);
        set_cwnd(&mut flow, 16);
        assert_eq!(acks_to_grow(&mut flow), per_packet, "after {acks} ACKs, Reno at {reno}");
    }
}

#[test]
fn friendliness_keeps_pace_with_reno() {
    // After a loss at 20 packets the curve reaches 20 again only after 2 s. In 100 round trips of
    // 10 ms Reno with beta 819/1024 grows by 100 / 2.875 = 35 packets.
    for (friendly, least, most) in [(0, 17, 20), (1, 47, 55)] {
        let mut flow = after_loss("cubic", &[("tcp_friendliness", friendly)], "2.6.20", 20);
        set_cwnd(&mut flow, 16);
        let mut seconds = 0.0;
        while seconds < 1.0 {
            flow.sock_mut().jiffies = EPOCH + (seconds * HZ) as u32;
            seconds += 0.01 / f64::from(flow.sock().snd_cwnd);
            flow.cong_avoid(0, 1);
        }
        let cwnd = flow.sock().snd_cwnd;
        assert!((least..=most).contains(&cwnd), "friendliness {friendly}: {cwnd}");
    }
}
