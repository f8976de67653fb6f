//! The engine `linux` on a kernel that has been built; without one these tests are skipped, unless
//! FULLPIPE_REQUIRE_KERNEL is set.

use crate::common::linux::{arguments, desk, run, scenario, stage};
use fullpipe::scenario::congestion;
use fullpipe::trace::recording::Recording;
use fullpipe::trace::table;
use serde_json::Value;

#[test]
#[ignore = "a study: make studies"]
fn study_a_full_link_carries_what_its_framing_leaves() {
    // Headers: 14 of Ethernet, 40 of IP and TCP, 12 of timestamps.
    let cases = [
        ("100Mbit", 1500, "1MB", 4.0),
        ("1Gbit", 1500, "5MB", 3.0),
        ("1Gbit", 9000, "5MB", 3.0),
        ("10Gbit", 1500, "40MB", 1.2),
        ("10Gbit", 9000, "50MB", 3.0),
        ("100Gbit", 9000, "300MB", 1.2),
    ];
    for (rate, mtu, window, seconds) in cases {
        let Some(desk) = desk(&scenario(rate, mtu, window, seconds)) else { return };
        // The second interval, in which the window is full.
        let interval = format!("report.interval={}s", if seconds < 2.0 { 0.5 } else { 1.0 });
        let document = run(&desk, "out", &["--set", &interval]);
        let intervals = document["runs"][0]["flows"][0]["intervals"].as_array().expect("intervals");
        let found = intervals[1]["throughput_mbit"].as_f64().expect("a rate");
        let full: f64 = if rate == "100Mbit" {
            100.0
        } else {
            rate[..rate.len() - 4].parse::<f64>().unwrap() * 1000.0
        };
        let mtu = f64::from(mtu);
        let expected = full * (mtu - 52.0) / (mtu + 14.0);
        assert!(
            (found / expected - 1.0).abs() < 0.002,
            "{rate}, {mtu}: {found} for {expected} Mb/s"
        );
        // The link never idles then, and so it holds the flow back.
        let link = intervals[1]["limits"]["link"].as_f64().expect("a share");
        let busy = stage(&document, "link")["busy_s"].as_f64().expect("a time");
        assert!(link > 0.99 && busy <= seconds * 1.0001, "{rate}, {mtu}: {link}, {busy} s");
    }
}

/// All congestion controls of the kernel at once, without `--as-kernel`: the scenario is of this kernel. The engine
/// fails a run in which a socket has another one than the scenario says.
#[test]
fn every_congestion_control_runs_on_its_own_kernel() {
    let text =
        scenario("1Gbit", 1500, "1MB", 1.0).replace("kernel = \"3.14\"", "kernel = \"6.12\"");
    let Some(desk) = desk(&text) else { return };
    let names: Vec<&str> = congestion::of_real_kernels().iter().map(|module| module.name).collect();
    assert_eq!(names.len(), 17, "{names:?}");
    let flow = |name: &&str| {
        format!("[[flow]]\nname = \"{name}\"\ncongestion = \"{name}\"\nduration = \"1s\"\n")
    };
    desk.write("all.toml", &(text + &names.iter().map(flow).collect::<String>()));
    let call = ["run", "all.toml", "--engine", "linux", "--json", "-q", "--out", "all"];
    let document = desk.call(&call).ends_with(0).json();
    let run = &document["runs"][0];
    assert_eq!((&run["engine"], &run["substituted"]), (&"linux".into(), &Value::Null));
    let flows = run["flows"].as_array().expect("flows");
    assert_eq!(flows.len(), names.len() + 1);
    for flow in flows {
        assert_eq!(flow["kernel"], "6.12");
        let (name, bytes) = (&flow["name"], flow["bytes"].as_u64().expect("bytes"));
        assert!(
            bytes > 100_000 && (name == "bulk" || flow["congestion"] == *name),
            "{name}: {bytes}"
        );
    }
}

