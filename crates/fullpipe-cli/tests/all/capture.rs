//! `fullpipe run --pcap`: files, points, messages on wrong points.

use crate::common::guests::signal;
use crate::common::{Call, Desk, SHORT};
use std::process::Child;
use std::time::{Duration, Instant};

const RUN: [&str; 6] = ["run", "short.toml", "--out", "out", "--pcap", "a.pcapng"];

fn bytes(desk: &Desk, name: &str) -> Vec<u8> {
    std::fs::read(desk.path(name)).expect("a capture")
}

/// Types of the blocks of a pcapng file, which must be whole.
fn blocks(file: &[u8]) -> Vec<u32> {
    let number = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"));
    let (mut at, mut kinds) = (0, Vec::new());
    while at < file.len() {
        let length = number(at + 4) as usize;
        assert_eq!(number(at + length - 4) as usize, length, "block {} at {at}", kinds.len());
        kinds.push(number(at));
        at += length;
    }
    kinds
}

#[test]
fn a_capture_is_whole_blocks_and_equal_for_equal_runs() {
    let desk = Desk::with_short();
    let call = desk.call(&RUN).ends_with(0).complains(&["capture: a.pcapng"]);
    let kinds = blocks(&bytes(&desk, "a.pcapng"));
    assert_eq!(kinds[..2], [0x0A0D_0D0A, 1]);
    let packets = kinds.iter().filter(|&&kind| kind == 6).count();
    assert_eq!(packets, kinds.len() - 3);
    assert!(call.stderr.contains(&format!("({packets} packets)")), "{}", call.stderr);
    desk.call(&["run", "short.toml", "--out", "again", "--pcap", "b.pcapng"]).ends_with(0);
    assert!(bytes(&desk, "a.pcapng") == bytes(&desk, "b.pcapng"));
    assert_eq!(desk.names("."), ["a.pcapng", "again", "b.pcapng", "out", "short.toml"]);
}

#[test]
fn a_capture_changes_nothing_in_the_result() {
    let desk = Desk::with_short();
    let plain = desk.call(&["run", "short.toml", "--out", "plain", "--json"]).ends_with(0);
    for at in ["sender-qdisc", "sender-wire", "link", "delay", "receiver"] {
        let file = format!("{at}.pcap");
        let with = ["run", "short.toml", "--out", at, "--json", "--pcap", &file, "--at", at];
        assert!(desk.call(&with).ends_with(0).stdout == plain.stdout, "{at}");
    }
}

#[test]
fn captures_are_never_overwritten() {
    let desk = Desk::with_short();
    desk.write("a.pcapng", "mine");
    desk.call(&RUN).ends_with(2).complains(&["a.pcapng", "already", "name a new file"]);
    assert_eq!(desk.names("."), ["a.pcapng", "short.toml"]);
    assert_eq!(desk.read("a.pcapng"), "mine");
    let nowhere = ["run", "short.toml", "--pcap", "no/a.pcapng"];
    desk.call(&nowhere).ends_with(3).complains(&["no/a.pcapng", "cannot be written"]);
}

#[test]
fn of_several_runs_each_has_its_file() {
    let desk = Desk::new();
    let variants = "\n[[variant]]\nname = \"a b\"\n[[variant]]\nname = \"c\"\n";
    desk.write("short.toml", &format!("{SHORT}{variants}"));
    desk.call(&RUN).ends_with(0).complains(&["a-a-b.pcapng", "a-c.pcapng"]);
    assert_eq!(desk.names("."), ["a-a-b.pcapng", "a-c.pcapng", "out", "short.toml"]);
    let one = ["run", "short.toml", "--out", "one", "--variant", "c", "--pcap", "c.pcapng"];
    desk.call(&one).ends_with(0);
    assert!(bytes(&desk, "c.pcapng") == bytes(&desk, "a-c.pcapng"));
}

#[test]
fn unknown_points_are_refused_with_those_there_are() {
    let desk = Desk::with_short();
    let wrong = ["run", "short.toml", "--pcap", "a.pcapng", "--at", "lnik"];
    desk.call(&wrong).ends_with(2).complains(&["lnik", "sender-qdisc", "receiver", "link, delay"]);
    desk.call(&["run", "short.toml", "--at", "link"]).ends_with(2).complains(&["--pcap"]);
    assert_eq!(desk.names("."), ["short.toml"]);
}

