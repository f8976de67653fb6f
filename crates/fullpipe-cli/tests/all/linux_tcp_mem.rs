//! Memory common to all TCP sockets (net.ipv4.tcp_mem), on simulator and real kernel. A guest has one memory for both hosts, so
//! that the programs that do not read have small send buffers. Without a kernel these tests are skipped, unless
//! FULLPIPE_REQUIRE_KERNEL is set.

use crate::common::linux::{desk, number};
use serde_json::Value;

/// A flow that is read and 64 that are not, each of which takes up to 128 KiB of the receiver.
const SCENARIO: &str = r#"
duration = "6s"
[path]
rate = "1Gbit"
delay = { forward = "5ms", back = "5ms" }
[hosts]
sender = { kernel = "6.12" }
receiver = { kernel = "6.12" }
[[flow]]
name = "hoarder"
duration = "5s"
count = 64
sndbuf = "16KiB"
reader = { rate = "1kbit" }
[[flow]]
name = "bulk"
duration = "3s"
sndbuf = "1MiB"
"#;
/// The flow that is read begins when the others have taken their memory.
const LATE: &str = "flow.bulk.start=2s";
/// Most of the difference between the engines.
const ALIKE: f64 = 0.02;
/// Rate of a window of four segments of 1448 bytes in 10 ms, Mb/s; windows are advertised in units of 128 bytes.
const FOUR_SEGMENTS: f64 = 4.0 * 1448.0 * 8e-6 / 0.01;

/// Rate of the flow that is read on the simulator and on the kernel, Mb/s, and the number of times that the hosts
/// entered memory pressure.
fn both(tcp_mem: &str, sets: &[&str]) -> Option<[(f64, u64); 2]> {
    let desk = desk(SCENARIO)?;
    let memory = format!("hosts.receiver.sysctl.net.ipv4.tcp_mem=\"{tcp_mem}\"");
    let sets = sets.iter().copied().chain([&memory[..], LATE]).flat_map(|set| ["--set", set]);
    let arguments = ["run", "my.toml", "--engine", "sim,linux", "--json", "-q", "--out", "both"];
    let allowed = ["--without", "hosts.receiver.sysctl.net.ipv4.tcp_mem"];
    let arguments: Vec<&str> = arguments.into_iter().chain(allowed).chain(sets).collect();
    let document = desk.call(&arguments).ends_with(0).json();
    let runs = document["runs"].as_array().expect("runs");
    let of = |run: &Value| (rate(run), pressures(run));
    Some([of(&runs[0]), of(&runs[1])])
}

fn rate(run: &Value) -> f64 {
    let flows = run["flows"].as_array().expect("flows");
    number(flows.iter().find(|flow| flow["name"] == "bulk").expect("the flow"), "mean_mbit")
}

fn pressures(run: &Value) -> u64 {
    let counters = run["counters"].as_array().expect("counters");
    let own = counters.iter().filter(|own| own["name"] == "TcpExt.TCPMemoryPressures");
    own.map(|own| own["value"].as_u64().expect("a number")).sum()
}

#[test]
fn sockets_that_hoard_slow_others_down_alike_on_both_engines() {
    let older = ["hosts.sender.kernel=6.1", "hosts.receiver.kernel=6.1"];
    for (tcp_mem, sets, is_tight) in [
        ("1024 1536 2048", &[][..], true),
        ("1024 1536 4096", &[], true),
        ("512 768 16384", &[], true),
        ("4096 6144 8192", &[], false),
        ("1024 1536 2048", &["path.rate=100Mbit"], true),
        ("1024 1536 2048", &older, true),
    ] {
        let Some([(simulator, own), (kernel, real)]) = both(tcp_mem, sets) else { return };
        let name = format!("{tcp_mem} {sets:?}");
        assert!((simulator / kernel - 1.0).abs() < ALIKE, "{name}: {simulator}, {kernel} Mb/s");
        assert_eq!([own > 0, real > 0], [is_tight; 2], "{name}: {own}, {real}");
        if is_tight {
            let share = kernel / FOUR_SEGMENTS;
            assert!((0.9..1.05).contains(&share), "{name}: {kernel} Mb/s");
        } else {
            assert!(kernel > 20.0 * FOUR_SEGMENTS, "{name}: {kernel} Mb/s");
        }
    }
}

/// Hosts of one kernel cannot have different bounds.
#[test]
fn the_kernel_refuses_two_bounds() {
    let Some(desk) = desk(SCENARIO) else { return };
    let sets = [
        "--set",
        "hosts.receiver.sysctl.net.ipv4.tcp_mem=\"1024 1536 2048\"",
        "--set",
        "hosts.sender.sysctl.net.ipv4.tcp_mem=\"1024 1536 4096\"",
        "--without",
        "hosts.*",
    ];
    let call = ["run", "my.toml", "--engine", "linux", "-q", "--out", "two"];
    let call: Vec<&str> = call.into_iter().chain(sets).collect();
    let answer = desk.call(&call);
    assert_ne!(answer.code, Some(0));
    assert!(answer.stderr.contains("all hosts are in one kernel"), "{}", answer.stderr);
}
