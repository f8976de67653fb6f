//! Settings of the calling thread's network namespace.
//!
//! Some belong to the whole kernel and are hidden in other namespaces than the first one, so each may be missing.

use std::fs;

/// Settings of TCP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sysctls {
    /// Release of the kernel, such as "6.12.1".
    pub kernel: String,
    /// `net.ipv4.tcp_rmem`: least, first and largest receive buffer, bytes.
    pub tcp_rmem: Option<[u64; 3]>,
    /// `net.ipv4.tcp_wmem`: least, first and largest send buffer, bytes.
    pub tcp_wmem: Option<[u64; 3]>,
    /// `net.core.rmem_max`: most that a program may ask for, bytes.
    pub rmem_max: Option<u64>,
    /// `net.core.wmem_max`: most that a program may ask for, bytes.
    pub wmem_max: Option<u64>,
    /// `net.ipv4.tcp_mem`: memory of all TCP sockets, pages.
    pub tcp_mem: Option<[u64; 3]>,
    /// `net.ipv4.tcp_window_scaling`.
    pub window_scaling: Option<bool>,
    /// `net.ipv4.tcp_sack`.
    pub sack: Option<bool>,
    /// `net.ipv4.tcp_mtu_probing` above 0.
    pub mtu_probing: Option<bool>,
    /// `net.core.default_qdisc`.
    pub default_qdisc: Option<String>,
}

impl Sysctls {
    /// The settings now.
    pub fn now() -> Sysctls {
        let ipv4 = |name: &str| text(&format!("net/ipv4/{name}"));
        let core = |name: &str| text(&format!("net/core/{name}"));
        Sysctls {
            kernel: text("kernel/osrelease").unwrap_or_default(),
            tcp_rmem: ipv4("tcp_rmem").and_then(|own| three(&own)),
            tcp_wmem: ipv4("tcp_wmem").and_then(|own| three(&own)),
            rmem_max: core("rmem_max").and_then(|own| own.parse().ok()),
            wmem_max: core("wmem_max").and_then(|own| own.parse().ok()),
            tcp_mem: ipv4("tcp_mem").and_then(|own| three(&own)),
            window_scaling: ipv4("tcp_window_scaling").map(|own| own != "0"),
            sack: ipv4("tcp_sack").map(|own| own != "0"),
            mtu_probing: ipv4("tcp_mtu_probing").map(|own| own != "0"),
            default_qdisc: core("default_qdisc"),
        }
    }
}

fn text(name: &str) -> Option<String> {
    Some(fs::read_to_string(format!("/proc/sys/{name}")).ok()?.trim().into())
}

/// Three numbers.
fn three(text: &str) -> Option<[u64; 3]> {
    let all: Option<Vec<u64>> = text.split_whitespace().map(|own| own.parse().ok()).collect();
    all?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numbers_are_three() {
        assert_eq!(three("4096\t131072\t6291456"), Some([4096, 131_072, 6_291_456]));
        assert_eq!(three("4096 131072"), None);
        assert_eq!(three("4096 x 1"), None);
    }

    #[test]
    fn this_kernel_has_buffers() {
        let now = Sysctls::now();
        assert!(now.tcp_wmem.is_some_and(|own| own[0] <= own[2]), "{now:?}");
        assert!(now.kernel.contains('.'));
    }
}
