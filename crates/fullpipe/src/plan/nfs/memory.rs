//! Memory that settings cost, at worst.

use super::Question;
use super::settings::{Buffers, Settings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Memory of sockets and threads, bytes, if everything were used at once. Buffers are not taken before they are needed: sockets
/// of one path share what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// Of one client's sockets.
    pub client: u64,
    /// Of the server's sockets for the far clients.
    pub server_far: u64,
    /// Of its sockets for the near ones, which have as much as their own round trip lets them use.
    pub server_near: u64,
    /// Of its threads: each keeps room for a request.
    pub server_threads: u64,
    /// All of the server together.
    pub server: u64,
    /// At which the kernel begins to hold all sockets of the server back: `net.ipv4.tcp_mem`, the second number, a sixteenth of
    /// its memory (6.12 `tcp_init_mem`).
    pub server_pressure: u64,
}

/// A page more than a request has data (6.12 `svc_create_pooled`: sv_max_mesg).
const PAGE: u64 = 4096;

/// Memory that `settings` cost.
pub fn memory(q: &Question, settings: &Settings) -> Memory {
    let both = |buffers: &Buffers| buffers.receive + buffers.send;
    let client = settings.nconnect * both(&settings.client);
    let server_far = u64::from(q.clients) * settings.nconnect * both(&settings.server);

    // A near client fills only a small window, whatever the buffers allow.
    let server_near = u64::from(q.near) * near(q).min(both(&settings.server)) * settings.nconnect;
    let server_threads = settings.threads * (settings.size + PAGE);
    Memory {
        client,
        server_far,
        server_near,
        server_threads,
        server: server_far + server_near + server_threads,
        // tcp_mem's pressure begins at about a sixteenth of the memory.
        server_pressure: q.server_memory / 16,
    }
}

/// Bytes that autotuning gives a socket of a near client in both directions: a window of its round trip, twice (6.12
/// `tcp_rcv_space_adjust`, `tcp_sndbuf_expand`), in buffers of which half is window.
fn near(q: &Question) -> u64 {
    let window = q.path.rate.0 as f64 / 8.0 * q.near_rtt.as_secs_f64();
    (2.0 * 2.0 * 2.0 * window) as u64
}
