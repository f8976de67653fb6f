//! A host: kernel, sysctls, qdisc, NIC and CPU.

use super::{Autotuning, System};
use crate::link::{Discipline, Fq, QueueLimit};
use crate::units::{Rate, Time};
use alloc::string::String;
use alloc::vec::Vec;

/// A host: its kernel's behaviour, its buffers, its NIC and its CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// Name of a kernel profile, for instance "2.6.20" (see `tcp::profile`).
    pub kernel: String,
    /// Operating system, which decides receive windows and send buffers.
    pub system: System,
    /// Single behaviours that differ from the profile: name and choice (see `tcp::behaviour`).
    pub behaviour: Vec<(String, String)>,
    /// Timer ticks per second (100, 250, 300 or 1000 on real kernels).
    pub hz: u32,
    /// TCP timestamps (RFC 7323); used if both hosts have them.
    pub timestamps: bool,
    /// TCP segmentation offload of the NIC.
    pub tso: bool,
    /// First cwnd of the route (`ip route ... initcwnd`), packets (1 to 65,535); none: the kernel's. After a pause cwnd
    /// also restarts from it (`tcp_init_cwnd`).
    pub initcwnd: Option<u32>,
    /// MTU of the host's NIC, bytes, where it is larger than the path's ([`Config::mtu`](super::Config::mtu)); none:
    /// the path's. The host announces the MSS of this MTU and counts its windows in it. The other end and the path
    /// bound its segments.
    pub mtu: Option<u32>,
    /// The sysctls that the model reads.
    pub sysctl: Sysctl,
    /// The queue between TCP and the driver; decides per skb.
    pub qdisc: Qdisc,
    /// `pfifo_fast` length in packets (txqueuelen).
    pub qdisc_limit: u32,
    /// Transmit ring in descriptors (one per segment here).
    pub tx_ring: u32,
    /// Transmit interrupt moderation: delay between a sent segment and the driver's notice of it and of later ones (0:
    /// notice of each at once).
    pub tx_coalesce: Time,
    /// Free descriptors below which a driver stops its queue, if it does so (1 to `tx_wake`).
    pub tx_stop: u32,
    /// Free descriptors at which the driver wakes the queue (to `tx_ring`).
    pub tx_wake: u32,
    /// Whether the driver has byte queue limits (BQL).
    pub bql: bool,
    /// Rule of the driver for a full ring.
    pub driver: Driver,
    /// Receive ring in descriptors.
    pub rx_ring: u32,
    /// Line rate of the NIC, counted as on an Ethernet wire.
    pub nic_rate: Rate,
    /// Receive interrupt moderation: delay between the first packet and the interrupt (0: none).
    pub rx_coalesce: Time,
    /// Packets after which the interrupt does not wait for that delay (0: no such number).
    pub rx_frames: u32,
    /// Least time between two receive interrupts (0: none).
    pub interrupt_gap: Time,
    /// Whether GRO joins the segments of one poll, where the kernel has it.
    pub gro: bool,
    /// Time for which joined segments wait for later ones (0: until the end of the poll).
    pub gro_flush_timeout: Time,
    /// Receive path of the driver.
    pub receive_path: ReceivePath,
    /// CPU costs.
    pub cpu: Cpu,
}

impl Host {
    /// A host of this kernel with sysctls of Linux 2.6.20 and HZ 1000. Its NIC has 10 Gb/s and 256 descriptors each
    /// way. Its CPU takes no time. TCP uses neither timestamps nor TSO.
    pub fn plain(kernel: &str) -> Host {
        Host {
            kernel: kernel.into(),
            system: System::Linux,
            behaviour: Vec::new(),
            hz: 1000,
            timestamps: false,
            tso: false,
            initcwnd: None,
            mtu: None,
            sysctl: Sysctl::LINUX_2_6_20,
            qdisc: Qdisc::PfifoFast,
            qdisc_limit: 1000,
            tx_ring: 256,
            tx_coalesce: Time::ZERO,
            tx_stop: 1,
            tx_wake: 1,
            bql: false,
            driver: Driver::Stops,
            rx_ring: 256,
            nic_rate: Rate::gbit(10),
            rx_coalesce: Time::ZERO,
            rx_frames: 0,
            interrupt_gap: Time::ZERO,
            gro: true,
            gro_flush_timeout: Time::ZERO,
            receive_path: ReceivePath::Napi,
            cpu: Cpu::default(),
        }
    }
}

impl Host {
    /// Whether the host offers the window scale option.
    pub fn offers_scaling(&self) -> bool {
        let is_disabled = self.system == System::Windows(Autotuning::Disabled);
        self.sysctl.tcp_window_scaling && !is_disabled
    }
}

