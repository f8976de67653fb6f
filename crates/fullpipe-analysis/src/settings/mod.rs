//! Settings of hosts and elements that a verdict may name. They are part of [`RunMeta`](super::RunMeta); the analysis
//! does not know scenarios.

mod of_plan;

pub use of_plan::allowed;
pub(super) use of_plan::{Packets, flow, packets, places, receive_buffer, send_buffer};

use crate::sizing::demand::Demand;
use crate::sizing::sizes::{flows_by_loss, lossy_mbit, sizes, with_headroom};
use crate::sizing::window::window;
use crate::sizing::{Question, check};
use fullpipe_base::units::{Rate, Time};
use fullpipe_scenario::config::System;
use std::collections::BTreeMap;

/// Settings that act on one flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowSettings {
    /// Kernels of the sending and the receiving host.
    pub kernels: [String; 2],
    /// Systems of the sending and the receiving host.
    pub systems: [System; 2],
    /// The send buffer.
    pub send: Buffer,
    /// The receive buffer.
    pub receive: Buffer,
    /// The path as the sending and the receiving host see it; `None` where it has no length.
    pub ends: Option<[Question; 2]>,
    /// Probability that the path loses a segment by chance, each independently; 0 where it has other losses.
    pub loss: f64,
    /// Hosts that do not offer the window scale option.
    pub without_scaling: Vec<String>,
    /// Hosts that do not offer SACK.
    pub without_sack: Vec<String>,
    /// The pace that was asked for.
    pub pace: Option<Pace>,
    /// First ssthresh that the congestion control asks for, packets.
    pub first_ssthresh: Option<u32>,
    /// Bytes of each write of the sending program (`strace`); none where it is not known.
    pub write: Option<u32>,
    /// Bytes of each message of the sending program; none where it sends none, or it is not known.
    pub message: Option<u64>,
    /// Period of these messages; none where the program sends none by the clock, or it is not known.
    pub period: Option<Time>,
    /// Whether the sending program sets TCP_CORK (`strace`).
    pub is_corked: bool,
    /// Most bytes of each read of the receiving program (`strace`); none where it reads all there is.
    pub read: Option<u32>,
    /// Queues and cards of the sending and the receiving host.
    pub hosts: [HostSettings; 2],
}

/// Queue and card of a host, as `tc qdisc`, `ethtool` and `ip link` show them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostSettings {
    /// Kind of its qdisc, as tc spells it.
    pub qdisc: String,
    /// Length of that queue, packets; none where it is bounded in bytes.
    pub qdisc_limit: Option<u32>,
    /// Rate of each flow of fq (`maxrate`), bit/s.
    pub maxrate: Option<u64>,
    /// `net.ipv4.tcp_mem`, pages: memory of all its TCP sockets; none where it is not known.
    pub tcp_mem: Option<[u64; 3]>,
    /// Whether its TCP searches for the path MTU (`net.ipv4.tcp_mtu_probing` above 0).
    pub mtu_probing: bool,
    /// Rate of its card, bit/s; 0: not known.
    pub card: u64,
    /// Largest IP packet of the card, bytes.
    pub mtu: u32,
    /// Descriptors of its transmit ring.
    pub tx_ring: u32,
    /// Time from a sent segment to the driver's interrupt, us.
    pub tx_coalesce_us: u64,
    /// Descriptors of its receive ring.
    pub rx_ring: u32,
    /// Longest time for which a received packet waits for the card's interrupt, us.
    pub rx_wait_us: u64,
}

impl FlowSettings {
    /// Window and buffers with which one of `sharing` flows carries its part of the path's rate; `None` where the path is
    /// out of the planner's bounds. `fullpipe plan` advises these sizes, too.
    pub fn needs(&self, sharing: u32, congestion: &str) -> Option<Needs> {
        let [from, to] = self.ends?;

        // A flow's part of the rate needs its part of the window.
        let own = Question { rate: Rate((to.rate.0 / u64::from(sharing)).max(1)), ..to };
        check(&to).ok()?;
        let (own, whole) = (window(&own), window(&to));
        let demand = |path: Question| Demand {
            path,
            flows: sharing,
            loss: self.loss,
            queue: None,
            congestion: Some(congestion.into()),
        };

        // Windows bounds data, Linux the memory of skbs.
        let of = |buffer: &Buffer, memory: u64| match buffer.counts_data {
            true => own.needed_bytes,
            false => memory,
        };
        let send = of(&self.send, sizes(&demand(from)).least.send);
        let receive = of(&self.receive, sizes(&demand(to)).least.receive);

        // A single flow that suffices needs no advice about losses.
        let flows = flows_by_loss(&demand(to));
        let mbit = lossy_mbit(&demand(to));
        Some(Needs {
            window: own.needed_bytes,
            send: Memory::of(send),
            receive: Memory::of(receive),
            lossy: (flows > 1).then_some(Lossy { mbit, flows }),
            sharing: sharing.into(),
            connections: own.bound.and(whole.bound).map(|bound| bound.flows),
        })
    }
}

/// A socket buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    /// Bytes that the program asked for.
    pub asked: Option<u64>,
    /// Most that it may ask for: `net.core.wmem_max` or `rmem_max`, bytes.
    pub most: u64,
    /// Most that the kernel tunes to: `net.ipv4.tcp_wmem[2]` or `tcp_rmem[2]`, bytes.
    pub tuned: u64,
    /// Whether data counts, not memory, and nothing is doubled, as on systems other than Linux.
    pub counts_data: bool,
}

