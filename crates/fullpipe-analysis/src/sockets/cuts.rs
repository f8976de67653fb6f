//! Epochs of loss: moments at which ssthresh fell and segments were sent again.
//!
//! Limits:
//! - Several reductions between two looks count as one.
//! - An epoch before the first look is not seen: the RTT at its beginning is unknown.

use super::facts::Cut;
use crate::view::sender::Look;

/// All epochs, oldest first; `min_rtt_us` is the least RTT.
pub fn cuts(looks: &[Look], min_rtt_us: f64) -> Vec<Cut> {
    let mut cuts: Vec<Cut> = Vec::new();
    let mut within = false;
    for (at, pair) in looks.windows(2).enumerate() {
        let (before, after) = (&pair[0], &pair[1]);
        let again = after.segments_retransmitted.saturating_sub(before.segments_retransmitted);

        // HyStart leaves a low ssthresh, which the first loss raises to a part of the cwnd that has grown since.
        let fell = after.ssthresh < before.ssthresh;
        let is_part = after.ssthresh != before.ssthresh && after.ssthresh < before.cwnd;

        // ssthresh falls without a loss too: only with one it is an epoch.
        if (fell || is_part) && (again > 0 || after.socket.lost > 0) {
            cuts.push(cut(looks, at, again, min_rtt_us));
            within = true;
        } else if let Some(last) = cuts.last_mut().filter(|_| within) {
            last.segments += again;
        }

        // CA state 3 is recovery, 4 is loss.
        within &= after.ca_state >= 3;
    }
    cuts
}

/// The reduction between looks `at` and `at + 1`, with `again` segments sent again.
fn cut(looks: &[Look], at: usize, again: u64, min_rtt_us: f64) -> Cut {
    let (before, after) = (&looks[at], &looks[at + 1]);

    // A look may follow the drop: the rate is that of the interval before.
    let earlier = &looks[at.saturating_sub(1)];
    let bytes = before.bytes_acked.saturating_sub(earlier.bytes_acked) as f64;
    let seconds = before.time.saturating_sub(earlier.time).as_secs_f64();
    Cut {
        at_s: after.time.saturating_sub(looks[0].time).as_secs_f64(),
        segments: again,
        rtt: f64::from(before.srtt_us.max(earlier.srtt_us).max(after.srtt_us))
            / min_rtt_us.max(1.0),
        cwnd: f64::from(before.cwnd.max(after.cwnd)),
        mbit: if seconds > 0.0 { bytes * 8.0 / 1e6 / seconds } else { 0.0 },
        to: f64::from(after.ssthresh) / f64::from(before.cwnd.max(after.cwnd).max(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_base::tcp::INFINITE_SSTHRESH;
    use fullpipe_base::trace::SenderSocket;
    use fullpipe_base::units::Time;

    fn look(ms: u64, cwnd: u32, ssthresh: u32, again: u64) -> Look {
        Look {
            time: Time::ms(ms),
            cwnd,
            ssthresh,
            srtt_us: 30_000,
            segments_retransmitted: again,
            bytes_acked: 100_000 * ms / 100,
            socket: SenderSocket { min_rtt_us: 20_000, ..SenderSocket::default() },
            ..Look::default()
        }
    }

    #[test]
    fn a_loss_may_raise_an_ssthresh_that_slow_start_left_low() {
        let looks = [look(100, 1800, 270, 0), look(200, 1284, 1284, 88), look(300, 1290, 1284, 88)];
        let found = cuts(&looks, 20_000.0);
        assert_eq!((found.len(), found[0].segments, found[0].cwnd), (1, 88, 1800.0));

        // An undone reduction gives ssthresh back, which is above the cwnd of that time.
        let undone = [look(100, 90, 90, 3), look(200, 120, 120, 4)];
        assert_eq!(cuts(&undone, 20_000.0), []);
    }

    #[test]
    fn an_epoch_lasts_until_recovery_ends() {
        let recovers = |look: Look| Look { ca_state: 3, ..look };
        let looks = [
            look(100, 100, INFINITE_SSTHRESH, 0),
            look(200, 200, INFINITE_SSTHRESH, 0),
            recovers(look(300, 140, 140, 20)),
            recovers(look(400, 140, 140, 25)),
            look(500, 141, 140, 26),
            look(600, 145, 140, 26),
            look(700, 100, 101, 27),
        ];
        let found = cuts(&looks, 20_000.0);
        assert_eq!(found.iter().map(|cut| cut.segments).collect::<Vec<_>>(), [26, 1]);
        assert_eq!(found.iter().map(|cut| cut.cwnd).collect::<Vec<_>>(), [200.0, 145.0]);
        assert!((found[0].rtt - 1.5).abs() < 1e-9 && (found[0].at_s - 0.2).abs() < 1e-9);
    }

    #[test]
    fn a_reduction_without_retransmissions_is_none() {
        let local = [look(100, 100, INFINITE_SSTHRESH, 0), look(200, 70, 70, 0)];
        assert!(cuts(&local, 20_000.0).is_empty());
        assert!(cuts(&[], 0.0).is_empty());
    }
}
