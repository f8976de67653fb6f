//! The elements of a path without hosts.

use super::agenda::{Agenda, Happening};
use super::element::{Place, build};
use super::packet::{Body, Packet};
use fullpipe_sim::config::{self, Direction};
use fullpipe_sim::tcp::Ack;
use fullpipe_sim::trace::StageSample;
use fullpipe_sim::units::Time;

/// Output of a direction: packets by number, and the elements' counters at each sample.
#[derive(Debug, PartialEq, Eq)]
pub struct Passed {
    pub out: Vec<(Time, u64)>,
    pub samples: Vec<StageSample>,
}

/// A packet before it has a number: when it comes, its size, the skb that it is part of.
pub type Coming = (Time, u32, u32);

/// Sends numbered packets through elements; the last sample is the end.
pub fn pass(
    elements: &[config::Element],
    seed: u64,
    packets: &[Coming],
    samples: &[Time],
) -> Passed {
    let mut elements: Vec<_> = elements.iter().map(|e| build(e, seed)).collect();
    let mut agenda = Agenda::default();
    for (ack, &(time, ip_len, skb)) in (0..).zip(packets) {
        let body = Body::Ack(Ack { ack, window: 0, sacks: None, ..Ack::default() });
        let packet = Packet { flow: 0, skb, ip_len, body };
        agenda.add(time, Happening::Arrival(Direction::Forward, 0, packet));
    }
    samples.iter().for_each(|&time| agenda.add(time, Happening::Sample));
    let mut passed = Passed { out: Vec::new(), samples: Vec::new() };
    while passed.samples.len() < samples.len() * elements.len() {
        let (now, what) = agenda.next().expect("there is a sample to come");
        match what {
            Happening::Arrival(way, at, packet) => match elements.get_mut(at) {
                Some(element) => element.arrive(now, Place { way, at }, packet, &mut agenda),
                None => passed.out.extend(number(&packet).map(|n| (now, n))),
            },
            Happening::Due(way, at) => elements[at].due(now, Place { way, at }, &mut agenda),
            Happening::Sample => {
                passed.samples.extend(elements.iter_mut().map(|e| e.sample(now)));
            }
            _ => unreachable!("there are no hosts"),
        }
    }
    passed
}

fn number(packet: &Packet) -> Option<u64> {
    match packet.body {
        Body::Ack(ref ack) => Some(ack.ack),
        _ => None,
    }
}