impl Buffer {
    /// Bytes of memory that the buffer may reach. The kernel doubles a program's request (Linux `sock_setsockopt`).
    pub fn allows(&self) -> u64 {
        self.asked.map_or(self.tuned, |asked| self.granted(asked.min(self.most)))
    }

    /// Bytes that a program gets that asks for so many.
    pub fn granted(&self, asked: u64) -> u64 {
        if self.counts_data { asked } else { asked.saturating_mul(2) }
    }

    /// Bytes to ask for that give so many.
    pub fn request(&self, granted: u64) -> u64 {
        if self.counts_data { granted } else { granted.div_ceil(2) }
    }

    /// Whether a sysctl cut the program's request.
    pub fn is_cut(&self) -> bool {
        self.asked.is_some_and(|asked| asked > self.most)
    }
}

/// Window and buffers that one flow needs to carry its part of the path's rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Needs {
    /// Window, bytes of payload.
    pub window: u64,
    /// Send buffer.
    pub send: Memory,
    /// Receive buffer.
    pub receive: Memory,
    /// The flow under random loss, where that leaves it less than the path.
    pub lossy: Option<Lossy>,
    /// Flows that share the rate.
    pub sharing: u64,
    /// Connections that fill the path, where TCP's largest window is less than the flow needs.
    pub connections: Option<u64>,
}

/// Memory of a socket buffer, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// The least that fills the flow's part of the path.
    pub least: u64,
    /// The advised size where less is allowed: the least with headroom.
    pub advised: u64,
}

impl Memory {
    fn of(least: u64) -> Memory {
        Memory { least, advised: with_headroom(least) }
    }
}

/// A flow under random loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lossy {
    /// Rate of payload on average, Mb/s (10^6).
    pub mbit: f64,
    /// Flows that fill the path together.
    pub flows: u64,
}

/// A configured pace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pace {
    /// bit/s.
    pub rate: u64,
    /// Option or parameter that asks for it.
    pub by: &'static str,
}

/// Rate that a direction allows, and the bytes that it counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Allowed {
    /// bit/s.
    pub rate: u64,
    /// Bytes that the rate counts beyond an IP packet.
    pub overhead: u32,
    /// Largest IP packet, bytes.
    pub mtu: u32,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Element or card that has this rate.
    pub place: String,
    /// Shares of this rate that the way carries as its links vary; empty where it always carries all of it.
    pub shares: Vec<Share>,
}

/// Share of a way's highest rate, from a moment on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// When it begins.
    pub at: Time,
    /// Share (0 to 1); 0 is an outage.
    pub share: f64,
}

/// Header of a datagram: IPv4 and UDP, bytes.
const DATAGRAM_HEADERS: u32 = 28;

impl Allowed {
    /// Payload of full TCP segments at the highest rate, Mb/s.
    pub fn mbit(&self) -> f64 {
        self.rate as f64 / 1e6 * f64::from(self.mss) / f64::from(self.mtu + self.overhead)
    }

    /// Mean share of the rate that the way carries in spans of time; all of it without spans.
    pub fn carried(&self, spans: &[[Time; 2]]) -> f64 {
        let times: Vec<(f64, f64)> =
            self.within(spans).map(|(share, time)| (share, time.as_secs_f64())).collect();
        let all: f64 = times.iter().map(|(_, time)| time).sum();
        let sum: f64 = times.iter().map(|(share, time)| share * time).sum();
        if all > 0.0 { sum / all } else { 1.0 }
    }

    /// Time within spans in which the way carries nothing.
    pub fn outages(&self, spans: &[[Time; 2]]) -> Time {
        let nothing = self.within(spans).filter(|(share, _)| *share <= 0.0);
        nothing.fold(Time::ZERO, |sum, (_, time)| sum + time)
    }

    /// Least and largest share of the rate within spans; both are 1 where it never varies.
    pub fn extremes(&self, spans: &[[Time; 2]]) -> [f64; 2] {
        let shares = || self.within(spans).map(|(share, _)| share);
        let ends = shares().reduce(f64::min).zip(shares().reduce(f64::max));
        ends.map_or([1.0; 2], |(least, most)| [least, most])
    }

    /// Shares, each with its time within spans.
    fn within(&self, spans: &[[Time; 2]]) -> impl Iterator<Item = (f64, Time)> {
        let ends = self.shares.iter().skip(1).map(|own| own.at).chain([Time(u64::MAX)]);
        let times = self.shares.iter().zip(ends).map(|(own, end)| {
            let parts = spans
                .iter()
                .map(|[from, until]| (*until).min(end).saturating_sub((*from).max(own.at)));
            (own.share, parts.fold(Time::ZERO, |sum, time| sum + time))
        });
        times.filter(|(_, time)| *time > Time::ZERO)
    }

    /// Payload of datagrams of `size` bytes that fit one packet, Mb/s.
    pub fn datagram_mbit(&self, size: u32) -> f64 {
        let on_the_wire = f64::from(size + DATAGRAM_HEADERS + self.overhead);
        self.rate as f64 / 1e6 * f64::from(size) / on_the_wire
    }
}

/// Settings of an element of the path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceSettings {
    /// Rate, bit/s.
    pub rate: Option<u64>,
    /// Size of a policer's bucket, bytes.
    pub burst: Option<u64>,
    /// Largest packet that passes, bytes; none where none is too large, or where the router reports it.
    pub mtu: Option<u32>,
    /// Queue discipline, where that is not drop-tail.
    pub discipline: Option<&'static str>,
}

/// Settings of elements by their names.
pub type Places = BTreeMap<String, PlaceSettings>;
