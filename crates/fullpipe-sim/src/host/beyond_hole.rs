//! Successive segments beyond a hole. Each of them causes one immediate ACK and no other work, so the ACKs form one
//! train. This is most of a receiver's work during a recovery.

use crate::host::Host;
use crate::host::shared::Shared;
use crate::packet::{Ecn, Kind, Train};
use crate::tcp::{LONGEST_SACK_OPTION, Segment};

impl Host {
    /// Whether this end of the flow, in its present state, may take data beyond a hole in rows.
    pub(in crate::host) fn may_take_row(&self, packets: &Train) -> bool {
        let tcp = &self.receives[usize::from(packets.flow)].tcp;
        !tcp.compresses_sacks() && !tcp.uses_ecn()
    }

    /// Takes packets of a flow that [may](Host::may_take_row) take rows; returns whether it does. All of them must lie
    /// beyond a hole, no other work may be due before the last, and the ACKs must leave at once.
    pub(in crate::host) fn take_beyond_hole(
        &mut self,
        packets: &Train,
        shared: &mut Shared,
    ) -> bool {
        let flow = usize::from(packets.flow);
        let state = &self.receives[flow];
        let beyond = packets.kind == Kind::Data && packets.number > state.tcp.rcv_nxt;

        // A segment in order, or with more than data, has other effects than an ACK.
        if packets.count == 1
            || packets.fin
            || packets.carries > 0
            || !beyond
            || !state.accepted
            || state.locked
        {
            return false;
        }

        // Other work that is due before the last packet has to come in between.
        let due = self.timers.next().min(self.process_ready());
        if due <= packets.last() || shared.capture.is_some() {
            return false;
        }

        // An ACK may have the longest SACK option: the ring has to pass even that size.
        let largest = Train { ip_len: shared.headers + LONGEST_SACK_OPTION, ..*packets };
        if !self.out.transmit.passes_each(&largest) {
            return false;
        }
        self.acknowledge_each(packets, shared);
        true
    }

    /// Acknowledges each packet. The first ACK may have a new block; the others lengthen it, mostly.
    fn acknowledge_each(&mut self, packets: &Train, shared: &mut Shared) {
        let flow = usize::from(packets.flow);
        let Train { len, tsval, tsecr, .. } = *packets;
        let mut at = 0;
        while at < packets.count {
            let (seq, left) = (packets.number_of(at), packets.count - at);
            let tcp = &mut self.receives[flow].tcp;
            let (ack, count) = match tcp.on_row_beyond_hole(seq, len, left) {
                Some(first) => (first, left),
                None => {
                    // The segment continues no even run, so it takes the ordinary path.
                    let segment = Segment { seq, len, tsval, tsecr, ..Segment::default() };
                    let ack = tcp.on_segment(packets.time(at), segment);
                    (ack.expect("what does not move rcv_nxt is acknowledged at once"), 1)
                }
            };
            let acks = Train {
                kind: Kind::Ack,
                skb: 0,
                number: shared.acks.push_row(flow, &ack, len, count),
                len: 0,
                ip_len: shared.headers + ack.option_bytes(),
                ecn: Ecn::NotEct,
                ece: false,
                cwr: false,
                carries: 0,
                tsval: 0,
                tsecr: 0,
                push: false,
                ..packets.part(at, count)
            };
            self.out.out_segs += u64::from(count);
            self.out.transmit.pass_each(&acks, &mut self.out.wire);
            at += count;
        }
    }
}
