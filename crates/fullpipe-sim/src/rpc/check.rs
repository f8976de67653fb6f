//! The bounds of remote procedure calls.

use super::{Operation, Rpc, RpcClient, RpcServer, Slots};
use crate::bounds::{LONGEST, demand};
use crate::config::{Config, Flow};
use alloc::format;
use alloc::string::String;

/// Largest record's data, bytes; the largest that NFS on Linux has is 1 MiB.
const LARGEST_RECORD: u32 = 1 << 30;
/// Most calls of a client: it knows of each.
const MOST_CALLS: u64 = 1 << 22;
/// Bytes of a page.
const PAGE: u32 = super::readahead::PAGE as u32;
/// Most that a record has besides, bytes.
const LARGEST_HEADER: u32 = 1 << 20;

impl Rpc {
    /// Whether a run has none.
    pub fn is_empty(&self) -> bool {
        self.clients.is_empty() && self.servers.is_empty()
    }

    /// The client, by its place, and the place of its connection, to whose calls or replies that flow belongs.
    pub(crate) fn connection_of(&self, config: &Config, flow: usize) -> Option<(usize, usize)> {
        let calls = config.flows[flow].answers.unwrap_or(flow);
        let mut places = self.clients.iter().enumerate();
        places.find_map(|(client, own)| {
            let connection = own.connections.iter().position(|&own| own == calls)?;
            Some((client, connection))
        })
    }

    /// Checks the bounds.
    ///
    /// # Errors
    /// The first violated one.
    pub(crate) fn check(&self, config: &Config) -> Result<(), String> {
        self.servers.iter().try_for_each(server)?;
        for (at, own) in self.servers.iter().enumerate() {
            let known = config.hosts().iter().any(|host| host.name == own.host);
            demand(known, format!("rpc server: no host {}", own.host))?;
            let twice = self.servers[..at].iter().any(|other| other.host == own.host);
            demand(!twice, format!("rpc server {}: a host has one at most", own.host))?;
        }
        let mut used = alloc::vec![false; config.flows.len()];
        for (at, own) in self.clients.iter().enumerate() {
            let twice = self.clients[..at].iter().any(|other| other.name == own.name);
            demand(!twice, format!("rpc {}: two clients have that name", own.name))?;
            client(own)?;
            self.connections(own, config, &mut used)?;
        }
        Ok(())
    }

    /// All connections of a client are between the same hosts, and nobody else's.
    fn connections(
        &self,
        own: &RpcClient,
        config: &Config,
        used: &mut [bool],
    ) -> Result<(), String> {
        let demand = |holds, what: &str| demand(holds, format!("rpc {}: {what}", own.name));
        let halves = config.halves();
        let mut between = None;
        for &calls in &own.connections {
            let flow = config.flows.get(calls).filter(|flow| flow.answers.is_none());
            let replies = halves.get(calls).copied().flatten();
            let pair = flow.zip(replies.map(|replies| &config.flows[replies]));
            let Some((flow, replies)) = pair else {
                return demand(false, "a connection is a flow that another one answers");
            };
            let taken = core::mem::replace(&mut used[calls], true);
            demand(!taken, "a connection belongs to one client, once")?;
            let plain = |flow: &Flow| flow.bytes.is_none() && flow.duration.is_none();
            demand(plain(flow) && plain(replies), "its flows have neither bytes nor a duration")?;
            let ends = config.hosts_of(flow).map(|host| host.name);
            demand(*between.get_or_insert(ends) == ends, "its connections have the same ends")?;
            let served = self.servers.iter().any(|server| server.host == ends[1]);
            demand(served, "its host has a server")?;
        }
        Ok(())
    }
}

fn server(own: &RpcServer) -> Result<(), String> {
    let demand = |holds, what: &str| demand(holds, format!("rpc server {}: {what}", own.host));
    demand(own.threads > 0, "at least one thread")?;
    demand(own.service <= LONGEST && own.commit <= LONGEST, "service: at most three years")
}

fn client(own: &RpcClient) -> Result<(), String> {
    let demand = |holds, what: &str| demand(holds, format!("rpc {}: {what}", own.name));
    // Counters of servers have that name.
    demand(own.name != "server", "another name")?;
    demand(!own.connections.is_empty(), "at least one connection")?;
    demand(own.start <= LONGEST, "starts within three years")?;
    demand((1..=LARGEST_RECORD).contains(&own.record), "record: 1 byte to 1 GiB")?;
    let calls = own.bytes.div_ceil(own.record.into());
    demand((1..=MOST_CALLS).contains(&calls), "bytes: 1 to 4194304 records")?;
    let (Slots::PerConnection(slots) | Slots::Session(slots)) = own.slots;
    demand((1..=65_536).contains(&slots), "slots: 1 to 65536")?;
    match own.operation {
        Operation::Write { cache } => {
            demand(cache.is_none_or(|cache| cache.out > 0), "written back: at least 1 call")?;
        }
        Operation::Read(ahead) => {
            let pages = own.record.is_multiple_of(PAGE);
            demand(pages && ahead.call > 0, "reads: whole pages, by calls of at least 1 byte")?;
            let calls = own.bytes.div_ceil(ahead.window.clamp(PAGE.into(), own.record.into()));
            demand(calls <= MOST_CALLS, "bytes: 1 to 4194304 windows")?;
        }
    }
    let others = own.before.iter().chain(&own.after).copied();
    let sizes = [[own.sizes.call, own.sizes.reply]].into_iter().chain(others);
    let known = sizes.flatten().all(|size| (4..=LARGEST_HEADER).contains(&size));
    demand(known, "sizes: 4 bytes (the marker) to 1 MiB")
}
