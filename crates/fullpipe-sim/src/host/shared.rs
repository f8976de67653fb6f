//! State that all hosts share: messages on their way between them, and output for the trace.

use super::acks::Acks;
use super::capture::{Capture, Fate, Place, Whose};
use super::receive::Receive;
use super::work::Work;
use crate::config::{Config, Direction, Element};
use crate::packet::Train;
use crate::rpc::Message;
use crate::tcp::opening_len;
use crate::tcp::page_frag::PageFrag;
use crate::trace::{Event, EventKind};
use crate::units::Time;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// State that hosts and sampler share.
pub(crate) struct Shared {
    pub(crate) acks: Acks,
    /// Reverse flow of each flow's connection, where data goes both ways.
    pub(crate) reverse_of: Vec<Option<usize>>,
    /// Changes of senders' memory layout, by flow, that the other host does not know yet.
    pub(crate) page_frags: Vec<(u16, PageFrag)>,
    pub(crate) events: Vec<(Event, Work, usize)>,
    /// Records by flow that are on their way, or not completely read (see [`crate::rpc`]).
    pub(crate) messages: Vec<VecDeque<Message>>,
    /// Starts of unanswered messages that were not read yet, by flow.
    pub(crate) began: Vec<VecDeque<Time>>,
    /// Times of writing of datagrams, by their place in the configuration and their number.
    pub(crate) written: Vec<Vec<Time>>,
    /// Round trips of echo requests for the trace: time, place of the datagrams, ns.
    pub(crate) round_trips: Vec<(Time, usize, u64)>,
    /// The work in hand, and the place of the host that does it.
    pub(crate) doing: (Work, usize),
    pub(crate) mss: u32,
    pub(crate) headers: u32,
    /// Bytes of a SYN and of a SYN-ACK.
    pub(crate) opening: u32,
    /// The capture, if there is one.
    pub(crate) capture: Option<Box<Capture>>,
}

impl Shared {
    /// State before the run; `mss` and `headers` are those of a segment.
    pub(crate) fn new(config: &Config, mss: u32, headers: u32) -> Shared {
        let in_order = |way: &[Element]| way.iter().all(Element::in_order);
        // Segments of an skb carry one ACK together.
        let reverse_of = config.reverse_flows();
        let acks_in_order = config.flows.iter().zip(&reverse_of).map(|(flow, reverse)| {
            let back = match flow.direction {
                Direction::Forward => &config.back,
                Direction::Backward => &config.forward,
            };
            in_order(back) && reverse.is_none()
        });
        let acks = Acks::new(acks_in_order.collect());

        // Numbers of datagrams follow those of the flows.
        let numbers = config.flows.len() + config.datagrams.len();
        Shared {
            acks,
            reverse_of: reverse_of
                .into_iter()
                .chain(core::iter::repeat(None))
                .take(numbers)
                .collect(),
            page_frags: Vec::new(),
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

    /// Takes the first message of a flow, if it is complete within `read` bytes.
    pub(crate) fn take_message(&mut self, flow: usize, read: u64) -> Option<Message> {
        let messages = &mut self.messages[flow];
        messages.front().is_some_and(|first| first.end <= read).then(|| messages.pop_front())?
    }

    /// Whether both flows are of one connection.
    pub(crate) fn connects(&self, flow: usize, other: usize) -> bool {
        flow == other || self.reverse_of[flow] == Some(other)
    }

    /// Takes the round trips since the last call, in order of time.
    pub(crate) fn take_round_trips(&mut self) -> impl Iterator<Item = (Time, usize, u64)> {
        self.round_trips.sort();
        self.round_trips.drain(..)
    }

    /// Takes the events since the last call, in the order of the work that caused them.
    pub(crate) fn take_events(&mut self) -> impl Iterator<Item = Event> {
        self.events.sort_by_key(|(event, work, host)| (event.time, *work, *host));
        self.events.drain(..).map(|(event, ..)| event)
    }
}

/// Reports to a capture; without one they do nothing.
impl Shared {
    /// Reports packets that pass a place.
    pub(crate) fn pass(&mut self, place: Place, train: &Train) {
        if let Some(capture) = &mut self.capture {
            capture.pass(place, train);
        }
    }

    /// Reports a packet that a host's softirq hands up at `time`.
    pub(crate) fn take(&mut self, packet: &Train, time: Time) {
        if let Some(capture) = &mut self.capture {
            capture.take(packet, time);
        }
    }

    /// Reports a packet that TCP takes.
    pub(crate) fn capture_delivery(&mut self, packet: &Train) {
        if let Some(capture) = &mut self.capture {
            capture.store_ts_recent(Whose::of(packet), packet.serial);
            capture.settle(Whose::of(packet), packet.serial, Fate::Delivered);
        }
    }

    /// Reports a packet that has arrived without TCP.
    pub(crate) fn settle(&mut self, packet: &Train) {
        if let Some(capture) = &mut self.capture {
            capture.settle(Whose::of(packet), packet.serial, Fate::Delivered);
        }
    }

    /// Reports packets that a host's receive path may have dropped.
    pub(crate) fn note_drops(&mut self, receive: &mut Receive) {
        if let Some(capture) = &mut self.capture {
            for (place, drops) in (0..).zip(receive.drops()) {
                drops.take().for_each(|train| capture.drop_in_host(place, &train));
            }
        }
    }
}
