//! Qdiscs that change during the run: a thread for each router that has some.

use fullpipe_guest::plan::{Change, Plan};

use crate::error::Result;
use crate::namespaces::Namespace;
use crate::netlink::Netlink;
use crate::netlink::qdisc::Place;
use crate::{path, run, sys, turns};

/// Number of the first one's netlink socket.
const FIRST_SOCKET: u32 = 3000;

/// Starts the threads. A change at the run's start is made before it.
pub fn start(plan: &Plan, namespaces: &[Namespace]) -> Result<()> {
    for (number, router) in plan.routers.iter().enumerate() {
        let ways = path::ways(router);
        let mut changes: Vec<(u32, Change)> = ways
            .into_iter()
            .flat_map(|(device, way)| {
                let changes = way.changes.clone().into_iter();
                changes.map(move |change| (device, change)).collect::<Vec<_>>()
            })
            .collect();

        // One thread makes the changes of both devices, so they need one order of time.
        changes.sort_by_key(|(_, change)| change.at_ns);
        if !changes.is_empty() {
            let what = format!("changes of router {number}");
            turns::spawn(what, &namespaces[number + 1].fd, move || {
                make(FIRST_SOCKET + number as u32, &changes)
            })?;
        }
    }
    Ok(())
}

fn make(socket: u32, changes: &[(u32, Change)]) -> Result<()> {
    let mut netlink = Netlink::open(socket)?;
    for (device, change) in changes {
        sys::sleep_until(run::start() + change.at_ns);
        let place = Place::chain(*device, change.number);
        netlink.change_qdisc(place, change.number, &change.qdisc)?;
    }
    Ok(())
}