/// Each has sockets and threads of its own.
#[test]
fn hundreds_of_flows_share_the_link() {
    let text = scenario("1Gbit", 1500, "5MB", 1.0).replace("[[flow]]", "[[flow]]\ncount = 300");
    let Some(desk) = desk(&text.replace("count = 300", "count = 1")) else { return };
    desk.write("my.toml", &text);
    let document = run(&desk, "many", &["--set", "report.sample=50ms"]);
    let flows = document["runs"][0]["flows"].as_array().expect("flows");
    let bytes: Vec<u64> = flows.iter().map(|flow| flow["bytes"].as_u64().expect("bytes")).collect();
    let all: u64 = bytes.iter().sum();
    assert!(bytes.len() == 300 && bytes.iter().all(|bytes| *bytes > 0), "{bytes:?}");
    // The first data arrives after 25 ms. From then on the link carries 1448 bytes of each 1514, and is a little
    // early.
    let most = (0.975 * 1e9 / 8.0 * 1448.0 / 1514.0) as u64 + 2 * 1514;
    assert!((90_000_000..=most).contains(&all), "{all} of {most}");
    let refused = desk.call(&arguments(&["--set", "flow.bulk.count=2001", "--out", "no"]));
    assert!(refused.ends_with(2).stderr.contains("2001 flows; one guest runs 2000 at most"));
}

/// DCTCP answers marks: the queue stays at the threshold, and nothing is lost. It is granted ECN because the
/// listener has it too.
#[test]
fn dctcp_is_marked_and_loses_nothing() {
    let text =
        scenario("100Mbit", 1500, "1MB", 3.0).replace("kernel = \"3.14\"", "kernel = \"6.12\"");
    let codel = text
        .replace("limit = \"1MB\"", "limit = \"1000 packets\", discipline = \"codel\", ecn = true");
    let Some(desk) = desk(&text) else { return };
    desk.write("my.toml", &codel);
    let ecn = [
        "--set",
        "hosts.sender.sysctl.net.ipv4.tcp_ecn=1",
        "--set",
        "hosts.receiver.sysctl.net.ipv4.tcp_ecn=1",
    ];
    let link = |name: &str| {
        let congestion = format!("flow.bulk.congestion={name}");
        let document = run(&desk, name, &[&ecn[..], &["--set", &congestion]].concat());
        let link = stage(&document, "link");
        ["marked", "dropped"].map(|key| link[key].as_u64().expect("a count"))
    };
    let (dctcp, reno) = (link("dctcp"), link("reno"));
    let text = desk.call(&["report", "dctcp"]).ends_with(0).stdout;
    assert!(text.contains(" packets marked at link (ECN)"), "{text}");
    assert!(dctcp[0] > 2 * reno[0] && reno[0] > 0 && dctcp[1] == 0, "{dctcp:?} {reno:?}");
}

/// Skbs of TCP stay whole: the same rate, from a fraction of the packets.
#[test]
#[ignore = "a study: make studies"]
fn study_large_packets_on_the_wires_carry_the_same() {
    let Some(desk) = desk(&scenario("10Gbit", 1500, "50MB", 2.0)) else { return };
    let measured = |out: &str, gso: &str| {
        let document = run(&desk, out, &["--set", gso]);
        let intervals = document["runs"][0]["flows"][0]["intervals"].as_array().expect("intervals");
        let rate = intervals[1]["throughput_mbit"].as_f64().expect("a rate");
        // Packets in flight for 5 ms; the kernel counts sent packets by segments.
        (rate, stage(&document, "far")["peak"].as_f64().expect("packets"))
    };
    let (frames, large) =
        (measured("frames", "path.gso=false"), measured("large", "path.gso=true"));
    assert!((large.0 / frames.0 - 1.0).abs() < 0.005, "{frames:?} {large:?}");
    assert!(large.1 * 8.0 < frames.1, "{frames:?} {large:?}");
}

