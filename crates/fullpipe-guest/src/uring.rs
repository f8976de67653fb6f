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
    /// Reads a file that does not block from its start; [`Ring::texts`] has what it read. A file that may block would
    /// be read by another thread (io-wq), as would be all steps behind it; no tick can wait there.
    Text(&'a OwnedFd),
}

/// Bytes that a [`Step::Text`] reads at most.
pub const LONGEST: usize = 8 << 10;

// include/uapi/linux/io_uring.h
const READ: u8 = 22;
const SEND: u8 = 26;
/// The next request belongs to the chain, whatever becomes of this one (IOSQE_IO_HARDLINK): to read less than there
/// is room for counts as a failure.
const LINK: u8 = 1 << 3;
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
    /// Room for texts, [`LONGEST`] bytes each, and the length of each one that was read.
    texts: Vec<u8>,
    lengths: Vec<usize>,
}

impl Ring {
    /// For chains of at most `steps` steps, of which `texts` read a text.
    pub fn new(steps: usize, texts: usize) -> io::Result<Ring> {
        let mut parameters = Parameters::default();
        let fd = sys::io_uring(steps as u32, (&raw mut parameters).cast())?;
        let (sq, cq) = (&parameters.sq, &parameters.cq);
        let submissions = sq.array as usize + parameters.submissions as usize * size_of::<u32>();
        let completions =
            cq.array as usize + parameters.completions as usize * size_of::<Completion>();
        let rings = sys::map(&fd, RINGS, submissions.max(completions))?;
        let all = parameters.submissions as usize * size_of::<Request>();
        let requests = sys::map(&fd, REQUESTS, all)?.cast();
        let (ticks, texts) = (vec![0; steps], vec![0; texts * LONGEST]);
        Ok(Ring { fd, rings, requests, parameters, ticks, texts, lengths: Vec::new() })
    }

    fn word(&self, offset: u32) -> &AtomicU32 {
        // SAFETY: the kernel said that a number of 32 bits is there; the mapping lasts as long as the process.
        unsafe { &*self.rings.add(offset as usize).cast::<AtomicU32>() }
    }

