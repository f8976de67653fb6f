//! Header fields of a flow's packets that the simulator itself does not need.
//!
//! Options as Linux 2.6.20 writes them (`tcp_syn_build_options`, `tcp_build_and_update_options`). The receiving end of
//! a connection sends no data: its stream is its SYN. The sending end advertises its first window all the time.

use super::{What, Whose};
use crate::config::{Config, Direction, Host, Station, least_clamp};
use crate::jiffy_clock::JiffyClock;
use crate::packet::{Kind, Train};
use crate::tcp::behaviour::profile_of;
use crate::tcp::profile::PROFILES;
use crate::tcp::receiver::window::ReceiveWindow;
use crate::tcp::{Ack, announced_mss};
use crate::trace::{Offers, Packet, Point, Timestamps};
use crate::units::Time;
use alloc::vec::Vec;

/// One end of a flow.
struct End {
    stamps: JiffyClock,
    offers: Offers,
    /// Whether the SYN of this end has timestamps.
    timestamps: bool,
}

/// State of a flow's two ends, the sending end first.
#[derive(Clone)]
struct HeaderState {
    forward: bool,
    ip_id: [u16; 2],
    /// Timestamp to be echoed (Linux `ts_recent`).
    ts_recent: [u32; 2],
    /// End of the sent data, bytes.
    sent_to: u64,
    /// Whether the reader has sent its FIN, and whether it has arrived.
    reader_closed: bool,
    has_readers_fin: bool,
}

/// Headers of all flows.
pub(super) struct Headers {
    /// Ends of each flow.
    ends: Vec<Ends>,
    timestamps: bool,
    flows: Vec<HeaderState>,
}

/// First window of a host's kernel. A run with an unknown kernel was refused before.
fn first_window(host: &Host, mss: u32) -> ReceiveWindow {
    let profile = profile_of(host).unwrap_or(PROFILES[0]);
    let window = ReceiveWindow::new(&host.sysctl, &profile, None, mss);
    match host.system.window(None, host.sysctl.tcp_window_scaling) {
        Some(own) => window.of_data(own),
        None => window,
    }
}

/// Least MSS to which routers have clamped what `host` sends, as `point` sees it. A router clamps what comes the other way
/// before that meets an element.
fn clamp_at(point: Point, config: &Config, host: Station) -> Option<u32> {
    let [ahead, against] = match host.direction {
        Direction::Forward => [&config.forward, &config.back],
        Direction::Backward => [&config.back, &config.forward],
    };
    let passed = match point {
        Point::Wire(place) | Point::Qdisc(place) if place == config.place(host.name) => {
            return None;
        }
        Point::Element(place) if host.direction == Direction::Forward => &ahead[..place],
        _ => &ahead[..],
    };
    least_clamp(against.iter().chain(passed))
}

impl End {
    fn new(host: &Host, mtu: u32, mss: u32) -> End {
        let sysctl = &host.sysctl;
        let wscale = first_window(host, mss).wscale as u8;
        let offers = Offers {
            mss: announced_mss(host, mtu) as u16,
            window_scale: host.offers_scaling().then_some(wscale),
            sack: sysctl.tcp_sack,
        };
        let profile = profile_of(host).unwrap_or(PROFILES[0]);
        End { stamps: profile.timestamp_clock.ticks(host.hz), offers, timestamps: host.timestamps }
    }

    fn clamp_mss(&mut self, most: Option<u32>) {
        let most = most.map_or(u16::MAX, |most| most as u16);
        self.offers.mss = self.offers.mss.min(most);
    }
}

/// The ends of a flow, the sending end first.
struct Ends {
    ends: [End; 2],
    /// Windows that an end advertises: in its SYN, and later.
    windows: (u16, u16),
}

impl Ends {
    /// The ends of a flow: `sender` as configured and as negotiated, and the other end.
    fn new(sender: &Host, agreed: &Host, receiver: &Host, mtu: u32, mss: u32) -> Ends {
        let window = first_window(agreed, mss);
        let first = window.syn_ack_window();
        let later = window.rcv_wnd.div_ceil(1 << window.wscale).min(65_535);
        Ends {
            ends: [sender, receiver].map(|host| End::new(host, mtu, mss)),
            windows: (first as u16, later as u16),
        }
    }
}

