//! Generic receive offload: segments of a flow in one poll of the NIC go up to TCP as one skb. Unit of decision: the
//! segment.
//!
//! Source: Linux 6.12 `dev_gro_receive`, `tcp_gro_receive`, `skb_gro_receive`, `napi_complete_done`, `__napi_poll`.
//!
//! A segment joins the waiting skb of its flow under four conditions: it follows it, it is no longer than the first
//! segment, and it has the same timestamps and codepoint and the same ACK. A shorter segment, PSH and FIN end the skb.
//! A segment that cannot join sends the waiting skb up and waits instead.
//!
//! After the poll all skbs go up. With `gro_flush_timeout` they wait until that time has passed since the last poll, or
//! a jiffy has begun. Not modelled: the bound of eight waiting flows for each value of three hash bits.
//!
//! Limits:
//! - GRO acts where `rx_coalesce`, `coalesce`, a busy CPU or `gro_flush_timeout` lets a poll find several segments.
//!   Each packet of a joined segment costs `cpu.receive`, as without GRO.
//! - Segments go up at once; Linux batches them (`gro_normal_batch`). IP identifications are ignored.
//! - At the end of `gro_flush_timeout` all skbs go up, together with packets that arrive at that moment. Linux polls
//!   the NIC, which makes a difference with `coalesce`.
//! - Engine `linux` has GRO with that timer only. Joining by `rx_coalesce`, `coalesce` and a busy CPU was never
//!   compared with a kernel.
//! - Data beyond a hole that arrives again in a joined segment is taken packet by packet. LRO, and GRO of `netif_rx`
//!   drivers, are missing.

use crate::config::{Host, ReceivePath};
use crate::jiffy_clock::JiffyClock;
use crate::packet::{Kind, Train};
use crate::units::Time;
use alloc::vec::Vec;

/// Size of an IP packet that a joined skb stays below, bytes (GRO_LEGACY_MAX_SIZE).
const MAX_SIZE: u32 = 65_536;

/// Packet or joined skb that goes up to TCP at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// The packet. A joined one begins as its first segment, has the data of all segments, and PSH and FIN of the last.
    pub packet: Train,
    /// Data bytes of the first segment, if there are several; else 0.
    pub gso_size: u32,
}

impl Received {
    /// A packet that is not joined.
    pub fn alone(packet: Train) -> Received {
        Received { packet, gso_size: 0 }
    }

    fn segment(&self) -> u32 {
        if self.gso_size == 0 { self.packet.len } else { self.gso_size }
    }

    /// Joins the next packet of the flow, if the two may be one skb; returns whether it did.
    fn join(&mut self, next: &Train) -> bool {
        let Train { number, len, ip_len, tsval, tsecr, ecn, carries, .. } = self.packet;

        // tcp_gro_receive: the data has to follow, with equal headers and options.
        let follows = next.number == number + u64::from(len) && next.len > 0;
        let alike =
            (next.tsval, next.tsecr, next.ecn, next.carries) == (tsval, tsecr, ecn, carries);

        // skb_gro_receive bounds the size of the whole.
        let fits = next.len <= self.segment() && ip_len + next.len < MAX_SIZE;
        if !(follows && alike && fits) || next.cwr {
            return false;
        }

        // The skb ends as its last segment does.
        self.gso_size = self.segment();
        self.packet.len += next.len;
        self.packet.ip_len += next.len;
        (self.packet.push, self.packet.fin) = (next.push, next.fin);
        true
    }
}

/// An skb that waits for more segments.
#[derive(Clone, Copy, Debug)]
struct GroSkb {
    skb: Received,
    jiffy: u64,
}

/// Effects of a packet on GRO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Led {
    /// The waiting skb, if it goes up; it goes first.
    pub before: Option<Received>,
    /// A second skb or packet that goes up.
    pub then: Option<Received>,
    /// Serial of the first packet of the skb that this one joined.
    pub joined: Option<u64>,
}