/// The queue between TCP and the driver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Qdisc {
    /// `pfifo_fast`: all packets have one priority, so only one of its three bands is used.
    #[default]
    PfifoFast,
    /// A qdisc and its capacity.
    Of(Discipline, QueueLimit),
}

impl Qdisc {
    /// Parameters of `fq`, if it is the qdisc.
    pub(crate) fn fq(&self) -> Option<&Fq> {
        match self {
            Qdisc::Of(Discipline::Fq(fq), _) => Some(fq),
            _ => None,
        }
    }
}

/// Rule of a driver for an skb that does not fit into its transmit ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Driver {
    /// The driver stops its queue before, and gets no skb until there is room (`netif_stop_queue`).
    #[default]
    Stops,
    /// The driver refuses the skb (NETDEV_TX_BUSY). The skb goes back to the head of the qdisc, which offers it again
    /// when a descriptor is free (`dev_requeue_skb`). Each skb that waits is refused once, when it becomes the first.
    /// Behind `pfifo_fast`, without TSO and byte queue limits.
    Requeues,
}

/// The driver's receive path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceivePath {
    /// Polled: packets wait in the ring until the softirq takes them; no backlog.
    Napi,
    /// Each interrupt moves the ring into the backlog (net.core.netdev_max_backlog).
    NetifRx,
}

/// sysctls that the model reads, in bytes unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sysctl {
    /// net.core.rmem_max
    pub rmem_max: u64,
    /// net.core.wmem_max
    pub wmem_max: u64,
    /// net.ipv4.tcp_rmem: minimum, default, maximum
    pub tcp_rmem: [u64; 3],
    /// net.ipv4.tcp_wmem: minimum, default, maximum
    pub tcp_wmem: [u64; 3],
    /// net.ipv4.tcp_mem: memory of all TCP sockets of the host, pages of 4 KiB. Up to the first number there is no
    /// pressure. Above the second there is. Above the third sockets get no memory. None: no bound
    pub tcp_mem: Option<[u64; 3]>,
    /// net.ipv4.tcp_adv_win_scale (-31 to 31): share of the buffer kept from the window
    pub tcp_adv_win_scale: i32,
    /// net.core.netdev_max_backlog, packets
    pub netdev_max_backlog: u32,
    /// net.core.netdev_budget (from 1), packets of one softirq before it yields; none: the kernel's default, 300
    pub netdev_budget: Option<u32>,
    /// net.core.netdev_budget_usecs (since Linux 4.12): time of one softirq before it yields, microseconds. None, or
    /// less than two jiffies: two jiffies
    pub netdev_budget_usecs: Option<u32>,
    /// net.ipv4.tcp_slow_start_after_idle
    pub tcp_slow_start_after_idle: bool,
    /// net.ipv4.tcp_window_scaling; used if both hosts have it
    pub tcp_window_scaling: bool,
    /// net.ipv4.tcp_sack; used if both hosts have it
    pub tcp_sack: bool,
    /// net.ipv4.tcp_fack: losses by forward acknowledgement, until there is reordering
    pub tcp_fack: bool,
    /// net.ipv4.tcp_dsack: the receiver reports data that arrived twice
    pub tcp_dsack: bool,
    /// net.ipv4.tcp_frto (0 to 2): 1 detects spurious timeouts; 2: also with SACK, before Linux 3.10
    pub tcp_frto: u32,
    /// net.ipv4.tcp_reordering, packets (1 to 127)
    pub tcp_reordering: u32,
    /// net.ipv4.tcp_early_retrans (0 to 4): 1 to 3 early retransmit, 3 and 4 tail loss probes; 0
    /// before Linux 3.5
    pub tcp_early_retrans: u32,
    /// net.ipv4.tcp_ecn (0 to 2): 0 no ECN, 1 ask for it, 2 agree to it. None: the kernel's default, 2 since Linux
    /// 2.6.31 and 0 before
    pub tcp_ecn: Option<u32>,
    /// net.ipv4.tcp_notsent_lowat: unsent bytes from which on an application waits; none: the kernel's default, no
    /// bound
    pub tcp_notsent_lowat: Option<u32>,
    /// net.ipv4.tcp_pacing_ss_ratio: pacing rate in the first half of slow start, percent of cwnd per RTT; none: 200
    pub tcp_pacing_ss_ratio: Option<u32>,
    /// net.ipv4.tcp_pacing_ca_ratio: pacing rate after that, percent of cwnd per RTT; none: 120
    pub tcp_pacing_ca_ratio: Option<u32>,
    /// net.ipv4.tcp_limit_output_bytes: memory of a flow that may wait in the host; none: the kernel's default
    pub tcp_limit_output_bytes: Option<u32>,
    /// net.ipv4.tcp_mtu_probing (0 to 2): 1 search for the path MTU where packets seem to be too large, 2 always; none: 0
    pub tcp_mtu_probing: Option<u32>,
    /// net.ipv4.tcp_base_mss: first segment size of that search, bytes; none: 1024
    pub tcp_base_mss: Option<u32>,
    /// net.ipv4.tcp_mtu_probe_floor: least segment size of that search, bytes; none: 48
    pub tcp_mtu_probe_floor: Option<u32>,
    /// net.ipv4.tcp_min_snd_mss: least segment, with options, bytes; none: 48
    pub tcp_min_snd_mss: Option<u32>,
    /// net.ipv4.tcp_probe_interval: when the search begins anew, s; none: 600
    pub tcp_probe_interval: Option<u32>,
    /// net.ipv4.tcp_probe_threshold: uncertainty at which the search ends, bytes; none: 8
    pub tcp_probe_threshold: Option<u32>,
    /// net.ipv4.tcp_comp_sack_delay_ns: longest wait of a compressed SACK, ns; none: 1 ms
    pub tcp_comp_sack_delay_ns: Option<u32>,
    /// net.ipv4.tcp_comp_sack_slack_ns: slack of the end of this wait, ns; none: 100 us
    pub tcp_comp_sack_slack_ns: Option<u32>,
    /// net.ipv4.tcp_comp_sack_nr (0 to 255): most ACKs that a compressed SACK stands for, 0: none is compressed; none: 44
    pub tcp_comp_sack_nr: Option<u32>,
    /// net.ipv4.tcp_no_metrics_save: a connection leaves no metrics for the next one
    pub tcp_no_metrics_save: bool,
}

