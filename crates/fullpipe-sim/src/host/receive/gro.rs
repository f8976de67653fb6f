//! Generic receive offload: segments of a flow that one poll of the card takes go up to TCP as one skb.
//! Unit of decision: the segment.
//!
//! Source: Linux 6.12 `dev_gro_receive`, `tcp_gro_receive`, `skb_gro_receive`, `napi_complete_done`,
//! `__napi_poll`. A segment joins the skb that waits for its flow if it follows it, is no longer than its first
//! segment, and bears the same timestamps, codepoint and ACK; a shorter one, PSH and FIN end the skb. Else what waits goes
//! up, and the segment waits instead. After the poll all goes up, or, with `gro_flush_timeout`, when so much time
//! has gone since the last poll, or a jiffy has begun.
//! Not modelled: that no more than eight flows wait whose hashes end on the same three bits.
//!
//! Limits:
//! - GRO acts where `rx_coalesce`, `coalesce`, a busy CPU or `gro_flush_timeout` lets a poll find several segments.
//!   Each packet of a joined segment costs `cpu.receive`, as without GRO.
//! - Segments go up at once; Linux batches them (`gro_normal_batch`). IP identifications are not looked at.
//! - At the end of `gro_flush_timeout` everything goes up with the packets that arrive just then. Linux polls the
//!   card, which matters beside `coalesce`.
//! - Engine `linux` has GRO with that timer only. Joining by `rx_coalesce`, `coalesce` and a busy CPU was never
//!   compared with a kernel.
//! - Data beyond a hole that arrives again in a joined segment is taken packet by packet. LRO, and GRO of `netif_rx`
//!   drivers, are missing.

use crate::config::{Host, ReceivePath};
use crate::jiffy_clock::JiffyClock;
use crate::packet::{Kind, Train};
use crate::units::Time;
use alloc::vec::Vec;

/// Bytes of an IP packet that a joined skb does not reach (GRO_LEGACY_MAX_SIZE).
const MAX_SIZE: u32 = 65_536;

/// What goes up to TCP at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// One packet that begins where its first does, with the data of all of them and the PSH and the FIN of the last.
    pub packet: Train,
    /// Data bytes of the first, if there are several; else 0.
    pub gso_size: u32,
}

impl Received {
    /// A packet by itself.
    pub fn alone(packet: Train) -> Received {
        Received { packet, gso_size: 0 }
    }

    fn segment(&self) -> u32 {
        if self.gso_size == 0 { self.packet.len } else { self.gso_size }
    }

    /// Takes the next packet of its flow, if the two may be one; whether it did.
    fn join(&mut self, next: &Train) -> bool {
        let Train { number, len, ip_len, tsval, tsecr, ecn, carries, .. } = self.packet;
        let follows = next.number == number + u64::from(len) && next.len > 0;
        let alike =
            (next.tsval, next.tsecr, next.ecn, next.carries) == (tsval, tsecr, ecn, carries);
        let fits = next.len <= self.segment() && ip_len + next.len < MAX_SIZE;
        if !(follows && alike && fits) || next.cwr {
            return false;
        }
        self.gso_size = self.segment();
        self.packet.len += next.len;
        self.packet.ip_len += next.len;
        (self.packet.push, self.packet.fin) = (next.push, next.fin);
        true
    }
}

/// An skb that waits for more.
#[derive(Clone, Copy, Debug)]
struct Held {
    skb: Received,
    jiffy: u64,
}

/// What a packet led to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Led {
    /// Goes up first: what had waited.
    pub before: Option<Received>,
    /// Goes up then.
    pub then: Option<Received>,
    /// Serial of the first packet of the skb that took this one.
    pub joined: Option<u64>,
}

/// What a poll has taken of the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polled {
    /// There was nothing.
    Nothing,
    /// All that there was.
    All,
    /// All that there was; another poll follows, which finds nothing. It may have been as much as one poll may take, or its
    /// packets found the poll begun, by the timer of the last one (NAPIF_STATE_MISSED).
    AllAndAgain,
    /// As much as it may; there is more.
    Budget,
}

/// See the module's description.
pub struct Gro {
    is_on: bool,
    /// How long what is held may wait after a poll.
    timeout: Time,
    hz: u32,
    jiffies: JiffyClock,
    /// In the order in which they began to wait.
    held: Vec<Held>,
    /// When the next poll is due, whether an interrupt comes or not.
    due: Option<Time>,
}

impl Gro {
    /// That of `host`; `known`: whether its kernel has it.
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

    /// Whether a poll that takes so many packets is worth a look: a lone one may find what an earlier poll has left.
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

    /// A poll takes a packet at `now`, by the CPU; `flow` is that whose data comes from the socket that sent it, if any.
    pub fn take(&mut self, packet: &Train, flow: Option<u16>, now: Time) -> Led {
        let at = self.held.iter().position(|held| Some(held.skb.packet.flow) == flow);
        let ends = packet.push || packet.fin;
        if packet.kind == Kind::Data
            && let Some(at) = at
            && self.held[at].skb.join(packet)
        {
            let skb = self.held[at].skb;
            let done = ends || packet.len < skb.segment();
            let before = done.then(|| self.held.remove(at).skb);
            return Led { before, then: None, joined: Some(skb.packet.serial) };
        }
        let before = at.map(|at| self.held.remove(at).skb);
        let alone = Received::alone(*packet);
        if packet.kind != Kind::Data || packet.len == 0 || ends {
            return Led { before, then: Some(alone), joined: None };
        }
        self.held.push(Held { skb: alone, jiffy: self.jiffies.at(now) });
        Led { before, then: None, joined: None }
    }

    /// A poll ends at `now`: what goes up now, and when the next one is due, whether an interrupt comes or not.
    pub fn end_poll(&mut self, now: Time, end: Polled) -> (Vec<Received>, Option<Time>) {
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
        let jiffy = self.jiffies.at(now);
        let old = self.held.extract_if(.., |held| held.jiffy != jiffy);
        (old.map(|held| held.skb).collect(), self.due)
    }

    /// Calls `each` for every packet that waits.
    pub fn held(&self, each: &mut dyn FnMut(&Train)) {
        self.held.iter().for_each(|held| each(&held.skb.packet));
    }
}