/// Packets that a poll has taken from the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polled {
    /// No packet: the ring was empty.
    Nothing,
    /// All packets of the ring.
    All,
    /// All packets of the ring, before another poll that finds none. This poll took its full weight, or the last one's
    /// timer began it before the packets (NAPIF_STATE_MISSED).
    AllAndAgain,
    /// The full weight; the ring has more.
    Budget,
}

/// State of GRO.
pub struct Gro {
    is_on: bool,
    /// Longest wait of skbs after a poll.
    timeout: Time,
    hz: u32,
    jiffies: JiffyClock,
    /// Waiting skbs, in the order in which they began to wait.
    held: Vec<GroSkb>,
    /// Time of the next poll that is due without an interrupt.
    due: Option<Time>,
}

impl Gro {
    /// GRO of `host`; `known`: its kernel has GRO.
    pub fn new(host: &Host, known: bool) -> Gro {
        Gro {
            is_on: known && host.gro && host.receive_path == ReceivePath::Napi,
            timeout: host.gro_flush_timeout,
            hz: host.hz,
            jiffies: JiffyClock::jiffies(host.hz),
            held: Vec::new(),
            due: None,
        }
    }

    /// Whether GRO can act on a poll of `packets` packets: a single packet may meet an skb of an earlier poll.
    pub fn acts_on(&self, packets: u32) -> bool {
        self.is_on && (packets > 1 || self.waits() || !self.held.is_empty())
    }

    /// Whether the timer of the last poll has begun one by `now`.
    pub fn is_due(&self, now: Time) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    fn waits(&self) -> bool {
        self.timeout > Time::ZERO
    }

    /// Takes a packet of a poll at `now`, by the CPU. `flow` is the flow that the packet's socket sends, if any.
    pub fn take(&mut self, packet: &Train, flow: Option<u16>, now: Time) -> Led {
        let at = self.held.iter().position(|held| Some(held.skb.packet.flow) == flow);
        let ends = packet.push || packet.fin;
        if packet.kind == Kind::Data
            && let Some(at) = at
            && self.held[at].skb.join(packet)
        {
            let skb = self.held[at].skb;

            // PSH, FIN or a short segment ends the skb (tcp_gro_receive).
            let done = ends || packet.len < skb.segment();
            let before = done.then(|| self.held.remove(at).skb);
            return Led { before, then: None, joined: Some(skb.packet.serial) };
        }

        // dev_gro_receive: a packet that does not join flushes the skb of its flow.
        let before = at.map(|at| self.held.remove(at).skb);
        let alone = Received::alone(*packet);
        if packet.kind != Kind::Data || packet.len == 0 || ends {
            return Led { before, then: Some(alone), joined: None };
        }
        self.held.push(GroSkb { skb: alone, jiffy: self.jiffies.at(now) });
        Led { before, then: None, joined: None }
    }

    /// Ends a poll at `now`. Returns the skbs that go up, and when the next poll is due without an interrupt.
    pub fn end_poll(&mut self, now: Time, end: Polled) -> (Vec<Received>, Option<Time>) {
        // __napi_poll: a spent budget flushes all below HZ 1000, else skbs of earlier jiffies.
        let keeps = match end {
            Polled::All => self.waits(),
            Polled::Budget => self.hz >= 1000,
            Polled::Nothing | Polled::AllAndAgain => false,
        };
        self.due = None;
        if !keeps {
            return (self.held.drain(..).map(|held| held.skb).collect(), None);
        }
        self.due = (end == Polled::All && !self.held.is_empty()).then(|| now + self.timeout);

        // napi_gro_flush with flush_old leaves the skbs of this jiffy.
        let jiffy = self.jiffies.at(now);
        let old = self.held.extract_if(.., |held| held.jiffy != jiffy);
        (old.map(|held| held.skb).collect(), self.due)
    }

    /// Calls `each` for every waiting packet.
    pub fn held(&self, each: &mut dyn FnMut(&Train)) {
        self.held.iter().for_each(|held| each(&held.skb.packet));
    }
}
