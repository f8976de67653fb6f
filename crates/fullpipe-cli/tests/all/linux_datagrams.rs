//! Datagrams and programs that read them at their own pace, on simulator and real kernel. Without a kernel these tests are skipped,
//! unless FULLPIPE_REQUIRE_KERNEL is set.

use crate::common::linux::{desk, number};
use serde_json::Value;

/// 4 MiB as datagrams at 1 Gb/s to a socket that asks for no buffer, of which a program reads none for 20 ms.
const SCENARIO: &str = r#"
duration = "1s"
[path]
rate = "10Gbit"
delay = { forward = "100us", back = "100us" }
[hosts]
sender = { kernel = "6.12" }
receiver = { kernel = "6.12", sysctl = { "net.core.rmem_max" = "8MiB" } }
[[flow]]
name = "bulk"
bytes = "1kB"
[[datagrams]]
name = "burst"
kind = "udp"
size = "1452B"
rate = "1Gbit"
count = 2889
start = "1ms"
reader = { on = "10ms", off = "20ms" }
"#;
/// Counters of datagrams.
const COUNTED: [&str; 6] = ["sent", "refused", "received", "lost", "reordered", "rcvbuf_errors"];

/// Counts of the two engines; none where there is no kernel.
fn counted(sets: &[&str]) -> Option<[[f64; 6]; 2]> {
    let desk = desk(SCENARIO)?;
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    let arguments = ["run", "my.toml", "--engine", "sim,linux", "--json", "-q", "--out", "both"];
    let arguments: Vec<&str> = arguments.into_iter().chain(sets).collect();
    let document = desk.call(&arguments).ends_with(0).json();
    let runs: &Vec<Value> = document["runs"].as_array().expect("runs");
    let of = |run: usize| COUNTED.map(|what| number(&runs[run]["datagrams"][0], what));
    Some([of(0), of(1)])
}

/// Each run loses the same datagrams on the simulator as on Linux, where any are lost. The expected numbers are the
/// sockets' drops.
fn are_alike(cases: &[(&[&str], f64)]) {
    for (sets, drops) in cases {
        let Some([simulator, kernel]) = counted(sets) else { return };
        assert_eq!(simulator, kernel, "{sets:?}");
        assert_eq!(kernel[5], *drops, "{sets:?}");
    }
}

#[test]
fn pauses_cost_the_same_on_both_engines() {
    are_alike(&[
        (&[], 1628.0),
        (&["datagrams.burst.rcvbuf=1MiB"], 810.0),
        (&["datagrams.burst.rcvbuf=4MiB"], 0.0),
        (&["datagrams.burst.rcvbuf=4kB"], 1717.0),
        (&["datagrams.burst.reader={rate=\"900Mbit\",on=\"3700us\",off=\"2300us\"}"], 1107.0),
        (
            &["datagrams.burst.direction=backward", "hosts.sender.sysctl.net.core.rmem_max=8MiB"],
            1628.0,
        ),
    ]);
}

#[test]
fn slow_readers_cost_the_same_on_both_engines() {
    let reads = |mbit: u32| format!("datagrams.burst.reader={{rate=\"{mbit}Mbit\"}}");
    let [slow, half, nearly] = [300, 500, 777].map(reads);
    are_alike(&[
        (&[&slow], 1950.0),
        (&[&slow, "datagrams.burst.rcvbuf=1MiB"], 1202.0),
        (&[&half], 1370.0),
        (&[&nearly], 572.0),
    ]);
}

/// The memory of a datagram in a socket depends on its size, and on the kernel.
#[test]
fn sizes_cost_the_same_on_both_engines() {
    let old = ["hosts.sender.kernel=6.1", "hosts.receiver.kernel=6.1"];
    are_alike(&[
        (&["datagrams.burst.size=100B", "datagrams.burst.rate=100Mbit"], 1394.0),
        (&["datagrams.burst.size=700B", "datagrams.burst.rate=500Mbit"], 1693.0),
        (&["path.mtu=9000", "datagrams.burst.size=8972B", "datagrams.burst.rate=8Gbit"], 1773.0),
        (&[old[0], old[1], "datagrams.burst.size=100B", "datagrams.burst.rate=100Mbit"], 1373.0),
        (&[old[0], old[1], "datagrams.burst.reader={rate=\"300Mbit\"}"], 1946.0),
    ]);
}

/// A queue of the path that drops datagrams counts alike too.
#[test]
fn queues_cost_the_same_on_both_engines() {
    are_alike(&[(&["path.rate=500Mbit", "path.queue.limit=\"50 packets\""], 730.0)]);
}

#[test]
fn what_the_guest_cannot_send_is_refused() {
    let Some(desk) = desk(SCENARIO) else { return };
    let small = ["run", "my.toml", "--engine", "linux", "--set", "datagrams.burst.size=15B"];
    desk.call(&small).ends_with(2).complains(&["its time take 16"]);
    let ping = SCENARIO.replace("kind = \"udp\"", "kind = \"ping\"");
    let without = |line: &&str| !line.starts_with("reader") && !line.starts_with("rate = \"1Gbit");
    desk.write("ping.toml", &ping.lines().filter(without).collect::<Vec<_>>().join("\n"));
    let ping = desk.call(&["run", "ping.toml", "--engine", "linux"]);
    ping.ends_with(2).complains(&["echo requests"]);
}
