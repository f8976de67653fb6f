//! `fullpipe diagnose` on captures: those that the simulator makes, so that cause and counts are known, and damaged ones.

use crate::common::{Call, Desk};
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

/// A path of 200 Mb/s and 40 ms, with one thing that may be wrong.
fn scenario(path: &str, receiver: &str, flow: &str) -> String {
    format!(
        "duration = \"8s\"\n[path]\nrate = \"200Mbit\"\ndelay = {{ forward = \"20ms\", back = \"20ms\" }}\n{path}\n\
         [hosts.sender]\nkernel = \"6.12\"\n[hosts.receiver]\nkernel = \"6.12\"\n{receiver}\n\
         [[flow]]\nname = \"f\"\nduration = \"6s\"\n{flow}\n"
    )
}

/// The document of a run whose packets are captured at that point, in the file `c.pcapng`.
fn captured(desk: &Desk, text: &str, at: &str) -> Value {
    desk.write("s.toml", text);
    let run = ["run", "s.toml", "--out", at, "--json", "--pcap", "c.pcapng", "--at", at];
    desk.call(&run).ends_with(0).json()
}

fn diagnosed(desk: &Desk, more: &[&str]) -> Call {
    let all: Vec<&str> = ["diagnose", "c.pcapng"].into_iter().chain(more.iter().copied()).collect();
    desk.call(&all).ends_with(0)
}

/// The first paragraph, on one line.
fn first(call: &Call) -> String {
    call.stdout.split("\n\n").next().unwrap_or_default().replace('\n', " ")
}

#[test]
fn both_ends_of_a_path_name_the_cause() {
    let scaling = "sysctl = { \"net.ipv4.tcp_window_scaling\" = 0 }";
    let rmem = "sysctl = { \"net.ipv4.tcp_rmem\" = \"4096 131072 400000\" }";
    let table = [
        ("", "", "", "Nothing is wrong", "Nothing is wrong"),
        ("", rmem, "", "The receive window holds", "The receive window holds"),
        ("", scaling, "", "tcp_window_scaling", "tcp_window_scaling"),
        ("", "", "sndbuf = \"200kB\"", "The send buffer holds", "holds the flow"),
        ("loss = \"0.05%\"", "", "", "Loss by chance holds", "Loss by chance holds"),
        (
            "",
            "",
            "reader = { rate = \"50Mbit\" }",
            "The receiving program",
            "The receiving program",
        ),
    ];
    for (path, receiver, flow, at_sender, at_receiver) in table {
        for (at, place, expected) in [
            ("sender-qdisc", "captured at the sender", at_sender),
            ("receiver", "captured at the receiver", at_receiver),
        ] {
            let desk = Desk::new();
            captured(&desk, &scenario(path, receiver, flow), at);
            let call = diagnosed(&desk, &[]).says(&[place]);
            assert!(
                first(&call).contains(expected),
                "{path}{receiver}{flow} {at}: {}",
                call.stdout
            );
        }
    }
}

#[test]
fn counts_and_windows_are_those_of_the_run() {
    let desk = Desk::new();
    let rmem = "sysctl = { \"net.ipv4.tcp_rmem\" = \"4096 131072 1000000\" }";
    let run = captured(&desk, &scenario("loss = \"0.02%\"", rmem, ""), "sender-qdisc");
    let flow = &run["runs"][0]["flows"][0];
    let own = diagnosed(&desk, &["--json"]).json();
    let seen = &own["runs"][0]["flows"][0];
    for key in ["segments_sent", "segments_retransmitted"] {
        assert_eq!(seen[key], flow[key], "{key}");
    }
    let listed = &own["capture"]["connections"][0];
    assert_eq!(listed["rtt_ms"].as_f64().map(f64::round), Some(40.0));
    assert_eq!((listed["place"].as_str(), listed["end"].as_str()), (Some("sender"), Some("FIN")));
    assert_eq!(listed["unseen_bytes"], 0);
    assert_eq!(own["runs"][0]["view"], "sender-capture");
}

