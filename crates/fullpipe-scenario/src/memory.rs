//! Memory that a kernel needs for a run: of engine linux, and of the model of mounts, which has as much.

use super::{Nfs, Resolved};

/// Memory of a guest with little in flight, MiB, and the largest memory of a guest.
const MEMORY_MIB: (u64, u64) = (1024, 8192);
/// Memory of a byte in flight, queued or kept for retransmission, with its overhead.
const MEMORY_PER_BYTE: u64 = 4;
/// Memory of a file that the server and the client's cache have, as multiples of its bytes.
pub const COPIES: u64 = 2;
/// Free memory as a multiple of these copies, so that the client's limits of dirty data (vm.dirty_ratio) are far.
pub const ROOM: u64 = 2;

/// Memory of the kernel, MiB. It is equal on every machine, because it changes the sizes of the kernel's tables.
pub fn of_kernel_mib(run: &Resolved) -> u64 {
    // The kernel doubles requests; tuned buffers end at their maximum.
    let most = |asked: Option<u64>, tuned: u64| asked.map_or(tuned, |bytes| 2 * bytes);
    let buffers = run.flow.iter().map(|flow| {
        let [sender, receiver] = run.hosts_of(flow).map(|station| &station.host.config.sysctl);
        most(flow.sndbuf, sender.tcp_wmem[2])
            .saturating_add(most(flow.rcvbuf, receiver.tcp_rmem[2]))
    });
    let bytes: u64 = buffers.fold(0, u64::saturating_add);
    let wanted = bytes.saturating_mul(MEMORY_PER_BYTE) >> 20;

    // A server's written memory decides alone.
    if let Some(bytes) = run.nfs.iter().find_map(|own| own.memory) {
        return bytes >> 20;
    }
    let files = run.nfs.iter().map(of_files_mib).fold(0, u64::saturating_add);

    // Whole halves of a GiB keep the kernel's tables alike over small changes.
    (MEMORY_MIB.0 + wanted.saturating_add(files)).next_multiple_of(512).min(MEMORY_MIB.1)
}

/// Memory for the files of a mount, MiB.
pub fn of_files_mib(own: &Nfs) -> u64 {
    (own.bytes() >> 20).saturating_add(1).saturating_mul(COPIES * ROOM)
}
