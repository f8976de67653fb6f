//! The algorithms as the C side registers them.

use super::sock::{AckSample, Flow};
use core::ffi::{CStr, c_char};

/// The algorithms, by the names of their `CC_REGISTER`: one word for a new one.
macro_rules! algorithms {
    ($($symbol:ident)*) => {
        unsafe extern "C" {
            $(safe static $symbol: Algorithm;)*
        }
        /// Every registered algorithm.
        pub(super) fn all() -> [&'static Algorithm; [$(stringify!($symbol)),*].len()] {
            [$(&$symbol),*]
        }
    };
}
algorithms! { cc_bic cc_cubic cc_reno }

/// `struct cc_algorithm` of `cc/cc.h`.
#[repr(C)]
pub(super) struct Algorithm {
    name: *const c_char,
    title: *const c_char,
    params: *const Param,
    param_count: u32,
    /// Last kernel version whose behaviour it has; 0: any.
    pub last_kernel: u32,
    /// Rate halving stops at `ssthresh >> min_cwnd_shift`.
    pub min_cwnd_shift: u32,
    /// One more than the index of the parameter that asks for RTTs in microseconds; 0: none.
    pub us_rtt_param: u32,
    pub init: Option<unsafe extern "C" fn(*mut Flow)>,
    pub ssthresh: Option<unsafe extern "C" fn(*mut Flow) -> u32>,
    pub cong_avoid: Option<unsafe extern "C" fn(*mut Flow, u32, u32)>,
    pub pkts_acked: Option<unsafe extern "C" fn(*mut Flow, *const AckSample)>,
    pub set_state: Option<unsafe extern "C" fn(*mut Flow, u8)>,
    pub undo_cwnd: Option<unsafe extern "C" fn(*mut Flow) -> u32>,
    pub cwnd_event: Option<unsafe extern "C" fn(*mut Flow, u32)>,
}

// SAFETY: instances exist as constants of the C side alone; nobody writes to them or to what they point to.
unsafe impl Sync for Algorithm {}

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
        if self.param_count == 0 {
            return &[];
        }
        // SAFETY: CC_PARAMS sets pointer and count of one constant array.
        unsafe { core::slice::from_raw_parts(self.params, self.param_count as usize) }
    }
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
    // SAFETY: `Algorithm` and `Param` come from the C side's constants, whose strings are literals.
    unsafe { CStr::from_ptr(c) }.to_str().unwrap_or("?")
}

#[cfg(test)]
mod tests {
    use super::super::Congestion;
    use super::Flow;

    unsafe extern "C" {
        fn cc_random(flow: *mut Flow) -> u32;
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
