//! A host: kernel, sysctls, qdisc, card and CPU.

use super::{Autotuning, System};
use crate::link::{Discipline, Fq, QueueLimit};
use crate::units::{Rate, Time};
use alloc::string::String;
use alloc::vec::Vec;

/// A host: its kernel's behaviour, its buffers, its network card and its CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// Name of a kernel profile, for instance "2.6.20" (see `tcp::profile`).
    pub kernel: String,
    /// System whose windows and send buffers it has.
    pub system: System,
    /// Single behaviours that differ from the profile: name and choice (see `tcp::behaviour`).
    pub behaviour: Vec<(String, String)>,
    /// Timer ticks per second (100, 250, 300 or 1000 on real kernels).
    pub hz: u32,
    /// TCP timestamps (RFC 7323); used if both hosts have them.
    pub timestamps: bool,
    /// TCP segmentation offload of the card.
    pub tso: bool,
    /// First cwnd by the route (`ip route ... initcwnd`), packets (1 to 65,535); none: the kernel's. cwnd goes back to it after
    /// a pause, too (`tcp_init_cwnd`).
    pub initcwnd: Option<u32>,
    /// MTU of its card, bytes, where it is larger than the path's ([`Config::mtu`](super::Config::mtu)); none: the path's. It announces
    /// an MSS of that, so that its windows are in units of it. Its segments are as the other end and the path allow.
    pub mtu: Option<u32>,
    /// The sysctls that the model reads.
    pub sysctl: Sysctl,
    /// The queue between TCP and the driver; decides per skb.
    pub qdisc: Qdisc,
    /// `pfifo_fast` length in packets (txqueuelen).
    pub qdisc_limit: u32,
    /// Transmit ring in descriptors (one per segment here).
    pub tx_ring: u32,
    /// Transmit interrupt moderation: how long after a segment was sent the driver hears of it, and of those sent meanwhile
    /// (0: of each at once).
    pub tx_coalesce: Time,
    /// A driver that stops its queue does so when fewer descriptors are free (1 to `tx_wake`).
    pub tx_stop: u32,
    /// It wakes the queue when so many are free (to `tx_ring`).
    pub tx_wake: u32,
    /// Whether the driver has byte queue limits (BQL).
    pub bql: bool,
    /// What the driver does when that is full.
    pub driver: Driver,
    /// Receive ring in descriptors.
    pub rx_ring: u32,
    /// Line rate of the card, counted as on an Ethernet wire.
    pub nic_rate: Rate,
    /// Receive interrupt moderation: how long after the first packet that came the interrupt comes (0: at once).
    pub rx_coalesce: Time,
    /// Packets after which the interrupt comes though that time is not over (0: however many come).
    pub rx_frames: u32,
    /// Least time between two receive interrupts (0: none).
    pub interrupt_gap: Time,
    /// Whether segments that one poll of the card takes are joined (GRO), where the kernel does so.
    pub gro: bool,
    /// How long they wait for those that follow (0: not beyond the poll).
    pub gro_flush_timeout: Time,
    /// Which receive path the driver uses.
    pub receive_path: ReceivePath,
    /// What the CPU spends.
    pub cpu: Cpu,
}

impl Host {
    /// A host of this kernel with sysctls of Linux 2.6.20, HZ 1000, a card of 10 Gb/s with 256 descriptors each way, and a CPU that
    /// takes no time. TCP uses neither timestamps nor TSO.
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
    /// Whether it offers the window scale option.
    pub fn offers_scaling(&self) -> bool {
        let is_disabled = self.system == System::Windows(Autotuning::Disabled);
        self.sysctl.tcp_window_scaling && !is_disabled
    }
}

/// The queue between TCP and the driver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Qdisc {
    /// `pfifo_fast`: all packets are of one priority, so of its three bands one.
    #[default]
    PfifoFast,
    /// A discipline and its capacity.
    Of(Discipline, QueueLimit),
}

impl Qdisc {
    /// The parameters of `fq`, where that is the discipline.
    pub(crate) fn fq(&self) -> Option<&Fq> {
        match self {
            Qdisc::Of(Discipline::Fq(fq), _) => Some(fq),
            _ => None,
        }
    }
}