#[test]
fn the_snap_length_bounds_what_is_kept() {
    let desk = Desk::with_short();
    let size = |snap: &str| {
        let (file, out) = (format!("{snap}.pcap"), format!("out{snap}"));
        let run = ["run", "short.toml", "--out", &out, "--pcap", &file, "--snap", snap];
        desk.call(&run).ends_with(0);
        bytes(&desk, &file).len()
    };
    let (least, headers, whole) = (size("94"), size("128"), size("0"));
    assert!(least < headers && headers * 4 < whole, "{least} {headers} {whole}");
    let cut = ["run", "short.toml", "--out", "cut", "--pcap", "cut.pcap", "--snap", "93"];
    desk.call(&cut).ends_with(2).complains(&["93", "at least 94 bytes", "headers"]);
    assert!(!desk.names(".").iter().any(|name| name.starts_with("cut")));
}

#[test]
fn standard_output_takes_one_capture_and_nothing_else() {
    let desk = Desk::with_short();
    desk.call(&RUN).ends_with(0);
    let run = |more: &[&str]| {
        let mut command = desk.command(&[&["run", "short.toml", "--pcap", "-"], more].concat());
        command.output().expect("the program starts")
    };
    let output = run(&[]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(output.stdout == bytes(&desk, "a.pcapng"));
    assert!(text.contains("capture: standard output (") && text.contains("held back by"), "{text}");
    assert_eq!(desk.names("."), ["a.pcapng", "fullpipe-results", "out", "short.toml"]);

    let both = run(&["--json"]);
    assert_eq!((both.status.code(), both.stdout.len()), (Some(2), 0));
    assert!(String::from_utf8_lossy(&both.stderr).contains("--json"));
    let variants = "\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"c\"\n";
    desk.write("short.toml", &format!("{SHORT}{variants}"));
    let two = run(&[]);
    assert_eq!((two.status.code(), two.stdout.len()), (Some(2), 0));
    assert!(String::from_utf8_lossy(&two.stderr).contains("--variant"));
    assert!(run(&["--variant", "c"]).stdout.len() > 1000);
}

#[test]
fn a_reader_of_a_capture_may_leave_early() {
    let desk = Desk::with_short();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = desk.command(&["run", "short.toml", "--out", "out", "--pcap", "-"]);
    let child = command.stdout(writer).stderr(std::process::Stdio::piped()).spawn();
    let call = Call::wait(child.expect("the program starts")).ends_with(0);
    let cause = "capture: the reader of standard output closed it before the end";
    let call = call.complains(&["held back by", cause]);
    assert!(!call.stderr.contains(" packets)"), "{}", call.stderr);
    assert!(desk.names("out").contains(&"summary.json".to_string()));
}

#[test]
fn link_is_the_element_with_a_queue() {
    let desk = Desk::new();
    let written = |elements: &str| {
        let path = format!(
            "[path]\nforward = [{elements}]\nback = [{{ kind = \"delay\", name = \"home\", delay = \"5ms\" }}]\n"
        );
        let start = SHORT.find("[path]").expect("a path");
        let end = SHORT.find("[hosts.sender]").expect("hosts");
        desk.write("short.toml", &format!("{}{path}{}", &SHORT[..start], &SHORT[end..]));
    };
    let at = |point: &str, out: &str| {
        let file = format!("{out}.pcapng");
        desk.call(&["run", "short.toml", "--out", out, "--pcap", &file, "--at", point])
    };
    let delay = r#"{ kind = "delay", name = "far", delay = "5ms" }"#;
    let link = |name: &str, rate: &str| {
        format!(r#"{{ kind = "link", name = "{name}", rate = "{rate}" }}"#)
    };
    written(&format!("{delay}, {}", link("router", "100Mbit")));
    at("link", "one").ends_with(0);
    at("router", "same").ends_with(0);
    let packets = |name: &str| blocks(&bytes(&desk, name)).len();
    assert_eq!(packets("one.pcapng"), packets("same.pcapng"));
    let cell = r#"{ kind = "trace-link", name = "cell", opportunities = [0, 1] }"#;
    written(&format!("{delay}, {cell}"));
    at("link", "cell").ends_with(0);
    at("home", "back").ends_with(2).complains(&["home, which is on the way back", "far, cell"]);
    let policer = r#"{ kind = "policer", name = "police", rate = "90Mbit", burst = "1MB" }"#;
    written(&format!("{delay}, {policer}, {}", link("router", "100Mbit")));
    at("link", "policed").ends_with(0);
    at("router", "named").ends_with(0);
    assert!(blocks(&bytes(&desk, "policed.pcapng")) == blocks(&bytes(&desk, "named.pcapng")));
    written(&format!(
        "{delay}, {policer}, {}, {}",
        link("access", "1Gbit"),
        link("router", "100Mbit")
    ));
    let call = at("link", "two").ends_with(2);
    call.complains(&["could be any of access, router", "--at access"]);
    written(delay);
    at("link", "none")
        .ends_with(2)
        .complains(&["has a queue", "sender-wire, receiver, receiver-wire, far"]);
    written(&format!("{delay}, {policer}"));
    at("link", "alone").ends_with(2).complains(&["has a queue", "far, police"]);
}

/// Begins a run that would take very long, and waits for the capture in which it is.
fn start_long(desk: &Desk, out: &str) -> Running {
    let run = ["run", "short.toml", "--out", out, "--pcap", "a.pcapng"];
    let long = ["--set", "flow.bulk.duration=864000s"];
    let running = Running(Some(desk.start(&[&run[..], &long].concat())));
    let begun = Instant::now();
    // The file's size separates the capture from the check before the run. The directory of the results has one, too.
    let own = format!(".pcapng.{}.tmp", running.id());
    let grown = |name: &String| name.ends_with(&own) && bytes_on_disk(desk, name) > 0;
    while !hidden(desk).iter().any(grown) {
        assert!(begun.elapsed() < Duration::from_secs(30), "the capture does not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
    running
}

/// A call in progress; it does not outlive the test.
struct Running(Option<Child>);

impl Running {
    fn id(&self) -> u32 {
        self.0.as_ref().expect("it is under way").id()
    }

    /// Waits for its end.
    fn wait(mut self) -> Call {
        Call::wait(self.0.take().expect("it is under way"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn bytes_on_disk(desk: &Desk, name: &str) -> u64 {
    desk.path(name).metadata().map_or(0, |about| about.len())
}

/// Hidden files of the desk: captures and results.
fn hidden(desk: &Desk) -> Vec<String> {
    desk.names(".").into_iter().filter(|name| name.starts_with('.')).collect()
}

fn captures(desk: &Desk) -> Vec<String> {
    hidden(desk).into_iter().filter(|name| name.contains(".pcapng.")).collect()
}

#[test]
fn what_a_killed_capture_left_goes_at_the_next_start() {
    let desk = Desk::with_short();
    drop(start_long(&desk, "killed"));
    // not ours: another program's, another capture's, one that is still locked
    let [no_process, other, directory, held] = [
        ".a.pcapng.tmp",
        ".b.pcapng.1073741824.tmp",
        ".a.pcapng.1073741825.tmp",
        ".a.pcapng.1073741824.tmp",
    ];
    for file in [no_process, other, held] {
        desk.write(file, "");
    }
    std::fs::create_dir(desk.path(directory)).expect("a directory");
    let lock = std::fs::File::open(desk.path(held)).expect("a file");
    lock.lock().expect("a lock");
    let alive = start_long(&desk, "alive");
    let stays = captures(&desk);
    let living = format!(".a.pcapng.{}.tmp", alive.id());
    assert_eq!(stays.len(), 5, "{stays:?}");
    assert!(stays.contains(&living), "{stays:?}");
    desk.call(&RUN).ends_with(0);
    assert_eq!(captures(&desk), stays);
    // A child that another test has just forked has the file too, until it is another program.
    lock.unlock().expect("no lock");
    drop(alive);
    std::fs::remove_file(desk.path("a.pcapng")).expect("a capture");
    desk.call(&["run", "short.toml", "--out", "more", "--pcap", "a.pcapng"]).ends_with(0);
    let mut left = [no_process, other, directory];
    left.sort_unstable();
    assert_eq!(captures(&desk), left);
}

#[test]
fn a_signal_keeps_whole_blocks() {
    let desk = Desk::with_short();
    let running = start_long(&desk, "out");
    std::thread::sleep(Duration::from_millis(300));
    signal(running.id(), "INT");
    running.wait().ends_with(130).complains(&["stopping", "capture: a.pcapng"]);
    assert_eq!(desk.names("."), ["a.pcapng", "out", "short.toml"]);
    let kinds = blocks(&bytes(&desk, "a.pcapng"));
    assert!(kinds.len() > 100 && kinds.last() == Some(&5));
}
