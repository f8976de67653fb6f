//! Many steps by one call of the kernel: a chain of io_uring requests.
//!
//! A call of the kernel costs some 20 us in user-mode Linux, because ptrace takes part in it. A chain is handed over
//! once. Its steps run as task work of the thread that waits for its end (io_cqring_wait), within the kernel.
//!
//! Time comes from a timerfd. A timeout of io_uring would end the wait each time (io_should_wake).

use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::squeue::{Entry, Flags};
use io_uring::{IoUring, opcode, types::Fd};

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

/// Reads at the file's own position.
const NO_OFFSET: u64 = u64::MAX;

/// A chain of io_uring requests, with room for their results.
pub struct Ring {
    ring: IoUring,
    /// Expirations that each step has read of its timer.
    ticks: Vec<u64>,
    /// Room for texts, [`LONGEST`] bytes each, and the length of each one that was read.
    texts: Vec<u8>,
    lengths: Vec<usize>,
}

impl Ring {
    /// For chains of at most `steps` steps, of which `texts` read a text.
    pub fn new(steps: usize, texts: usize) -> io::Result<Ring> {
        let ring = IoUring::new(steps as u32)?;
        let (ticks, texts) = (vec![0; steps], vec![0; texts * LONGEST]);
        Ok(Ring { ring, ticks, texts, lengths: Vec::new() })
    }

    /// Does all steps, one after the other, also those behind one that fails; returns the error of the first that
    /// failed.
    pub fn run(&mut self, steps: &[Step<'_>]) -> io::Result<()> {
        let texts = steps.iter().filter(|step| matches!(step, Step::Text(_))).count();
        let room = self.texts.len() / LONGEST;
        assert!(steps.len() <= self.ticks.len() && texts <= room, "the chain fits into the ring");
        let Some(last) = steps.len().checked_sub(1) else { return Ok(()) };
        let (mut text, mut completions) = (0, 0);
        for (number, step) in steps.iter().enumerate() {
            let reads = matches!(step, Step::Text(_));
            // The next request belongs to the chain, whatever the result of this one: a read of less than the buffer
            // counts as a failure.
            let mut flags = Flags::empty();
            flags.set(Flags::IO_HARDLINK, number < last);
            flags.set(Flags::SKIP_SUCCESS, number < last && !reads);
            let request = self.request(number, step, text).flags(flags).user_data(number as u64);
            // SAFETY: what it points to is ours or borrowed until `submit` returns.
            unsafe { self.ring.submission().push(&request) }.expect("room for the chain");
            text += usize::from(reads);
            completions += usize::from(!flags.contains(Flags::SKIP_SUCCESS));
        }
        self.submit(steps, completions)?;

        // A timer with more than one tick shows that a sample was missed.
        let mut steps = steps.iter().zip(&self.ticks);
        match steps.all(|(step, ticks)| !matches!(step, Step::Tick(_)) || *ticks == 1) {
            true => Ok(()),
            false => Err(io::Error::other("more was to do than fits between two samples")),
        }
    }

    /// Texts that the last chain has read, in the order of its steps.
    pub fn texts(&self) -> impl Iterator<Item = &[u8]> {
        self.texts.chunks_exact(LONGEST).zip(&self.lengths).map(|(text, length)| &text[..*length])
    }

    fn request(&mut self, number: usize, step: &Step<'_>, text: usize) -> Entry {
        let fd = |fd: &OwnedFd| Fd(fd.as_raw_fd());
        match step {
            Step::Tick(timer) => {
                let ticks = (&raw mut self.ticks[number]).cast();
                opcode::Read::new(fd(timer), ticks, size_of::<u64>() as u32)
                    .offset(NO_OFFSET)
                    .build()
            }
            Step::Send(socket, bytes) => {
                opcode::Send::new(fd(socket), bytes.as_ptr(), bytes.len() as u32).build()
            }
            Step::Text(file) => {
                let to = self.texts[text * LONGEST..].as_mut_ptr();
                opcode::Read::new(fd(file), to, LONGEST as u32).build()
            }
        }
    }

    /// Hands the chain over and waits for its last completion. `completions` steps make one in any case, the others if
    /// they fail.
    ///
    /// No step of the chain is in progress when this returns, and all that it points to was borrowed until then.
    fn submit(&mut self, steps: &[Step<'_>], completions: usize) -> io::Result<()> {
        let (mut left, mut missing, mut over) = (steps.len(), completions, false);
        let mut failure = Ok(());
        self.lengths.clear();
        while !over {
            match self.ring.submit_and_wait(missing) {
                Ok(submitted) => {
                    assert!(submitted == left, "the kernel takes a chain as a whole");
                    left = 0;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => panic!("io_uring_enter: {error}"),
            }
            for completion in self.ring.completion() {
                let (number, result) = (completion.user_data() as usize, completion.result());

                // At least the completion of the last step is waited for.
                missing = missing.saturating_sub(1).max(1);
                over |= number == steps.len() - 1;
                if matches!(steps[number], Step::Text(_)) {
                    self.lengths.push(result.max(0) as usize);
                }
                if result < 0 && failure.is_ok() {
                    failure = Err(io::Error::from_raw_os_error(-result));
                }
            }
        }
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys;

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
    fn a_failure_is_returned_and_later_steps_are_done() {
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
