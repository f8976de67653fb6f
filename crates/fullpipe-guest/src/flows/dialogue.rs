//! A flow and the flow that answers it, in one connection: a thread at each end.
//!
//! A program that has several requests without an answer writes and reads at the same time, by a thread for each.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use fullpipe_base::trace::MOST_ANSWERS;
use fullpipe_guest::plan::{Flow, Plan};
use fullpipe_guest::record::{ACCEPTED, ANSWERED, FINISHED, RECEIVER, SENDER};

use super::sender::LARGEST;
use super::{Ended, closing, ended, receiver, sender};
use crate::error::{Context, Result};
use crate::namespaces::STACK;
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
    /// Dialogue of a flow and its answer; none where no flow answers it.
    pub fn of(plan: &Plan, asks: usize) -> Option<Dialogue> {
        let flow = |number: usize| (number, plan.flows[number].clone());
        let answers = plan.flows.iter().position(|other| other.answers == Some(asks))?;
        Some(Dialogue { asks: flow(asks), answers: flow(answers) })
    }

    /// Connects when it is time; writes, reads the answer, and again; closes the connection.
    pub(super) fn ask(&self, [here, there]: [End; 2]) -> Result<Ended> {
        let (index, flow) = &self.asks;
        let (answer, answers) = &self.answers;
        let socket = sender::socket(*index, flow, here)?;
        receiver::set(&socket, *answer, answers)?;
        sender::wait_for_start(&[*index, *answer], flow);
        let connected = sender::connect(*index, flow, &socket, there);
        let done = connected.and_then(|()| self.ask_and_read(&socket));
        let done = closing::end(socket, done, &[(SENDER, *index), (RECEIVER, *answer)]);
        ended(*index, done)
    }

    /// Dialogue that begins at that time, ns from the run's start.
    pub(super) fn begun(mut self, start_ns: u64) -> Dialogue {
        (self.asks.1.start_ns, self.answers.1.start_ns) = (start_ns, start_ns);
        self
    }

    fn ask_and_read(&self, socket: &OwnedFd) -> io::Result<()> {
        let ((asks, flow), (answer, answers)) = (&self.asks, &self.answers);
        let count = AnswerCount { flow: *asks, answers: 0 };
        let read = match flow.messages().in_flight {
            1 => Requests::new(flow).ask_one_by_one(socket, answers, count)?,
            _ => Requests::new(flow).ask_ahead(socket, answers, count)?,
        };
        run::remember(Event::now(*answer, FINISHED, read));
        Ok(())
    }

    /// Accepts the connection; reads a request, answers it, and again. The socket stays open, so that it can be sampled.
    pub(super) fn answer(&self) -> Result<Ended> {
        let ((index, flow), (answer, answers)) = (&self.asks, &self.answers);
        let listener = receiver::listener(*index, flow)?;
        sender::set(&listener, *answer, answers)?;
        let socket = receiver::accept_at(&listener, *index, flow)?;
        sender::remember_connection(*answer, &socket, 0).at(|| "the answer's socket")?;
        run::remember(Event::now(*answer, ACCEPTED, 0));
        let kinds = [(RECEIVER, *index), (SENDER, *answer)];
        let done = self.read_and_answer(&socket);
        let done = done.and_then(|()| closing::receiver(&socket, flow, &kinds));
        std::mem::forget(socket);
        ended(*index, done)
    }

    fn read_and_answer(&self, socket: &OwnedFd) -> io::Result<()> {
        let ((index, flow), (_, answers)) = (&self.asks, &self.answers);
        let zeros = zeros(answers);
        let mut read = 0;
        loop {
            let left = flow.bytes.map_or(u64::MAX, |bytes| bytes - read);
            let size = flow.messages().size.min(left);
            // Without a request to wait for the stream ends next.
            let came = read_all(socket, flow, size.max(1))?;
            read += came;
            if came == 0 || size == 0 {
                break;
            }
            if flow.bytes == Some(read) {
                run::remember(Event::now(*index, FINISHED, read));
            }
            write_message(answers, socket, &zeros, answers.messages().size)?;
        }
        if flow.bytes.is_none() {
            run::remember(Event::now(*index, FINISHED, read));
        }
        Ok(())
    }
}

/// Number of answers of a flow, of which the first are recorded.
struct AnswerCount {
    /// Number of the flow that asks.
    flow: usize,
    answers: u64,
}

impl AnswerCount {
    /// Records an answer to the request that began at that time.
    fn record(&mut self, began: u64) {
        self.answers += 1;
        if self.answers <= MOST_ANSWERS {
            run::remember(Event::now(self.flow, ANSWERED, sys::now() - began));
        }
    }
}

/// Requests that are still to be written.
pub(super) struct Requests<'a> {
    flow: &'a Flow,
    deadline: Option<u64>,
    left: u64,
    zeros: Vec<u8>,
    /// Requests that were written.
    written: u64,
}

