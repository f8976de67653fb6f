//! The twin as values, and the scenario file that they make.

use super::known::{Known, Value};
use crate::base::units::{Framing, Rate, Time};

use std::fmt::Write;

/// A connection, its path and its hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct Sketch {
    /// Both ends of the connection.
    pub connection: String,
    /// Rate of the bottleneck, of the wire.
    pub rate: Known<Rate>,
    /// Queue in front of it, packets.
    pub queue: Known<u64>,
    /// Largest IP packet, bytes.
    pub mtu: Known<u32>,
    /// Round trip without queues.
    pub rtt: Known<Time>,
    /// Probability that a segment is lost by chance.
    pub loss: Option<Known<f64>>,
    /// Kernels of the sending and the receiving host.
    pub kernels: [Known<String>; 2],
    /// Whether both use timestamps.
    pub timestamps: Known<bool>,
    /// Sysctls of both hosts that turn an option off.
    pub options: Vec<(&'static str, Known<bool>)>,
    /// The send buffer.
    pub send: Buffer,
    /// The receive buffer.
    pub receive: Buffer,
    /// Qdisc of the sender, in the scenario's words; none: as the profile has it.
    pub qdisc: Known<Option<String>>,
    /// Rate of the sender's card.
    pub card: Known<Rate>,
    /// Congestion control.
    pub congestion: Known<String>,
    /// Pace that the program asked for, bytes of payload per second.
    pub pace: Option<Known<u64>>,
    /// The program that writes; none: as much as it can.
    pub writer: Option<Known<Writer>>,
    /// Rate at which the program reads; none: as fast as data comes.
    pub reader: Option<Known<Rate>>,
    /// Parallel flows.
    pub flows: Known<u32>,
    /// Life of the flows.
    pub lasts: Known<Time>,
}

/// A program that writes less than it could.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writer {
    /// Payload.
    pub rate: Rate,
    /// Bytes of one write.
    pub write: u64,
}

/// A socket buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// `net.ipv4.tcp_wmem` or `tcp_rmem`; none: the default of the profile.
    pub tuned: Known<Option<[u64; 3]>>,
    /// Bytes that the program asked for.
    pub asked: Option<Known<u64>>,
    /// `net.core.wmem_max` or `rmem_max`.
    pub most: Option<Known<u64>>,
}

impl Buffer {
    /// Bytes of memory that bound it; none where the default of the profile does.
    pub fn bound(&self) -> Option<u64> {
        let tuned = self.tuned.value.map(|own| own[2]);
        self.asked.as_ref().map_or(tuned, |own| Some(2 * own.value))
    }

    /// Lets so many bytes of memory bound it, for that reason.
    pub fn set_bound(&mut self, bytes: u64, why: String) {
        match (&mut self.asked, self.tuned.value) {
            (Some(asked), _) => *asked = Known::derived((bytes / 2).max(1), why),
            (None, Some([least, first, most])) => {
                // A buffer that nothing tunes stays so.
                let first = if first == most { bytes } else { first.min(bytes) };
                let tuned = [least.min(bytes), first, bytes];
                self.tuned = Known::derived(Some(tuned), why);
            }
            (None, None) => {}
        }
    }

    /// The lines of a sysctl and of its bound.
    fn lines(&self, host: &'static str, which: &str) -> Vec<Line> {
        let three = |own: [u64; 3]| format!("\"{} {} {}\"", own[0], own[1], own[2]);
        let tuned = self.tuned.clone().map(|own| own.map(three));
        let mut lines = vec![Line::of(host, format!("sysctl.\"net.ipv4.tcp_{which}\""), tuned)];
        lines.extend(self.most.clone().map(|own| {
            let value = own.map(|bytes| Some(bytes.to_string()));
            Line::of(host, format!("sysctl.\"net.core.{which}_max\""), value)
        }));
        lines
    }
}

/// A key of the scenario file.
struct Line {
    table: &'static str,
    key: String,
    known: Known<Option<String>>,
}

impl Line {
    fn of(table: &'static str, key: impl Into<String>, known: Known<Option<String>>) -> Line {
        Line { table, key: key.into(), known }
    }
}

const PATH: &str = "path";
const SENDER: &str = "hosts.sender";
const RECEIVER: &str = "hosts.receiver";
const FLOW: &str = "flow";

/// A text as TOML.
fn quoted(text: impl std::fmt::Display) -> Option<String> {
    Some(format!("\"{text}\""))
}

impl Sketch {
    /// Packets that the path holds without a queue.
    pub fn product(&self) -> f64 {
        let packet = f64::from(self.mtu.value + Framing::EthernetWire.overhead());
        self.rate.value.0 as f64 / 8.0 * self.rtt.value.as_secs_f64() / packet
    }

