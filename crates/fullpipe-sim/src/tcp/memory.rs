//! Memory common to all TCP sockets of a host: net.ipv4.tcp_mem and memory pressure.
//!
//! Source: Linux 6.1 and 6.12 `__sk_mem_raise_allocated`, `__sk_mem_reduce_allocated`, `sk_forced_mem_schedule`,
//! `sk_memory_allocated_add`, `tcp_enter_memory_pressure`, `tcp_leave_memory_pressure`; 6.12
//! Documentation/networking/ip-sysctl.rst.
//!
//! Limits:
//! - The host has one CPU, so one reserve of pages. With N CPUs the kernel's counter is up to N MiB off.
//! - Sockets are counted exactly. A kernel for several CPUs counts them in steps of 32 or more (`percpu_counter`).
//! - Both directions of a connection have pages of their own, up to one more than in the kernel.
//! - A program that closes gets no reset where memory is above the third number (`tcp_check_oom`).

use crate::config::Host;
use crate::units::Time;
use alloc::rc::Rc;
use core::cell::Cell;

/// Unit in which memory is taken and returned, bytes.
pub(in crate::tcp) const PAGE: u64 = 4096;
/// Pages that a CPU keeps before it updates the common counter (net.core.mem_pcpu_rsv: 1 MiB).
const RESERVE: i64 = 256;

/// The host's memory, as each of its sockets holds it.
#[derive(Clone, Debug)]
pub struct TcpMemory(Rc<Cell<State>>);

#[derive(Clone, Copy, Debug)]
struct State {
    /// net.ipv4.tcp_mem, pages.
    low: i64,
    pressure: i64,
    high: i64,
    /// Pages in the common counter (tcp_memory_allocated).
    allocated: i64,
    /// Pages that are not in the counter yet (tcp_memory_per_cpu_fw_alloc).
    reserve: i64,
    /// Open sockets (tcp_sockets_allocated).
    sockets: u64,
    /// Start of the present pressure, jiffies (tcp_memory_pressure).
    since: Option<u64>,
    now: Time,
    hz: u64,
    mib: PressureMib,
}

/// Counters of `nstat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PressureMib {
    /// TCPMemoryPressures: times that pressure began.
    pub pressures: u64,
    /// TCPMemoryPressuresChrono: duration of ended pressure, ms.
    pub chrono_ms: u64,
}

/// Request of a socket for pages.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct Request {
    pub(in crate::tcp) pages: u64,
    /// Bytes that the socket will hold, including the request.
    pub(in crate::tcp) held: u64,
    /// Whether it has less than the least buffer (the first number of tcp_rmem or tcp_wmem).
    pub(in crate::tcp) below_least: bool,
}

/// One of the sockets that share a host's memory.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Member {
    pub(in crate::tcp) memory: TcpMemory,
    /// Bytes that the socket may always have under pressure (the first number of tcp_rmem or tcp_wmem).
    least: u64,
    is_open: bool,
}

impl Member {
    /// A socket that is not counted yet.
    pub(in crate::tcp) fn new(memory: &TcpMemory, least: u64) -> Member {
        Member { memory: memory.clone(), least, is_open: false }
    }

    /// Counts the socket among its host's from now on.
    pub(in crate::tcp) fn open(&mut self) {
        if !core::mem::replace(&mut self.is_open, true) {
            self.memory.open_socket();
        }
    }

    /// Removes the socket from its host's.
    pub(in crate::tcp) fn close(&mut self) {
        if core::mem::take(&mut self.is_open) {
            self.memory.close_socket();
        }
    }

    /// Takes pages, if the host has them for a socket with `has` bytes that will hold `held` bytes.
    #[must_use]
    pub(in crate::tcp) fn raise(&self, pages: u64, has: u64, held: u64) -> bool {
        pages == 0 || self.memory.raise(Request { pages, held, below_least: has < self.least })
    }
}

impl TcpMemory {
    /// The memory of a host's sockets; none where net.ipv4.tcp_mem is not set.
    pub fn new(host: &Host) -> Option<TcpMemory> {
        let [low, pressure, high] = host.sysctl.tcp_mem?.map(|pages| pages as i64);
        Some(TcpMemory(Rc::new(Cell::new(State {
            low,
            pressure,
            high,
            allocated: 0,
            reserve: 0,
            sockets: 0,
            since: None,
            now: Time::ZERO,
            hz: host.hz.into(),
            mib: PressureMib::default(),
        }))))
    }

    /// Sets the time of the next changes.
    pub(crate) fn set_now(&self, now: Time) {
        self.change(|state| state.now = now);
    }

    /// Counts a new socket.
    pub(crate) fn open_socket(&self) {
        self.change(|state| state.sockets += 1);
    }

    /// Counts the end of a socket.
    fn close_socket(&self) {
        self.change(|state| state.sockets = state.sockets.saturating_sub(1));
    }

    /// Counters so far.
    pub(crate) fn mib(&self) -> PressureMib {
        self.0.get().mib
    }

    /// Whether sockets should save memory (tcp_under_memory_pressure).
    pub(in crate::tcp) fn is_under_pressure(&self) -> bool {
        self.0.get().since.is_some()
    }

