//! The RTT estimator with samples worked out by hand, in jiffies of 1 ms.

use crate::conversation::profile;
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
