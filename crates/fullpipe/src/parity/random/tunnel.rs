//! The tunnel of a random scenario: uncommonly a router has a smaller MTU. It answers larger packets by ICMP or clamps the
//! MSS, or the hosts search for the size.

use super::draw::{often, pick};
use fullpipe_sim::rng::Rng;

/// Probability of a tunnel.
const TUNNELS: f64 = 0.15;
/// Least MTU of a tunnel, bytes: a router's message has to fit.
const LEAST: u32 = 600;

/// How the hosts learn which packets pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Learns {
    /// The router sends ICMP.
    Icmp,
    /// The router clamps the MSS.
    Clamp,
    /// The router is silent, and the hosts probe by this value of tcp_mtu_probing.
    Probes(u8),
}

/// A tunnel behind the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tunnel {
    /// Largest IP packet that passes, bytes.
    mtu: u32,
    /// Bytes of a program's write, where its flow has no write of its own. Ends of short writes pass the tunnel.
    pub write: Option<u32>,
    learns: Learns,
}

impl Tunnel {
    /// A tunnel for scenario `number`, on a path with packets of `mtu` bytes. Its numbers have a stream of their own, so
    /// that scenarios without a tunnel stay as they are.
    pub fn draw(seed: u64, number: u64, mtu: u32) -> Option<Tunnel> {
        let mut rng = Rng::new(seed, &format!("parity tunnel {number}"));
        if !often(&mut rng, TUNNELS) || mtu <= LEAST {
            return None;
        }
        let size = LEAST + (rng.next_u64() % u64::from(mtu - LEAST)) as u32;
        let write = pick(&mut rng, &[1_000, 3_000, 7_000, 20_000, 100_000]);
        let write = often(&mut rng, 0.7).then_some(write);
        let learns =
            pick(&mut rng, &[Learns::Icmp, Learns::Clamp, Learns::Probes(1), Learns::Probes(2)]);
        Some(Tunnel { mtu: size, write, learns })
    }

    /// The tunnel as an element of the path, a line of TOML.
    pub fn element(self) -> String {
        let mtu = self.mtu;
        let learns = match self.learns {
            Learns::Icmp => ", icmp = true",
            Learns::Clamp => ", mss_clamp = \"pmtu\"",
            Learns::Probes(_) => "",
        };
        format!("    {{ kind = \"mtu\", name = \"tunnel\", mtu = {mtu}{learns} }},\n")
    }

    /// Value of tcp_mtu_probing, where the hosts search.
    pub fn probing(self) -> Option<u8> {
        match self.learns {
            Learns::Probes(value) => Some(value),
            Learns::Icmp | Learns::Clamp => None,
        }
    }
}
