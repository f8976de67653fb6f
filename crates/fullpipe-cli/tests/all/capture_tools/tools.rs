//! Counts of tshark, capinfos and tcptrace for a file.

use crate::capture_tools::truth::{LostAgain, Truth};
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

/// Whether the tools are there; says so where they are not.
///
/// # Panics
/// Where they must be there.
pub fn are_there() -> bool {
    let starts = |name: &str| Command::new(name).arg("-h").output().is_ok();
    let missing: Vec<_> =
        ["tshark", "capinfos", "tcptrace"].into_iter().filter(|name| !starts(name)).collect();
    let required = std::env::var("FULLPIPE_REQUIRE_CAPTURE_TOOLS").is_ok_and(|value| value == "1");
    assert!(missing.is_empty() || !required, "missing: {missing:?}");
    if !missing.is_empty() {
        println!("skipped: {} not found", missing.join(", "));
    }
    missing.is_empty()
}

fn output(program: &str, arguments: &[&str], file: &Path) -> String {
    let output = Command::new(program).args(arguments).arg(file).output().expect("it starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A packet as tshark dissects it.
#[derive(Debug)]
pub struct Packet {
    pub time: String,
    /// Whether the sender sent it.
    pub forward: bool,
    /// The sender's port.
    pub port: u16,
    /// Bytes of data.
    pub len: u64,
    /// Number of its first byte.
    pub seq: u64,
    /// Whether tshark takes it for a segment sent again, of whatever class.
    pub repeated: bool,
    pub comment: String,
}

/// Counts of tshark for a file.
pub struct Tshark {
    pub packets: Vec<Packet>,
}

const FIELDS: [&str; 14] = [
    "frame.time_epoch",
    "ip.src",
    "tcp.srcport",
    "tcp.dstport",
    "tcp.len",
    "tcp.analysis.retransmission",
    "tcp.analysis.out_of_order",
    "ip.checksum.status",
    "tcp.checksum.status",
    "_ws.malformed",
    "frame.comment",
    "tcp.analysis.ack_lost_segment",
    "frame.len",
    "tcp.seq",
];

impl Tshark {
    /// Reads a file; `whole` says that checksums can be checked.
    ///
    /// # Panics
    /// At a malformed packet, a wrong checksum, or times that go back.
    pub fn read(file: &Path, whole: bool) -> Tshark {
        let order = output("capinfos", &["-o", "-c"], file);
        assert!(order.contains("Strict time order:   True"), "{order}");
        let mut arguments = vec!["-n", "-T", "fields", "-E", "separator=|"];
        for option in ["tcp.check_checksum:TRUE", "ip.check_checksum:TRUE"] {
            arguments.extend(["-o", option]);
        }
        FIELDS.iter().for_each(|field| arguments.extend(["-e", field]));
        arguments.push("-r");
        let text = output("tshark", &arguments, file);
        let packets: Vec<Packet> = text.lines().map(|line| packet(line, whole)).collect();
        let counted = output("capinfos", &["-c", "-M", "-r", "-T"], file);
        let count = counted.trim().rsplit('\t').next().expect("a number");
        assert_eq!(count.parse(), Ok(packets.len()));
        Tshark { packets }
    }

    /// Retransmissions at the sender's cable that were dropped after it, by flow.
    pub fn lost_again(&self, truth: &Truth) -> Vec<LostAgain> {
        let count = |port, place| {
            let of = self.packets.iter().filter(|p| p.port == port && p.forward && p.repeated);
            of.filter(|p| p.comment.starts_with(&format!("dropped: {place},"))).count() as u64
        };
        let flows = (0..truth.flows.len()).map(|flow| truth.port(flow));
        let lost = |port| LostAgain {
            before_link: count(port, "loss"),
            in_link: count(port, "link"),
            new_at_link: self.new_after(port, |p| p.comment.starts_with("dropped: loss,")),
            new_at_receiver: self.new_after(port, |p| !p.comment.is_empty()),
        };
        flows.map(lost).collect()
    }
}

impl Tshark {
    /// Retransmissions that look new behind the place where some were lost: no segment from there on has passed it
    /// before.
    fn new_after(&self, port: u16, is_lost: impl Fn(&Packet) -> bool) -> u64 {
        let (mut end, mut new) = (0, 0);
        let of = self.packets.iter().filter(|p| p.port == port && p.forward && p.len > 0);
        for packet in of.filter(|p| !is_lost(p)) {
            new += u64::from(packet.repeated && packet.seq >= end);
            end = end.max(packet.seq + packet.len);
        }
        new
    }
}

fn packet(line: &str, whole: bool) -> Packet {
    let fields: Vec<&str> = line.split('|').collect();
    let [time, source, from, to, len, again, late, ip, tcp, malformed, comment, unseen, _, seq] =
        fields[..]
    else {
        panic!("{line}")
    };
    // 1: good, 0: bad, 2: not checked, 3: not there.
    let good = if whole { "1" } else { "2" };
    assert_eq!((ip, malformed), ("1", ""), "{line}");
    assert!(tcp == good || tcp == "1", "{line}");
    assert_eq!(unseen, "", "an ACK of something that was not sent: {line}");
    let forward = source == "10.0.0.1";
    Packet {
        time: time.into(),
        forward,
        port: if forward { from } else { to }.parse().expect("a port"),
        len: len.parse().expect("a length"),
        seq: seq.parse().expect("a number"),
        repeated: !again.is_empty() || !late.is_empty(),
        comment: comment.into(),
    }
}

/// Counts of tcptrace for a file: for each connection the lines about the data's and the ACKs' direction.
pub struct Tcptrace {
    connections: Vec<HashMap<String, (String, String)>>,
}

impl Tcptrace {
    /// Reads a file.
    pub fn read(file: &Path) -> Tcptrace {
        let text = output("tcptrace", &["-l", "-n"], file);
        let numbered = |part: &&str| {
            part.split_once(':').is_some_and(|(number, _)| number.parse::<u32>().is_ok())
        };
        let connections = text.split("TCP connection ").filter(numbered);
        Tcptrace { connections: connections.map(lines).collect() }
    }

    /// A number of a connection in the direction of data (0) or of ACKs (1).
    #[track_caller]
    pub fn number(&self, connection: usize, name: &str, way: usize) -> u64 {
        let (a, b) = &self.connections[connection][name];
        [a, b][way].split(' ').next().and_then(|n| n.parse().ok()).expect("a number")
    }

    /// Connections in the file.
    pub fn len(&self) -> usize {
        self.connections.len()
    }
}

/// Lines of the form "name: value name: value", the same name twice.
fn lines(connection: &str) -> HashMap<String, (String, String)> {
    let two = |line: &str| {
        let (name, rest) = line.trim().split_once(':')?;
        let (a, b) = rest.split_once(&format!("{name}:"))?;
        Some((name.to_string(), (a.trim().to_string(), b.trim().to_string())))
    };
    connection.lines().filter_map(two).collect()
}
