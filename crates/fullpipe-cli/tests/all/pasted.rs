//! `fullpipe diagnose FILE...` on texts. Those in `pasted/` are genuine, and the cause of each is known: a path of 50 Mb/s and
//! 40 ms on engine `host`, and one thing that was wrong.

use crate::common::{Call, Desk};
use std::io::Write;
use std::process::Stdio;

/// Folder of the texts.
const TEXTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/pasted");

fn of(names: &[&str]) -> Call {
    let files: Vec<String> = names.iter().map(|name| format!("{TEXTS}/{name}")).collect();
    let mut arguments = vec!["diagnose"];
    arguments.extend(files.iter().map(String::as_str));
    Desk::new().call(&arguments).ends_with(0)
}

/// The first paragraph, on one line.
fn first(call: &Call) -> String {
    call.stdout.split("\n\n").next().unwrap_or_default().replace('\n', " ")
}

/// Reads a text from standard input.
fn piped(text: &str) -> Call {
    let desk = Desk::new();
    let mut command = desk.command(&["diagnose", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("room");
    Call::wait(child)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(format!("{TEXTS}/{name}")).expect("a text")
}

#[test]
fn the_first_line_names_the_cause_or_says_that_it_cannot() {
    const UNKNOWN: &str = "The text does not show the cause";
    let table = [
        // iperf3 -J of the sender.
        ("full.json", "Nothing is wrong"),
        ("loss.json", "Loss without a queue"),
        ("squeue.json", "Loss without a queue"),
        ("rmem.json", "The receive window holds the flow"),
        ("wmem.json", "The send buffer holds the flow"),
        ("app.json", "iperf3 -b of this host is 10 Mb/s"),
        ("short.json", "too short to tell"),
        ("bloat.json", "Nothing is wrong"),
        ("p4.json", "Nothing is wrong"),
        ("w100.json", "The receive window holds the flow"),
        // Rows without RTT.
        ("rmem.txt", UNKNOWN),
        ("wmem.txt", UNKNOWN),
        ("w100.txt", UNKNOWN),
        ("full.txt", UNKNOWN),
        ("squeue.txt", UNKNOWN),
        ("app.txt", UNKNOWN),
        ("bloat.txt", "Nothing is wrong"),
        ("loss.txt", "Loss holds the flow"),
        ("short.txt", "too short to tell"),
        ("full-server.txt", UNKNOWN),
        ("reverse.txt", "do not show what limits the flow"),
        // One print of a socket.
        ("ss-rmem.txt", "The receive window holds the flow"),
        ("ss-wmem.txt", "The send buffer"),
        ("ss-loss.txt", "Loss holds the flow"),
        ("ss-app.txt", "The sending program holds the flow"),
        // Datagrams.
        ("udp-over.txt", "The path carries no more than arrives"),
        ("udp-over-server.txt", "The path carries no more than arrives"),
        ("udp-over.json", "The path carries no more than arrives"),
        ("udp-ok.json", "nothing is wrong at this rate"),
        ("udp-loss-server.txt", "Datagrams are lost by chance"),
        ("nuttcp-udp.txt", "The path carries no more than arrives"),
        // Counters.
        ("tc-tbf.txt", "drops packets"),
        ("nstat-tbf.txt", "loses packets"),
        ("ethtool-quiet.txt", "show no drops"),
    ];
    let mut wrong = Vec::new();
    for (name, expected) in table {
        let call = of(&[name]);
        let first = first(&call);
        if !first.contains(expected) {
            wrong.push(format!("{name}: {first:?} has no {expected:?}"));
        }
        assert!(
            call.stdout.contains("not shown: ") && call.stdout.contains("to see it: "),
            "{name}"
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn several_texts_have_one_verdict() {
    // The socket knows what the rows do not.
    let both = of(&["rmem.txt", "ss-rmem.txt"]);
    assert!(first(&both).contains("The receive window holds the flow"), "{}", both.stdout);
    assert!(both.stdout.contains("iperf3"), "{}", both.stdout);

    // Counters of a host stand beside the connection.
    let both = of(&["squeue.json", "nstat-squeue.txt"]);
    assert!(first(&both).contains("Loss without a queue"), "{}", both.stdout);
    let words = both.stdout.replace('\n', " ");
    assert!(words.contains("counters of the kernel"), "{words}");
}

#[test]
fn a_counter_decides_between_causes_that_look_the_same() {
    let desk = Desk::new();
    desk.write("card.txt", "NIC statistics:\n     rx_packets: 100000\n     rx_crc_errors: 217\n");
    let rows = format!("{TEXTS}/loss.json");
    let call = desk.call(&["diagnose", &rows, "card.txt"]).ends_with(0);
    assert!(first(&call).contains("Damaged frames arrive"), "{}", call.stdout);
    assert!(call.stdout.contains("card.txt:3: rx_crc_errors: 217"), "{}", call.stdout);
}

#[test]
fn quotes_prompts_and_colours_are_read_through() {
    for name in ["rmem.json", "loss.txt", "ss-rmem.txt", "tc-tbf.txt", "nstat-tbf.txt"] {
        let plain = piped(&text(name)).ends_with(0);
        let lines: Vec<String> = text(name).lines().map(|line| format!("> > {line}")).collect();
        let mail =
            format!("On Monday somebody wrote:\n> > user@a:~$ ls\n{}\nHelp!\n", lines.join("\n"));
        let quoted = piped(&mail).ends_with(0);
        assert_eq!(first(&plain), first(&quoted), "{name}");
        assert!(quoted.stdout.contains("standard input"), "{}", quoted.stdout);
    }
}

#[test]
fn a_command_line_says_what_was_asked_for() {
    let rows = text("app.txt");
    let call = piped(&format!("user@a:~$ iperf3 -c 10.0.1.2 -b 10M\n{rows}")).ends_with(0);
    assert!(first(&call).contains("iperf3 -b of this host is 10 Mb/s"), "{}", call.stdout);
}

#[test]
fn json_has_the_verdicts_and_their_lines() {
    let file = format!("{TEXTS}/rmem.json");
    let document = Desk::new().call(&["diagnose", &file, "--json"]).ends_with(0).json();
    assert_eq!(document["headline"]["code"], "rwnd_auto");
    let own = &document["pasted"][0];
    assert!(own["lines"][0]["line"].as_u64().is_some_and(|line| line > 40), "{own}");
    assert!(own["next"].as_str().is_some_and(|next| next.contains("ss -tinmH dst 10.0.1.2")));
}

#[test]
fn other_texts_are_refused_with_what_is_read() {
    let desk = Desk::new();
    desk.write("poem.txt", "Shall I compare thee to a summer's day?\n");
    let call = desk.call(&["diagnose", "poem.txt"]).ends_with(2);
    call.complains(&["poem.txt", "has none of what is read here", "iperf3", "nstat"]);
    let json = text("rmem.json");
    desk.write("cut.json", &json[..json.len() / 2]);
    desk.call(&["diagnose", "cut.json"]).ends_with(2).complains(&["its JSON ends too early"]);
    desk.call(&["diagnose", "nowhere.txt"]).ends_with(2).complains(&["nowhere.txt"]);
    let rows = format!("{TEXTS}/rmem.json");
    desk.call(&["diagnose", &rows, "--advise"]).ends_with(2).complains(&["looks at sockets"]);
}

#[test]
fn one_address_is_the_other_end() {
    let desk = Desk::new();
    let call = desk.call(&["diagnose", "192.0.2.1:1"]).ends_with(2);
    call.complains(&["there is no connection to 192.0.2.1:1"]);
    let call = desk.call(&["diagnose", "192.0.2.1:1", "file.txt"]).ends_with(2);
    call.complains(&["\"file.txt\" is no address with a port"]);
}
