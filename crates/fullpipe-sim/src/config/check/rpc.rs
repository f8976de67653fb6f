//! Bounds of remote procedure calls that concern their hosts and flows.

use crate::bounds::demand;
use crate::config::{Config, Flow, Rpc};
use crate::rpc::{RpcClient, RpcServer};
use alloc::format;
use alloc::string::String;

impl Config {
    /// The first violated bound of remote procedure calls.
    pub(super) fn check_rpc(&self) -> Result<(), String> {
        let Rpc { clients, servers } = &self.rpc;
        servers.iter().try_for_each(RpcServer::check)?;
        for (at, own) in servers.iter().enumerate() {
            let known = self.hosts().iter().any(|host| host.name == own.host);
            demand(known, format!("rpc server: no host {}", own.host))?;
            let twice = servers[..at].iter().any(|other| other.host == own.host);
            demand(!twice, format!("rpc server {}: a host has one at most", own.host))?;
        }
        let mut used = alloc::vec![false; self.flows.len()];
        for (at, own) in clients.iter().enumerate() {
            let twice = clients[..at].iter().any(|other| other.name == own.name);
            demand(!twice, format!("rpc {}: two clients have that name", own.name))?;
            own.check()?;
            self.connections_of(own, &mut used)?;
        }
        Ok(())
    }

    /// Checks a client's connections: all are between the same hosts, and no other client has them.
    fn connections_of(&self, own: &RpcClient, used: &mut [bool]) -> Result<(), String> {
        let demand = |holds, what: &str| demand(holds, format!("rpc {}: {what}", own.name));
        let reverse_of = self.reverse_flows();
        let mut between = None;
        for &calls in &own.connections {
            let flow = self.flows.get(calls).filter(|flow| flow.answers.is_none());
            let replies = reverse_of.get(calls).copied().flatten();
            let pair = flow.zip(replies.map(|replies| &self.flows[replies]));
            let Some((flow, replies)) = pair else {
                return demand(false, "a connection is a flow that another one answers");
            };
            let taken = core::mem::replace(&mut used[calls], true);
            demand(!taken, "a connection belongs to one client, once")?;
            let plain = |flow: &Flow| flow.bytes.is_none() && flow.duration.is_none();
            demand(plain(flow) && plain(replies), "its flows have neither bytes nor a duration")?;
            let ends = self.hosts_of(flow).map(|host| host.name);
            demand(*between.get_or_insert(ends) == ends, "its connections have the same ends")?;
            let served = self.rpc.servers.iter().any(|server| server.host == ends[1]);
            demand(served, "its host has a server")?;
        }
        Ok(())
    }
}
