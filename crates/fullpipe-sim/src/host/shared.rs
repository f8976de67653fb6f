//! State that all hosts share: what is on its way between them, and what the trace is to be told.

use super::acks::Acks;
use super::capture::{Capture, Fate, Place};
use super::receive::Receive;
use super::work::Work;
use crate::config::{Config, Direction, Element};
use crate::packet::Train;
use crate::rpc::Message;
use crate::tcp::opening_len;
use crate::tcp::pieces::Piece;
use crate::trace::{Event, EventKind};
use crate::units::Time;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// What the hosts and the sampler share.
pub(crate) struct Shared {
    pub(crate) acks: Acks,
    /// Of each flow the other one of its connection, where data goes both ways.
    pub(crate) halves: Vec<Option<usize>>,
    /// Of senders' memory, by flow, what the other host does not know yet.
    pub(crate) pieces: Vec<(u16, Piece)>,
    pub(crate) events: Vec<(Event, Work, usize)>,
    /// By flow the records that are on their way, or not wholly read (see [`crate::rpc`]).
    pub(crate) messages: Vec<VecDeque<Message>>,
    /// Beginnings of unanswered messages that are not read yet, by flow.
    pub(crate) began: Vec<VecDeque<Time>>,
    /// Of datagrams, by their place in the configuration: when each was written, by its number.
    pub(crate) written: Vec<Vec<Time>>,
    /// Round trips of echo requests that were not told yet: when, of which, ns.
    pub(crate) round_trips: Vec<(Time, usize, u64)>,
    /// What is being done, and the place of the host that does it.
    pub(crate) doing: (Work, usize),
    pub(crate) mss: u32,
    pub(crate) headers: u32,
    /// Bytes of a SYN and its answer.
    pub(crate) opening: u32,
    /// Where packets are to be told.
    pub(crate) capture: Option<Box<Capture>>,
}

impl Shared {
    /// Nothing has happened yet; `mss` and `headers` are those of a segment.
    pub(crate) fn new(config: &Config, (mss, headers): (u32, u32)) -> Shared {
        let in_order = |way: &[Element]| way.iter().all(Element::in_order);
        // Segments of an skb carry one ACK together.
        let halves = config.halves();
        let acks_in_order = config.flows.iter().zip(&halves).map(|(flow, half)| {
            let back = match flow.direction {
                Direction::Forward => &config.back,
                Direction::Backward => &config.forward,
            };
            in_order(back) && half.is_none()
        });
        let acks = Acks::new(acks_in_order.collect());
        let numbers = config.flows.len() + config.datagrams.len();
        Shared {
            acks,
            halves: halves.into_iter().chain(core::iter::repeat(None)).take(numbers).collect(),
            pieces: Vec::new(),
            events: Vec::new(),
            messages: alloc::vec![VecDeque::new(); config.flows.len()],
            began: alloc::vec![VecDeque::new(); config.flows.len()],
            written: alloc::vec![Vec::new(); config.datagrams.len()],
            round_trips: Vec::new(),
            doing: (Work::Packets, 0),
            mss,
            headers,
            opening: opening_len(&config.sender),
            capture: None,
        }
    }

    pub(crate) fn event(&mut self, time: Time, flow: u16, kind: EventKind, value: u64) {
        let (work, host) = self.doing;
        self.events.push((Event { time, flow, kind, value }, work, host));
    }

    /// Takes the first message of a flow of which so many bytes were read, if that is whole.
    pub(crate) fn take_message(&mut self, flow: usize, read: u64) -> Option<Message> {
        let messages = &mut self.messages[flow];
        messages.front().is_some_and(|first| first.end <= read).then(|| messages.pop_front())?
    }

    /// Whether both flows are of one connection.
    pub(crate) fn connects(&self, flow: usize, other: usize) -> bool {
        flow == other || self.halves[flow] == Some(other)
    }

    /// Takes the round trips since the last call, in order of time.
    pub(crate) fn take_round_trips(&mut self) -> impl Iterator<Item = (Time, usize, u64)> {
        self.round_trips.sort();
        self.round_trips.drain(..)
    }

    /// Takes the events since the last call, in the order in which things are done.
    pub(crate) fn take_events(&mut self) -> impl Iterator<Item = Event> {
        self.events.sort_by_key(|(event, work, host)| (event.time, *work, *host));
        self.events.drain(..).map(|(event, ..)| event)
    }
}

/// What the hosts tell a capture; where there is none, nothing is done.
impl Shared {
    /// Packets pass a place.
    pub(crate) fn pass(&mut self, place: Place, train: &Train) {
        if let Some(capture) = &mut self.capture {
            capture.pass(place, train);
        }
    }

    /// A host's softirq hands a packet up at `time`.
    pub(crate) fn take(&mut self, packet: &Train, time: Time) {
        if let Some(capture) = &mut self.capture {
            capture.take(packet, time);
        }
    }

    /// TCP takes a packet.
    pub(crate) fn hear_and_settle(&mut self, packet: &Train) {
        if let Some(capture) = &mut self.capture {
            capture.hear((packet.flow, packet.kind), packet.serial);
            capture.settle((packet.flow, packet.kind), packet.serial, Fate::Delivered);
        }
    }

    /// A packet came to its end without TCP.
    pub(crate) fn settle(&mut self, packet: &Train) {
        if let Some(capture) = &mut self.capture {
            capture.settle((packet.flow, packet.kind), packet.serial, Fate::Delivered);
        }
    }

    /// A host's receive path may have dropped packets.
    pub(crate) fn note_drops(&mut self, receive: &mut Receive) {
        if let Some(capture) = &mut self.capture {
            for (place, drops) in (0..).zip(receive.drops()) {
                drops.take().for_each(|train| capture.drop_in_host(place, &train));
            }
        }
    }
}
