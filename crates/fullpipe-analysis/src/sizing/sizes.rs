//! Sizes of socket buffers from the path, the kernel, the MTU and the number of flows.
//!
//! The ratios are the least buffers with which simulated flows filled paths of 50 Mb/s to 40 Gb/s and 1 to 250 ms, found
//! by bisection on Linux 6.1 and 6.12. [`HEADROOM`] covers a path that is a little longer or a loss in mid-run.
//!
//! Limits:
//! - From 6.10 on the window's share of a receive buffer depends on the driver: 0.62 with an MTU of 1500 and 0.85
//!   with 9000 are assumed.

use super::demand::{Demand, Reason};
use super::window::{self, LARGEST_WINDOW, Window};
use crate::numbers;
use fullpipe_base::units::Time;
use fullpipe_scenario::response;
use fullpipe_scenario::{Version, profile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum of the buffers of a socket, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Buffers {
    /// `net.ipv4.tcp_rmem`, the third number.
    pub receive: u64,
    /// `net.ipv4.tcp_wmem`, the third number.
    pub send: u64,
}

/// Buffers today, the least that fill the path, and the advised ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The kernel's defaults.
    pub today: Buffers,
    /// The least that fill the path.
    pub least: Buffers,
    /// Today's where they suffice, else the least with headroom.
    pub advised: Buffers,
}

/// Read-ahead of a mount, in windows of its path.
///
/// The page cache asks for the next part of a file before all of the last part has arrived.
const READ_AHEAD: f64 = 2.0;

/// Files of a mount that are read over a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Window that fills the path, bytes.
    pub window: u64,
    /// Round trip without queues.
    pub round_trip: Time,
    /// Work of the server on a call.
    pub service: Time,
    /// Bytes of a call (rsize).
    pub call: u32,
    /// Connections of the mount (nconnect).
    pub connections: u32,
    /// Bytes of the files.
    pub bytes: u64,
}

/// Read-ahead that fills the path, in bytes: a whole number of KiB, and no more than the files have.
///
/// An answer takes the round trip and the server's work on a call. Both together are so many windows of the path. Each of several
/// connections needs calls of its own.
pub fn read_ahead(own: &Reading) -> u64 {
    let trip = own.round_trip.as_secs_f64().max(1e-9);
    let windows = READ_AHEAD * (trip + own.service.as_secs_f64()) / trip;
    let calls = match own.connections {
        0 | 1 => 0.0,
        several => READ_AHEAD * f64::from(several) * f64::from(own.call),
    };
    let most = (own.window as f64 * windows).max(calls);
    let whole = ((most / 1024.0).ceil() as u64) << 10;
    whole.min(own.bytes.next_multiple_of(1 << 10))
}

/// The advised size over the least one: an RTT 5 % longer costs 1.5 to 4 % of the rate at the least size.
const HEADROOM: f64 = 1.12;
/// Share of its largest send buffer that a bulk sender keeps in flight. A writer is woken when a third of the buffer is
/// free (`sk_stream_min_wspace`), and skbs of TSO take 1.5 % more than their payload.
pub const SENT_SHARE: f64 = 0.63;
/// Factor on its share that one of several flows may need: flows that share a path are not alike.
pub const UNEVEN: f64 = 1.4;
/// From this MTU on a driver's page holds one segment and little else.
const JUMBO: u32 = 4000;
/// Largest value of a sysctl of buffers (a C int), bytes.
const LARGEST_BUFFER: u64 = i32::MAX as u64;
/// First version with skbs that hold a whole TSO burst: earlier ones hold a segment each.
const BURSTS: Version = Version::new(4, 9, 0);
/// First version with a receive window that follows the measured ratio of payload to memory, started at one half.
const MEASURED: Version = Version::new(6, 10, 0);
/// First version in which TCP paces without fq (218af599fa63 "tcp: internal implementation for pacing").
pub const PACES_ITSELF: Version = Version::new(4, 13, 0);
/// Share of the path at which a socket paces: 97 %, and the part that rounding may take from a measured rate.
///
/// 0.97 gave 0.977 of the rate, and a queue below 1 ms.
pub const PACED_SHARE: f64 = 0.971;
/// A queue below this share of the bandwidth-delay product overflows at flows that do not pace.
pub const SHALLOW: f64 = 0.4;
/// Most parallel flows that are advised; beyond, another congestion control is the better remedy.
pub const MOST_STREAMS: u64 = 128;

