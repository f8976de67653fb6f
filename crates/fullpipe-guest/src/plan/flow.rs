//! Connections of a plan, and the work of programs on them.

use serde::{Deserialize, Serialize};

/// A connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// Whether the receiver connects to the sender, and sends its data there: then "sender" and "receiver" below
    /// are these ends of the flow, not the hosts.
    #[serde(default)]
    pub backward: bool,
    /// The flow that this one answers. The answers go back in the other flow's connection, a message after each message
    /// of the other has been read.
    #[serde(default)]
    pub answers: Option<usize>,
    /// Messages of a program that asks or answers; none: each is one write, and one is without an answer.
    #[serde(default)]
    pub messages: Option<Messages>,
    /// Congestion control of the sender (TCP_CONGESTION).
    pub congestion: String,
    /// SO_SNDBUF as given to setsockopt, beyond `wmem_max` if need be; none: not set.
    pub sndbuf: Option<u64>,
    /// SO_RCVBUF, the same.
    pub rcvbuf: Option<u64>,
    /// Other options of the sender's socket: name as in socket(7), tcp(7) and ip(7), value.
    pub sender_options: Vec<(String, i64)>,
    /// Other options of the receiver's socket: name, value.
    pub receiver_options: Vec<(String, i64)>,
    /// TCP_QUICKACK as the receiver's program sets it after each read; none: it does not.
    #[serde(default)]
    pub quickack: Option<i32>,
    /// When it connects, ns from the run's start.
    pub start_ns: u64,
    /// The connection that has to be over before; none: it connects at `start_ns`.
    #[serde(default)]
    pub after: Option<After>,
    /// Whether another one waits for its end: then the receiver closes its end when it has read all.
    #[serde(default)]
    pub is_followed: bool,
    /// Stop writing after this many bytes.
    pub bytes: Option<u64>,
    /// Stop writing this long after `start_ns`, ns.
    pub duration_ns: Option<u64>,
    /// Bytes of one write.
    pub write: u32,
    /// Bits per second that it writes at most; none: as much as the buffer takes.
    pub rate: Option<u64>,
    /// Pace of the receiver's reads; none: all data, at once.
    #[serde(default)]
    pub reader: Option<Reader>,
    /// Whether the data is moved by the plainest program, with write(2) and read(2): the standard for the engine's
    /// cost. It writes until the run ends.
    #[serde(default)]
    pub plain: bool,
}

/// The connection before a flow, which the same program has opened and closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct After {
    /// Number of its flow.
    pub flow: usize,
    /// Time from its end to the next connect(), ns.
    pub pause_ns: u64,
    /// No connection begins then or later, ns from the run's start; none: the run's end.
    pub until_ns: Option<u64>,
}

impl After {
    /// When the next connection begins if the one before it is over at `over`, ns; none: the loop has ended.
    #[must_use]
    pub fn begins(&self, over: u64) -> Option<u64> {
        let at = over.saturating_add(self.pause_ns);
        self.until_ns.is_none_or(|until| at < until).then_some(at)
    }
}

/// Messages of a program that asks, that answers, or that expects no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Messages {
    /// Bytes of a message, 1 or more.
    pub size: u64,
    /// Messages that may be without an answer at a time, 1 or more.
    pub in_flight: u32,
    /// Message n begins this many times n after the flow's start, ns, or later; 0: as soon as it may.
    #[serde(default)]
    pub period_ns: u64,
    /// The program sets TCP_CORK before a message, and clears it behind its last write.
    #[serde(default)]
    pub corks: bool,
}

impl Flow {
    /// Messages of a program that asks or answers.
    #[must_use]
    pub fn messages(&self) -> Messages {
        self.messages.unwrap_or(Messages {
            size: self.write.into(),
            in_flight: 1,
            period_ns: 0,
            corks: false,
        })
    }
}

/// An application that reads at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reader {
    /// Bits per second, 1 or more. The program works on the bytes of each read for their time at this rate, before the
    /// next one.
    pub rate: u64,
    /// Most bytes of one read.
    pub read: u32,
}
