//! Programs of a run: the data that they offer, and how they read.

use super::show;
use fullpipe_base::units::{Rate, Time};
use serde::Serialize;

/// Load of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum App {
    /// As much data as the send buffer takes.
    Bulk,
    /// At most a rate of payload.
    Rate {
        /// The rate.
        #[serde(serialize_with = "show::shown")]
        rate: Rate,
    },
    /// The kernel's NFS client or server, as an entry of `nfs` says.
    Nfs,
    /// As much data as the send buffer takes, with pauses.
    #[serde(rename = "on-off")]
    OnOff {
        /// Time for which it writes.
        #[serde(serialize_with = "show::shown")]
        on: Time,
        /// Length of the pause after it.
        #[serde(serialize_with = "show::shown")]
        off: Time,
    },
    /// Messages of a program that asks, that answers, or that expects no answer.
    Messages {
        /// Bytes of a message.
        #[serde(serialize_with = "show::whole_size")]
        size: u64,
        /// Messages that may be without an answer at a time.
        in_flight: u32,
        /// Least time from the beginning of a message to that of the next one; none: each as soon as it may.
        #[serde(serialize_with = "show::time", skip_serializing_if = "Option::is_none")]
        period: Option<Time>,
        /// The program corks the socket before a message, and uncorks it behind its last write (TCP_CORK).
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        cork: bool,
    },
}

/// An application that reads at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Reader {
    /// Rate of payload: after each read the program works on the bytes for their time at this rate.
    #[serde(serialize_with = "show::shown")]
    pub rate: Rate,
    /// Most bytes of one read.
    #[serde(serialize_with = "show::write_size")]
    pub read: u32,
}

/// A program that reads datagrams at its own pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DatagramReader {
    /// Rate of payload: the program works on each datagram for its time at this rate; none: no time.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "show::rate")]
    pub rate: Option<Rate>,
    /// Time for which it reads, from the datagrams' start on and again after each pause; with `off` or not at all.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "show::time")]
    pub on: Option<Time>,
    /// Length of a pause.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "show::time")]
    pub off: Option<Time>,
}
