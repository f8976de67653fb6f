//! Draft of a case: everything that its scenario says, before it is text.

/// Bytes on an Ethernet wire in addition to the IP packet.
const WIRE: f64 = 38.0;
/// Bytes of TCP and IP headers with timestamps.
const HEADERS: f64 = 52.0;

/// Everything that a case's scenario says.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Seed of the simulator's random streams.
    pub seed: u64,
    /// Rate of the link, bits per second.
    pub rate: f64,
    /// Round trip without queues, us.
    pub rtt_us: f64,
    /// Share of the round trip on the way forward (0 to 1).
    pub forward: f64,
    /// Largest IP packet, bytes.
    pub mtu: u32,
    /// Queue of the link, bandwidth-delay products.
    pub queue: f64,
    /// Length of the run, ms.
    pub duration_ms: u64,
    /// Rate of the way back, bits per second; none: no link there.
    pub back: Option<f64>,
    /// Packets in the queue of the way back.
    pub back_queue: u32,
    /// Probability that an ACK is lost.
    pub back_loss: f64,
    /// Probability that a segment is lost.
    pub loss: f64,
    /// Policer: rate, bits per second, and bucket, bytes.
    pub policer: Option<Policer>,
    /// Packets that overtake others.
    pub reorder: Option<Reorder>,
    /// Jitter that keeps the order, us.
    pub jitter_us: f64,
    /// Host that sends.
    pub sender: Host,
    /// Host that receives.
    pub receiver: Host,
    /// Congestion control: "cubic" or "reno".
    pub congestion: &'static str,
    /// HyStart of cubic.
    pub hystart: bool,
    /// First ssthresh of cubic, packets; 0: none.
    pub ssthresh: u64,
    /// The judged flow starts so late, ms.
    pub start_ms: u64,
    /// Data that the program offers.
    pub app: App,
    /// Size of a write, bytes.
    pub write: u64,
    /// Size of the transfer, bytes; none: it lasts.
    pub bytes: Option<u64>,
    /// Rate at which the program reads, bits per second.
    pub reader: Option<f64>,
    /// Size of a read, bytes.
    pub read: u64,
    /// SO_SNDBUF, bytes.
    pub sndbuf: Option<u64>,
    /// SO_RCVBUF, bytes.
    pub rcvbuf: Option<u64>,
    /// SO_MAX_PACING_RATE, bits per second.
    pub pacing: Option<f64>,
    /// Other flows.
    pub others: Vec<Other>,
}

/// Policer of the path.
#[derive(Clone, Copy, Debug)]
pub struct Policer {
    /// Rate, bits per second.
    pub rate: f64,
    /// Bucket, bytes.
    pub burst: f64,
}

/// Packets that are late.
#[derive(Clone, Copy, Debug)]
pub struct Reorder {
    /// Delay of a late packet, us.
    pub late_us: f64,
    /// Probability of a packet.
    pub probability: f64,
}

/// Data that the program offers.
#[derive(Clone, Copy, Debug)]
pub enum App {
    /// As much data as possible.
    Bulk,
    /// At most a rate, bits per second.
    Rate(f64),
    /// Bursts: times in us.
    OnOff {
        /// Time of writing, us.
        on: f64,
        /// Time of a pause, us.
        off: f64,
    },
}

/// A host.
#[derive(Clone, Debug)]
pub struct Host {
    /// Kernel.
    pub kernel: &'static str,
    /// Kind of its qdisc.
    pub qdisc: &'static str,
    /// Packets of its qdisc; none: the kernel's default.
    pub qdisc_limit: Option<u32>,
    /// `maxrate` of fq, bits per second.
    pub maxrate: Option<f64>,
    /// Rate of its card, bits per second.
    pub nic: f64,
    /// TCP segmentation offload.
    pub tso: bool,
    /// Generic receive offload.
    pub gro: bool,
    /// Descriptors of the transmit ring.
    pub tx_ring: u32,
    /// Time from a sent packet to the driver's interrupt, us.
    pub tx_coalesce_us: f64,
    /// Descriptors of the receive ring.
    pub rx_ring: u32,
    /// Time from a packet to its interrupt, us.
    pub rx_coalesce_us: f64,
    /// CPU time for a byte that is copied, ps.
    pub copy_ps: f64,
    /// CPU time for a segment that is sent, ns.
    pub transmit_ns: f64,
    /// CPU time for a segment that is received, ns.
    pub receive_ns: f64,
    /// CPU time for an ACK, ns.
    pub ack_ns: f64,
    /// Largest send buffer that the kernel tunes to, bytes.
    pub wmem: u64,
    /// Largest receive buffer that the kernel tunes to, bytes.
    pub rmem: u64,
    /// SACK.
    pub sack: bool,
    /// Window scaling.
    pub scaling: bool,
    /// Timestamps.
    pub timestamps: bool,
}

/// A flow that is not judged.
#[derive(Clone, Debug)]
pub struct Other {
    /// Start, ms.
    pub start_ms: u64,
    /// Time of writing, ms.
    pub lasts_ms: u64,
    /// Rate, bits per second; none: as much as possible.
    pub rate: Option<f64>,
    /// True where it has hosts of its own.
    pub own_host: bool,
    /// Congestion control.
    pub congestion: &'static str,
}

impl Draft {
    /// Bandwidth-delay product, bytes.
    pub fn bdp(&self) -> f64 {
        self.rate / 8.0 * self.rtt_us * 1e-6
    }

    /// Payload rate of the full link, bits per second.
    pub fn payload(&self) -> f64 {
        self.rate * self.mss() / (f64::from(self.mtu) + WIRE)
    }

    /// Payload of a full segment, bytes.
    pub fn mss(&self) -> f64 {
        f64::from(self.mtu) - HEADERS
    }

    /// Time of a full packet on the link, us.
    pub fn packet_us(&self) -> f64 {
        (f64::from(self.mtu) + WIRE) * 8e6 / self.rate
    }

    /// Full packets that the link carries in the run.
    pub fn packets(&self) -> f64 {
        self.duration_ms as f64 * 1e3 / self.packet_us()
    }

    /// Copy with hosts that cost no time and interrupt at once, and no extra hosts.
    pub fn plain(&self) -> Draft {
        let mut own = self.clone();
        for host in own.hosts() {
            (host.copy_ps, host.transmit_ns, host.receive_ns, host.ack_ns) = (0.0, 0.0, 0.0, 0.0);
            (host.tx_coalesce_us, host.rx_coalesce_us) = (0.0, 0.0);
        }
        own.others.iter_mut().for_each(|other| other.own_host = false);
        own
    }

    /// Both hosts.
    pub fn hosts(&mut self) -> [&mut Host; 2] {
        [&mut self.sender, &mut self.receiver]
    }
}
