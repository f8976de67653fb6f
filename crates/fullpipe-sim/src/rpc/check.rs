//! Bounds of clients and servers, each by itself.

use super::{Operation, Rpc, RpcClient, RpcServer, Slots};
use crate::bounds::{LONGEST, demand};
use alloc::format;
use alloc::string::String;

/// Largest record's data, bytes; NFS on Linux has at most 1 MiB.
const LARGEST_RECORD: u32 = 1 << 30;
/// Most calls of a client, which keeps each of them in memory.
const MOST_CALLS: u64 = 1 << 22;
/// Bytes of a page.
const PAGE: u32 = super::readahead::PAGE as u32;
/// Most bytes of a record besides its data.
const LARGEST_HEADER: u32 = 1 << 20;

impl Rpc {
    /// Whether a run has no remote procedure calls.
    pub fn is_empty(&self) -> bool {
        self.clients.is_empty() && self.servers.is_empty()
    }
}

impl RpcServer {
    /// Checks a server's own bounds.
    ///
    /// # Errors
    /// The first violated bound.
    pub(crate) fn check(&self) -> Result<(), String> {
        let demand = |holds, what: &str| demand(holds, format!("rpc server {}: {what}", self.host));
        demand(self.threads > 0, "at least one thread")?;
        demand(self.service <= LONGEST && self.commit <= LONGEST, "service: at most three years")
    }
}

impl RpcClient {
    /// Checks a client's own bounds.
    ///
    /// # Errors
    /// The first violated bound.
    pub(crate) fn check(&self) -> Result<(), String> {
        let demand = |holds, what: &str| demand(holds, format!("rpc {}: {what}", self.name));
        // Counters of servers use this name.
        demand(self.name != "server", "another name")?;
        demand(!self.connections.is_empty(), "at least one connection")?;
        demand(self.start <= LONGEST, "starts within three years")?;
        demand((1..=LARGEST_RECORD).contains(&self.record), "record: 1 byte to 1 GiB")?;
        let calls = self.bytes.div_ceil(self.record.into());
        demand((1..=MOST_CALLS).contains(&calls), "bytes: 1 to 4194304 records")?;
        let (Slots::PerConnection(slots) | Slots::Session(slots)) = self.slots;
        demand((1..=65_536).contains(&slots), "slots: 1 to 65536")?;
        match self.operation {
            Operation::Write { cache } => {
                demand(cache.is_none_or(|cache| cache.out > 0), "written back: at least 1 call")?;
            }
            Operation::Read(ahead) => {
                let pages = self.record.is_multiple_of(PAGE);
                demand(pages && ahead.call > 0, "reads: whole pages, by calls of at least 1 byte")?;
                // A READ covers a window of readahead, and at most a record.
                let calls =
                    self.bytes.div_ceil(ahead.window.clamp(PAGE.into(), self.record.into()));
                demand(calls <= MOST_CALLS, "bytes: 1 to 4194304 windows")?;
            }
        }

        // Calls before and after all data have sizes of their own.
        let others = self.before.iter().chain(&self.after).copied();
        let sizes = [[self.sizes.call, self.sizes.reply]].into_iter().chain(others);
        let known = sizes.flatten().all(|size| (4..=LARGEST_HEADER).contains(&size));
        demand(known, "sizes: 4 bytes (the marker) to 1 MiB")
    }
}