/// The older kernel that can be built: its own seed of random numbers, its own end.
#[test]
fn the_other_kernel_runs_and_repeats_itself() {
    let text = scenario("1Gbit", 1500, "1MB", 1.0).replace("kernel = \"3.14\"", "kernel = \"6.1\"");
    let lossy = text
        .replace("back = [", "back = [{ kind = \"loss\", name = \"noise\", probability = 0.01 },");
    let Some(desk) = desk(&lossy.replace("6.1", "3.14")) else { return };
    desk.write("old.toml", &lossy);
    let call = |out| {
        let call =
            desk.call(&["run", "old.toml", "--engine", "linux", "--json", "-q", "--out", out]);
        let missing = call.code == Some(3) && call.stderr.contains("kernel build --version 6.1");
        assert!(
            !missing || std::env::var_os("FULLPIPE_REQUIRE_KERNEL").is_none(),
            "{}",
            call.stderr
        );
        (!missing).then(|| call.ends_with(0).json())
    };
    let Some(first) = call("a") else {
        println!("skipped: Linux 6.1 has not been built (fullpipe kernel build --version 6.1)");
        return;
    };
    assert_eq!(first["runs"][0]["flows"][0]["kernel"], "6.1");
    assert!(stage(&first, "noise")["dropped"].as_u64().expect("drops") > 0);
    assert_eq!(Some(first), call("b"));
    // It reads its counters in another way.
    let [one, two] =
        ["a/base", "b/base"].map(|run| table::read_all(&desk.path(run)).expect("tables"));
    assert!(one == two);
    let (acks, known) = (counter(&one, "sender", "Tcp.InSegs"), one.flows.last().expect("samples"));
    let (time, last) = acks.last().expect("a row");
    // The other one is the SYN's answer.
    assert_eq!(last - known.acks_received, 1);
    assert!(*time <= known.time.0 && acks.len() > 80, "{} rows", acks.len());
    assert!(acks.iter().all(|(time, _)| time.is_multiple_of(10_000_000)));
}

/// Settings reach the socket: a pacing rate of 100 Mb/s bounds the flow, and so does the window of a window clamp.
#[test]
fn socket_options_and_sysctls_take_effect() {
    let text =
        scenario("1Gbit", 1500, "5MB", 2.0).replace("kernel = \"3.14\"", "kernel = \"6.12\"");
    let Some(desk) = desk(&text) else { return };
    let mbit = |out: &str, sets: &[&str]| {
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        let document = run(&desk, out, &sets);
        let intervals = document["runs"][0]["flows"][0]["intervals"].as_array().expect("intervals");
        intervals[1]["throughput_mbit"].as_f64().expect("a rate")
    };
    let paced =
        mbit("paced", &["flow.bulk.sockopt={ SO_MAX_PACING_RATE = 12500000, TCP_NODELAY = 1 }"]);
    // The kernel paces bytes with their headers.
    assert!((92.0..=100.0).contains(&paced), "{paced} Mb/s");
    let clamp = [
        "hosts.sender.sysctl.net.ipv4.tcp_app_win=31",
        "flow.bulk.receiver_sockopt={ TCP_WINDOW_CLAMP = 250000 }",
    ];
    // 250 kB per 20 ms; the window may end a little later, where its scale lets it.
    let clamped = mbit("clamped", &clamp);
    assert!((90.0..=110.0).contains(&clamped), "{clamped} Mb/s");
}

/// Bytes that a rate counts beyond IP, and a card as the limit with packets of many segments in its queue.
#[test]
fn what_a_rate_counts_is_honoured() {
    let text = scenario("1Gbit", 1500, "5MB", 2.0);
    let Some(desk) = desk(&text) else { return };
    let framing = |name: &str| format!("path.forward.link.framing={name}");
    let card = "hosts.sender.nic_rate=500Mbit".to_string();
    let cake = "path.forward.link.queue={ limit = \"50MB\", discipline = \"cake\", rtt = \"10s\" }"
        .to_string();
    let cases = [
        (vec![framing("ip")], 1000.0 / 1500.0),
        (vec![framing("ethernet-wire")], 1000.0 / 1538.0),
        (vec![framing("ethernet-wire"), cake], 1000.0 / 1538.0),
        (vec![card.clone(), "hosts.sender.tso=true".into()], 500.0 / 1538.0),
        (vec![card, "hosts.sender.tso=false".into()], 500.0 / 1538.0),
    ];
    for (number, (sets, per_byte)) in cases.iter().enumerate() {
        let sets = [
            &["--without".to_string(), "hosts.*".into()][..],
            &sets.iter().flat_map(|set| ["--set".into(), set.clone()]).collect::<Vec<_>>(),
        ]
        .concat();
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let document = run(&desk, &format!("out{number}"), &sets);
        let found = document["runs"][0]["flows"][0]["intervals"][1]["throughput_mbit"].as_f64();
        let (found, expected) = (found.expect("a rate"), per_byte * 1448.0);
        assert!((found / expected - 1.0).abs() < 0.002, "{sets:?}: {found} for {expected} Mb/s");
    }
}