    /// Does all steps, one after the other, also those behind one that fails; says how the first of those failed.
    pub fn run(&mut self, steps: &[Step<'_>]) -> io::Result<()> {
        let texts = steps.iter().filter(|step| matches!(step, Step::Text(_))).count();
        let room = self.texts.len() / LONGEST;
        assert!(steps.len() <= self.ticks.len() && texts <= room, "the chain fits into the ring");
        let Some(last) = steps.len().checked_sub(1) else { return Ok(()) };
        let tail = self.word(self.parameters.sq.tail).load(Ordering::Relaxed);
        let (mut text, mut told) = (0, 0);
        for (number, step) in steps.iter().enumerate() {
            let mut request = self.request(number, step, text);
            let reads = matches!(step, Step::Text(_));
            request.flags = if number < last { LINK } else { 0 };
            if number < last && !reads {
                request.flags |= QUIET;
            }
            request.user_data = number as u64;
            self.put(tail.wrapping_add(number as u32), request);
            text += usize::from(reads);
            told += u32::from(request.flags & QUIET == 0);
        }
        let end = tail.wrapping_add(steps.len() as u32);
        self.word(self.parameters.sq.tail).store(end, Ordering::Release);
        self.submit(steps, told)?;
        let on_time =
            |(step, ticks): (&Step<'_>, &u64)| !matches!(step, Step::Tick(_)) || *ticks == 1;
        match steps.iter().zip(&self.ticks).all(on_time) {
            true => Ok(()),
            false => Err(io::Error::other("more was to do than fits between two samples")),
        }
    }

    /// What the last chain has read, in the order of its steps.
    pub fn texts(&self) -> impl Iterator<Item = &[u8]> {
        self.texts.chunks_exact(LONGEST).zip(&self.lengths).map(|(text, length)| &text[..*length])
    }

    fn request(&mut self, number: usize, step: &Step<'_>, text: usize) -> Request {
        let (opcode, fd, offset, address, len) = match step {
            Step::Tick(timer) => {
                let ticks = (&raw mut self.ticks[number]) as u64;
                (READ, timer, NO_OFFSET, ticks, size_of::<u64>())
            }
            Step::Send(socket, bytes) => (SEND, socket, 0, bytes.as_ptr() as u64, bytes.len()),
            Step::Text(file) => {
                (READ, file, 0, self.texts[text * LONGEST..].as_mut_ptr() as u64, LONGEST)
            }
        };
        let (fd, len) = (fd.as_raw_fd(), len as u32);
        Request { opcode, fd, offset, address, len, ..Request::default() }
    }

    fn put(&mut self, at: u32, request: Request) {
        let slot = at & (self.parameters.submissions - 1);
        self.word(self.parameters.sq.array + slot * 4).store(slot, Ordering::Relaxed);
        // SAFETY: `slot` is one of the mapped requests; the kernel reads it when it is told of.
        unsafe { self.requests.add(slot as usize).write(request) };
    }

    /// Hands the chain over and waits for its last completion. `told` steps make one in any case, the others if
    /// they fail.
    ///
    /// Nothing of the chain is under way when this returns, and all that it points to was borrowed until then.
    fn submit(&mut self, steps: &[Step<'_>], told: u32) -> io::Result<()> {
        let (mut left, mut missing, mut over) = (steps.len(), told, false);
        let mut failure = Ok(());
        self.lengths.clear();
        while !over {
            match sys::enter_io_uring(&self.fd, left as u32, missing, WAIT) {
                Ok(submitted) => {
                    assert!(submitted == left, "the kernel takes a chain as a whole");
                    left = 0;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => panic!("io_uring_enter: {error}"),
            }
            while let Some(Completion { user_data, result, .. }) = self.completion() {
                missing = missing.saturating_sub(1).max(1);
                over |= user_data as usize == steps.len() - 1;
                if matches!(steps[user_data as usize], Step::Text(_)) {
                    self.lengths.push(result.max(0) as usize);
                }
                if result < 0 && failure.is_ok() {
                    failure = Err(io::Error::from_raw_os_error(-result));
                }
            }
        }
        failure
    }

    /// The next completion that has come.
    fn completion(&mut self) -> Option<Completion> {
        let head = self.word(self.parameters.cq.head).load(Ordering::Relaxed);
        if self.word(self.parameters.cq.tail).load(Ordering::Acquire) == head {
            return None;
        }
        let slot = head & (self.parameters.completions - 1);
        let at = self.parameters.cq.array as usize + slot as usize * size_of::<Completion>();
        // SAFETY: the kernel has written this completion before it moved the tail.
        let completion = unsafe { self.rings.add(at).cast::<Completion>().read() };
        self.word(self.parameters.cq.head).store(head.wrapping_add(1), Ordering::Release);
        Some(completion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A ring, where the kernel that runs the tests gives one.
    fn ring(steps: usize) -> Option<Ring> {
        let ring = Ring::new(steps, 2);
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
    fn a_failure_is_told_and_what_follows_is_done() {
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
        assert_eq!([next(), next(), next()], [b'a', b'c', b'd']);
    }

    #[test]
    fn texts_are_read_from_their_start_each_time_and_end_no_chain() {
        let Some(mut ring) = ring(4) else { return };
        let (from, to) = sys::pair().expect("sockets");
        let path = "/proc/self/status";
        let file = OwnedFd::from(std::fs::File::open(path).expect("a file"));
        let text = Step::Text(&file);
        for _ in 0..2 {
            ring.run(&[text, Step::Send(&from, b"a"), text, Step::Send(&from, b"b")])
                .expect("done");
            let begins: Vec<_> = ring.texts().map(|text| &text[..5]).collect();
            assert_eq!(begins, [b"Name:"; 2]);
            assert!(ring.texts().all(|text| text.len() < LONGEST && text.ends_with(b"\n")));
            let mut bytes = [0; 8];
            assert_eq!(sys::receive(&to, &mut bytes).expect("a message"), 1);
            assert_eq!(sys::receive(&to, &mut bytes).expect("a message"), 1);
        }
        ring.run(&[Step::Send(&from, b"c"), text]).expect("done");
        assert_eq!(ring.texts().count(), 1);
    }
}
