//! Looks that somebody else has taken, as a trace.

use super::pace::Lateness;
use super::rows::{Flows, requested};
use super::sampler::Followed;
use super::{Host, Subject};
use crate::process::Process;
use crate::sockets::Connection;
use crate::tcp_info::TcpInfo;
use fullpipe_base::trace::Sink;
use fullpipe_base::units::Time;
use std::net::SocketAddr;

/// A connection in several looks.
struct Replayed {
    first: Connection,
    last: Connection,
    infos: Vec<TcpInfo>,
    /// Number of its first look, and of the one behind its last.
    from: usize,
    to: usize,
}

impl Replayed {
    /// Bytes of both directions.
    fn bytes(&self) -> u64 {
        let of = |own: &Connection| own.info.bytes_acked + own.info.bytes_received;
        of(&self.last).saturating_sub(of(&self.first))
    }
}

/// The connections of looks that are `every` apart, the busiest one first, as rows. Nothing is known about their host.
pub fn replay(looks: &[Vec<Connection>], every: Time, sink: &mut dyn Sink) -> Followed {
    let mut all = connections(looks);
    all.sort_by_key(|own| std::cmp::Reverse(own.bytes()));

    let end = looks.len();
    let all = all.into_iter().map(|own| {
        let times = (own.from..).map(|number| Time(every.0 * number as u64));
        Looks {
            later: times.zip(own.infos).skip(1).collect(),
            closed: (own.to < end).then(|| Time(every.0 * own.to as u64)),
            begun: Time::ZERO,
            first: own.first,
            process: None,
        }
    });
    Followed {
        subjects: write(all.collect(), None, sink),
        host: Host::default(),
        lateness: Lateness::default(),
        lasted: Time(every.0 * end.saturating_sub(1) as u64),
        stopped: false,
    }
}

/// Looks at one connection.
pub(super) struct Looks {
    /// The connection at the first look, which is the zero of its counters.
    pub first: Connection,
    /// Moment of the first look, where nothing was known of the connection before.
    pub begun: Time,
    /// The other looks.
    pub later: Vec<(Time, TcpInfo)>,
    /// The process that has it.
    pub process: Option<Process>,
    /// Moment at which it was found closed.
    pub closed: Option<Time>,
}

/// Writes rows of these connections, as many as a trace can number; `tuned`: largest send buffer that the kernel tunes.
pub(super) fn write(mut all: Vec<Looks>, tuned: Option<u64>, sink: &mut dyn Sink) -> Vec<Subject> {
    let indices = (0..=u16::MAX).step_by(2);
    let mut flows: Vec<Flows> =
        indices.zip(&all).map(|(index, own)| Flows::new(index, &own.first)).collect();
    all.truncate(flows.len());
    flows.iter_mut().zip(&all).for_each(|(flows, own)| flows.begin(own.begun));

    // All rows of one moment are neighbours.
    let mut order: Vec<(Time, usize, usize)> = Vec::new();
    for (place, own) in all.iter().enumerate() {
        order.extend(own.later.iter().enumerate().map(|(at, look)| (look.0, place, at)));
    }
    order.sort_unstable();
    sink.stages(&[]);
    for (time, place, at) in order {
        let own = &all[place];
        let look = Connection { info: own.later[at].1.clone(), ..own.first.clone() };
        let (rows, events) = flows[place].rows(time, &look);
        events.iter().for_each(|event| sink.event(event));
        rows.iter().for_each(|row| sink.flow(row));
    }

    let subjects = all.into_iter().map(|own| {
        let later = own.later.into_iter().map(|look| look.1);
        let infos: Vec<TcpInfo> = std::iter::once(own.first.info.clone()).chain(later).collect();
        let info = infos[infos.len() - 1].clone();
        Subject {
            sndbuf: requested(&infos, tuned),
            last: Connection { info, ..own.first.clone() },
            first: own.first,
            process: own.process,
            closed: own.closed,
        }
    });
    subjects.collect()
}

/// The connections of all looks, each as long as no look lacks it.
fn connections(looks: &[Vec<Connection>]) -> Vec<Replayed> {
    let ends = |own: &Connection| -> [SocketAddr; 2] { [own.here, own.there] };
    let mut all: Vec<Replayed> = Vec::new();
    for (number, look) in looks.iter().enumerate() {
        for own in look {
            let known = all.iter_mut().find(|it| ends(&it.first) == ends(own) && it.to == number);
            match known {
                Some(it) => {
                    (it.last, it.to) = (own.clone(), number + 1);
                    it.infos.push(own.info.clone());
                }
                None => all.push(Replayed {
                    first: own.clone(),
                    last: own.clone(),
                    infos: vec![own.info.clone()],
                    from: number,
                    to: number + 1,
                }),
            }
        }
    }
    all
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use fullpipe_base::trace::{Event, FlowSample, StageInfo, StageSample};

    /// Rows of flows, kept.
    #[derive(Default)]
    pub struct Rows(pub Vec<FlowSample>);

    impl Sink for Rows {
        fn stages(&mut self, _: &[StageInfo]) {}
        fn flow(&mut self, sample: &FlowSample) {
            self.0.push(sample.clone());
        }
        fn stage(&mut self, _: &StageSample) {}
        fn event(&mut self, _: &Event) {}
    }

    fn connection(port: u16, acked: u64) -> Connection {
        let info =
            TcpInfo { bytes_acked: acked, bytes_sent: acked, state: 1, ..TcpInfo::default() };
        Connection {
            here: ([10, 0, 0, 1], port).into(),
            there: ([10, 0, 0, 2], 80).into(),
            cookie: [0; 8],
            inode: 0,
            congestion: "cubic".into(),
            info,
        }
    }

    #[test]
    fn the_busiest_is_first_and_each_lives_in_its_own_looks() {
        let looks = [
            vec![connection(1, 1000), connection(2, 9000)],
            vec![connection(1, 1500), connection(2, 19_000)],
            vec![connection(1, 1700)],
        ];
        let mut rows = Rows::default();
        let followed = replay(&looks, Time::ms(200), &mut rows);
        let ports: Vec<u16> = followed.subjects.iter().map(|own| own.first.here.port()).collect();
        assert_eq!((ports, followed.lasted), (vec![2, 1], Time::ms(400)));
        assert_eq!(followed.subjects[0].closed, Some(Time::ms(400)));
        assert_eq!(followed.subjects[1].closed, None);
        let acked = |flow: u16| -> Vec<(u64, u64)> {
            let own = rows.0.iter().filter(|row| row.flow == flow);
            own.map(|row| (row.time.as_us() / 1000, row.bytes_acked)).collect()
        };
        assert_eq!(acked(0), [(200, 10_000)]);
        assert_eq!(acked(2), [(200, 500), (400, 700)]);
    }
}
