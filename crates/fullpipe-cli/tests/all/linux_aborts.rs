//! Timeouts. Connections that the kernel gives up are events of their flows; the run and its other flows go on.

use crate::common;
use crate::common::Desk;
use crate::common::linux::{arguments, desk, scenario};
use fullpipe::base::trace::{Event, EventKind};
use fullpipe::trace::table;
use serde_json::Value;

/// ETIMEDOUT, as Linux numbers it.
const ETIMEDOUT: u64 = 110;

#[test]
fn a_connection_that_times_out_leaves_the_others_alone() {
    // All but the first packets of one flow are lost; TCP_USER_TIMEOUT counts ms.
    let lost: Vec<String> = (200..1200).map(|number: u32| number.to_string()).collect();
    let cut = format!(
        "{{ kind = \"drop\", name = \"cut\", flow = \"bulk\", segments = [{}] }},\n]\nback",
        lost.join(",")
    );
    let text = scenario("10Mbit", 1500, "100kB", 6.0).replace("]\nback", &cut)
        + "sockopt = { TCP_USER_TIMEOUT = 2000 }\n\
           [[flow]]\nname = \"other\"\ncongestion = \"reno\"\nduration = \"6s\"\n";
    let Some(desk) = desk(&text) else { return };
    let call = desk.call(&arguments(&["--out", "out"])).ends_with(0);
    assert!(call.stdout.contains("s the connection timed out (ETIMEDOUT)"), "{}", call.stdout);
    let document: Value = serde_json::from_str(&desk.read("out/summary.json")).expect("JSON");
    let flows = document["runs"][0]["flows"].as_array().expect("flows");
    let [cut, other] = &flows[..] else { panic!("{} flows", flows.len()) };
    assert_eq!(cut["aborted"]["errno"], ETIMEDOUT);
    assert_eq!((&cut["completion_s"], &other["aborted"]), (&Value::Null, &Value::Null));
    // It has sent 200 segments in well under a second, and gives up 2 s after the first that was not acknowledged.
    let at = cut["aborted"]["at_s"].as_f64().expect("a time");
    assert!((2.0..4.5).contains(&at), "{at} s");
    let last = other["intervals"][5]["throughput_mbit"].as_f64().expect("a rate");
    assert!(last > 9.0, "{last} Mb/s");
    // Data in flight is discarded.
    let recording = table::read_all(&desk.path("out/base")).expect("tables");
    let end = recording.flows.iter().rfind(|sample| sample.flow == 0).expect("a sample");
    assert_eq!((end.in_flight, end.unsent), (0, 0));
}

#[test]
fn a_connection_that_is_never_made_times_out() {
    // One SYN more after the first: 1 s and then 2 s are waited for.
    let text = scenario("10Mbit", 1500, "100kB", 5.0)
        .replace("]\nback", "{ kind = \"loss\", name = \"cut\", probability = 1.0 },\n]\nback")
        + "sockopt = { TCP_SYNCNT = 1 }\n";
    let Some(desk) = desk(&text) else { return };
    desk.call(&arguments(&["-q", "--out", "out"])).ends_with(0);
    let recording = table::read_all(&desk.path("out/base")).expect("tables");
    let [event] = &recording.events[..] else { panic!("{:?}", recording.events) };
    assert_eq!((event.kind, event.value), (EventKind::Aborted, ETIMEDOUT));
    let at = event.time.as_secs_f64();
    assert!((3.0..3.2).contains(&at), "{at} s");
}

/// Timeouts of the flow, and the segments that it has sent again.
fn timeouts_and_resent(desk: &Desk, kernel: &str, out: &str) -> (Vec<u64>, u64) {
    let arguments =
        ["run", "my.toml", "--engine", "linux", "--as-kernel", kernel, "-q", "--out", out];
    desk.call(&arguments).ends_with(0);
    let trace = table::read_all(&desk.path(&format!("{out}/base"))).expect("tables");
    let timeouts = trace.events.iter().filter(|event| event.kind == EventKind::Timeout);
    let resent = trace.flows.last().expect("samples").segments_retransmitted;
    (timeouts.map(|event| event.value).collect(), resent)
}

/// One segment is sent at a time, and its first four copies are lost. Linux 6.1 does not count timeouts.
#[test]
fn each_kernel_reports_its_timeouts() {
    let list =
        "{ kind = \"drop\", name = \"list\", flow = \"bulk\", segments = [3, 4, 5, 6] },\n]\nback";
    let text = scenario("10Mbit", 1500, "100kB", 12.0).replace("]\nback", list).replace(
        "duration = \"12s\"\n[path]",
        "duration = \"12s\"\nreport = { sample = \"10ms\" }\n[path]",
    ) + "app = { kind = \"rate\", rate = \"11584bit\" }\nwrite = \"1448B\"\n";
    let Some(desk) = desk(&text) else { return };
    for kernel in ["6.12", "6.1"] {
        let (timeouts, resent) = timeouts_and_resent(&desk, kernel, &format!("out{kernel}"));
        // A tail loss probe precedes the first one.
        assert!(timeouts.len() >= 3 && resent >= 4, "{kernel}: {timeouts:?}, {resent}");
        let counted: Vec<u64> = (1..=timeouts.len() as u64).collect();
        assert_eq!(timeouts, counted, "{kernel}");
    }
}

/// Lost SYNs do not count as losses of data.
#[test]
fn a_lost_syn_is_no_timeout_of_the_flow() {
    let noise = "{ kind = \"loss\", name = \"noise\", probability = 0.5 },\n]\nback";
    let text = scenario("10Mbit", 1500, "100kB", 10.0).replace("]\nback", noise)
        + "app = { kind = \"rate\", rate = \"8bit\" }\nwrite = \"1B\"\n";
    let Some(desk) = desk(&text) else { return };
    // The first seed that loses a SYN: the handshake takes more than the second until it is sent again.
    let lost = (0..20).find_map(|seed| {
        let out = format!("out{seed}");
        common::linux::run(&desk, &out, &["--set", &format!("seed={seed}")]);
        let trace = table::read_all(&desk.path(&format!("{out}/base"))).expect("tables");
        let made = *trace.events.iter().find(|event| event.kind == EventKind::Established)?;
        (made.value > 1_000_000_000).then_some((trace, made.time))
    });
    let (trace, made) = lost.expect("a lost SYN");
    let first = trace.flows.iter().find(|sample| sample.time >= made).expect("a sample");
    let early = |event: &&Event| event.kind == EventKind::Timeout && event.time <= first.time;
    assert_eq!(trace.events.iter().filter(early).count(), 0);
    assert_eq!(first.segments_retransmitted, 0);
}
