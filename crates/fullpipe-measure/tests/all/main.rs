//! Clients and servers over the loopback, and peers that say anything.

mod garbage;
mod tests;

use fullpipe_measure::client::Wanted;
use fullpipe_measure::outcome::{Stream, Watch};
use fullpipe_measure::parameters::{Parameters, TCP_BLOCK};
use fullpipe_measure::server::{Served, Server};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Counts calls, and ends the test when it is told to.
#[derive(Clone, Default)]
pub(crate) struct Follower {
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) intervals: Arc<AtomicUsize>,
    pub(crate) refused: Arc<AtomicUsize>,
    pub(crate) begun: Arc<AtomicBool>,
}

impl Watch for Follower {
    fn refused(&mut self, _: std::net::SocketAddr) {
        self.refused.fetch_add(1, SeqCst);
    }

    fn begins(&mut self, _: &[Stream]) {
        self.begun.store(true, SeqCst);
    }

    fn interval(&mut self, _: &[Stream], _: &[fullpipe_measure::account::Row]) {
        self.intervals.fetch_add(1, SeqCst);
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(SeqCst)
    }
}

impl Follower {
    /// Waits until data flows.
    pub(crate) fn wait(&self) {
        for _ in 0..1000 {
            if self.begun.load(SeqCst) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("no data flows");
    }
}

/// Time from one interval to the next.
pub(crate) const EVERY: Option<Duration> = Some(Duration::from_millis(250));

/// A server at a free port, for one client.
pub(crate) fn serve(follower: &Follower) -> (u16, JoinHandle<Served>) {
    let mut server = Server::bind(0, EVERY).expect("a server");
    let (port, mut follower) = (server.port(), follower.clone());
    (port, thread::spawn(move || server.serve(&mut follower).expect("an answer")))
}

/// A test of one second with one stream.
pub(crate) fn wanted(port: u16) -> Wanted {
    let parameters = Parameters {
        time: 1,
        parallel: 1,
        len: TCP_BLOCK,
        bandwidth: Some(80_000_000),
        client_version: "0".into(),
        ..Parameters::default()
    };
    Wanted { host: "127.0.0.1".into(), port, parameters, every: EVERY }
}
