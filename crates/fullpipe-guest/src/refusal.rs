//! Values of the plan that the kernel may refuse: the body of a [`crate::record::REFUSED`].

use std::fmt;

use serde::{Deserialize, Serialize};

/// A value that the kernel refuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The refused value.
    pub asked: Asked,
    /// The kernel's error in words, with its number.
    pub said: String,
}

/// A value that the kernel may refuse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// A sysctl.
    Sysctl {
        /// Owner of the sysctl.
        of: Whose,
        /// Path below /proc/sys.
        name: String,
        /// Value as it was written.
        value: String,
    },
    /// A socket option.
    Option {
        /// Index of the flow.
        flow: usize,
        /// Owner of the socket.
        role: Role,
        /// Name as in socket(7), tcp(7) and ip(7).
        name: String,
        /// Its value.
        value: i64,
    },
    /// A congestion control.
    Congestion {
        /// Index of the flow.
        flow: usize,
        /// Its name.
        name: String,
    },
}

/// Owner of a sysctl.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whose {
    /// The whole kernel.
    Kernel,
    /// The network namespace of a host.
    Host(Role),
    /// The network namespace of the extra host of that number.
    Beside(usize),
    /// The network namespace of a router.
    Router,
}

/// An end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The end that sends data.
    Sender,
    /// The end that sends ACKs.
    Receiver,
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Asked::Sysctl { name, value, .. } => write!(f, "sysctl {name} = {value}"),
            Asked::Option { name, value, .. } => write!(f, "socket option {name} = {value}"),
            Asked::Congestion { name, .. } => write!(f, "congestion control {name}"),
        }
    }
}
