//! Programs on connections: their load, their reads, and connections that they open one after another.

use super::{AppKind, KERNEL_INT, Program};
use crate::format::context::Context;
use crate::format::keys::Default::{Absent, Is, Required};
use crate::format::keys::{Kind, Read, Section, group};
use crate::format::node::Node;
use crate::format::special::read_short;
use crate::format::values::{AnyRate, AnyTime, InSize, Int, Quantity, SomeTime};

group! {
    /// An application, by the data that it offers.
    AppTable "an app" {
        /// "bulk": as much as the send buffer takes. "rate": at most a rate. "on-off": as much as goes for a time, and nothing for another one.
        /// "window": no more than the program at the other end allows, as SSH channels and HTTP/2 streams do. "requests": answers to requests, of which
        /// the program at the other end keeps a number in flight, as SFTP does. "messages": what a flow sends that is answered, or that answers.
        kind: AppKind, Absent("\"window\" where `window` is written, \"requests\" where `requests` is, as `program` says, else \"bulk\"");
        /// The rate of payload, where the kind is "rate".
        rate: AnyRate, Absent("none");
        /// How long it writes, where the kind is "on-off": from the flow's start on, and again after each pause. A write
        /// that is begun is finished. Simulator only.
        on: SomeTime, Absent("none");
        /// How long it pauses, where the kind is "on-off".
        off: SomeTime, Absent("none");
        /// Bytes that the program may send before the program at the other end allows more, where the kind is "window". What allows more is a flow
        /// of its own, NAME-credits, with messages of 64 bytes.
        window: MessageSize, Absent("none");
        /// Requests without an answer, where the kind is "requests". They are a flow of their own, NAME-requests, with messages of 64 bytes.
        requests: Int<1, 1_000_000>, Absent("none");
        /// Bytes of a message. "window": of what is read before more is allowed. "requests": of an answer.
        size: MessageSize, Absent("window: half of it; requests: 32KiB; messages: one write");
        /// Messages that may be without an answer at a time, where the kind is "messages" and another flow answers. It counts for the program that asks.
        in_flight: Int<1, 1_000_000>, Absent("1");
        /// Time from the beginning of a message to that of the next one, where the kind is "messages". A message that has to wait for an answer is
        /// late, and those after it follow as soon as they may. It counts for the program that asks.
        period: SomeTime, Absent("none: each message as soon as it may");
        /// Whether the program sets TCP_CORK before each message and clears it behind its last write, where the kind is "messages": a message in several
        /// writes leaves in full segments.
        cork: bool, Absent("false");
        /// A well-known program, which sets the window or the requests.
        program: Program, Absent("none");
    }
}

/// Bytes of an application's message.
pub type MessageSize = Quantity<InSize, 1, 1_099_511_627_776>;

/// Load of the application; its kind alone, or a table.
#[derive(Clone, Debug)]
pub struct ShortApp(pub AppTable);

impl Read for ShortApp {
    const KIND: Kind = Kind::Short { group: AppTable::GROUP, short: "kind" };
    fn read(node: &Node, key: &str, cx: &mut Context) -> Option<Self> {
        read_short(node, key, "kind", cx).map(ShortApp)
    }
}

group! {
    /// The connection before a flow. A connection is over when the other host has acknowledged its last byte and its end.
    After "a flow before" {
        /// Its name.
        flow: String, Required;
        /// Time from its end to the next connect().
        pause: AnyTime, Is("0s");
        /// No connection begins at this moment or later.
        until: SomeTime, Absent("the run's end");
    }
}

group! {
    /// A loop of connections. With a flow's `count` so many loops run side by side. Connections of a loop find what the kernel remembers of those before them
    /// (`net.ipv4.tcp_no_metrics_save`). Connections that do not begin before `until` or the run's end are left out of the results.
    Again "a loop" {
        /// Connections of a loop.
        count: Int<1, 1000>, Is("100");
        /// Time from the end of a connection to the next connect().
        pause: AnyTime, Is("0s");
        /// No connection begins at this moment or later.
        until: SomeTime, Absent("the run's end");
    }
}

group! {
    /// An application that reads at a rate: after each read it works on what it got for as long as the rate says. What
    /// comes meanwhile waits in the receive buffer, and when that is full, the sender waits.
    Reader "a reader" {
        /// The rate of payload.
        rate: AnyRate, Required;
        /// Most that one read takes.
        read: Quantity<InSize, 1, { KERNEL_INT }>, Is("64KiB");
    }
}

group! {
    /// A program that reads datagrams at its own pace: at a rate, with pauses, or both. What comes meanwhile waits in the
    /// socket, and when that is full, it is dropped.
    DatagramReader "a reader of datagrams" {
        /// The rate of payload: after each datagram it works on it for as long as the rate says.
        rate: AnyRate, Absent("it works on none");
        /// How long it reads: from the datagrams' `start` on, and again after each pause. A read that is begun is finished.
        on: SomeTime, Absent("always, where there is no `off`");
        /// How long it pauses.
        off: SomeTime, Absent("none, where there is no `on`");
    }
}