/// The kernel's defaults, where nothing was set and the host has some GiB of memory.
pub fn today(kernel: Version) -> Buffers {
    let known = profile::for_version(kernel).unwrap_or(&profile::KERNELS[0]);
    Buffers { receive: known.sysctl.tcp_rmem[2], send: known.sysctl.tcp_wmem[2] }
}

/// Share of a full receive buffer that is window when autotuning has settled.
///
/// From 6.10 on the kernel measures it: 1448 of 2304 bytes with an MTU of 1500; between 0.75 and 0.95 with jumbo frames,
/// which depends on the driver. Before, it is the fixed share of the version.
pub fn window_share(kernel: Version, mtu: u32) -> f64 {
    if kernel < MEASURED {
        // 6.6 to 6.9 start at a quarter and measure, too. They reach one half with small frames.
        let fixed = kernel.window_share();
        return (fixed.num as f64 / fixed.den as f64).max(0.5);
    }
    match mtu {
        JUMBO.. => 0.85,
        mtu => (f64::from(mtu - 52) / 2304.0).min(0.62),
    }
}

/// Buffers for the flows of `demand`.
pub fn sizes(demand: &Demand) -> Sizes {
    let today = today(demand.path.kernel);
    let least = least(demand);

    // Sizes never shrink: other connections may need today's.
    let advised = |today: u64, least: u64| match least <= today {
        true => today,
        false => with_headroom(least).max(today),
    };
    Sizes {
        today,
        least,
        advised: Buffers {
            receive: advised(today.receive, least.receive),
            send: advised(today.send, least.send),
        },
    }
}

/// The advised size of a buffer, bytes, by the least that fills the path: more by a margin for longer paths, and rounded up.
pub fn with_headroom(least: u64) -> u64 {
    whole((least as f64 * HEADROOM) as u64)
}

/// Bytes of a page (x86-64).
pub const PAGE: u64 = 4096;

/// `net.ipv4.tcp_mem` for a host with sockets that take so much memory, bytes: three numbers of pages.
///
/// Up to the first number no window and no buffer is held back. The others are larger as by default (Linux `tcp_init_mem`). Sizes
/// that differ by chance give one value: the first number is a multiple of an eighth of the next power of two.
pub fn tcp_mem(bytes: u64) -> [u64; 3] {
    let pages = bytes.div_ceil(PAGE).max(1);
    let step = pages.checked_next_power_of_two().map_or(1, |own| (own / 8).max(1));
    let low = pages.checked_next_multiple_of(step).unwrap_or(pages);
    [low, low.saturating_mul(4).div_ceil(3), low.saturating_mul(2)]
}

/// The least buffers with which the flows of `demand` fill the path, or reach the largest window.
fn least(demand: &Demand) -> Buffers {
    let kernel = demand.path.kernel;
    let window = per_flow(demand) as f64;
    let share = window_share(kernel, demand.path.mtu);
    let sent = match kernel >= BURSTS {
        true => window / SENT_SHARE,
        false => window::buffers(&demand.path, window as u64).send_bytes as f64,
    };
    let bounded = |bytes: f64| (bytes.ceil() as u64).min(LARGEST_BUFFER);
    Buffers { receive: bounded(window / share), send: bounded(sent) }
}

/// Window that one flow needs, bytes of payload.
fn per_flow(demand: &Demand) -> u64 {
    let window = window::window(&demand.path);
    let flows = u64::from(demand.flows.max(1));
    let own = match flows {
        1 => window.needed_bytes,
        n => (window.needed_bytes as f64 * UNEVEN / n as f64) as u64,
    };
    // Windows that losses cut vary: up to twice the mean.
    let packets = lossy_window(demand).unwrap_or(f64::INFINITY);
    let lossy = (2.0 * packets * f64::from(demand.path.mss())) as u64;
    own.min(window.needed_bytes).min(lossy).clamp(1, LARGEST_WINDOW)
}

/// Packets that one flow keeps in flight on average at the loss of `demand`; `None` without loss, and where no formula
/// for the congestion control is known here.
pub fn lossy_window(demand: &Demand) -> Option<f64> {
    let p = Some(demand.loss).filter(|p| *p > 0.0)?;
    let congestion = demand.congestion.as_deref().unwrap_or("cubic");
    response::window(congestion, p, demand.path.rtt.as_secs_f64())
}

/// Whole MiB from 8 MiB on, else whole 64 KiB, rounded up, and no more than the kernel takes.
fn whole(bytes: u64) -> u64 {
    let unit = if bytes >= 8 << 20 { 1 << 20 } else { 64 << 10 };
    bytes.next_multiple_of(unit).min(LARGEST_BUFFER)
}