    fn lines(&self) -> Vec<Line> {
        let (rtt, there) = (self.rtt.value, Time(self.rtt.value.0 / 2));
        let delay =
            format!("{{ forward = \"{there}\", back = \"{}\" }}", rtt.saturating_sub(there));
        let mut lines = vec![
            Line::of(PATH, "rate", self.rate.clone().map(quoted)),
            Line::of(PATH, "mtu", self.mtu.clone().map(|own| Some(own.to_string()))),
            Line::of(PATH, "delay", self.rtt.clone().map(|_| Some(delay))),
            Line::of(
                PATH,
                "queue",
                self.queue.clone().map(|own| Some(format!("{{ limit = \"{own} packets\" }}"))),
            ),
        ];
        lines.extend(
            self.loss
                .clone()
                .map(|own| Line::of(PATH, "loss", own.map(|loss| Some(format!("{loss:.6}"))))),
        );
        for (at, host) in [SENDER, RECEIVER].into_iter().enumerate() {
            lines.push(Line::of(host, "kernel", self.kernels[at].clone().map(quoted)));
            let timestamps = self.timestamps.clone();
            if !timestamps.value {
                let value = timestamps.map(|_| Some("false".into()));
                lines.push(Line::of(host, "timestamps", value));
            }
            if at == 0 {
                lines.push(Line::of(host, "qdisc", self.qdisc.clone()));
                lines.push(Line::of(host, "nic_rate", self.card.clone().map(quoted)));
            }
            let (buffer, which) =
                if at == 0 { (&self.send, "wmem") } else { (&self.receive, "rmem") };
            lines.extend(buffer.lines(host, which));
            lines.extend(self.options.iter().map(|(name, own)| {
                let value = own.clone().map(|own| Some(u8::from(own).to_string()));
                Line::of(host, format!("sysctl.\"{name}\""), value)
            }));
        }
        lines.push(Line::of(FLOW, "congestion", self.congestion.clone().map(quoted)));
        lines.push(Line::of(FLOW, "count", self.flows.clone().map(|own| Some(own.to_string()))));
        lines.push(Line::of(FLOW, "duration", self.lasts.clone().map(quoted)));
        let bytes = |own: Known<u64>| own.map(|bytes| quoted(format!("{bytes}B")));
        lines.extend(self.send.asked.clone().map(|own| Line::of(FLOW, "sndbuf", bytes(own))));
        lines.extend(self.receive.asked.clone().map(|own| Line::of(FLOW, "rcvbuf", bytes(own))));
        lines.extend(self.pace.clone().map(|own| {
            let value = own.map(|pace| Some(format!("{{ SO_MAX_PACING_RATE = {pace} }}")));
            Line::of(FLOW, "sockopt", value)
        }));
        if let Some(writer) = &self.writer {
            let Writer { rate, write } = writer.value;
            let app = format!("{{ kind = \"rate\", rate = \"{rate}\" }}");
            lines.push(Line::of(FLOW, "app", writer.clone().map(|_| Some(app))));
            lines.push(Line::of(
                FLOW,
                "write",
                writer.clone().map(|_| quoted(format!("{write}B"))),
            ));
        }
        lines.extend(self.reader.clone().map(|own| {
            let value = own.map(|rate| Some(format!("{{ rate = \"{rate}\" }}")));
            Line::of(FLOW, "reader", value)
        }));
        lines
    }

    /// Every value with its origin.
    pub fn values(&self) -> Vec<Value> {
        let lines = self.lines().into_iter();
        let value = |own: Line| Value {
            key: format!("{}.{}", own.table, own.key),
            value: own.known.value,
            origin: own.known.origin,
            why: own.known.why,
        };
        lines.map(value).collect()
    }

    /// The scenario file.
    pub fn text(&self) -> String {
        let mut out = format!(
            "# Twin of a connection: {}.\n\
             #   fullpipe run FILE       run it\n\
             #   fullpipe advise FILE    what to set, and the proof\n\
             # Comments say where each value comes from.\n\n\
             title = \"Twin of {}\"\nseed = 1\n",
            self.connection, self.connection
        );
        let mut table = "";
        for line in self.lines() {
            // Writing to a string cannot fail.
            if line.table != table {
                table = line.table;
                let _ = match table {
                    FLOW => write!(out, "\n[[flow]]\nname = \"bulk\"\n"),
                    _ => write!(out, "\n[{table}]\n"),
                };
            }
            let Known { value, origin, why } = line.known;
            let _ = match value {
                Some(value) => {
                    write!(out, "# {}: {why}\n{} = {value}\n", origin.word(), line.key)
                }
                None => writeln!(out, "# {} {}: {why}", line.key, origin.word()),
            };
        }

        // Flows that start in one moment would lose packets together.
        if self.flows.value > 1 {
            let spread = self.rtt.value.max(Time::ms(10));
            let _ = write!(out, "\n[repeat]\nstart_jitter = \"{spread}\"\n");
        }
        out
    }
}
