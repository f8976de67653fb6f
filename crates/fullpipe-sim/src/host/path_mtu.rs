//! ICMP "fragmentation needed" at a host: the socket concerned takes the MTU, and later connections to the same host
//! begin with it.
//!
//! Source: Linux 6.12 `tcp_v4_err`, `tcp_v4_mtu_reduced`, `tcp_release_cb`, `ip_rt_update_pmtu`.
//!
//! Limits:
//! - Other established connections of the host do not learn the MTU. Each gets messages of its own. Linux tells them with the
//!   next packet that they send.
//! - The MTU of a route never expires. Linux forgets it after ten minutes (`net.ipv4.route.mtu_expires`).

use super::Host;
use super::shared::Shared;
use crate::packet::Train;
use crate::units::Time;

impl Host {
    /// Handles a router's message that a segment is too large, with the CPU at `cpu`. Returns the CPU's time after it.
    pub(super) fn on_fragmentation_needed(
        &mut self,
        message: &Train,
        cpu: Time,
        now: Time,
        shared: &mut Shared,
    ) -> Time {
        let flow = usize::from(message.flow);
        let (seq, mtu) = (message.number, message.tsval);

        // ip_rt_update_pmtu lowers the MTU of the route, for later connections too.
        // The socket's route is replaced. Freeing the old one ends the softirq on an idle CPU, so ksoftirqd does the rest of the
        // work (`call_rcu` of a kernel for one CPU).
        let known = &mut self.route_mtus[self.peers[flow]];
        if mtu < *known {
            *known = mtu;
            self.all_in_ksoftirqd = Some(now);
        }

        // tcp_v4_err: an owned socket takes the MTU at its release (TCP_MTU_REDUCED_DEFERRED).
        if self.sends[flow].locked {
            self.sends[flow].too_large = Some((seq, mtu));
            return cpu;
        }
        let cpu = self.in_softirq(flow, cpu, shared, now, |state, output| {
            state.tcp.on_fragmentation_needed(seq, mtu, output);
        });
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
        let Some((seq, mtu)) = self.sends[flow].too_large.take() else { return cpu };
        self.in_softirq(flow, cpu, shared, now, |state, output| {
            state.tcp.on_fragmentation_needed(seq, mtu, output);
        })
    }

    /// Gives the flow the known MTU of the route to its peer: with its SYN, and with the ACK that ends its handshake, as a
    /// message to another connection may have come meanwhile (`__sk_dst_check`, `tcp_current_mss`).
    pub(super) fn begin_path_mtu(&mut self, flow: usize) {
        let known = self.route_mtus[self.peers[flow]];
        self.sends[flow].tcp.take_route_mtu(known);
    }
}