/// Highest rate of payload of all flows together, Mb/s: the path's, or the rate of TCP's largest window.
pub fn reachable_mbit(demand: &Demand) -> f64 {
    let window = window::window(&demand.path);
    let bound = window.bound.map_or(f64::INFINITY, |bound| bound.mbit_per_flow);
    demand.payload_mbit().min(bound * f64::from(demand.flows))
}

/// Parallel flows that fill the path, where those of `demand` cannot: by the loss, or by TCP's largest window.
pub fn streams(demand: &Demand) -> Option<u64> {
    let needed = needed_streams(demand, &window::window(&demand.path));
    (needed > u64::from(demand.flows)).then_some(needed)
}

fn needed_streams(demand: &Demand, window: &Window) -> u64 {
    by_window(window).max(flows_by_loss(demand))
}

fn by_window(window: &Window) -> u64 {
    window.bound.as_ref().map_or(1, |bound| bound.flows)
}

/// Parallel flows that fill the path under the loss of `demand`; 1 where one does, or no formula is known.
pub fn flows_by_loss(demand: &Demand) -> u64 {
    lossy_window(demand).map_or(1, |packets| {
        (demand.path.bdp_packets() / packets).ceil().min(u32::MAX.into()) as u64
    })
}

/// Rate of payload at which the loss holds one flow on average, Mb/s; the path's where nothing is lost.
pub fn lossy_mbit(demand: &Demand) -> f64 {
    let packets = lossy_window(demand).map_or(f64::INFINITY, |own| own / demand.path.bdp_packets());
    demand.payload_mbit() * packets.min(1.0)
}

/// Whether the loss, and not TCP's largest window, asks for the more flows.
pub fn loss_bounds(demand: &Demand) -> bool {
    flows_by_loss(demand) > by_window(&window::window(&demand.path))
}

/// SO_MAX_PACING_RATE of each flow, bytes of payload per second, where the queue is known to be shallow and nothing is lost.
pub fn pacing(demand: &Demand) -> Option<u64> {
    let product = demand.path.bdp_bytes() as f64;
    let shallow = demand.queue.is_some_and(|queue| (queue as f64) < SHALLOW * product);
    let is_lossless = demand.loss == 0.0;
    (shallow && is_lossless && demand.path.kernel >= PACES_ITSELF).then(|| paced(demand))
}

/// The pace of each flow, bytes of payload per second.
pub fn paced(demand: &Demand) -> u64 {
    let bytes = demand.payload_mbit() * 1e6 / 8.0 / f64::from(demand.flows);
    (bytes * PACED_SHARE) as u64
}

/// The settings that change, with the arithmetic behind each.
pub fn reasons(demand: &Demand, sizes: &Sizes) -> Vec<Reason> {
    let own = per_flow(demand);
    let share = numbers::short(window_share(demand.path.kernel, demand.path.mtu));
    let of = match demand.flows {
        1 => "the flow needs".to_string(),
        n => format!("each of {n} flows needs up to"),
    };
    let under_way = format!("{of} {} in flight", mib(own));
    let row = |setting: &str, today: u64, planned: u64, why: String| Reason {
        setting: setting.into(),
        today: today.to_string(),
        planned: planned.to_string(),
        why,
    };
    let receive = format!("{under_way}; {share} of the receive buffer is window");
    let send = format!("{under_way}; a writer keeps two thirds of the send buffer in flight");
    let rows = [
        row("net.ipv4.tcp_rmem", sizes.today.receive, sizes.advised.receive, receive),
        row("net.ipv4.tcp_wmem", sizes.today.send, sizes.advised.send, send),
    ];

    // A setting that stays as it is needs no reason.
    rows.into_iter().filter(|row| row.today != row.planned).collect()
}

