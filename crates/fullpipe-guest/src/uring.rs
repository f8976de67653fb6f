//! Many steps by one call of the kernel: a chain of io_uring requests.
//!
//! A call of the kernel costs some 20 us in user-mode Linux, because ptrace takes part in it. A chain is handed over
//! once; what follows runs as task work of the thread that waits for its end (io_cqring_wait), within the kernel.
//!
//! Time comes from a timerfd. A timeout of io_uring would end the wait each time (io_should_wake).

use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::sys;

/// A step of a chain; it begins when the one before it is done.
#[derive(Clone, Copy)]
pub enum Step<'a> {
    /// Waits until a timer made by [`sys::ticks`] has gone off.
    Tick(&'a OwnedFd),
    /// Sends a message by a socket.
    Send(&'a OwnedFd, &'a [u8]),
}

// include/uapi/linux/io_uring.h
const READ: u8 = 22;
const SEND: u8 = 26;
/// The next request belongs to the chain (IOSQE_IO_LINK).
const LINK: u8 = 1 << 2;
/// Only a failure is told, not success (IOSQE_CQE_SKIP_SUCCESS).
const QUIET: u8 = 1 << 6;
/// Waits for completions (IORING_ENTER_GETEVENTS).
const WAIT: u32 = 1;
/// Where the mapping of both rings begins, and that of the requests (IORING_OFF_SQ_RING, _SQES).
const RINGS: i64 = 0;
const REQUESTS: i64 = 0x1000_0000;
/// Reads at the file's own position.
const NO_OFFSET: u64 = u64::MAX;

/// `struct io_sqring_offsets`.
#[repr(C)]
#[derive(Default)]
struct Submissions {
    head: u32,
    tail: u32,
    mask: u32,
    entries: u32,
    flags: u32,
    dropped: u32,
    array: u32,
    reserved: [u32; 3],
}

/// `struct io_cqring_offsets`.
#[repr(C)]
#[derive(Default)]
struct Completions {
    head: u32,
    tail: u32,
    mask: u32,
    entries: u32,
    overflow: u32,
    array: u32,
    flags: u32,
    reserved: [u32; 3],
}

/// `struct io_uring_params`.
#[repr(C)]
#[derive(Default)]
struct Parameters {
    submissions: u32,
    completions: u32,
    flags: u32,
    thread: [u32; 2],
    features: u32,
    wq_fd: u32,
    reserved: [u32; 3],
    sq: Submissions,
    cq: Completions,
}

/// `struct io_uring_sqe`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Request {
    opcode: u8,
    flags: u8,
    priority: u16,
    fd: RawFd,
    offset: u64,
    address: u64,
    len: u32,
    op_flags: u32,
    user_data: u64,
    rest: [u64; 3],
}

/// `struct io_uring_cqe`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Completion {
    user_data: u64,
    result: i32,
    flags: u32,
}

/// See the module's description.
pub struct Ring {
    fd: OwnedFd,
    rings: *mut u8,
    requests: *mut Request,
    parameters: Parameters,
    /// What each step has read of its timer: how often it has gone off.
    ticks: Vec<u64>,
}

impl Ring {
    /// For chains of at most `steps` steps.
    pub fn new(steps: usize) -> io::Result<Ring> {
        let mut parameters = Parameters::default();
        let fd = sys::io_uring(steps as u32, (&raw mut parameters).cast())?;
        let (sq, cq) = (&parameters.sq, &parameters.cq);
        let submissions = sq.array as usize + parameters.submissions as usize * size_of::<u32>();
        let completions =
            cq.array as usize + parameters.completions as usize * size_of::<Completion>();
        let rings = sys::map(&fd, RINGS, submissions.max(completions))?;
        let all = parameters.submissions as usize * size_of::<Request>();
        let requests = sys::map(&fd, REQUESTS, all)?.cast();
        Ok(Ring { fd, rings, requests, parameters, ticks: vec![0; steps] })
    }

    fn word(&self, offset: u32) -> &AtomicU32 {
        // SAFETY: the kernel said that a number of 32 bits is there; the mapping lasts as long as the process.
        unsafe { &*self.rings.add(offset as usize).cast::<AtomicU32>() }
    }

