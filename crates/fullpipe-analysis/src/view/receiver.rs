//! Sight of the receiving host: its flows, counters and settings.

use super::every;
use super::host::HostSight;
use crate::meta::RunMeta;
use crate::settings::Buffer;
use fullpipe_base::trace::{FlowSample, ReceiverSocket, option};
use fullpipe_base::units::Time;
use fullpipe_scenario::are_copies;
use fullpipe_trace::recording::Recording;

/// Everything that the receiving host sees.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sight {
    /// The host.
    pub host: HostSight,
    /// Connections whose data it receives.
    pub flows: Vec<Flow>,
    /// True where the run was cut short.
    pub partial: bool,
}

/// A connection whose data the host receives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flow {
    /// Name.
    pub name: String,
    /// True where the verdict is about it.
    pub judged: bool,
    /// Receive buffer: what the program asked for, and the sysctls.
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
        let first = meta.flows.first()?;
        let end = recording.flows.last().map_or(Time::ZERO, |sample| sample.time);
        let every = every(meta.sample, end);
        let host = &first.hosts[1];
        let settings = first.settings.hosts[1].clone();
        let own = meta.flows.iter().enumerate().filter(|(_, flow)| flow.hosts[1] == *host);
        let flows = own.map(|(index, flow)| Flow {
            name: flow.name.clone(),
            judged: are_copies(&first.name, &flow.name),
            buffer: flow.settings.receive.clone(),
            options: options(recording, index),
            looks: looks(recording, index, every),
        });
        Some(Sight {
            flows: flows.collect(),
            host: HostSight::new(recording, host, every, settings),
            partial: meta.partial,
        })
    }
}

/// Options of a connection, which both of its ends know.
fn options(recording: &Recording, index: usize) -> u8 {
    let own = recording.flows.iter().filter(|sample| usize::from(sample.flow) == index);
    own.fold(0, |options, sample| options | sample.sender.options) & option::ALL
}

/// Every `every`-th sample of a flow while data comes.
fn looks(recording: &Recording, index: usize, every: usize) -> Vec<Look> {
    let is_own = |sample: &&FlowSample| usize::from(sample.flow) == index;
    let own = recording.flows.iter().filter(is_own).skip(every - 1).step_by(every);
    let mut looks: Vec<Look> =
        own.map(|sample| Look { time: sample.time, socket: sample.receiver }).collect();
    let came = |pair: &[Look]| {
        pair[0].socket.bytes_received != pair[1].socket.bytes_received || pair[1].socket.unread > 0
    };
    let last = looks.windows(2).rposition(came).map_or(1, |at| at + 2);
    looks.truncate(last);
    let first = looks.iter().position(|look| look.socket.bytes_received > 0);
    looks.drain(..first.unwrap_or(looks.len()));
    looks
}
