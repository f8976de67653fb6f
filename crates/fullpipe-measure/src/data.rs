//! Streams of data: a thread each, which sends or receives until it is stopped. The loops here are those of TCP.

use crate::account::{Behind, Counted, Datagrams};
use crate::control::{SLICE, is_again, ready};
use crate::datagrams;
use crate::outcome::Stream;
use crate::socket;
use rustix::event::PollFlags;
use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Load of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    /// Bytes of a block.
    pub(crate) block: usize,
    /// Bits per second at most.
    pub(crate) rate: Option<u64>,
    /// Bytes that all streams together may still send.
    pub(crate) budget: Option<Arc<AtomicU64>>,
    /// Whether datagrams have numbers of 64 bits.
    pub(crate) wide: bool,
}

/// Socket of a stream.
#[derive(Debug)]
pub(crate) enum Link {
    Tcp(TcpStream),
    Udp(UdpSocket),
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Link::Tcp(own) => own.as_fd(),
            Link::Udp(own) => own.as_fd(),
        }
    }
}

impl AsRawFd for Link {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

/// Counts that the thread of a stream shares.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) bytes: AtomicU64,
    pub(crate) datagrams: Mutex<Datagrams>,
    /// Time of the last byte since the start, ns.
    pub(crate) last: AtomicU64,
    pub(crate) stop: AtomicBool,
    /// Whether the peer has closed.
    closed: AtomicBool,
    failed: Mutex<Option<String>>,
}

impl Shared {
    /// Counts bytes that were received at that time since the start.
    pub(crate) fn take(&self, count: usize, now: Duration) {
        self.last.store(u64::try_from(now.as_nanos()).unwrap_or(u64::MAX), SeqCst);
        self.bytes.fetch_add(count as u64, SeqCst);
    }
}

/// A stream with its thread.
pub(crate) struct Flow {
    pub(crate) stream: Stream,
    socket: Arc<Link>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// Bytes at the last counted moment.
    counted: u64,
    /// State at the last look: a closed socket shows none.
    state: Option<fullpipe_observe::tcp_info::TcpInfo>,
}

impl Flow {
    /// A stream over a connected socket.
    pub(crate) fn new(socket: Link, stream: Stream) -> std::io::Result<Flow> {
        match &socket {
            Link::Tcp(own) => own.set_nonblocking(true)?,
            Link::Udp(own) => own.set_nonblocking(true)?,
        }
        Ok(Flow {
            stream,
            socket: Arc::new(socket),
            shared: Arc::default(),
            thread: None,
            counted: 0,
            state: None,
        })
    }

    /// The socket.
    pub(crate) fn socket(&self) -> &Link {
        &self.socket
    }

    /// Begins to send or to receive.
    pub(crate) fn start(&mut self, begun: Instant, load: Load) {
        let (socket, shared) = (self.socket.clone(), self.shared.clone());
        let sends = self.stream.sends;
        self.thread = Some(thread::spawn(move || match (&*socket, sends) {
            (Link::Tcp(own), true) => send(own, &shared, &load, begun),
            (Link::Tcp(own), false) => receive(own, &shared, load.block, begun),
            (Link::Udp(own), true) => datagrams::send(own, &shared, &load, begun),
            (Link::Udp(own), false) => datagrams::receive(own, &shared, load.wide, begun),
        }));
    }

    /// Counts at this moment.
    pub(crate) fn look(&mut self) -> Counted {
        self.counted = self.shared.bytes.load(SeqCst);
        if let Some(state) = socket::state(&*self.socket).filter(|own| own.state != CLOSED) {
            self.state = Some(state);
        }
        let datagrams = self.datagrams();
        Counted { bytes: self.counted, socket: self.state.clone(), datagrams }
    }

    /// Counts of datagrams, of UDP.
    fn datagrams(&self) -> Option<Datagrams> {
        let own = *self.shared.datagrams.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(*self.socket, Link::Udp(_)).then_some(own)
    }

    /// Bytes so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.shared.bytes.load(SeqCst)
    }

    /// Bytes received since the last look.
    pub(crate) fn behind(&self) -> Behind {
        Behind {
            bytes: self.bytes() - self.counted,
            until: Duration::from_nanos(self.shared.last.load(SeqCst)),
            datagrams: self.datagrams(),
        }
    }

    /// Whether the peer has closed the stream.
    pub(crate) fn is_closed(&self) -> bool {
        self.shared.closed.load(SeqCst)
    }

    /// Failure of the thread.
    pub(crate) fn failure(&self) -> Option<String> {
        self.shared.failed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether data waits to be sent or acknowledged.
    pub(crate) fn has_unacknowledged(&self) -> bool {
        let state = socket::state(&*self.socket).filter(|own| own.state != CLOSED);
        state.is_some_and(|own| own.notsent_bytes > 0 || own.unacked > 0)
    }

    /// Asks the thread to end.
    pub(crate) fn stop(&self) {
        self.shared.stop.store(true, SeqCst);
    }

    /// Round trip time of the last look.
    pub(crate) fn rtt(&self) -> Duration {
        let us = self.state.as_ref().map_or(0, |own| own.rtt.max(own.rcv_rtt));
        Duration::from_micros(us.into())
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        self.stop();
        // A thread ends within one wait; one that has panicked has nothing to give.
        self.thread.take().map(JoinHandle::join);
    }
}

