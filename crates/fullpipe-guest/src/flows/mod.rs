//! Flows: for each a thread that writes and one that reads.

mod options;
mod plain;
mod receiver;
mod sender;

use std::os::fd::OwnedFd;
use std::thread;

use fullpipe_guest::plan::{Flow, Plan};

use crate::error::{Context, Result};
use crate::namespaces::{self, Namespace};
use crate::{layout, run, sys};

/// They call the kernel and little else.
const STACK: usize = 128 << 10;

/// Starts the threads of all flows. Receivers listen, and senders wait for their time.
pub fn start(plan: &Plan, from: &Namespace, to: &Namespace) -> Result<()> {
    for (index, flow) in plan.flows.iter().enumerate() {
        spawn(index, "receiver", &to.fd, flow.clone(), receiver::run)?;
        let (seed, receiver) = (plan.seed, layout::right(plan.routers.len()));
        let send = move |index, flow: &Flow| sender::run(index, flow, receiver, seed);
        spawn(index, "sender", &from.fd, flow.clone(), send)?;
    }
    Ok(())
}

fn spawn(
    index: usize,
    role: &'static str,
    namespace: &OwnedFd,
    flow: Flow,
    run: impl FnOnce(usize, &Flow) -> Result<()> + Send + 'static,
) -> Result<()> {
    let name = format!("{role} of flow {index}");
    let namespace = namespace.try_clone().at(|| name.clone())?;
    let at = name.clone();
    let body = move || {
        let done = namespaces::enter(&namespace).and_then(|()| run(index, &flow));
        if let Err(error) = done {
            run::fail(&format!("{at}: {error}"));
        }
    };
    thread::Builder::new().stack_size(STACK).spawn(body).at(|| name)?;
    Ok(())
}

/// Sets TCP_CONGESTION.
fn set_congestion(socket: &OwnedFd, name: &str) -> Result<()> {
    sys::set_option(socket, libc::IPPROTO_TCP, libc::TCP_CONGESTION, name.as_bytes())
        .at(|| format!("congestion control {name}"))
}

/// Sets SO_SNDBUF or SO_RCVBUF, by the option that is not bounded by `wmem_max` and `rmem_max`. The kernel
/// bounds it by 2^30 - 1 and doubles it.
fn set_buffer(socket: &OwnedFd, option: i32, bytes: Option<u64>) -> Result<()> {
    let Some(bytes) = bytes else { return Ok(()) };
    let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
    sys::set_number(socket, libc::SOL_SOCKET, option, bytes).at(|| format!("a buffer of {bytes}"))
}
