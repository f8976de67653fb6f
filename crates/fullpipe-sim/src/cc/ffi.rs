//! The algorithms as the C side registers them.

use super::sock::{AckSample, RateSample, TcpSock};
use core::ffi::{CStr, c_char, c_int};

/// Declares a function that lists all instances of one kind, by the names of their `CC_REGISTER` or
/// `CC_SLOW_START`. `build.rs` writes the calls: one name for each source.
macro_rules! registered {
    ($all:ident: $kind:ty = $($symbol:ident)*) => {
        unsafe extern "C" {
            $(safe static $symbol: $kind;)*
        }
        pub(super) fn $all() -> [&'static $kind; [$(stringify!($symbol)),*].len()] {
            [$(&$symbol),*]
        }
    };
}
include!(concat!(env!("OUT_DIR"), "/registered.rs"));

/// `struct cc_algorithm` of `cc/cc.h`.
#[repr(C)]
pub(super) struct Algorithm {
    name: *const c_char,
    title: *const c_char,
    params: *const Param,
    param_count: u32,
    /// First kernel version with this behaviour; 0: any.
    pub first_kernel: u32,
    /// Last kernel version with this behaviour; 0: any.
    pub last_kernel: u32,
    /// Rate halving stops at `ssthresh >> min_cwnd_shift`.
    pub min_cwnd_shift: u32,
    /// One more than the index of the parameter that asks for RTTs in microseconds; 0: none.
    pub us_rtt_param: u32,
    pub init: Option<unsafe extern "C" fn(*mut TcpSock)>,
    pub ssthresh: Option<unsafe extern "C" fn(*mut TcpSock) -> u32>,
    pub cong_avoid: Option<unsafe extern "C" fn(*mut TcpSock, u32, u32)>,
    pub pkts_acked: Option<unsafe extern "C" fn(*mut TcpSock, *const AckSample)>,
    pub set_state: Option<unsafe extern "C" fn(*mut TcpSock, u8)>,
    pub undo_cwnd: Option<unsafe extern "C" fn(*mut TcpSock) -> u32>,
    pub cwnd_event: Option<unsafe extern "C" fn(*mut TcpSock, u32)>,
    pub cong_control: Option<unsafe extern "C" fn(*mut TcpSock, u32, c_int, *const RateSample)>,
    pub min_tso_segs: Option<unsafe extern "C" fn(*mut TcpSock) -> u32>,
    pub sndbuf_expand: Option<unsafe extern "C" fn(*mut TcpSock) -> u32>,
    pub in_ack_event: Option<unsafe extern "C" fn(*mut TcpSock, u32)>,
}

// SAFETY: instances exist as constants of the C side alone; nobody writes to them or to what they point to.
unsafe impl Sync for Algorithm {}

/// `struct cc_slow_start_kind` of `cc/cc.h`.
#[repr(C)]
pub(super) struct SlowStart {
    name: *const c_char,
    title: *const c_char,
    params: *const Param,
    param_count: u32,
    /// 1 if it asks for RTTs in microseconds.
    pub us_rtt: u32,
    pub init: Option<unsafe extern "C" fn(*mut TcpSock)>,
    pub pkts_acked: Option<unsafe extern "C" fn(*mut TcpSock, *const AckSample)>,
    pub grow: Option<Grow>,
}

/// Replacement of the kernel's `tcp_slow_start`: takes packets acknowledged, returns those not used up.
pub(super) type Grow = unsafe extern "C" fn(*mut TcpSock, u32) -> u32;

// SAFETY: as of `Algorithm`.
unsafe impl Sync for SlowStart {}

/// `struct cc_default`: the value from a kernel version on.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Default {
    pub since: u32,
    pub value: u32,
}

/// `struct cc_param`.
#[repr(C)]
pub(super) struct Param {
    name: *const c_char,
    unit: *const c_char,
    meaning: *const c_char,
    pub min: u32,
    pub max: u32,
    defaults: [Default; 4],
}

impl Algorithm {
    pub fn name(&self) -> &'static str {
        text(self.name)
    }
    pub fn title(&self) -> &'static str {
        text(self.title)
    }
    pub fn params(&self) -> &'static [Param] {
        rows(self.params, self.param_count)
    }
}

impl SlowStart {
    pub fn name(&self) -> &'static str {
        text(self.name)
    }
    pub fn title(&self) -> &'static str {
        text(self.title)
    }
    pub fn params(&self) -> &'static [Param] {
        rows(self.params, self.param_count)
    }
}

/// The parameters of an instance of the C side.
fn rows(params: *const Param, count: u32) -> &'static [Param] {
    if count == 0 {
        return &[];
    }
    // SAFETY: CC_PARAMS sets pointer and count of one constant array.
    unsafe { core::slice::from_raw_parts(params, count as usize) }
}

impl Param {
    pub fn name(&self) -> &'static str {
        text(self.name)
    }
    pub fn unit(&self) -> &'static str {
        text(self.unit)
    }
    pub fn meaning(&self) -> &'static str {
        text(self.meaning)
    }
    /// Defaults in ascending order of kernel version.
    pub fn defaults(&self) -> impl Iterator<Item = Default> {
        self.defaults.into_iter().take_while(|d| d.since != 0)
    }
}

/// A string constant of the C side.
fn text(c: *const c_char) -> &'static str {
    // SAFETY: `Algorithm` and `Param` come from the C side's constants; their strings are literals.
    unsafe { CStr::from_ptr(c) }.to_str().unwrap_or("?")
}

#[cfg(test)]
mod tests {
    use super::super::Congestion;
    use super::TcpSock;

    unsafe extern "C" {
        fn cc_random(flow: *mut TcpSock) -> u32;
    }

    fn numbers(seed: u64) -> [u32; 64] {
        let mut flow = Congestion::new("reno", &[], "2.6.20", 250, seed).expect("a flow").flow;
        // SAFETY: `flow` is a `struct tcp_sock`, valid and unshared during the call.
        [(); 64].map(|()| unsafe { cc_random(&mut flow) })
    }

    #[test]
    fn random_numbers_depend_on_the_seed_alone_and_use_all_bits() {
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
        let ones: u32 = numbers(0).iter().map(|n| n.count_ones()).sum();
        assert!((900..1150).contains(&ones), "{ones} of 2048 bits, 1024 expected");
    }
}
