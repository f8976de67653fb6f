//! Sight of the sending host: its flows, counters and settings.

use super::Connection;
use crate::meta::{Earlier, RunMeta};
use crate::pasted::Pasted;
use crate::settings::Buffer;
use fullpipe_base::trace::{FlowSample, SenderSocket};
use fullpipe_base::units::Time;
use fullpipe_trace::recording::Recording;

/// Everything that the sending host sees.
pub type Sight = super::Sight<Flow>;

/// A connection that carries the host's data away.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flow {
    /// Name.
    pub name: String,
    /// True where the verdict is about it.
    pub judged: bool,
    /// Congestion control.
    pub congestion: String,
    /// First ssthresh that the congestion control's module asks for, packets.
    pub first_ssthresh: Option<u32>,
    /// Send buffer: the program's request, and the sysctls.
    pub buffer: Buffer,
    /// Share of looks at which bytes had arrived in the other direction since the look before (bytes_received; 0 to 1).
    pub answered: f64,
    /// Its life before the first look; none where that look is at its beginning.
    pub earlier: Option<Earlier>,
    /// Facts from a pasted text, and columns that it lacks.
    pub pasted: Pasted,
    /// The socket at each look, oldest first.
    pub looks: Vec<Look>,
}

/// `ss -tmi` of a sending socket at one moment. Counters are cumulative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Moment of the look.
    pub time: Time,
    /// Congestion window, packets.
    pub cwnd: u32,
    /// Slow start threshold, packets.
    pub ssthresh: u32,
    /// Smoothed RTT, microseconds.
    pub srtt_us: u32,
    /// Retransmission timeout, microseconds.
    pub rto_us: u32,
    /// Packets in flight.
    pub in_flight: u32,
    /// Window of the receiver, bytes.
    pub snd_wnd: u64,
    /// Bytes written and not sent (notsent).
    pub unsent: u64,
    /// Congestion state: 0 Open, 1 Disorder, 2 CWR, 3 Recovery, 4 Loss.
    pub ca_state: u8,
    /// Bytes acknowledged.
    pub bytes_acked: u64,
    /// Bytes sent, retransmissions included.
    pub bytes_sent: u64,
    /// Bytes sent again.
    pub bytes_retransmitted: u64,
    /// Segments sent, retransmissions included (segs_out).
    pub segments_sent: u64,
    /// Segments sent again (total_retrans).
    pub segments_retransmitted: u64,
    /// Packets received (segs_in).
    pub acks_received: u64,
    /// The other fields.
    pub socket: SenderSocket,
}

impl Look {
    fn of(sample: &FlowSample) -> Look {
        Look {
            time: sample.time,
            cwnd: sample.cwnd,
            ssthresh: sample.ssthresh,
            srtt_us: sample.srtt_us,
            rto_us: sample.rto_us,
            in_flight: sample.in_flight,
            snd_wnd: sample.snd_wnd,
            unsent: sample.unsent,
            ca_state: sample.ca_state,
            bytes_acked: sample.bytes_acked,
            bytes_sent: sample.bytes_sent,
            bytes_retransmitted: sample.bytes_retransmitted,
            segments_sent: sample.segments_sent,
            segments_retransmitted: sample.segments_retransmitted,
            acks_received: sample.acks_received,
            socket: sample.sender,
        }
    }

    /// True where data is in the socket, sent or not.
    pub fn has_data(&self) -> bool {
        self.unsent > 0 || self.socket.unacked > 0
    }
}

impl Sight {
    /// The host that sends the first flow's data; none where the run has no flow.
    pub fn new(meta: &RunMeta, recording: &Recording) -> Option<Sight> {
        Sight::of_end(meta, recording, 0, |connection| {
            let Connection { about, judged, looks, .. } = connection;
            Flow {
                name: about.name.clone(),
                judged,
                congestion: about.congestion.clone(),
                first_ssthresh: about.settings.first_ssthresh,
                buffer: about.settings.send.clone(),
                answered: about.reverse_flow.map_or(0.0, |index| answered(recording, index)),
                earlier: about.earlier,
                pasted: about.pasted.clone(),
                looks: trimmed(looks.into_iter().map(Look::of).collect()),
            }
        })
    }
}

/// Share of a flow's samples before which bytes were received since the sample before.
fn answered(recording: &Recording, index: usize) -> f64 {
    let samples = recording.flows.iter().filter(|sample| usize::from(sample.flow) == index);
    let received: Vec<u64> = samples.map(|sample| sample.receiver.bytes_received).collect();
    let grown = received.windows(2).filter(|pair| pair[1] > pair[0]).count();
    grown as f64 / received.len().saturating_sub(1).max(1) as f64
}

/// The looks at a socket while it is there and has something to do.
fn trimmed(mut looks: Vec<Look>) -> Vec<Look> {
    // The socket is closed when its last data is acknowledged.
    let last = looks
        .windows(2)
        .rposition(|pair| pair[0].bytes_acked != pair[1].bytes_acked || pair[1].has_data())
        .map_or(1, |at| at + 2);
    looks.truncate(last);
    let first = looks
        .iter()
        .position(|look| look.srtt_us > 0 || look.bytes_sent > 0 || look.has_data())
        .unwrap_or(looks.len());
    looks.drain(..first);
    looks
}
