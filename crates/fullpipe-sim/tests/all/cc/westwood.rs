//! TCP Westwood+ against figures worked out by hand from its filters, at 250 jiffies per second.

use super::*;
use fullpipe_sim::cc::{ACK_SLOWPATH, Event};

const KERNELS: [&str; 2] = ["6.1", "6.12"];
/// 100 ms.
const RTT: u32 = 25;

/// A flow whose first ACK has arrived at jiffy EPOCH. Bytes count from it on.
fn begun(kernel: &str, mss: u32, rtt_ms: i32) -> Congestion {
    let mut flow = avoiding("westwood", &[], kernel, 1000);
    flow.sock_mut().mss_cache = mss;
    flow.sock_mut().snd_una = 7000;
    flow.pkts_acked(&AckSample { pkts_acked: 1, rtt_us: rtt_ms * 1000, in_flight: 0 });
    flow.in_ack_event(0);
    flow
}

/// An ACK of so many bytes, so many jiffies after the start.
fn ack(flow: &mut Congestion, at: u32, bytes: u32, flags: u32) {
    flow.sock_mut().jiffies = EPOCH + at;
    flow.sock_mut().snd_una += bytes;
    flow.in_ack_event(flags);
}

/// cwnd and ssthresh after a reduction.
fn reduced(flow: &mut Congestion) -> (u32, u32) {
    flow.cwnd_event(Event::CompleteCwr);
    (flow.sock().snd_cwnd, flow.sock().snd_ssthresh)
}

/// Each sample ends with the first ACK beyond the RTT, whose own bytes belong to the next one. The first rate counts in full,
/// later ones by an eighth of an eighth: 1000 x 7 / 8 + 2000 / 8 = 1125, and 1000 x 7 / 8 + 1125 / 8 = 1015.
#[test]
fn a_reduction_ends_at_the_bandwidth_times_the_least_rtt() {
    for kernel in KERNELS {
        let mut flow = begun(kernel, 100, 100);
        assert_eq!(reduced(&mut flow), (2, 2), "{kernel}: nothing is known yet");
        ack(&mut flow, 26, 26_000, 0);
        ack(&mut flow, 52, 26_000, 0);
        assert_eq!(reduced(&mut flow), (250, 250), "{kernel}: 1000 bytes x 25 / 100");
        ack(&mut flow, 78, 52_000, 0);
        assert_eq!(reduced(&mut flow), (250, 250), "{kernel}: 1000 again");
        ack(&mut flow, 104, 26_000, 0);
        assert_eq!(reduced(&mut flow), (253, 253), "{kernel}: 1015 x 25 / 100 = 253.75");
    }
}

#[test]
fn a_sample_lasts_an_rtt_and_50_ms_at_least() {
    // RTT in ms; the jiffy at which a sample has not ended, and the next one, at which it has
    for (rtt_ms, lasts) in [(100, 25), (52, 13), (48, 12), (4, 12)] {
        for (late, packets) in [(0, 2), (1, 1000)] {
            let mut flow = begun("6.12", 1, rtt_ms);
            ack(&mut flow, lasts, 1_000_000, 0);
            ack(&mut flow, lasts + late, 0, 0);
            let (cwnd, _) = reduced(&mut flow);
            assert_eq!(cwnd > 2, packets > 2, "{rtt_ms} ms, {late}");
        }
    }
}

/// A timeout sets ssthresh alone, and the next ACK brings another least RTT.
#[test]
fn a_timeout_measures_the_least_rtt_anew() {
    let mut flow = begun("6.12", 100, 100);
    ack(&mut flow, 26, 26_000, 0);
    ack(&mut flow, 52, 0, 0);
    flow.pkts_acked(&AckSample { pkts_acked: 1, rtt_us: 200_000, in_flight: 0 });
    ack(&mut flow, 53, 0, 0);
    assert_eq!(reduced(&mut flow), (250, 250), "the least RTT holds");
    set_cwnd(&mut flow, 1000);
    flow.cwnd_event(Event::Loss);
    assert_eq!((flow.sock().snd_cwnd, flow.sock().snd_ssthresh), (1000, 250));
    ack(&mut flow, 54, 0, 0);
    assert_eq!(reduced(&mut flow), (500, 500), "an RTT of 200 ms");
}

/// Packets that duplicates have counted are not counted again, but on the fast path.
#[test]
fn duplicates_count_as_packets() {
    let mss = 26;
    // duplicates, then packets acknowledged and how; counted
    let table = [
        (300, 400, ACK_SLOWPATH, 400),
        (300, 400, 0, 700),
        (300, 200, ACK_SLOWPATH, 301),
        (300, 1, ACK_SLOWPATH, 301),
        (0, 400, ACK_SLOWPATH, 400),
    ];
    for (duplicates, packets, flags, counted) in table {
        let mut flow = begun("6.12", mss, 100);
        (0..duplicates).for_each(|_| ack(&mut flow, 1, 0, ACK_SLOWPATH));
        ack(&mut flow, 2, packets * mss, flags);
        ack(&mut flow, RTT + 1, 0, 0);

        // Packets of 26 bytes in 26 jiffies are as many bytes per jiffy.
        assert_eq!(reduced(&mut flow).0, counted * RTT / mss, "{duplicates}, {packets}, {flags}");
    }
}

#[test]
fn growth_and_the_first_half_are_renos() {
    for kernel in KERNELS {
        let mut flow = begun(kernel, 1448, 100);
        set_cwnd(&mut flow, 1000);
        assert_eq!(acks_to_grow(&mut flow), 1000, "{kernel}");
        set_cwnd(&mut flow, 1000);
        assert_eq!(flow.ssthresh(), 500, "{kernel}");
    }
}