/// What a driver does when an skb does not fit into its transmit ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Driver {
    /// It has stopped the queue before: nothing is offered to it until there is room (`netif_stop_queue`).
    #[default]
    Stops,
    /// It refuses the skb (NETDEV_TX_BUSY), which goes back to the head of the qdisc and is offered again when a descriptor is
    /// free (`dev_requeue_skb`): each skb that waits is refused once, when it is the first one. Behind `pfifo_fast`, without
    /// TSO and byte queue limits.
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
    /// net.ipv4.tcp_mem: memory of all TCP sockets of the host, pages of 4 KiB: up to the first there is no pressure, above the
    /// second there is, above the third sockets get none; none: without end
    pub tcp_mem: Option<[u64; 3]>,
    /// net.ipv4.tcp_adv_win_scale (-31 to 31): share of the buffer kept from the window
    pub tcp_adv_win_scale: i32,
    /// net.core.netdev_max_backlog, packets
    pub netdev_max_backlog: u32,
    /// net.core.netdev_budget (from 1), packets that a softirq takes before it lets others go on; none: the kernel's default, 300
    pub netdev_budget: Option<u32>,
    /// net.core.netdev_budget_usecs (since Linux 4.12): for how long it does, microseconds; none, or less than two jiffies: two
    /// jiffies
    pub netdev_budget_usecs: Option<u32>,
    /// net.ipv4.tcp_slow_start_after_idle
    pub tcp_slow_start_after_idle: bool,
    /// net.ipv4.tcp_window_scaling; used if both hosts have it
    pub tcp_window_scaling: bool,
    /// net.ipv4.tcp_sack; used if both hosts have it
    pub tcp_sack: bool,
    /// net.ipv4.tcp_fack: losses by forward acknowledgement, until reordering is seen
    pub tcp_fack: bool,
    /// net.ipv4.tcp_dsack: the receiver reports what came twice
    pub tcp_dsack: bool,
    /// net.ipv4.tcp_frto (0 to 2): spurious timeouts are looked for; 2: with SACK, before Linux 3.10
    pub tcp_frto: u32,
    /// net.ipv4.tcp_reordering, packets (1 to 127)
    pub tcp_reordering: u32,
    /// net.ipv4.tcp_early_retrans (0 to 4): 1 to 3 early retransmit, 3 and 4 tail loss probes; 0
    /// before Linux 3.5
    pub tcp_early_retrans: u32,
    /// net.ipv4.tcp_ecn (0 to 2): 0 no ECN, 1 ask for it, 2 agree to it; none: the kernel's default, 2 since
    /// Linux 2.6.31 and 0 before
    pub tcp_ecn: Option<u32>,
    /// net.ipv4.tcp_notsent_lowat: bytes not sent from which on an application waits; none: the kernel's default, no bound
    pub tcp_notsent_lowat: Option<u32>,
    /// net.ipv4.tcp_pacing_ss_ratio: pacing rate in the first half of slow start, percent of cwnd per RTT; none: 200
    pub tcp_pacing_ss_ratio: Option<u32>,
    /// net.ipv4.tcp_pacing_ca_ratio: the same afterwards; none: 120
    pub tcp_pacing_ca_ratio: Option<u32>,
    /// net.ipv4.tcp_limit_output_bytes: memory of a flow that may wait in the host; none: the kernel's default
    pub tcp_limit_output_bytes: Option<u32>,
    /// net.ipv4.tcp_mtu_probing (0 to 2): 1 search for the path MTU where packets seem to be too large, 2 always; none: 0
    pub tcp_mtu_probing: Option<u32>,
    /// net.ipv4.tcp_base_mss: where that search begins, bytes of a segment; none: 1024
    pub tcp_base_mss: Option<u32>,
    /// net.ipv4.tcp_mtu_probe_floor: least segment to which it falls, bytes; none: 48
    pub tcp_mtu_probe_floor: Option<u32>,
    /// net.ipv4.tcp_min_snd_mss: least segment, with options, bytes; none: 48
    pub tcp_min_snd_mss: Option<u32>,
    /// net.ipv4.tcp_probe_interval: when the search begins anew, s; none: 600
    pub tcp_probe_interval: Option<u32>,
    /// net.ipv4.tcp_probe_threshold: the search ends where less is unknown, bytes; none: 8
    pub tcp_probe_threshold: Option<u32>,
    /// net.ipv4.tcp_comp_sack_delay_ns: the longest wait of a compressed SACK, ns; none: 1 ms
    pub tcp_comp_sack_delay_ns: Option<u32>,
    /// net.ipv4.tcp_comp_sack_slack_ns: how late the end of that wait may be noticed, ns; none: 100 us
    pub tcp_comp_sack_slack_ns: Option<u32>,
    /// net.ipv4.tcp_comp_sack_nr (0 to 255): most ACKs that a compressed SACK stands for, 0: none is compressed; none: 44
    pub tcp_comp_sack_nr: Option<u32>,
    /// net.ipv4.tcp_no_metrics_save: a connection leaves nothing for the next one
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

/// CPU time per piece of work; all zero is a host that costs nothing.
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
    /// Reception of an ACK in the softirq, and what TCP does with it.
    pub ack: Time,
    /// Per skb that is looked at on walks along the send queue: for SACKs, to mark losses, to send again
    /// (Linux before 2.6.25).
    pub walk: Time,
    /// Each packet that a capture in the host sees ([`Point::Qdisc`](crate::trace::Point::Qdisc)), as it sees it: an skb that
    /// goes out, and what the softirq hands up. An skb that waits in the qdisc pays as it is put there.
    pub capture: Time,
}