    /// Does all steps, one after the other. If one fails the rest is not done.
    pub fn run(&mut self, steps: &[Step<'_>]) -> io::Result<()> {
        assert!(steps.len() <= self.ticks.len(), "the chain fits into the ring");
        let Some(last) = steps.len().checked_sub(1) else { return Ok(()) };
        let tail = self.word(self.parameters.sq.tail).load(Ordering::Relaxed);
        for (number, step) in steps.iter().enumerate() {
            let mut request = self.request(number, step);
            request.flags = if number < last { LINK | QUIET } else { 0 };
            request.user_data = number as u64;
            self.put(tail.wrapping_add(number as u32), request);
        }
        let end = tail.wrapping_add(steps.len() as u32);
        self.word(self.parameters.sq.tail).store(end, Ordering::Release);
        let completion = self.submit(steps.len());
        if completion.result < 0 {
            return Err(io::Error::from_raw_os_error(-completion.result));
        }
        let on_time =
            |(step, ticks): (&Step<'_>, &u64)| matches!(step, Step::Send(..)) || *ticks == 1;
        match steps.iter().zip(&self.ticks).all(on_time) {
            true => Ok(()),
            false => Err(io::Error::other("more was to do than fits between two samples")),
        }
    }

    fn request(&mut self, number: usize, step: &Step<'_>) -> Request {
        let (opcode, fd, address, len) = match step {
            Step::Tick(timer) => {
                (READ, timer, (&raw mut self.ticks[number]) as u64, size_of::<u64>())
            }
            Step::Send(socket, bytes) => (SEND, socket, bytes.as_ptr() as u64, bytes.len()),
        };
        let offset = if opcode == READ { NO_OFFSET } else { 0 };
        Request {
            opcode,
            fd: fd.as_raw_fd(),
            offset,
            address,
            len: len as u32,
            ..Request::default()
        }
    }

    fn put(&mut self, at: u32, request: Request) {
        let slot = at & (self.parameters.submissions - 1);
        self.word(self.parameters.sq.array + slot * 4).store(slot, Ordering::Relaxed);
        // SAFETY: `slot` is one of the mapped requests; the kernel reads it when it is told of.
        unsafe { self.requests.add(slot as usize).write(request) };
    }

    /// Hands the chain over and waits for the only completion that it makes: of its end, or of what failed; the
    /// requests behind that are cancelled, and so are quiet (io_fail_links).
    ///
    /// Nothing of the chain is under way when this returns, and all that it points to was borrowed until then.
    fn submit(&mut self, steps: usize) -> Completion {
        let (mut left, head) = (steps, self.word(self.parameters.cq.head).load(Ordering::Relaxed));
        while self.word(self.parameters.cq.tail).load(Ordering::Acquire) == head {
            match sys::enter_io_uring(&self.fd, left as u32, WAIT) {
                Ok(submitted) => {
                    assert!(submitted == left, "the kernel takes a chain as a whole");
                    left = 0;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => panic!("io_uring_enter: {error}"),
            }
        }
        let slot = head & (self.parameters.completions - 1);
        let at = self.parameters.cq.array as usize + slot as usize * size_of::<Completion>();
        // SAFETY: the kernel has written this completion before it moved the tail.
        let completion = unsafe { self.rings.add(at).cast::<Completion>().read() };
        self.word(self.parameters.cq.head).store(head.wrapping_add(1), Ordering::Release);
        completion
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A ring, where the kernel that runs the tests gives one.
    fn ring(steps: usize) -> Option<Ring> {
        let ring = Ring::new(steps);
        ring.inspect_err(|why| println!("skipped: io_uring: {why}")).ok()
    }

    #[test]
    fn steps_wait_for_their_time_and_for_each_other() {
        let Some(mut ring) = ring(6) else { return };
        let (from, to) = sys::pair().expect("sockets");
        let begin = sys::now();
        let ticks = sys::ticks(begin + 20 * MS, 10 * MS).expect("a timer");
        let tick = Step::Tick(&ticks);
        for (first, second) in [(b"ab", b"cd"), (b"ef", b"gh")] {
            let done = ring.run(&[tick, Step::Send(&from, first), tick, Step::Send(&from, second)]);
            if let Err(late) = done {
                println!("skipped: {late}");
                return;
            }
            let mut bytes = [0; 8];
            assert_eq!(sys::receive(&to, &mut bytes).expect("a message"), 2);
            assert_eq!(&bytes[..2], first);
            assert_eq!(sys::receive(&to, &mut bytes).expect("a message"), 2);
            assert_eq!(&bytes[..2], second);
        }
        assert!(sys::now() - begin >= 50 * MS);
    }

    #[test]
    fn a_failure_ends_the_chain_and_the_next_one_works() {
        let Some(mut ring) = ring(3) else { return };
        let (from, to) = sys::pair().expect("sockets");
        let timer = sys::ticks(0, MS).expect("a timer");
        let chain = [Step::Send(&from, b"a"), Step::Send(&timer, b"b"), Step::Send(&from, b"c")];
        let failure = ring.run(&chain).expect_err("a timer is no socket");
        assert_eq!(failure.raw_os_error(), Some(libc::ENOTSOCK));
        ring.run(&[Step::Send(&from, b"d")]).expect("done");
        let mut bytes = [0; 8];
        let mut next = || {
            sys::receive(&to, &mut bytes).expect("a message");
            bytes[0]
        };
        assert_eq!([next(), next()], [b'a', b'd']);
    }
}
