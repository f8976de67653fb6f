//! Limits of a flow on a real kernel: one run for each limit that the kernel reports. Without a kernel these tests are
//! skipped, unless FULLPIPE_REQUIRE_KERNEL is set.

use crate::common::linux::{desk, number, run, scenario};
use serde_json::Value;

/// The shares of limits in the last second of a flow of three.
fn limits(out: &str, window: &str, sets: &[&str]) -> Option<Value> {
    let text =
        scenario("1Gbit", 1500, "5MB", 3.0).replace("kernel = \"3.14\"", "kernel = \"6.12\"");
    let desk = desk(&text.replace("socket_buffer = \"5MB\"", window))?;
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    let sets: Vec<&str> = sets.chain(["--without", "hosts.sender.tx_ring"]).collect();
    let document = run(&desk, out, &sets);
    let intervals = document["runs"][0]["flows"][0]["intervals"].as_array().expect("intervals");
    assert_eq!(intervals.len(), 3);
    Some(intervals[2].clone())
}

fn share(interval: &Value, limit: &str) -> f64 {
    number(&interval["limits"], limit)
}

/// A window of some 200 kB for each 20 ms, which the link could carry in 2 ms.
#[test]
fn a_small_receive_buffer_is_the_limit() {
    let buffers = "sndbuf = \"5MB\"\nrcvbuf = \"200kB\"";
    let Some(last) = limits("window", buffers, &[]) else { return };
    assert!((20.0..200.0).contains(&number(&last, "throughput_mbit")), "{last}");
    assert!(share(&last, "receive_window") > 0.9, "{last}");
}

/// The application waits for room in the send buffer all the time, while cwnd and the window would let more out.
#[test]
fn a_small_send_buffer_is_the_limit() {
    let buffers = "sndbuf = \"200kB\"\nrcvbuf = \"5MB\"";
    let Some(last) = limits("buffer", buffers, &[]) else { return };
    assert!((20.0..200.0).contains(&number(&last, "throughput_mbit")), "{last}");
    assert!(share(&last, "send_buffer") > 0.9, "{last}");
}

/// Data of the application leaves at once, except the part of a segment that Nagle's rule holds back until the next
/// write.
#[test]
fn an_application_with_a_rate_is_the_limit() {
    let app = "flow.bulk.app={ kind = \"rate\", rate = \"50Mbit\" }";
    let buffers = "socket_buffer = \"5MB\"";
    for (out, write) in [("whole", "flow.bulk.write=14480B"), ("part", "flow.bulk.write=4000B")] {
        let Some(last) = limits(out, buffers, &[app, write]) else { return };
        assert!((number(&last, "throughput_mbit") / 50.0 - 1.0).abs() < 0.02, "{last}");
        assert!(share(&last, "application") > 0.9, "{write}: {last}");
    }
}

/// A window of twice the path's capacity.
#[test]
fn a_full_link_is_the_limit() {
    let Some(last) = limits("link", "socket_buffer = \"5MB\"", &[]) else { return };
    assert!(number(&last, "throughput_mbit") > 950.0, "{last}");
    assert!(share(&last, "link") > 0.99, "{last}");
}

/// A card of half the link's rate: TCP waits until sent data leaves the host.
#[test]
fn a_full_card_is_the_limit() {
    let card = ["hosts.sender.nic_rate=500Mbit"];
    let Some(last) = limits("card", "socket_buffer = \"5MB\"", &card) else { return };
    assert!((460.0..480.0).contains(&number(&last, "throughput_mbit")), "{last}");
    assert!(share(&last, "nic") > 0.9, "{last}");
}
