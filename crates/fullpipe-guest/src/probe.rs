//! Asks for the state of connections and qdiscs of a namespace.
//!
//! The kernel makes its answer while it is asked. So a request is of its time, and the answers can be read
//! later, many by one call.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use fullpipe_guest::record::{QDISCS, socket_head};

use crate::batch::Arrivals;
use crate::error::{Context, Error, Result};
use crate::flows::closing;
use crate::netlink::diag;
use crate::netlink::message::{Answer, kind};
use crate::netlink::qdisc::{self, RTM_NEWQDISC};
use crate::out::Out;
use crate::sys;
use crate::uring::Step;

/// Messages that are read by one call.
const BATCH: usize = 256;
/// Longest message, bytes.
const LONGEST: usize = 4096;
/// Memory of answers that the kernel keeps for us, bytes; more if one sample takes more.
const KEPT: usize = 16 << 20;
/// Largest memory of one answer, bytes: a qdisc's before its unused rest is cut off (netlink_trim).
const ANSWER: usize = 12 << 10;

/// A flow's connection at one host.
pub struct Connection {
    /// Number of the flow.
    pub flow: usize,
    /// Kind of its records: [`fullpipe_guest::record::SENDER`] or [`fullpipe_guest::record::RECEIVER`].
    pub kind: u16,
    /// The end that this host has.
    pub here: diag::End,
    /// The other one.
    pub there: diag::End,
}

/// Subject of a request.
enum About {
    /// Connections, by their flows; how they are recorded.
    Connections(BTreeMap<usize, u16>),
    /// The qdiscs of that namespace.
    Qdiscs(u16),
}

/// Request for the state of some connections, or of a namespace's qdiscs.
pub struct Probe<'a> {
    about: About,
    socket: &'a OwnedFd,
    request: Vec<u8>,
    /// Answers to one request.
    answers: usize,
}

impl<'a> Probe<'a> {
    /// A probe of connections, one of each of these flows.
    pub fn connections(socket: &'a OwnedFd, flows: &[Connection]) -> Result<Probe<'a>> {
        let request = flows.iter();
        let request = request.flat_map(|of| diag::request(of.flow as u32, of.here, of.there));
        let about = About::Connections(flows.iter().map(|of| (of.flow, of.kind)).collect());
        Probe::new(about, socket, request.collect(), flows.len())
    }

    /// A probe of the qdiscs of a namespace, each given by its device and handle.
    pub fn qdiscs(namespace: u16, socket: &'a OwnedFd, qdiscs: &[(u32, u32)]) -> Result<Probe<'a>> {
        let request = qdiscs
            .iter()
            .flat_map(|(device, handle)| qdisc::state(*device, *handle).finish(0).to_vec())
            .collect();
        Probe::new(About::Qdiscs(namespace), socket, request, qdiscs.len())
    }

    fn new(
        about: About,
        socket: &'a OwnedFd,
        request: Vec<u8>,
        answers: usize,
    ) -> Result<Probe<'a>> {
        let bytes = |bytes: usize| i32::try_from(bytes).unwrap_or(i32::MAX);
        let what = || "buffer of a probe";
        sys::receive_buffer(socket, bytes(KEPT.max(answers * ANSWER))).at(what)?;
        sys::send_buffer(socket, bytes(request.len())).at(what)?;
        Ok(Probe { about, socket, request, answers })
    }

    /// Number of requests that can be sent before their answers are read.
    pub fn ahead(&self) -> usize {
        (KEPT / ANSWER / self.answers.max(1)).max(1)
    }

    /// Asks.
    pub fn ask(&self) -> Step<'_> {
        Step::Send(self.socket, &self.request)
    }

    /// Records the answers to the requests that were sent at these times.
    pub fn read(&self, asked: &[u64], arrivals: &mut Arrivals, out: &mut Out) -> Result<()> {
        let mut answers =
            Answers { about: &self.about, of_one: self.answers, count: 0, body: Vec::new() };
        let mut missing = asked.len() * self.answers;
        while missing > 0 {
            let came = arrivals.receive(self.socket, missing).at(|| "reading a probe's answers")?;
            for number in 0..came {
                let message = arrivals.message(number).ok_or_else(too_long)?;
                answers.add(message, asked, out)?;
            }
            missing -= came;
            out.relieve().at(|| "records")?;
        }
        Ok(())
    }
}

/// Room for the answers that one call reads.
pub fn arrivals() -> Arrivals {
    Arrivals::new(LONGEST, BATCH)
}

fn too_long() -> Error {
    Error::new("a probe's answer", format!("longer than {LONGEST} bytes"))
}

/// Answers of the kernel, in the order of the requests.
struct Answers<'a> {
    about: &'a About,
    /// Answers to one request.
    of_one: usize,
    /// Answers that have come.
    count: usize,
    /// Answers that become one record.
    body: Vec<u8>,
}

impl Answers<'_> {
    fn add(&mut self, message: &[u8], asked: &[u64], out: &mut Out) -> Result<()> {
        // The kernel answers requests in their order, so the count gives the time.
        let time_ns = asked[self.count / self.of_one];
        self.count += 1;
        match self.about {
            About::Connections(kinds) => {
                let (flow, state) = diag::answer(message)?;
                let flow = flow as usize;
                let Some(kind) = kinds.get(&flow) else { return Ok(()) };
                if let Some(state) = state {
                    self.body.extend_from_slice(&socket_head(state.queues, state.memory));
                    self.body.extend_from_slice(state.info);
                    out.record(*kind, flow, time_ns, &self.body);
                    self.body.clear();
                } else if let Some(body) = closing::last((*kind, flow), time_ns) {
                    out.record(*kind, flow, time_ns, &body);
                }
            }
            About::Qdiscs(namespace) => {
                self.body.extend_from_slice(valid(message)?);
                if self.count.is_multiple_of(self.of_one) {
                    out.record(QDISCS, usize::from(*namespace), time_ns, &self.body);
                    self.body.clear();
                }
            }
        }
        Ok(())
    }
}

/// The message if it is the state of a qdisc.
fn valid(message: &[u8]) -> Result<&[u8]> {
    let wrong = |why: String| Err(Error::new("the state of a qdisc", why));
    if let Some(answer) = Answer::from_bytes(message) {
        return wrong(std::io::Error::from_raw_os_error(answer.errno).to_string());
    }
    match kind(message) {
        Some(RTM_NEWQDISC) => Ok(message),
        other => wrong(format!("a message of type {other:?}")),
    }
}
