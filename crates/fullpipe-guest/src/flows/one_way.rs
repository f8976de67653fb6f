//! Unanswered messages: one program writes them, another one reads them.
//!
//! Both are threads of one process, so that they have one clock: the writer leaves in memory when it began each message.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fullpipe_base::trace::MOST_ANSWERS;
use fullpipe_guest::plan::Flow;
use fullpipe_guest::record::MESSAGE_READ;

use super::dialogue::{Requests, read_all};
use crate::run::Event;
use crate::{run, sys};

/// By flow, when messages were begun that are not read yet.
static BEGAN: Mutex<BTreeMap<usize, VecDeque<u64>>> = Mutex::new(BTreeMap::new());

fn began() -> MutexGuard<'static, BTreeMap<usize, VecDeque<u64>>> {
    BEGAN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes messages until the program's time is over or its bytes are written.
pub(super) fn write(index: usize, flow: &Flow, socket: &OwnedFd) -> io::Result<()> {
    let mut messages = Requests::new(flow);
    loop {
        messages.wait();
        began().entry(index).or_default().push_back(sys::now());
        if !messages.write_one(socket)? {
            return Ok(());
        }
    }
}

/// Messages of a flow that were read.
pub(super) struct Arriving {
    index: usize,
    size: u64,
    bytes: u64,
    count: u64,
}

impl Arriving {
    /// Nothing was read yet; none where the flow has no messages.
    pub(super) fn of(index: usize, flow: &Flow) -> Option<Arriving> {
        let size = flow.messages?.size;
        Some(Arriving { index, size, bytes: flow.bytes.unwrap_or(u64::MAX), count: 0 })
    }

    /// End of the next message, bytes from the beginning of the stream. The last one may be shorter.
    fn end(&self) -> u64 {
        self.count.saturating_add(1).saturating_mul(self.size).min(self.bytes)
    }

    /// So many bytes were read in all.
    pub(super) fn read(&mut self, read: u64) {
        while read >= self.end() && self.count.saturating_mul(self.size) < self.end() {
            self.count += 1;
            let Some(began) = began().get_mut(&self.index).and_then(VecDeque::pop_front) else {
                return;
            };
            if self.count <= MOST_ANSWERS {
                run::remember(Event::now(self.index, MESSAGE_READ, sys::now() - began));
            }
        }
    }

    /// Reads messages one by one to the end of the stream; says how many bytes.
    pub(super) fn read_all(mut self, socket: &OwnedFd, flow: &Flow) -> io::Result<u64> {
        let mut read = 0;
        while read < self.bytes {
            let wanted = self.end() - read;
            let came = read_all(socket, flow, wanted)?;
            read += came;
            self.read(read);
            if came < wanted {
                break;
            }
        }
        Ok(read)
    }
}
