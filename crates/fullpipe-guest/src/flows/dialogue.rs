//! A flow and the flow that answers it, in one connection: a thread at each end, and they take turns.

use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;

use fullpipe_guest::plan::{Flow, Plan};
use fullpipe_guest::record::{ACCEPTED, FINISHED, RECEIVER, SENDER};

use super::sender::LARGEST;
use super::{closing, receiver, sender, unless_aborted};
use crate::error::{Context, Result};
use crate::netlink::diag::End;
use crate::run::Event;
use crate::{run, sys};

/// A flow and its answer, with their numbers.
#[derive(Clone)]
pub struct Dialogue {
    asks: (usize, Flow),
    answers: (usize, Flow),
}

impl Dialogue {
    /// That of the flows of these numbers.
    pub fn new(plan: &Plan, asks: usize, answers: usize) -> Dialogue {
        let flow = |number: usize| (number, plan.flows[number].clone());
        Dialogue { asks: flow(asks), answers: flow(answers) }
    }

    /// Connects when it is time; writes, reads the answer, and again; closes the connection.
    pub fn ask(&self, [here, there]: [End; 2]) -> Result<()> {
        let (index, flow) = &self.asks;
        let (answer, answers) = &self.answers;
        let socket = sender::socket(*index, flow, here)?;
        receiver::set(&socket, *answer, answers)?;
        sys::sleep_until(run::start() + flow.start_ns);
        let connected = sender::connect(*index, flow, &socket, there);
        let done = connected.and_then(|()| self.ask_and_read(&socket));
        let done = closing::end(socket, done, &[(SENDER, *index), (RECEIVER, *answer)]);
        done.or_else(|failed| unless_aborted(*index, failed))
    }

    fn ask_and_read(&self, socket: &OwnedFd) -> io::Result<()> {
        let ((_, flow), (answer, answers)) = (&self.asks, &self.answers);
        let deadline = flow.duration_ns.map(|duration| run::start() + flow.start_ns + duration);
        let zeros = zeros(flow);
        let (mut left, mut read) = (flow.bytes.unwrap_or(u64::MAX), 0);
        while left > 0 && deadline.is_none_or(|deadline| sys::now() < deadline) {
            let size = u64::from(flow.write).min(left);
            write(socket, &zeros, size)?;
            left -= size;
            let came = read_all(socket, answers.write.into())?;
            read += came;
            if came < answers.write.into() {
                break;
            }
        }
        run::remember(Event::now(*answer, FINISHED, read));
        Ok(())
    }

    /// Accepts the connection; reads a request, answers it, and again. The socket stays open, so that it can be sampled.
    pub fn answer(&self) -> Result<()> {
        let ((index, flow), (answer, answers)) = (&self.asks, &self.answers);
        let listener = receiver::listener(*index, flow)?;
        sender::set(&listener, *answer, answers)?;
        let socket = receiver::accept_at(&listener, *index, flow)?;
        sender::remember_connection(*answer, &socket, 0).at(|| "the answer's socket")?;
        run::remember(Event::now(*answer, ACCEPTED, 0));
        let done = self.read_and_answer(&socket);
        std::mem::forget(socket);
        done.or_else(|failed| unless_aborted(*index, failed))
    }

    fn read_and_answer(&self, socket: &OwnedFd) -> io::Result<()> {
        let ((index, flow), (_, answers)) = (&self.asks, &self.answers);
        let zeros = zeros(answers);
        let mut read = 0;
        loop {
            let left = flow.bytes.map_or(u64::MAX, |bytes| bytes - read);
            let size = u64::from(flow.write).min(left);
            // Without a request to wait for it is the end of the stream that comes next.
            let came = read_all(socket, size.max(1))?;
            read += came;
            if came == 0 || size == 0 {
                break;
            }
            if flow.bytes == Some(read) {
                run::remember(Event::now(*index, FINISHED, read));
            }
            write(socket, &zeros, answers.write.into())?;
        }
        if flow.bytes.is_none() {
            run::remember(Event::now(*index, FINISHED, read));
        }
        Ok(())
    }
}

/// What one write of a flow writes.
fn zeros(flow: &Flow) -> Vec<u8> {
    vec![0; (flow.write as usize).clamp(1, LARGEST)]
}

/// Writes so many bytes to the end, however long that takes, as one write if there are as many zeros.
fn write(socket: &OwnedFd, zeros: &[u8], bytes: u64) -> io::Result<()> {
    let mut rest = bytes as usize;
    while rest > 0 {
        match sys::send(socket, &zeros[..rest.min(zeros.len())]) {
            Ok(sent) => rest -= sent,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads so many bytes, or to the end; says how many.
fn read_all(socket: &OwnedFd, bytes: u64) -> io::Result<u64> {
    let mut read = 0;
    while read < bytes {
        match sys::discard(socket, (bytes - read) as usize)? {
            0 => break,
            came => read += came as u64,
        }
    }
    Ok(read)
}
