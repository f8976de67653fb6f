//! Generic receive offload: a list of what waits.

use super::packet::{Body, Packet};
use fullpipe_sim::config::{Host, ReceivePath};
use fullpipe_sim::tcp::Segment;
use fullpipe_sim::units::Time;

/// GRO of a host.
pub struct Gro {
    on: bool,
    hz: u64,
    timeout: Time,
    /// Packets with those that joined them, each with the millisecond or so of its arrival.
    waits: Vec<(Packet, u64)>,
    /// Time at which all of it goes up.
    pub until: Option<Time>,
    /// Whether the packets of this poll arrived when it was due: then another poll follows, too.
    pub is_late: bool,
    /// Packets that have joined another one.
    pub joined: u64,
    /// Polls that left something in the ring, and here.
    pub left_in_ring: u64,
}

impl Gro {
    pub fn new(host: &Host, known: bool) -> Gro {
        Gro {
            on: known && host.gro && host.receive_path == ReceivePath::Napi,
            hz: host.hz.into(),
            timeout: host.gro_flush_timeout,
            waits: Vec::new(),
            until: None,
            is_late: false,
            joined: 0,
            left_in_ring: 0,
        }
    }

    fn jiffy(&self, now: Time) -> u64 {
        now.0 / (1_000_000_000 / self.hz)
    }

    /// A packet is taken from the ring: what goes up before the next one is.
    pub fn poll(&mut self, packet: Packet, now: Time) -> Vec<Packet> {
        let Body::Data(segment) = &packet.body else { return vec![packet] };
        if !self.on {
            return vec![packet];
        }
        let mut up = Vec::new();
        let ends = segment.push || segment.fin;
        if let Some(at) = self.waits.iter().position(|(other, _)| other.flow == packet.flow) {
            let (first, _) = &mut self.waits[at];
            let Body::Data(whole) = &mut first.body else { unreachable!("only data waits") };
            let size = if whole.gso_size > 0 { whole.gso_size } else { whole.len };
            if may_join(whole, segment, size) && first.ip_len + segment.len < 65_536 {
                whole.gso_size = size;
                whole.len += segment.len;
                first.ip_len += segment.len;
                (whole.push, whole.fin) = (segment.push, segment.fin);
                self.joined += 1;
                if ends || segment.len < size {
                    up.push(self.waits.remove(at).0);
                }
                return up;
            }
            up.push(self.waits.remove(at).0);
        }
        if ends || segment.len == 0 {
            up.push(packet);
        } else {
            self.waits.push((packet, self.jiffy(now)));
        }
        up
    }

    /// The poll of so many packets has ended, or its budget of 64 has been used up.
    pub fn polled(&mut self, now: Time, took: usize, ring_is_empty: bool) -> Vec<Packet> {
        let patient = self.timeout > Time::ZERO;
        // After 64 packets there is another poll, which may find nothing.
        let found_nothing = took == 0 || (took == 64 || self.is_late) && ring_is_empty;
        if found_nothing || ring_is_empty && !patient || !ring_is_empty && self.hz < 1000 {
            return self.all();
        }
        self.left_in_ring += u64::from(!ring_is_empty && !self.waits.is_empty());
        let jiffy = self.jiffy(now);
        self.until = (ring_is_empty && !self.waits.is_empty()).then(|| now + self.timeout);
        let (up, waits) = std::mem::take(&mut self.waits).into_iter().partition(|w| w.1 != jiffy);
        self.waits = waits;
        let up: Vec<(Packet, u64)> = up;
        up.into_iter().map(|(packet, _)| packet).collect()
    }

    fn all(&mut self) -> Vec<Packet> {
        self.until = None;
        self.waits.drain(..).map(|(packet, _)| packet).collect()
    }
}

fn may_join(whole: &Segment, next: &Segment, size: u32) -> bool {
    next.seq == whole.end()
        && (1..=size).contains(&next.len)
        && (next.tsval, next.tsecr) == (whole.tsval, whole.tsecr)
        && next.ecn == whole.ecn
        && !next.cwr
}