#[test]
fn a_pipe_several_files_and_a_kept_directory_are_as_good() {
    let desk = Desk::new();
    captured(&desk, &scenario("", "", "sndbuf = \"200kB\""), "sender-qdisc");
    let whole = diagnosed(&desk, &["--save", "kept"]).complains(&["kept: kept"]);
    desk.call(&["report", "kept"]).ends_with(0);
    let run = "kept/10.0.0.1-40000-10.0.0.2-5001";
    assert!(desk.names(run).contains(&"packets.parquet".into()), "{:?}", desk.names(run));
    assert!(desk.read(&format!("{run}/time-sequence.html")).contains("as they pass the sender"));
    assert!(desk.read("kept/report.html").contains("time-sequence graph"));

    let mut command = desk.command(&["diagnose", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let bytes = std::fs::read(desk.path("c.pcapng")).expect("a capture");
    child.stdin.take().expect("a pipe").write_all(&bytes).expect("room");
    assert_eq!(Call::wait(child).stdout, whole.stdout);

    // A file that ends early counts as far as it goes.
    std::fs::write(desk.path("cut.pcapng"), &bytes[..bytes.len() * 2 / 3 + 1]).expect("room");
    desk.call(&["diagnose", "cut.pcapng"])
        .ends_with(0)
        .says(&["The send buffer", "cut.pcapng: the file ends within a block"]);
}

#[test]
fn what_is_no_capture_is_refused_with_a_way_out() {
    let desk = Desk::new();
    captured(&desk, &scenario("", "", ""), "sender-qdisc");
    std::fs::write(desk.path("solaris"), b"snoop\0\0\0 and more").expect("room");
    desk.write("text.txt", "hello");
    let table: [(&[&str], &str); 5] = [
        (&["solaris"], "try `editcap FILE new.pcapng`"),
        (&["c.pcapng", "text.txt"], "diagnose captures and texts apart"),
        (&["c.pcapng", "--port", "9"], "there is no connection with port 9"),
        (&["c.pcapng", "--pid", "1"], "--pid is for live connections"),
        (&["text.txt", "--at", "sender"], "--at is the place of a capture"),
    ];
    for (arguments, expected) in table {
        let all: Vec<&str> = ["diagnose"].into_iter().chain(arguments.iter().copied()).collect();
        desk.call(&all).ends_with(2).complains(&[expected]);
    }
}

/// The twin of a capture, at either end, has the path and the cause of the run. Advice on it names the setting that the run lacks.
#[test]
fn a_twin_of_a_capture_gives_the_advice_that_the_run_needs() {
    let rmem = "sysctl = { \"net.ipv4.tcp_rmem\" = \"4096 131072 400000\" }";
    let table = [
        (rmem, "", "tcp_rmem", "SO_SNDBUF"),
        ("", "sndbuf = \"200kB\"", "SO_SNDBUF", "tcp_rmem"),
        ("", "app = { kind = \"rate\", rate = \"30Mbit\" }", "The program on sender", "tcp_rmem"),
    ];
    for (receiver, flow, needed, other) in table {
        let desk = Desk::new();
        let text = scenario("", receiver, flow);
        let run = captured(&desk, &text, "sender-qdisc");
        let document = diagnosed(&desk, &["--advise", "--json", "--save", "kept"]).json();
        let twin = &document["twin"];
        assert_eq!(twin["stands"], true, "{flow}{receiver}: {}", document["no_advice"]);
        let seen = twin["compared"][0]["seen"].as_f64().expect("a rate");
        let real = run["runs"][0]["flows"][0]["mean_mbit"].as_f64().expect("a rate");
        assert!((seen / real - 1.0).abs() < 0.1, "{seen} {real}");

        let answer = document["advice"]["answer"].as_str().expect("an answer");
        assert!(answer.contains(needed) && !answer.contains(other), "{answer}");
        let kept = std::fs::read_to_string(desk.path("kept/twin.toml")).expect("a twin");
        assert_eq!(Some(&kept[..]), twin["scenario"].as_str());
    }
}

/// The file has headers and no payload, and the same verdict. Nothing of it tells an address that is hidden.
#[test]
fn a_connection_is_shared_without_payload_and_addresses() {
    let desk = Desk::new();
    captured(&desk, &scenario("", "", "sndbuf = \"200kB\""), "sender-qdisc");
    let whole = first(&diagnosed(&desk, &[]));
    desk.call(&["packets", "c.pcapng", "--out", "plain.pcapng"])
        .ends_with(0)
        .complains(&["packets of 10.0.0.1:40000 > 10.0.0.2:5001, without payload", "--hide"]);
    desk.call(&["packets", "c.pcapng", "--hide", "--out", "hidden.pcap"]).ends_with(0);
    for (file, has_addresses) in [("plain.pcapng", true), ("hidden.pcap", false)] {
        let own = desk.call(&["diagnose", file]).ends_with(0);
        assert_eq!(first(&own), whole, "{file}");
        let bytes = std::fs::read(desk.path(file)).expect("a capture");
        let has = bytes.windows(4).any(|own| own == [10, 0, 0, 2]);
        assert_eq!(has, has_addresses, "{file}");
    }
    let size = |file: &str| std::fs::metadata(desk.path(file)).expect("a capture").len();
    assert!(size("hidden.pcap") < size("c.pcapng"));

    // What is there stays there.
    desk.call(&["packets", "c.pcapng", "--out", "plain.pcapng"])
        .ends_with(2)
        .complains(&["plain.pcapng"]);
    desk.call(&["packets", "c.pcapng", "--port", "9", "--out", "x.pcapng"])
        .ends_with(2)
        .complains(&["there is no connection with port 9"]);
    assert!(!desk.path("x.pcapng").exists());
}
