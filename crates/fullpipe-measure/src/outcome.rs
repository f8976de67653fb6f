//! Outcome of a test, and what one wants to know while it runs.

use crate::account::{Account, Row};
use crate::parameters::Parameters;
use crate::results::{Counts, Results};
use std::net::SocketAddr;

/// A stream of data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Its number in messages.
    pub id: u32,
    /// Whether this end sends.
    pub sends: bool,
    /// Own end.
    pub here: SocketAddr,
    /// The other end.
    pub there: SocketAddr,
}

/// Way in which a test has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Both ends have all results.
    Whole,
    /// The caller has stopped it.
    Stopped,
    /// The peer was stopped.
    ByPeer,
    /// Failure in the middle, with its reason.
    Broken(String),
}

/// Outcome of a test that has begun.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Whether this end is the server.
    pub is_server: bool,
    /// Parameters.
    pub parameters: Parameters,
    /// Cookie.
    pub cookie: String,
    /// The peer.
    pub peer: SocketAddr,
    /// The streams, in their order.
    pub streams: Vec<Stream>,
    /// Intervals.
    pub account: Account,
    /// Own results.
    pub own: Results,
    /// Results of the peer, if they have arrived.
    pub other: Option<Results>,
    /// Way in which it has ended.
    pub ended: Ended,
    /// Largest segment of the first stream, bytes.
    pub mss: u32,
    /// Buffers of the first stream, bytes: send and receive.
    pub buffers: [u64; 2],
}

impl Outcome {
    /// Results of the sending and of the receiving end of a stream, as far as they are known.
    pub fn both(&self, place: usize) -> [Option<&Counts>; 2] {
        let stream = &self.streams[place];
        let own = self.own.streams.get(place);
        let other = self.other.as_ref();
        let other = other.and_then(|all| all.streams.iter().find(|it| it.id == stream.id));
        if stream.sends { [own, other] } else { [other, own] }
    }
}

/// Follows a test while it runs.
pub trait Watch {
    /// A client is there with its parameters (server only).
    fn asked(&mut self, _client: SocketAddr, _parameters: &Parameters) {}
    /// A client was turned away, because a test runs (server only).
    fn refused(&mut self, _client: SocketAddr) {}
    /// Counting begins on these streams.
    fn begins(&mut self, _streams: &[Stream]) {}
    /// An interval is over: a row for each stream.
    fn interval(&mut self, _streams: &[Stream], _rows: &[Row]) {}
    /// The last counted moment is over.
    fn ends(&mut self) {}
    /// Whether the test, or the server, is to end.
    fn is_stopped(&self) -> bool;
}
