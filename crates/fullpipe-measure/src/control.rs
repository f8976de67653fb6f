//! The control connection: bytes in and out, each wait with a limit.

use crate::inbox::{Inbox, Malformed, message};
use crate::outcome::Ended;
use crate::results::Results;
use crate::socket;
use crate::state::State;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// Longest wait without a question whether to go on.
pub(crate) const SLICE: Duration = Duration::from_millis(20);
/// Longest wait for a message of a peer that has nothing else to do.
pub(crate) const ANSWER: Duration = Duration::from_secs(30);
/// Longest wait for room to send a message.
const SENDS: Duration = Duration::from_secs(10);

/// Reason why nothing was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// The peer has closed, or the connection broke.
    Closed(String),
    /// Nothing arrived in time.
    Late(Duration),
    /// The peer has sent something that is no message.
    Malformed(String),
    /// The caller has stopped the wait.
    Stopped,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lost::Closed(why) | Lost::Malformed(why) => f.write_str(why),
            Lost::Late(limit) => write!(f, "no answer within {} s", limit.as_secs()),
            Lost::Stopped => f.write_str("stopped"),
        }
    }
}

impl From<Malformed> for Lost {
    fn from(own: Malformed) -> Lost {
        Lost::Malformed(own.to_string())
    }
}

/// A control connection.
pub(crate) struct Control {
    socket: TcpStream,
    /// Peer of the connection.
    pub(crate) peer: SocketAddr,
    /// Received bytes.
    pub(crate) inbox: Inbox,
    closed: Option<String>,
}

impl Control {
    /// Control over a connected socket.
    pub(crate) fn new(socket: TcpStream) -> io::Result<Control> {
        socket.set_nodelay(true)?;
        socket.set_nonblocking(true)?;
        let peer = plain(socket.peer_addr()?);
        Ok(Control { socket, peer, inbox: Inbox::default(), closed: None })
    }

    /// Address of this end.
    pub(crate) fn here(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr().map(plain)
    }

    /// Bytes of data in a segment on this path.
    pub(crate) fn segment(&self) -> Option<u32> {
        socket::state(&self.socket).map(|own| own.snd_mss).filter(|own| *own > 0)
    }

    /// Reads what is there.
    fn fill(&mut self) {
        let mut room = [0; 16 << 10];
        match self.socket.read(&mut room) {
            Ok(0) => self.closed = Some("it has closed the control connection".into()),
            Ok(count) => self.inbox.push(&room[..count]),
            Err(why) if is_again(&why) => {}
            Err(why) => self.closed = Some(format!("the control connection broke: {why}")),
        }
    }

    /// Waits until `take` finds what it looks for. `go_on` is asked every 20 ms.
    pub(crate) fn wait<T>(
        &mut self,
        limit: Duration,
        go_on: &mut dyn FnMut() -> bool,
        mut take: impl FnMut(&mut Inbox) -> Result<Option<T>, Malformed>,
    ) -> Result<T, Lost> {
        let begun = Instant::now();
        loop {
            self.fill();
            if let Some(found) = take(&mut self.inbox)? {
                return Ok(found);
            }
            if let Some(why) = &self.closed {
                return Err(Lost::Closed(why.clone()));
            }
            if !go_on() {
                return Err(Lost::Stopped);
            }
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Err(Lost::Late(limit));
            }
            ready(&self.socket, PollFlags::IN, left.min(SLICE));
        }
    }

    /// Waits for a state.
    pub(crate) fn state(
        &mut self,
        limit: Duration,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<State, Lost> {
        let byte = self.wait(limit, go_on, |inbox| Ok(inbox.peek()))?;
        State::of(byte).inspect(|_| _ = self.inbox.byte()).ok_or_else(|| {
            let number = i8::from_ne_bytes([byte]);
            Lost::Malformed(format!("it has sent state {number}, which iperf3 3.7 to 3.21 lacks"))
        })
    }

    /// Waits for a JSON text.
    pub(crate) fn json(
        &mut self,
        most: usize,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Value, Lost> {
        self.wait(ANSWER, go_on, |inbox| inbox.json(most))
    }

    /// Sends bytes.
    pub(crate) fn send(&mut self, mut bytes: &[u8]) -> Result<(), Lost> {
        let begun = Instant::now();
        while !bytes.is_empty() {
            match self.socket.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(why) if is_again(&why) => {
                    if begun.elapsed() >= SENDS {
                        return Err(Lost::Late(SENDS));
                    }
                    ready(&self.socket, PollFlags::OUT, SLICE);
                }
                Err(why) => {
                    return Err(Lost::Closed(format!("the control connection broke: {why}")));
                }
            }
        }
        Ok(())
    }

    /// Sends a state.
    pub(crate) fn send_state(&mut self, state: State) -> Result<(), Lost> {
        self.send(&[state.byte()])
    }

    /// Results of the peer, if they came, and the way in which the test has ended. A stopped end says so by the state `stops`;
    /// `broken` tells why a peer is lost.
    pub(crate) fn settle(
        &mut self,
        exchanged: Result<Results, Lost>,
        stops: State,
        broken: impl FnOnce(&Lost) -> String,
    ) -> (Option<Results>, Ended) {
        match exchanged {
            Ok(other) => (Some(other), Ended::Whole),
            Err(Lost::Stopped) => {
                let _ = self.send_state(stops);
                (None, Ended::Stopped)
            }
            Err(why) => (None, Ended::Broken(broken(&why))),
        }
    }

    /// Sends a JSON text.
    pub(crate) fn send_json(&mut self, value: &Value) -> Result<(), Lost> {
        self.send(&message(value))
    }
}

/// An address without the form of IPv4 in IPv6, which sockets of both families have.
pub(crate) fn plain(own: SocketAddr) -> SocketAddr {
    SocketAddr::new(own.ip().to_canonical(), own.port())
}

/// Whether a call would have waited.
pub(crate) fn is_again(why: &io::Error) -> bool {
    matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Waits until a socket is ready, or the time is over.
pub(crate) fn ready(socket: &impl AsFd, flags: PollFlags, limit: Duration) {
    let limit = Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: limit.subsec_nanos().into(),
    };
    // A wait that a signal ends is asked for again by the caller.
    let _ = poll(&mut [PollFd::new(socket, flags)], Some(&limit));
}