    /// Whether buffers may grow: there is no pressure, and less than the first number is in use.
    pub(in crate::tcp) fn lets_buffers_grow(&self) -> bool {
        let state = self.0.get();
        state.since.is_none() && state.allocated < state.low
    }

    /// Takes pages if the host has them for this socket; else takes none (__sk_mem_raise_allocated).
    #[must_use]
    pub(in crate::tcp) fn raise(&self, request: Request) -> bool {
        self.change(|state| {
            state.add(request.pages as i64);
            let granted = state.grants(request);
            if !granted {
                state.add(-(request.pages as i64));
            }
            granted
        })
    }

    /// Takes pages whatever is left (sk_forced_mem_schedule).
    pub(in crate::tcp) fn force(&self, pages: u64) {
        self.change(|state| state.add(pages as i64));
    }

    /// Returns pages (__sk_mem_reduce_allocated).
    pub(in crate::tcp) fn reduce(&self, pages: u64) {
        self.change(|state| {
            state.add(-(pages as i64));
            if state.allocated < state.low {
                state.leave();
            }
        });
    }

    /// Pages of all sockets, including those of the reserve.
    #[cfg(test)]
    pub(in crate::tcp) fn pages(&self) -> u64 {
        let state = self.0.get();
        (state.allocated + state.reserve) as u64
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.0.get();
        let result = change(&mut state);
        self.0.set(state);
        result
    }
}

impl State {
    /// Adds pages to the CPU's reserve, and moves them to the common counter when they are many.
    fn add(&mut self, pages: i64) {
        self.reserve += pages;
        if self.reserve.abs() >= RESERVE {
            self.allocated += core::mem::take(&mut self.reserve);
        }
    }

    /// Whether pages that are counted already may be kept.
    fn grants(&mut self, request: Request) -> bool {
        if self.allocated <= self.low {
            self.leave();
            return true;
        }

        if self.allocated > self.pressure {
            self.enter();
        }
        if self.allocated > self.high {
            return false;
        }
        if request.below_least || self.since.is_none() {
            return true;
        }

        // Under pressure a socket gets more memory while it has less than its share.
        let share = u128::from(self.sockets) * u128::from(request.held.div_ceil(PAGE));
        self.high as u128 > share
    }

    fn enter(&mut self) {
        if self.since.is_none() {
            self.since = Some(self.jiffies());
            self.mib.pressures += 1;
        }
    }

    fn leave(&mut self) {
        if let Some(since) = self.since.take() {
            self.mib.chrono_ms += (self.jiffies() - since) * 1000 / self.hz;
        }
    }

    fn jiffies(&self) -> u64 {
        (u128::from(self.now.0) * u128::from(self.hz) / 1_000_000_000) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(tcp_mem: [u64; 3]) -> TcpMemory {
        let mut host = Host::plain("6.12");
        host.sysctl.tcp_mem = Some(tcp_mem);
        TcpMemory::new(&host).expect("it is set")
    }

    /// Request of a socket that holds `held` pages.
    fn request(pages: u64, held: u64) -> Request {
        Request { pages, held: held * PAGE, below_least: false }
    }

    #[test]
    fn a_host_that_sets_nothing_has_no_bound() {
        assert!(TcpMemory::new(&Host::plain("6.12")).is_none());
    }

    #[test]
    fn pressure_begins_above_the_second_number_and_ends_below_the_first() {
        let memory = memory([1024, 2048, 4096]);
        assert!(memory.raise(request(2048, 2048)));
        assert!(!memory.is_under_pressure(), "not above it");
        assert!(!memory.lets_buffers_grow(), "more than the first number");
        memory.set_now(Time::ms(10));
        assert!(memory.raise(request(256, 2304)));
        assert!(memory.is_under_pressure());
        memory.reduce(1280);
        assert!(memory.is_under_pressure(), "1024 are left, which is not below the first number");
        memory.set_now(Time::ms(35));
        memory.reduce(256);
        assert!(!memory.is_under_pressure() && memory.lets_buffers_grow());
        assert_eq!(memory.mib(), PressureMib { pressures: 1, chrono_ms: 25 });
    }

    #[test]
    fn nobody_gets_more_than_the_third_number_but_by_force() {
        let memory = memory([256, 512, 1024]);
        assert!(memory.raise(request(1024, 1024)));
        assert!(!memory.raise(Request { below_least: true, ..request(256, 1) }));
        memory.force(256);
        memory.reduce(512);
        assert!(memory.raise(request(256, 256)), "1024 again");
    }

    #[test]
    fn under_pressure_a_socket_has_its_share() {
        let memory = memory([256, 512, 1024]);
        (0..4).for_each(|_| memory.open_socket());
        assert!(memory.raise(request(512, 512)), "no pressure yet");
        assert!(!memory.raise(request(256, 256)), "a fourth of 1024 is no less than a share");
        assert!(memory.raise(request(256, 255)));
        assert!(memory.raise(Request { below_least: true, ..request(1, 700) }));
        memory.close_socket();
        assert!(memory.raise(request(1, 256)), "of three");
    }

    #[test]
    fn the_common_counter_moves_by_whole_mebibytes() {
        let memory = memory([1, 1, 1]);
        assert!(memory.raise(request(255, 255)), "it does not know yet");
        assert!(!memory.raise(request(1, 256)));
        assert!(memory.is_under_pressure());
    }
}