/// Bytes in MiB: "162 MiB", "4.2 MiB".
pub fn mib(bytes: u64) -> String {
    format!("{} MiB", numbers::short(bytes as f64 / f64::from(1 << 20)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sizing::Question;
    use fullpipe_base::units::{Framing, Rate, Time};

    const V6_12: Version = Version::new(6, 12, 0);

    /// Two runs of one scenario need 29.25 and 29.44 MiB.
    #[test]
    fn memory_that_differs_by_chance_gives_one_setting() {
        let of = |pages: u64| tcp_mem(pages * PAGE);
        assert_eq!([of(7488), of(7536)], [[8192, 10923, 16384]; 2]);
        assert_eq!(of(8193), [10240, 13654, 20480]);
        assert_eq!(tcp_mem(1), [1, 2, 2]);
        assert!(tcp_mem(u64::MAX)[0] >= u64::MAX / PAGE);
    }

    fn demand(rate: Rate, rtt_ms: u64, kernel: Version) -> Demand {
        Demand {
            path: Question {
                rate,
                rtt: Time::ms(rtt_ms),
                mtu: 1500,
                framing: Framing::EthernetWire,
                kernel,
                timestamps: true,
            },
            flows: 1,
            loss: 0.0,
            queue: None,
            congestion: None,
        }
    }

    #[test]
    fn defaults_that_suffice_are_left_alone() {
        for (rate, rtt) in [(Rate::gbit(1), 10), (Rate::mbit(100), 3), (Rate(1), 1)] {
            let sizes = sizes(&demand(rate, rtt, V6_12));
            assert_eq!(sizes.advised, sizes.today, "{rate} x {rtt} ms");
        }
    }

    /// No advised value is below the kernel's default, whatever the path.
    #[test]
    fn no_value_is_below_the_kernels_default() {
        for rate in [1, 1_000_000, 50_000_000, 10_000_000_000, 1_000_000_000_000_000] {
            for rtt in [1, 10, 80, 600, 1_000_000] {
                for (major, minor) in [(3, 0), (4, 9), (6, 1), (6, 6), (6, 12), (6, 18), (7, 0)] {
                    let kernel = Version::new(major, minor, 0);
                    for flows in [1, 8, 10_000] {
                        let demand = Demand { flows, ..demand(Rate(rate), rtt, kernel) };
                        let Sizes { today, advised, .. } = sizes(&demand);
                        assert!(advised.receive >= today.receive && advised.send >= today.send);
                        assert!(advised.receive.max(advised.send) <= LARGEST_BUFFER);
                    }
                }
            }
        }
    }

    /// 10 Gb/s x 80 ms hold 65,020 segments of 1448 bytes, 94.1 MB. Bisection in the simulator: tcp_wmem 1.45 to 1.61
    /// times that; tcp_rmem 2.04 to 2.1 on 6.1, 1.58 to 1.64 on 6.12.
    #[test]
    fn the_least_sizes_are_those_of_bisection() {
        let needed = 65_020.0 * 1448.0;
        for (kernel, receive) in [(Version::new(6, 1, 0), 1.95..2.1), (V6_12, 1.58..1.64)] {
            let least = sizes(&demand(Rate::gbit(10), 80, kernel)).least;
            assert!(receive.contains(&(least.receive as f64 / needed)), "{least:?}");
            assert!((1.45..1.61).contains(&(least.send as f64 / needed)), "{least:?}");
        }
    }

    #[test]
    fn flows_share_what_one_needs() {
        let one = sizes(&demand(Rate::gbit(10), 80, V6_12)).advised;
        let of_eight = Demand { flows: 8, ..demand(Rate::gbit(10), 80, V6_12) };
        let eight = sizes(&of_eight).advised;
        let ratio = one.receive as f64 / eight.receive as f64;
        // 8 / 1.4, and whole MiB
        assert!((5.4..5.8).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_window_beyond_one_gib_needs_streams() {
        let demand = demand(Rate::gbit(100), 100, V6_12);
        assert_eq!(streams(&demand), Some(2));
        // 65535 x 2^14 x 8 bits in 0.1 s
        assert!((reachable_mbit(&demand) - 85_898.0).abs() < 1.0);
    }

    /// 1e-5 at 80 ms: CUBIC keeps 1.054 (0.08 / 1e-5)^0.75 = 892 packets; 65,020 need 73 flows.
    #[test]
    fn loss_needs_streams() {
        let lossy = Demand { loss: 1e-5, ..demand(Rate::gbit(10), 80, V6_12) };
        assert_eq!(streams(&lossy), Some(73));
        assert_eq!(streams(&demand(Rate::gbit(10), 80, V6_12)), None);
    }

    /// 0.97 of the payload of 10 Gb/s, 9415 Mb/s, are 1,141.6 MB/s.
    #[test]
    fn a_shallow_queue_asks_for_pacing() {
        let shallow = Demand { queue: Some(20_000_000), ..demand(Rate::gbit(10), 80, V6_12) };
        let pace = pacing(&shallow).expect("a pace");
        assert!((pace as f64 / 1.1416e9 - 1.0).abs() < 1e-3, "{pace}");
        assert_eq!(pacing(&Demand { queue: Some(60_000_000), ..shallow }), None);
    }
}
