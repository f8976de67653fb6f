//! Texts that people paste: output of tools that measure a connection, or count what a host does.
//!
//! Each piece is recognised by its content. Quotes of a mail ("> "), prompts of a shell and colours are looked through.
//!
//! | file | text |
//! |---|---|
//! | `lines.rs` | lines without quotes and colours, with their numbers |
//! | `transfer.rs` | a measured transfer, from whatever tool |
//! | `iperf_json.rs`, `iperf_text.rs`, `row.rs` | iperf3 with and without `-J`, and iperf 2 |
//! | `nuttcp.rs` | nuttcp |
//! | `sockets.rs` | `ss -tin`, by `ss.rs` of the crate |
//! | `counters.rs` | `nstat`, `netstat -s`, `/proc/net/netstat` |
//! | `qdisc.rs`, `ethtool.rs` | `tc -s qdisc`, `ethtool -S`, `ethtool -g` |

mod command;
pub mod counters;
pub mod ethtool;
mod iperf_json;
mod iperf_text;
mod lines;
mod nuttcp;
pub mod qdisc;
mod row;
pub mod sockets;
pub mod transfer;

use counters::Counted;
use ethtool::{CardCounter, Ring};
use lines::Line;
use qdisc::Queue;
use sockets::Printed;
use transfer::Transfer;

/// Kinds of text that are read, for messages.
pub const KINDS: &str = "`ss -tin`, iperf3 (text or -J), nuttcp, nstat, netstat -s, `tc -s qdisc`, `ethtool -S`, \
                         `ethtool -g`";

/// Everything that a text shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text {
    /// Measured transfers, in the order of the text.
    pub transfers: Vec<Transfer>,
    /// Sockets, in the order of the text.
    pub sockets: Vec<Printed>,
    /// Counters of the host.
    pub counters: Vec<Counted>,
    /// Queues of its devices.
    pub queues: Vec<Queue>,
    /// Counters of its cards.
    pub card: Vec<CardCounter>,
    /// Rings of its cards.
    pub rings: Vec<Ring>,
    /// Line at which a JSON document ends too early.
    pub cut_off: Option<usize>,
}

impl Text {
    /// Reads a text. Lines that are nothing known are skipped.
    pub fn read(text: &str) -> Text {
        let lines = lines::clean(text);
        let json = iperf_json::read(&lines);

        // Lines of a JSON document are no lines of another tool.
        let plain: Vec<Line> = lines.into_iter().filter(|line| !json.covers(line.number)).collect();
        let mut transfers = json.transfers;
        transfers.extend(iperf_text::read(&plain));
        transfers.extend(nuttcp::read(&plain));
        transfers.sort_by_key(|own| own.line);
        Text {
            transfers,
            sockets: sockets::read(&plain),
            counters: counters::read(&plain),
            queues: qdisc::read(&plain),
            card: ethtool::counters(&plain),
            rings: ethtool::rings(&plain),
            cut_off: json.cut_off,
        }
    }

    /// Whether nothing known is in the text.
    pub fn is_empty(&self) -> bool {
        self.transfers.is_empty()
            && self.sockets.is_empty()
            && self.counters.is_empty()
            && self.queues.is_empty()
            && self.card.is_empty()
            && self.rings.is_empty()
    }
}
