//! CUBIC's HyStart in whole runs: slow start ends when the queue begins to grow, in kernels that have it.

use crate::made::made;
use fullpipe::scenario::{self, Source};
use fullpipe_sim::cc::{INFINITE_SSTHRESH, OPEN};

/// A path of 833 packets of 1500 bytes (100 Mb/s for 100 ms), and a queue for thrice as many.
const PATH: u32 = 833;

/// Result of slow start.
#[derive(Debug)]
struct SlowStart {
    /// ssthresh when it ended.
    cwnd: u32,
    /// Whether a loss ended it.
    by_loss: bool,
    /// Largest cwnd.
    most: u32,
}

fn slow_start(kernel: &str, congestion: &str) -> SlowStart {
    let text = format!(
        r#"
        title = "slow start"
        seed = 1
        [path]
        rate = "100Mbit"
        mtu = 1500
        delay = {{ forward = "50ms", back = "50ms" }}
        queue = {{ limit = "2500packets" }}
        [hosts.sender]
        kernel = "{kernel}"
        hz = 250
        [hosts.sender.sysctl]
        "net.core.wmem_max" = "256MiB"
        [hosts.receiver]
        kernel = "{kernel}"
        hz = 250
        [hosts.receiver.sysctl]
        "net.core.rmem_max" = "256MiB"
        [[flow]]
        name = "bulk"
        congestion = {congestion}
        duration = "3s"
        sndbuf = "64MiB"
        rcvbuf = "64MiB"
        [report]
        sample = "1ms"
        "#
    );
    let scenario = scenario::load(&Source::text("hystart.toml", &text), &[], &[]);
    let scenario = scenario.unwrap_or_else(|e| panic!("{e}"));
    let trace = made(&scenario, &scenario.plans()[0]).1;
    let left = trace.flows.iter().find(|sample| sample.ssthresh < INFINITE_SSTHRESH);
    let left = left.expect("slow start ends");
    SlowStart {
        cwnd: left.ssthresh,
        by_loss: left.ca_state != OPEN,
        most: trace.flows.iter().map(|sample| sample.cwnd).max().expect("a sample"),
    }
}

/// The train that is found lasts half an RTT, in which cwnd grows by half the path. When the round began, cwnd was
/// between half the path and the path. With less a train would not last as long; with more it would have been found a
/// round before. Delays show a queue a round after it began, when cwnd has doubled once or twice. No packet is lost
/// before.
#[test]
fn slow_start_ends_before_the_queue_is_full() {
    for kernel in ["2.6.32", "3.14"] {
        for (detect, most) in [(1, PATH * 3 / 2), (2, PATH * 4), (3, PATH * 3 / 2)] {
            let congestion = format!(r#"{{ name = "cubic", hystart_detect = {detect} }}"#);
            let found = slow_start(kernel, &congestion);
            let what = format!("{kernel}, detect {detect}: {found:?}");
            assert!((PATH * 49 / 50..most * 51 / 50).contains(&found.cwnd), "{what}");
            assert!(!found.by_loss, "{what}");
        }
    }
}

/// Without, it fills path and queue, and loses packets.
#[test]
fn without_hystart_the_queue_overflows() {
    for kernel in ["2.6.32", "3.14"] {
        let found = slow_start(kernel, r#"{ name = "cubic", hystart = 0 }"#);
        let what = format!("{kernel}: {found:?}");
        assert!(found.most > 4 * PATH, "{what}");
        assert!(found.by_loss, "{what}");
    }
}
