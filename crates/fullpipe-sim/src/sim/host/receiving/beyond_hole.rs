//! Segments in a row beyond a hole: each causes one ACK at once and nothing else, so that the ACKs can
//! go out as one train. Most of what a receiver does during a recovery is this.

use crate::ecn::Ecn;
use crate::sim::Shared;
use crate::sim::host::Host;
use crate::tcp::Segment;
use crate::train::{Kind, Train};

impl Host {
    /// Takes these packets if all of them lie beyond a hole, nothing else is due before the last, and their
    /// ACKs go on the wire at once. Whether it does.
    pub(in crate::sim::host) fn take_beyond_hole(
        &mut self,
        packets: &Train,
        shared: &mut Shared,
    ) -> bool {
        let flow = usize::from(packets.flow);
        let state = &self.receives[flow];
        let beyond = packets.kind == Kind::Data && packets.number > state.tcp.rcv_nxt;
        if packets.count == 1
            || packets.fin
            || state.tcp.compresses_sacks()
            || state.tcp.uses_ecn()
            || !beyond
            || !state.accepted
            || state.locked
        {
            return false;
        }
        let due = self.timers.next().min(self.process_ready());
        if due <= packets.last() || shared.capture.is_some() {
            return false;
        }
        let acks = Train {
            kind: Kind::Ack,
            skb: 0,
            number: shared.acks.next(flow),
            len: 0,
            ip_len: shared.headers,
            ecn: Ecn::NotEct,
            ece: false,
            cwr: false,
            tsval: 0,
            tsecr: 0,
            ..*packets
        };
        if !self.out.transmit.push_each(&acks, &mut self.out.wire) {
            return false;
        }
        self.tell(packets, shared);
        true
    }

    /// The first packet may tell of a new block; the others lengthen it, most often.
    fn tell(&mut self, packets: &Train, shared: &mut Shared) {
        let flow = usize::from(packets.flow);
        let tcp = &mut self.receives[flow].tcp;
        let Train { len, tsval, tsecr, .. } = *packets;
        for i in 0..packets.count {
            let (seq, left) = (packets.number_of(i), packets.count - i);
            if let Some(first) = tcp.on_row_beyond_hole(seq, len, left) {
                return shared.acks.push_row(flow, &first, len, left);
            }
            let ack = tcp.on_segment(
                packets.time(i),
                Segment { seq, len, tsval, tsecr, ..Segment::default() },
            );
            let ack = ack.expect("what does not move rcv_nxt is acknowledged at once");
            shared.acks.push(flow, &ack);
        }
    }
}
