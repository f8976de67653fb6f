//! Asks for the state of the qdiscs of a namespace.
//!
//! The kernel makes its answer while it is asked. So a request is of its time, and the answers can be read
//! later, many by one call.

use std::os::fd::OwnedFd;

use fullpipe_guest::record;

use crate::batch::Arrivals;
use crate::error::{Context, Error, Result};
use crate::netlink::message::{Answer, kind};
use crate::netlink::qdisc::{self, Place, RTM_NEWQDISC};
use crate::out::Out;
use crate::sys;

/// Messages that are read by one call.
const BATCH: usize = 64;
/// Longest message, bytes.
const LONGEST: usize = 4096;
/// Bytes of answers that the kernel keeps for us; one counts with the memory it takes, some 10 KiB.
const KEPT: i32 = 16 << 20;

/// The qdiscs of a namespace.
pub struct Probe<'a> {
    namespace: usize,
    socket: &'a OwnedFd,
    request: Vec<u8>,
    /// Answers to one request.
    answers: usize,
    /// Times of the requests that are not read yet.
    asked: Vec<u64>,
    arrivals: Arrivals,
}

impl Probe<'_> {
    /// A probe of the qdiscs at these places; none if there are none.
    pub fn new<'a>(
        namespace: usize,
        socket: &'a OwnedFd,
        qdiscs: &[Place],
    ) -> Result<Option<Probe<'a>>> {
        if qdiscs.is_empty() {
            return Ok(None);
        }
        sys::set_number(socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, KEPT)
            .at(|| "buffer of a netlink socket")?;
        let state = |place: &Place| qdisc::state(*place).finish(0).to_vec();
        Ok(Some(Probe {
            namespace,
            socket,
            request: qdiscs.iter().flat_map(state).collect(),
            answers: qdiscs.len(),
            asked: Vec::with_capacity(BATCH),
            arrivals: Arrivals::new(LONGEST, BATCH),
        }))
    }

    /// Takes the state as it is now.
    pub fn ask(&mut self, time_ns: u64, out: &mut Out) -> Result<()> {
        sys::send(self.socket, &self.request).at(|| "asking for qdiscs")?;
        self.asked.push(time_ns);
        if (self.asked.len() + 1) * self.answers > BATCH { self.drain(out) } else { Ok(()) }
    }

    /// Records what has been asked for.
    pub fn drain(&mut self, out: &mut Out) -> Result<()> {
        let mut bodies =
            Bodies { namespace: self.namespace, answers: self.answers, ..Bodies::default() };
        let mut missing = self.asked.len() * self.answers;
        while missing > 0 {
            let came =
                self.arrivals.receive(self.socket, missing).at(|| "reading the state of qdiscs")?;
            for number in 0..came {
                let message = self.arrivals.message(number);
                bodies.add(valid(message)?, &self.asked, out);
            }
            missing -= came;
        }
        self.asked.clear();
        Ok(())
    }
}

/// The message if it is the state of a qdisc.
fn valid(message: Option<&[u8]>) -> Result<&[u8]> {
    let wrong = |why: String| Err(Error::new("the state of a qdisc", why));
    let Some(message) = message else {
        return wrong(format!("longer than {LONGEST} bytes"));
    };
    if let Some(answer) = Answer::from_bytes(message) {
        return wrong(std::io::Error::from_raw_os_error(answer.errno).to_string());
    }
    match kind(message) {
        Some(RTM_NEWQDISC) => Ok(message),
        other => wrong(format!("a message of type {other:?}")),
    }
}

/// Puts the answers to each request together.
#[derive(Default)]
struct Bodies {
    namespace: usize,
    answers: usize,
    body: Vec<u8>,
    count: usize,
}

impl Bodies {
    fn add(&mut self, message: &[u8], asked: &[u64], out: &mut Out) {
        self.body.extend_from_slice(message);
        self.count += 1;
        if self.count.is_multiple_of(self.answers) {
            let time_ns = asked[self.count / self.answers - 1];
            out.record(record::QDISCS, self.namespace, time_ns, &self.body);
            self.body.clear();
        }
    }
}