impl Sysctl {
    /// Defaults of Linux 2.6.20.
    pub const LINUX_2_6_20: Sysctl = Sysctl {
        // sk_init() in net/core/sock.c, for hosts with 512 MiB of memory or more.
        rmem_max: 131_071,
        wmem_max: 131_071,
        // tcp_init() in net/ipv4/tcp.c: the maximum is 1/128 of the memory at which TCP feels
        // pressure, 4 MiB at most; 4 MiB is reached by a host with some GiB of memory.
        tcp_rmem: [4096, 87_380, 4_194_304],
        tcp_wmem: [4096, 16_384, 4_194_304],
        tcp_mem: None,
        tcp_adv_win_scale: 2,
        netdev_max_backlog: 1000,
        netdev_budget: None,
        netdev_budget_usecs: None,
        tcp_slow_start_after_idle: true,
        tcp_window_scaling: true,
        tcp_sack: true,
        tcp_fack: true,
        tcp_dsack: true,
        tcp_frto: 0,
        tcp_reordering: 3,
        tcp_early_retrans: 0,
        tcp_ecn: None,
        tcp_notsent_lowat: None,
        tcp_pacing_ss_ratio: None,
        tcp_pacing_ca_ratio: None,
        tcp_limit_output_bytes: None,
        tcp_mtu_probing: None,
        tcp_base_mss: None,
        tcp_mtu_probe_floor: None,
        tcp_min_snd_mss: None,
        tcp_probe_interval: None,
        tcp_probe_threshold: None,
        tcp_comp_sack_delay_ns: None,
        tcp_comp_sack_slack_ns: None,
        tcp_comp_sack_nr: None,
        tcp_no_metrics_save: false,
    };
}

/// CPU time per piece of work; all zero is a host with a free CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    /// Copy between application and kernel, picoseconds per byte.
    pub copy_ps_per_byte: u64,
    /// A call of write(2) or sendto(2), besides its bytes.
    pub write: Time,
    /// A call of read(2) or recvfrom(2), besides its bytes.
    pub read: Time,
    /// Transmission of a data segment.
    pub transmit: Time,
    /// Reception of a data segment in the softirq.
    pub receive: Time,
    /// Reception of an ACK in the softirq, including TCP's work on it.
    pub ack: Time,
    /// Visit of an skb on a walk along the send queue: for SACKs, for marking losses, for retransmissions (Linux before
    /// 2.6.25).
    pub walk: Time,
    /// Packet seen by a capture in the host ([`Point::Qdisc`](crate::trace::Point::Qdisc)): an skb on its way out, or a
    /// packet that the softirq hands up. An skb that waits in the qdisc is charged on entry.
    pub capture: Time,
}
