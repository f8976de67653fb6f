//! The tunnel of a random scenario: uncommonly a router with a smaller MTU answers larger packets by ICMP.

use super::draw::{often, pick, rarely};
use fullpipe_sim::rng::Rng;

/// Least MTU of a tunnel, bytes: a router's message has to fit.
const LEAST: u32 = 600;

/// A tunnel behind the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tunnel {
    /// Largest IP packet that passes, bytes.
    mtu: u32,
    /// Bytes of a program's write, where its flow has no write of its own. Ends of short writes pass the tunnel.
    pub write: Option<u32>,
}

impl Tunnel {
    /// A tunnel for scenario `number`, on a path with packets of `mtu` bytes. Its numbers have a stream of their own, so
    /// that scenarios without a tunnel stay as they are.
    pub fn draw(seed: u64, number: u64, mtu: u32) -> Option<Tunnel> {
        let mut rng = Rng::new(seed, &format!("parity tunnel {number}"));
        if !rarely(&mut rng) || mtu <= LEAST {
            return None;
        }
        let size = LEAST + (rng.next_u64() % u64::from(mtu - LEAST)) as u32;
        let write = pick(&mut rng, &[1_000, 3_000, 7_000, 20_000, 100_000]);
        Some(Tunnel { mtu: size, write: often(&mut rng, 0.7).then_some(write) })
    }

    /// The tunnel as an element of the path, a line of TOML.
    pub fn element(self) -> String {
        let mtu = self.mtu;
        format!("    {{ kind = \"mtu\", name = \"tunnel\", mtu = {mtu}, icmp = true }},\n")
    }
}