/// A packet that finds the link idle takes its time on the wire all the same.
#[test]
fn a_slow_link_takes_its_time_for_each_packet() {
    let Some(desk) = desk(&scenario("1Mbit", 1500, "100kB", 6.0)) else { return };
    let one = "flow.bulk.app={ kind = \"rate\", rate = \"144800bit\" }";
    let srtt = |card: &str| {
        let [sender, receiver] =
            ["sender", "receiver"].map(|host| format!("hosts.{host}.nic_rate={card}"));
        let write = ["--set", one, "--set", "flow.bulk.write=1448B", "--set", "report.sample=10ms"];
        let sets = [&write[..], &["--set", &sender, "--set", &receiver]].concat();
        let document = run(&desk, card, &sets);
        let intervals = document["runs"][0]["flows"][0]["intervals"].as_array().expect("intervals");
        intervals.last().expect("one")["srtt_us"].as_f64().expect("measured")
    };
    // 20 ms, and 1514 bytes at 1 Mb/s; on the wires of slow cards also 1538 bytes, and 90 of the ACK.
    for (card, expected) in [("10Gbit", 32_112.0), ("10Mbit", 33_414.0)] {
        let srtt = srtt(card);
        assert!((srtt - expected).abs() < 100.0, "{card}: {srtt} us");
    }
}

/// A run's end is sampled too where it is no multiple of the interval.
#[test]
fn the_end_of_a_run_is_seen_as_it_is() {
    let Some(desk) = desk(&scenario("100Mbit", 1500, "1MB", 1.05)) else { return };
    let end = |interval: &str| {
        let sample = format!("report.sample={interval}");
        let document = run(&desk, interval, &["--set", &sample]);
        (
            document["runs"][0]["flows"][0]["bytes"].clone(),
            stage(&document, "link")["entered"].clone(),
        )
    };
    let (whole, cut) = (end("50ms"), end("100ms"));
    assert!(whole == cut && whole.1.as_u64() > Some(6000), "{whole:?} {cut:?}");
}

/// A window that leaves the link idle most of the time.
#[test]
fn both_delays_are_what_was_asked() {
    let Some(desk) = desk(&scenario("10Gbit", 1500, "100kB", 1.0)) else { return };
    let document = run(&desk, "out", &[]);
    let flow = &document["runs"][0]["flows"][0];
    let intervals = flow["intervals"].as_array().expect("intervals");
    let srtt = intervals.last().expect("one")["srtt_us"].as_f64().expect("measured");
    assert!((srtt - 20_000.0).abs() <= 100.0, "{srtt} us for 20 ms");
    // accept() returns when the third packet has arrived: twice forward, once back.
    let accepted = flow["clock_start_s"].as_f64().expect("accepted") * 1e3;
    assert!((accepted - 25.0).abs() <= 0.1, "{accepted} ms for 25 ms");
}

#[test]
fn a_queue_is_filled_to_its_limit_and_no_further() {
    let whole = "queue = { limit = \"4MB\" }";
    let text = scenario("100Mbit", 1500, "4MB", 3.0);
    let cases = [
        ("queue = { limit = \"300kB\" }", 300_000 / 1514),
        ("queue = { limit = \"250 packets\" }", 250),
    ];
    for (queue, packets) in cases {
        let Some(desk) = desk(&text.replace(whole, queue)) else { return };
        let document = run(&desk, "out", &["--set", "report.sample=1ms"]);
        let link = stage(&document, "link");
        assert!(link["dropped"].as_u64().expect("drops") > 0, "{link}");
        assert_eq!(link["peak"], packets, "{queue}");
    }
}

#[test]
fn a_list_of_segments_is_lost_and_nothing_else() {
    let list =
        "[{ kind = \"drop\", name = \"list\", flow = \"bulk\", segments = [50, 51, 400, 2000] },";
    let Some(desk) = desk(
        &scenario("100Mbit", 1500, "1MB", 2.0).replace("forward = [", &format!("forward = {list}")),
    ) else {
        return;
    };
    let document = run(&desk, "out", &[]);
    assert_eq!(stage(&document, "list")["dropped"], 4);
    assert_eq!(stage(&document, "link")["dropped"], 0);
    assert_eq!(document["runs"][0]["flows"][0]["retransmitted_segments"], 4);
}