impl Requests<'_> {
    pub(super) fn new(flow: &Flow) -> Requests<'_> {
        let deadline = flow.duration_ns.map(|duration| run::start() + flow.start_ns + duration);
        let left = flow.bytes.unwrap_or(u64::MAX);
        Requests { flow, deadline, left, zeros: zeros(flow), written: 0 }
    }

    /// Waits until the next request is due, or the program's time is over.
    pub(super) fn wait(&self) {
        let period_ns = self.flow.messages().period_ns;
        if period_ns > 0 && self.left > 0 {
            let due = self.flow.start_ns.saturating_add(period_ns.saturating_mul(self.written));
            let due = run::start().saturating_add(due);
            sys::sleep_until(self.deadline.map_or(due, |deadline| due.min(deadline)));
        }
    }

    /// Writes a request; false where there are no more.
    pub(super) fn write_one(&mut self, socket: &OwnedFd) -> io::Result<bool> {
        if self.left == 0 || self.deadline.is_some_and(|deadline| sys::now() >= deadline) {
            return Ok(false);
        }
        let size = self.flow.messages().size.min(self.left);
        write_message(self.flow, socket, &self.zeros, size)?;
        (self.left, self.written) = (self.left - size, self.written + 1);
        Ok(true)
    }

    /// Writes a request, reads its answer, and again; says how many bytes were read.
    fn ask_one_by_one(
        mut self,
        socket: &OwnedFd,
        answers: &Flow,
        mut count: AnswerCount,
    ) -> io::Result<u64> {
        let answer = answers.messages().size;
        let mut read = 0;
        loop {
            self.wait();
            let began = sys::now();
            if !self.write_one(socket)? {
                return Ok(read);
            }
            let came = read_all(socket, answers, answer)?;
            read += came;
            if came < answer {
                return Ok(read);
            }
            count.record(began);
        }
    }

    /// Writes requests as far as their number without an answer allows, and reads answers meanwhile. Says how many bytes it read.
    fn ask_ahead(
        mut self,
        socket: &OwnedFd,
        answers: &Flow,
        count: AnswerCount,
    ) -> io::Result<u64> {
        let most = u64::from(self.flow.messages().in_flight);
        let shared = Exchange::default();
        thread::scope(|scope| {
            let reader = thread::Builder::new().stack_size(STACK);
            let reader = reader.spawn_scoped(scope, || shared.read(socket, answers, count))?;
            let mut written = 0;

            // The writer ends with its last request, or when the reader cannot go on.
            let done = loop {
                if !shared.wait(|state| written < state.answered + most) {
                    break Ok(());
                }
                self.wait();
                let began = sys::now();
                match self.write_one(socket) {
                    Ok(true) => written += 1,
                    Ok(false) => break Ok(()),
                    Err(failed) => break Err(failed),
                }
                shared.change(|state| {
                    state.written = written;
                    state.began.push_back(began);
                });
            };

            // The reader takes the answers that are missing, then it ends.
            shared.change(|state| state.ends = true);
            let read = reader.join().unwrap_or_else(|_| Err(ErrorKind::Other.into()));
            match (done, read) {
                // The reader knows why the connection is broken.
                (Err(failed), Err(why)) if failed.kind() == ErrorKind::BrokenPipe => Err(why),
                (done, read) => done.and(read),
            }
        })
    }
}

/// Messages of a program that writes and reads at the same time.
#[derive(Default)]
struct Exchange {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Written requests, and answered ones.
    written: u64,
    answered: u64,
    /// When requests were begun that have no answer.
    began: VecDeque<u64>,
    /// Whether no more requests are written.
    ends: bool,
    /// Whether no more answers will arrive.
    broken: bool,
}

impl State {
    /// Whether a written request has no answer.
    fn has_unanswered(&self) -> bool {
        self.written > self.answered
    }
}

impl Exchange {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Waits until a condition holds; false where no more answers will arrive.
    fn wait(&self, holds: impl Fn(&State) -> bool) -> bool {
        let state = self.lock();
        let state = self.changed.wait_while(state, |state| !state.broken && !holds(state));
        !state.unwrap_or_else(PoisonError::into_inner).broken
    }

    /// Reads an answer to each request that is written; says how many bytes.
    fn read(&self, socket: &OwnedFd, answers: &Flow, mut count: AnswerCount) -> io::Result<u64> {
        let answer = answers.messages().size;
        let mut read = 0;
        loop {
            self.wait(|state| state.has_unanswered() || state.ends);
            if !self.lock().has_unanswered() {
                return Ok(read);
            }
            let came = read_all(socket, answers, answer);
            match came {
                Ok(bytes) if bytes == answer => {
                    let began = self.lock().began.pop_front();
                    began.into_iter().for_each(|began| count.record(began));
                    self.change(|state| state.answered += 1);
                }
                _ => self.change(|state| state.broken = true),
            }
            read += came?;
            if self.lock().broken {
                return Ok(read);
            }
        }
    }
}

/// Bytes of one write of a flow.
fn zeros(flow: &Flow) -> Vec<u8> {
    vec![0; (flow.write as usize).clamp(1, LARGEST)]
}

/// Writes a message, corked where the program does so.
fn write_message(flow: &Flow, socket: &OwnedFd, zeros: &[u8], bytes: u64) -> io::Result<()> {
    let corks = flow.messages().corks;
    let cork = |on| sys::set_number(socket, libc::IPPROTO_TCP, libc::TCP_CORK, on);
    if corks {
        cork(1)?;
    }
    write(socket, zeros, bytes)?;
    if corks { cork(0) } else { Ok(()) }
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

/// Reads so many bytes of a flow, or to the end; says how many.
pub(super) fn read_all(socket: &OwnedFd, flow: &Flow, bytes: u64) -> io::Result<u64> {
    let mut read = 0;
    while read < bytes {
        match receiver::discard(socket, flow, (bytes - read) as usize)? {
            0 => break,
            came => read += came as u64,
        }
    }
    Ok(read)
}