impl Headers {
    pub(super) fn new(point: Point, asked: &Config, agreed: &Config, mss: u32) -> Headers {
        let ends = agreed.flows.iter().zip(&asked.flows).map(|(flow, own)| {
            let hosts = agreed.hosts_of(flow);
            let [from, to] = hosts.map(|station| station.host);
            let mut new = Ends::new(asked.hosts_of(own)[0].host, from, to, agreed.mtu, mss);
            for (end, host) in new.ends.iter_mut().zip(hosts) {
                end.clamp_mss(clamp_at(point, agreed, host));
            }
            new
        });
        let flows = agreed.flows.iter().map(|flow| HeaderState {
            forward: flow.direction == Direction::Forward,
            ip_id: [0; 2],
            ts_recent: [0; 2],
            sent_to: 0,
            reader_closed: false,
            has_readers_fin: false,
        });
        Headers {
            ends: ends.collect(),
            timestamps: agreed.sender.timestamps,
            flows: flows.collect(),
        }
    }

    /// Headers of a single segment that was made at `time`.
    pub(super) fn packet(&mut self, segment: &Train, time: Time, what: What) -> Packet {
        let from = usize::from(!segment.kind.is_of_sender());
        let flow = &mut self.flows[usize::from(segment.flow)];
        let Ends { ends, windows } = &self.ends[usize::from(segment.flow)];
        let (end, id) = (&ends[from], &mut flow.ip_id[from]);

        // A SYN offers the host's own timestamps; later packets have the agreed ones.
        let with = if segment.kind == Kind::Syn { end.timestamps } else { self.timestamps };
        let mut packet = Packet {
            flow: segment.flow,
            forward: (from == 0) == flow.forward,
            ip_id: *id,
            segments: 1,
            ecn: segment.ecn,
            ece: segment.ece,
            cwr: segment.cwr || segment.kind == Kind::Syn && segment.ece,
            timestamps: with.then(|| Timestamps {
                value: end.stamps.since_boot(time),
                echo: flow.ts_recent[from],
            }),
            ..Packet::default()
        };
        *id = id.wrapping_add(1);
        match (segment.kind, what) {
            (Kind::Ack, What::Ack(ack)) => {
                acknowledge(&mut packet, ack, end);
                // The FIN has a number of its own.
                packet.seq += u64::from(flow.reader_closed);
                flow.reader_closed |= ack.fin;
            }
            (Kind::Syn | Kind::SynAck, _) => {
                packet.syn = true;
                packet.offers = Some(end.offers);
                packet.ack = (from == 1).then_some(1);
                packet.window = if from == 1 { segment.number as u16 } else { windows.0 };
            }
            _ => {
                // The SYN has number 0, so data begin at 1.
                packet.seq = 1 + segment.number;
                packet.ack = Some(1 + u64::from(flow.has_readers_fin));
                packet.len = segment.len;
                // Data below the highest sent byte are retransmissions.
                packet.resent = segment.len > 0 && segment.number < flow.sent_to;
                flow.sent_to = flow.sent_to.max(segment.number + u64::from(segment.len));
                packet.fin = segment.fin;
                packet.window = windows.1;
            }
        }
        packet
    }

    /// Lets the sending host of a flow read the reader's FIN.
    pub(super) fn take_readers_fin(&mut self, flow: u16) {
        self.flows[usize::from(flow)].has_readers_fin = true;
    }

    /// Lets the host at the packet's destination read its timestamp.
    pub(super) fn store_ts_recent(&mut self, whose: Whose, tsval: Option<u32>) {
        let destination = usize::from(whose.kind.is_of_sender());
        let recent = &mut self.flows[usize::from(whose.flow)].ts_recent[destination];
        if let Some(value) = tsval
            && (value.wrapping_sub(*recent) as i32) >= 0
        {
            *recent = value;
        }
    }
}

fn acknowledge(packet: &mut Packet, ack: &Ack, end: &End) {
    packet.seq = 1;
    packet.ack = Some(1 + ack.ack);
    packet.ece = ack.ece;
    packet.fin = ack.fin;
    packet.window = (ack.window >> end.offers.window_scale.unwrap_or(0)) as u16;
    if let Some(sacks) = &ack.sacks {
        let blocks = sacks.blocks[..sacks.count].iter();
        packet.sacks = blocks.map(|block| (1 + block.start, 1 + block.end)).collect();
    }
}