#[test]
fn loss_has_the_rate_that_was_asked() {
    let noise = "{ kind = \"loss\", name = \"noise\", probability = 0.01 },\n{ kind = \"delay\", name = \"far\"";
    let text =
        scenario("100Mbit", 1500, "1MB", 20.0).replace("{ kind = \"delay\", name = \"far\"", noise);
    let Some(desk) = desk(&text) else { return };
    let document = run(&desk, "out", &[]);
    let noise = stage(&document, "noise");
    let (entered, dropped) =
        (noise["entered"].as_f64().expect("packets"), noise["dropped"].as_f64().expect("drops"));
    let units = entered + dropped;
    let (expected, deviation) = (units * 0.01, (units * 0.01 * 0.99).sqrt());
    assert!((dropped - expected).abs() < 4.0 * deviation, "{dropped} of {units}");
    assert!(dropped > 50.0, "{dropped} of {units} show little");
}

/// Time, ns, and value of each row of a counter.
fn counter(trace: &Recording, host: &str, name: &str) -> Vec<(u64, u64)> {
    let of = trace.counters.iter().filter(|row| &*row.host == host && &*row.name == name);
    of.map(|row| (row.time.0, row.value)).collect()
}

/// Counters of the kernel about the flow and the path, too.
#[test]
fn counters_count_losses_when_they_are_mended() {
    let list = "[{ kind = \"drop\", name = \"list\", flow = \"bulk\", segments = [500, 501, 2000, 6000] },";
    let Some(desk) = desk(
        &scenario("100Mbit", 1500, "1MB", 2.0).replace("forward = [", &format!("forward = {list}")),
    ) else {
        return;
    };
    let each = ["--set", "report.sample=1ms", "--set", "report.counters=1ms"];
    let document = run(&desk, "out", &each);
    let flow = &document["runs"][0]["flows"][0];
    let trace = table::read_all(&desk.path("out/base")).expect("tables");
    let rows = |host, name| counter(&trace, host, name);
    let last = |host, name| rows(host, name).last().map_or(0, |row| row.1);
    // Two segments in one window are mended by one recovery.
    assert_eq!(flow["retransmitted_segments"], 4);
    assert_eq!(last("sender", "Tcp.RetransSegs"), 4);
    assert_eq!(last("sender", "TcpExt.TCPFastRetrans"), 4);
    assert_eq!(last("sender", "TcpExt.TCPSackRecovery"), 3);
    assert_eq!(last("sender", "TcpExt.TCPTimeouts"), 0);
    assert!(last("receiver", "TcpExt.TCPOFOQueue") > 100);
    assert_eq!(last("receiver", "Tcp.RetransSegs"), 0);
    assert!(last("kernel", "softnet.processed") > 10_000);
    // The device sends segments, a SYN and an ACK; the list drops sent ones.
    let segments = trace.flows.last().expect("samples").segments_sent;
    let sent = last("sender", "dev.right.tx_packets");
    assert!((segments..=segments + 3).contains(&sent), "{sent} of {segments}");
    assert_eq!(last("receiver", "dev.left.rx_packets"), last("receiver", "Ip.InReceives"));
    // Each counter changes with the flow's own sample.
    let flows = trace.flows.windows(2);
    let resent = flows.filter(|w| w[0].segments_retransmitted != w[1].segments_retransmitted);
    let resent: Vec<_> = resent.map(|w| (w[1].time.0, w[1].segments_retransmitted)).collect();
    assert_eq!(rows("sender", "Tcp.RetransSegs"), resent);
    // One row for a change, at each sample in which there is one.
    let flows = trace.flows.windows(2).filter(|w| w[0].acks_received != w[1].acks_received);
    let acked: Vec<u64> = flows.map(|w| w[1].time.0).collect();
    let acks = rows("sender", "Tcp.InSegs");
    // The first one is the SYN's answer.
    let times: Vec<u64> = acks.iter().skip(1).map(|row| row.0).collect();
    assert!(times.len() > 1000 && times == acked, "{} rows, {} samples", times.len(), acked.len());
}
