//! The RTT estimator with samples worked out by hand, in jiffies of 1 ms and in microseconds.

use crate::conversation::profile;
use fullpipe_sim::tcp::profile::find;
use fullpipe_sim::tcp::rtt::Rtt;

/// The estimator of a profile after samples in jiffies of 1 ms, each in a round trip of its own.
fn after(samples: &[u32]) -> Rtt {
    let mut rtt = Rtt::new(1000, profile(|_| {}));
    for (&sample, round) in samples.iter().zip(0u64..) {
        rtt.sample(sample, 1000 * round, 1000 * round + 999);
    }
    rtt
}

/// An RTT shorter than a jiffy counts as one (`tcp_rtt_estimator`: an srtt of 0 would mean that nothing is
/// known). Later samples move it by an eighth: 10 + (1 - 10) / 8.
#[test]
fn a_sample_of_less_than_a_jiffy_is_one() {
    assert_eq!((after(&[0]).srtt, after(&[0]).rto), (8, 1 + 200));
    assert_eq!(after(&[0, 0]).srtt, 8);
    assert_eq!(after(&[10, 0]).srtt, 80 + 1 - 10);
}

/// RTT and deviation move by an eighth and a quarter of the error (Jacobson; Linux 6.12 `tcp_rtt_estimator`):
///
/// - D is the mean deviation x 4: D += |error| - D / 4. Where the RTT fell, a positive change counts an eighth.
/// - M is the largest D of a round trip, at least 200 ms. V, which the timeout adds to the RTT, is at least M.
/// - At the end of a round trip V falls by a quarter of V - M, and M begins anew at 200 ms.
///
/// | sample | round ends | RTT | error, change | D | M | V | RTT + V |
/// |--:|:--|--:|:--|--:|--:|--:|--:|
/// | 400 | - | 400 | the first: D = 2 x 400 | 800 | 800 | 800 | 1200 |
/// | 400 | yes | 400 | 0, -200 | 600 | 800 | 800 | 1200 |
/// | 400 | yes | 400 | 0, -150 | 450 | 450 | 800 - 87.5 | 1112.5 |
/// | 560 | yes | 420 | 160, 160 - 112.5 | 497.5 | 497.5 | 712.5 - 53.75 | 1078.75 |
/// | 100 | yes | 380 | -320, (320 - 124.375) / 8 | 521.953 | 521.953 | 658.75 - 34.199 | 1004.551 |
/// | 1180 | yes | 480 | 800, 800 - 130.488 | 1191.465 | 1191.465 | 1191.465 | 1671.465 |
/// | 480 | no | 480 | 0, -297.866 | 893.599 | 893.599 | 1191.465 | 1671.465 |
/// | 480 | yes | 480 | 0, -223.399 | 670.2 | 893.599 | 1191.465 - 74.466 | 1596.999 |
///
/// A timeout is in whole jiffies of 1 ms, rounded up.
#[test]
fn the_timeout_follows_rtt_and_deviation() {
    let mut rtt = Rtt::new(1000, find("6.12").expect("it is known"));
    let samples = [
        // sample, ms; whether it ends a round trip; RTT, us; timeout, ms
        (400, true, 400_000, 1200),
        (400, true, 400_000, 1200),
        (400, true, 400_000, 1113),
        (560, true, 420_000, 1079),
        (100, true, 380_000, 1005),
        (1180, true, 480_000, 1672),
        (480, false, 480_000, 1672),
        (480, true, 480_000, 1597),
    ];
    let (mut una, mut next) = (0, 10);
    for (sample, ends, srtt, rto) in samples {
        // An ACK beyond all data that was out at the end of the last round trip.
        una = if ends { next + 1 } else { una };
        next = una + 10;
        rtt.sample(sample * 1000, una, next);
        assert_eq!((rtt.srtt_us(), rtt.rto), (srtt, rto), "after {sample} ms");
    }
}
