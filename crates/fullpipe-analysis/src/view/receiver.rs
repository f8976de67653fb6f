//! Sight of the receiving host: its flows, counters and settings.

use super::Connection;
use crate::meta::RunMeta;
use crate::settings::Buffer;
use fullpipe_base::trace::{ReceiverSocket, option};
use fullpipe_base::units::Time;
use fullpipe_trace::recording::Recording;

/// Everything that the receiving host sees.
pub type Sight = super::Sight<Flow>;

/// A connection that brings data to the host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flow {
    /// Name.
    pub name: String,
    /// True where the verdict is about it.
    pub judged: bool,
    /// Receive buffer: the program's request, and the sysctls.
    pub buffer: Buffer,
    /// Options that both ends agreed to, see [`option`].
    pub options: u8,
    /// The socket at each look, oldest first.
    pub looks: Vec<Look>,
}

/// `ss -tmi` of a receiving socket at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Moment of the look.
    pub time: Time,
    /// Its fields.
    pub socket: ReceiverSocket,
}

impl Sight {
    /// The host that receives the first flow's data; none where the run has no flow.
    pub fn new(meta: &RunMeta, recording: &Recording) -> Option<Sight> {
        Sight::of_end(meta, recording, 1, |connection| {
            let Connection { about, judged, looks, index } = connection;
            Flow {
                name: about.name.clone(),
                judged,
                buffer: about.settings.receive.clone(),
                options: options(recording, index),
                looks: trimmed(
                    looks
                        .into_iter()
                        .map(|sample| Look { time: sample.time, socket: sample.receiver })
                        .collect(),
                ),
            }
        })
    }
}

/// Options of a connection, which both of its ends know.
fn options(recording: &Recording, index: usize) -> u8 {
    let own = recording.flows.iter().filter(|sample| usize::from(sample.flow) == index);
    own.fold(0, |options, sample| options | sample.sender.options) & option::ALL
}

/// The looks at a socket while data arrives.
fn trimmed(mut looks: Vec<Look>) -> Vec<Look> {
    let last = looks
        .windows(2)
        .rposition(|pair| {
            pair[0].socket.bytes_received != pair[1].socket.bytes_received
                || pair[1].socket.unread > 0
        })
        .map_or(1, |at| at + 2);
    looks.truncate(last);
    let first = looks.iter().position(|look| look.socket.bytes_received > 0);
    looks.drain(..first.unwrap_or(looks.len()));
    looks
}
