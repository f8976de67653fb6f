//! A change: one setting with today's value, the advised one, its reason, and how an administrator makes it.

use super::edit::Edit;
use fullpipe_base::path::Direction;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who has to make a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// The administrator of the hosts at the sender's end; within a search, where the data comes from.
    Sender,
    /// The administrator of the hosts at the receiver's end; within a search, where the data goes to.
    Receiver,
    /// Whoever runs or writes the program.
    Application,
    /// Whoever runs the network.
    Path,
}

impl Scope {
    /// The scope at the other end of the path, where data goes from the receiver to the sender. A search sees the ends as
    /// data does, a user as the scenario names them.
    pub(super) fn seen(self, direction: Direction) -> Scope {
        match (self, direction) {
            (Scope::Sender, Direction::Backward) => Scope::Receiver,
            (Scope::Receiver, Direction::Backward) => Scope::Sender,
            (own, _) => own,
        }
    }
}

/// Weight of a change, lightest first; changes are taken away in this order.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Rank {
    /// A switch, a ring, an offload.
    Cosmetic,
    /// A larger buffer.
    Size,
    /// Another number of flows, or another congestion control.
    Method,
    /// A pace.
    Pace,
}

/// Way to make a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "way", rename_all = "kebab-case")]
pub enum How {
    /// A sysctl.
    Sysctl {
        /// The kernel's dotted name.
        name: String,
        /// Value as `sysctl -w` takes it.
        value: String,
    },
    /// A socket option of the program.
    SocketOption {
        /// Name, such as SO_SNDBUF.
        name: String,
        /// Value that the program passes; none: it does not set the option.
        value: Option<u64>,
    },
    /// A command for a device; DEV stands for its name.
    Device {
        /// The command, such as `ethtool -G DEV rx 4096`.
        command: String,
        /// Line of systemd's `[Link]` section that says the same.
        link: String,
    },
    /// `tc qdisc replace dev DEV root` with these words.
    Qdisc {
        /// The words.
        words: String,
    },
    /// `ip route change ROUTE` with these words.
    Route {
        /// The words.
        words: String,
    },
    /// An option of the program, in words.
    Program {
        /// The words.
        words: String,
    },
    /// An option of `mount`.
    Mount {
        /// The option.
        words: String,
    },
    /// A command of a host that is not Linux.
    System {
        /// The command.
        command: String,
        /// Command that restores the value from before.
        undo: String,
    },
    /// Something of the path, in words.
    Path {
        /// The words.
        words: String,
    },
}

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// The setting, as its file or tool calls it.
    pub setting: String,
    /// Name of the host, flow or element that has it.
    pub whose: String,
    /// Who makes the change.
    pub scope: Scope,
    /// When it is taken away.
    pub rank: Rank,
    /// Today's value.
    pub today: String,
    /// The advised value.
    pub advised: String,
    /// Reason, one sentence.
    pub why: String,
    /// Way to make it.
    pub how: How,
    /// Edits of the scenario that it stands for.
    pub edits: Vec<Edit>,
}

impl Change {
    /// A light change without values and reason.
    pub fn new(setting: &str, whose: &str, scope: Scope, how: How) -> Change {
        Change {
            setting: setting.into(),
            whose: whose.into(),
            scope,
            rank: Rank::Cosmetic,
            today: String::new(),
            advised: String::new(),
            why: String::new(),
            how,
            edits: Vec::new(),
        }
    }

    /// Change with today's value and the advised one.
    pub fn values(self, today: impl ToString, advised: impl ToString) -> Change {
        Change { today: today.to_string(), advised: advised.to_string(), ..self }
    }

    /// Change with its reason.
    pub fn why(self, why: impl Into<String>) -> Change {
        Change { why: why.into(), ..self }
    }

    /// Change with the time at which it is taken away.
    pub fn rank(self, rank: Rank) -> Change {
        Change { rank, ..self }
    }

    /// Change with its edits of the scenario.
    pub fn edits(self, edits: impl IntoIterator<Item = Edit>) -> Change {
        Change { edits: edits.into_iter().collect(), ..self }
    }

    /// Whether it puts several flows in the place of one.
    pub fn has_copies(&self) -> bool {
        self.edits.iter().any(|edit| matches!(edit, Edit::Copies { .. }))
    }

    /// Whether both set the same thing.
    pub fn is_about(&self, other: &Change) -> bool {
        (&self.setting, &self.whose) == (&other.setting, &other.whose)
    }
}