/// State TCP_CLOSE: counters of such a socket are reset.
const CLOSED: u8 = 7;

/// Sends blocks until it is stopped. A write copies what has room, so each byte is counted when it is in the buffer.
fn send(mut socket: &TcpStream, shared: &Shared, load: &Load, begun: Instant) {
    let block = block(load.block);
    let mut at = 0;
    let mut sent: u64 = 0;
    while !shared.stop.load(SeqCst) {
        if let Some(wait) = load.rate.and_then(|rate| early(sent, rate, begun.elapsed())) {
            thread::sleep(wait.min(SLICE));
            continue;
        }

        // Streams take their blocks from one budget, and give back what had no room.
        let wanted = (block.len() - at) as u64;
        let granted = load.budget.as_ref().map_or(wanted, |own| grant(own, wanted));
        if granted == 0 {
            thread::sleep(Duration::from_millis(1));
            continue;
        }
        let written = socket.write(&block[at..at + granted as usize]);
        let count = *written.as_ref().unwrap_or(&0);
        load.budget.iter().for_each(|own| _ = own.fetch_add(granted - count as u64, SeqCst));
        match written {
            Ok(count) => {
                at = (at + count) % block.len();
                sent += count as u64;
                shared.bytes.store(sent, SeqCst);
            }
            Err(why) if is_again(&why) => ready(socket, PollFlags::OUT, SLICE),
            Err(why) => return fail(shared, &why),
        }
    }
}

/// Takes up to `wanted` bytes of a budget.
pub(crate) fn grant(budget: &AtomicU64, wanted: u64) -> u64 {
    let taken = budget.fetch_update(SeqCst, SeqCst, |left| Some(left - left.min(wanted)));
    taken.map_or(0, |left| left.min(wanted))
}

/// Time until the mean rate allows more; none where it does already.
pub(crate) fn early(sent: u64, rate: u64, elapsed: Duration) -> Option<Duration> {
    let due = Duration::from_secs_f64(sent as f64 * 8.0 / rate.max(1) as f64);
    due.checked_sub(elapsed).filter(|wait| !wait.is_zero())
}

/// Bytes that do not compress well.
pub(crate) fn block(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length.max(1)).map(|_| next()).collect()
}

/// Receives until it is stopped, or the peer closes.
fn receive(mut socket: &TcpStream, shared: &Shared, block: usize, begun: Instant) {
    let mut room = vec![0; block.max(1)];
    while !shared.stop.load(SeqCst) {
        match socket.read(&mut room) {
            Ok(0) => return shared.closed.store(true, SeqCst),
            Ok(count) => shared.take(count, begun.elapsed()),
            Err(why) if is_again(&why) => ready(socket, PollFlags::IN, SLICE),
            Err(why) => return fail(shared, &why),
        }
    }
}

pub(crate) fn fail(shared: &Shared, why: &std::io::Error) {
    shared.closed.store(true, SeqCst);
    *shared.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn pair() -> [TcpStream; 2] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let client = TcpStream::connect(listener.local_addr().expect("an address")).expect("open");
        [client, listener.accept().expect("a connection").0]
    }

    fn flow(socket: TcpStream, sends: bool) -> Flow {
        let (here, there) = (socket.local_addr().expect("own"), socket.peer_addr().expect("other"));
        Flow::new(Link::Tcp(socket), Stream { id: 1, sends, here, there }).expect("a flow")
    }

    #[test]
    fn a_budget_is_sent_and_received_to_the_byte() {
        let [one, other] = pair();
        let (mut from, mut to) = (flow(one, true), flow(other, false));
        let load = Load {
            block: 1000,
            rate: None,
            budget: Some(Arc::new(AtomicU64::new(12_345))),
            wide: false,
        };
        let begun = Instant::now();
        from.start(begun, load.clone());
        to.start(begun, load);
        while to.bytes() < 12_345 && begun.elapsed() < Duration::from_secs(10) {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(20));
        assert_eq!([from.look().bytes, to.look().bytes], [12_345; 2]);
        assert_eq!(to.behind().bytes, 0);
        drop(from);
        while !to.is_closed() && begun.elapsed() < Duration::from_secs(10) {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(to.is_closed() && to.failure().is_none());
    }

    #[test]
    fn a_rate_is_kept_on_average() {
        assert_eq!(
            early(1_000_000, 8_000_000, Duration::from_millis(900)),
            Some(Duration::from_millis(100))
        );
        assert_eq!(early(1_000_000, 8_000_000, Duration::from_secs(1)), None);
        assert_eq!(early(0, 1, Duration::ZERO), None);
    }

    #[test]
    fn a_grant_never_exceeds_the_budget() {
        let budget = AtomicU64::new(10);
        assert_eq!([grant(&budget, 7), grant(&budget, 7), grant(&budget, 7)], [7, 3, 0]);
    }
}
