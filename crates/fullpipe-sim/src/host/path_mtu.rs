//! ICMP "fragmentation needed" at a host: the socket concerned takes the MTU, other ones to the same host get another route, and
//! later ones begin with it.
//!
//! Source: Linux 6.12 `tcp_v4_err`, `tcp_v4_mtu_reduced`, `tcp_release_cb`, `ip_rt_update_pmtu`.
//!
//! Limits:
//! - The MTU of a route never expires. Linux forgets it after ten minutes (`net.ipv4.route.mtu_expires`).

use super::Host;
use super::shared::Shared;
use crate::packet::Train;
use crate::tcp::sender::route::TooLarge;
use crate::units::Time;

impl Host {
    /// Handles a message that a segment is too large, with the CPU at `cpu`. Returns the CPU's time after it.
    pub(super) fn on_fragmentation_needed(
        &mut self,
        message: &Train,
        cpu: Time,
        now: Time,
        shared: &mut Shared,
    ) -> Time {
        let flow = usize::from(message.flow);
        let message = TooLarge { seq: message.number, mtu: message.tsval };
        if !self.sends[flow].tcp.is_out(message.seq) {
            return cpu;
        }

        // tcp_v4_err: an owned socket takes the MTU at its release (TCP_MTU_REDUCED_DEFERRED).
        if self.sends[flow].locked {
            self.sends[flow].too_large = Some(message);
            return cpu;
        }
        let cpu = self.take_mtu(flow, message, cpu, now, shared);
        self.after_sending(flow, now, shared);
        cpu
    }

    /// Handles the message that arrived while the socket was locked.
    pub(super) fn handle_deferred_mtu(
        &mut self,
        flow: usize,
        cpu: Time,
        now: Time,
        shared: &mut Shared,
    ) -> Time {
        match self.sends[flow].too_large.take() {
            Some(message) => self.take_mtu(flow, message, cpu, now, shared),
            None => cpu,
        }
    }

    /// Lowers the MTU of the route (ip_rt_update_pmtu), and lets the socket follow (tcp_v4_mtu_reduced).
    fn take_mtu(
        &mut self,
        flow: usize,
        message: TooLarge,
        cpu: Time,
        now: Time,
        shared: &mut Shared,
    ) -> Time {
        let TooLarge { seq, mtu } = message;

        // The socket's route is replaced. Freeing the old one ends the softirq on an idle CPU, so ksoftirqd does the rest of the
        // work (`call_rcu` of a kernel for one CPU).
        let known = &mut self.route_mtus[self.peers[flow]];
        if mtu < *known {
            let replaced = core::mem::replace(known, mtu) == u32::MAX;
            self.all_in_ksoftirqd = Some(now);
            self.tell_others(flow, mtu, replaced);
        }
        self.in_softirq(flow, cpu, shared, now, |state, output| {
            state.tcp.on_fragmentation_needed(seq, mtu, output);
        })
    }

    /// Tells the other sockets with the same peer of the route's MTU; `replaced`: by a new route.
    fn tell_others(&mut self, flow: usize, mtu: u32, replaced: bool) {
        let peer = self.peers[flow];
        for other in 0..self.peers.len() {
            if other != flow
                && self.peers[other] == peer
                && let Some(state) = self.sends.get_mut(other)
            {
                state.tcp.note_route(mtu, replaced);
            }
        }
    }

    /// Gives the flow the known MTU of the route to its peer: with its SYN, and with the ACK that ends its handshake, as a
    /// message to another connection may have come meanwhile (`__sk_dst_check`, `tcp_current_mss`).
    pub(super) fn begin_path_mtu(&mut self, flow: usize) {
        let known = self.route_mtus[self.peers[flow]];
        self.sends[flow].tcp.take_route_mtu(known);
    }
}
