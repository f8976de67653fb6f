//! Receiving ends of flows: their TCP, and their readers.
//!
//! The reader copies the available data, at most one buffer at a time, with the socket locked. Segments that arrive
//! meanwhile wait in the socket's backlog. A reader with a rate works on the data before it reads again.
//!
//! Limits:
//! - Segments in a socket's backlog stay apart. Since 5.0 Linux joins those with equal timestamps (`tcp_add_backlog`).
//! - A reader without a rate reads as fast as its CPU allows. If copying costs nothing it takes all data with one read.

use super::cpu::{Cursor, copy_time};
use super::flow_table::FlowTable;
use super::output::HostOutput;
use super::shared::Shared;
use super::timers::Timer;
use super::turn::Arriving;
use super::{Host, Process, Step};
use crate::config::{self, Config, Flow, Quickack, Station};
use crate::packet::{Kind, Train};
use crate::tcp::page_frag::PageFrag;
use crate::tcp::profile::SharedProfile;
use crate::tcp::receiver::{Receiver, Taken};
use crate::tcp::{Ack, Segment, received_mss};
use crate::trace::EventKind;
use crate::units::{Rate, Time};
use alloc::collections::VecDeque;
use core::mem;

/// A flow that this host receives.
pub(crate) struct ReceivingFlow {
    pub(crate) tcp: Receiver,
    /// Size of the reader's buffer, bytes.
    buffer: u64,
    /// Rate of the reader; none: it reads at once.
    pub(super) rate: Option<Rate>,
    /// Until when the reader works on its data, if it does.
    works_until: Option<Time>,
    /// Timestamp of the first SYN.
    pub(super) syn_seen: Option<u32>,
    /// Repetitions of the SYN-ACK by its timer.
    pub(super) answer_timeouts: u32,
    /// First wait for an answer to the SYN-ACK, s.
    pub(super) timeout_init_s: u32,
    pub(super) accepted: bool,
    pub(super) locked: bool,
    runnable: bool,
    /// Bytes that a read has copied, while it waits for more that arrives at the same time.
    begun: u64,
    backlog: VecDeque<Arrived>,
    finish_at: Option<u64>,
    /// Unanswered messages of the flow.
    pub(super) arriving: Option<Arriving>,
    /// TCP_QUICKACK as the program sets it.
    pub(super) quickack: Option<Quickack>,
    /// Whether all bytes that the program expects were read.
    pub(super) has_read_all: bool,
    /// Whether the program closes its end when it has read all, and whether it has done so.
    pub(super) closes: bool,
    pub(super) closed: bool,
}

/// A data segment on its way to the socket.
#[derive(Clone, Copy)]
pub(super) struct Arrived {
    pub(super) segment: Segment,
    serial: u64,
    /// ACK of the reverse flow's data that the segment carries.
    carries: Option<Ack>,
}

impl Arrived {
    /// The ACK that the segment carries, of data of the `reverse` flow.
    fn reverse_ack(&self, reverse: Option<usize>) -> Option<ReverseAck> {
        let (flow, ack) = reverse.zip(self.carries)?;
        Some(ReverseAck { flow, ack: Ack { seq: self.segment.seq, ..ack } })
    }
}

/// An ACK of the data of `flow`, which came in a segment of the reverse flow.
#[derive(Clone, Copy)]
pub(super) struct ReverseAck {
    pub(super) flow: usize,
    pub(super) ack: Ack,
}

/// A read in progress.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    flow: usize,
    bytes: u64,
}

/// Receiving ends of this host.
pub(super) fn receiving_ends(
    own: Station,
    profile: &SharedProfile,
    config: &Config,
    mss: u32,
) -> FlowTable<ReceivingFlow> {
    let followers = config.followers().into_iter().zip(config.reverse_flows());
    let flows = config.flows.iter().zip(followers).map(|(flow, (next, reverse))| {
        let receives = config.hosts_of(flow)[1].name == own.name;
        receives.then(|| {
            let mut state = ReceivingFlow::new(flow, own.host, profile, mss);
            state.tcp.take_peer_mss(received_mss(config, config.hosts_of(flow)[0].host));
            let arriving = if reverse.is_none() { Arriving::of(flow) } else { None };
            ReceivingFlow { closes: next.is_some(), arriving, ..state }
        })
    });
    FlowTable::new(flows.collect())
}

impl ReceivingFlow {
    fn new(flow: &Flow, host: &config::Host, profile: &SharedProfile, mss: u32) -> ReceivingFlow {
        let tcp = match flow.answers {
            Some(_) => Receiver::of_connecting(profile, host, mss, flow.rcvbuf),
            None => Receiver::new(profile, host, mss, flow.rcvbuf),
        };
        ReceivingFlow {
            tcp,
            buffer: flow.read_size(host),
            rate: flow.reader.map(|reader| reader.rate),
            works_until: None,
            syn_seen: None,
            answer_timeouts: 0,
            timeout_init_s: profile.timeout_init_s,
            accepted: false,
            locked: false,
            runnable: false,
            begun: 0,
            backlog: VecDeque::new(),
            finish_at: flow.bytes,
            arriving: None,
            quickack: flow.quickack,
            has_read_all: false,
            closes: false,
            closed: false,
        }
    }

    /// Whether a read fills the reader's buffer.
    pub(super) fn has_a_whole_read(&self) -> bool {
        self.tcp.readable() >= self.buffer
    }

    /// Notes that connect() has returned at this end of a connection with data both ways. The SYN-ACK had this
    /// timestamp and agreed to ECN or not.
    pub(super) fn connected(&mut self, now: Time, tsval: u32, ecn: bool) {
        (self.syn_seen, self.accepted) = (Some(tsval), true);
        self.tcp.use_ecn(ecn);
        self.tcp.take_ack_timestamp(0, tsval);
        self.tcp.on_connected(now);
        if self.delays_last_of_handshake() {
            self.tcp.delay_last_of_handshake();
        }
    }

    /// Whether the first data of this end carries the last packet of the handshake.
    pub(super) fn delays_last_of_handshake(&self) -> bool {
        self.quickack.is_some_and(|quickack| !quickack.on)
    }
}

impl Host {
    /// Answers a packet without data, with the CPU at `cpu`. Returns the CPU's time after it, and whether the packet
    /// was taken.
    pub(super) fn answer(
        &mut self,
        flow: usize,
        cpu: Time,
        shared: &mut Shared,
        send: impl FnOnce(&mut HostOutput) -> bool,
    ) -> (Time, bool) {
        let mut output = self.out.output(flow, cpu, shared);
        let taken = send(&mut output);
        let (cpu, of_others) = (output.cpu, output.of_others);
        self.follow_qdisc(of_others);
        (cpu, taken)
    }

    /// Next byte that the socket of a received flow sends; 0 if it sends none.
    fn snd_nxt_of_socket(&self, flow: usize, shared: &Shared) -> u64 {
        shared.reverse_of[flow].map_or(0, |reverse| self.sends[reverse].tcp.snd_nxt())
    }

    pub(super) fn send_ack(&mut self, flow: usize, cpu: Time, ack: &Ack, shared: &mut Shared) {
        let ack = &Ack { seq: self.snd_nxt_of_socket(flow, shared), ..*ack };
        if let Some(reverse) = shared.reverse_of[flow] {
            self.sends[reverse].tcp.look_up_route();
        }
        let number = shared.acks.push(flow, ack);
        let (after, _) = self.answer(flow, cpu, shared, |output| output.send_ack(number, ack));
        self.owed += after - cpu;
        self.depart_ack(flow, shared);
    }

    /// Handles a packet of the sending end, with the CPU at `cpu`, or several that GRO joined, the first of `gso_size`
    /// bytes.
    pub(super) fn receive_packet(
        &mut self,
        packet: &Train,
        gso_size: u32,
        cursor: Cursor,
        shared: &mut Shared,
    ) -> Time {
        let flow = usize::from(packet.flow);
        if packet.kind == Kind::Syn {
            shared.capture_delivery(packet);
            self.on_syn(flow, packet, cursor, shared);
        } else if self.receives[flow].syn_seen.is_some() {
            return self.on_data(packet, gso_size, cursor, shared);
        } else {
            shared.settle(packet);
        }
        cursor.cpu
    }

    fn on_data(
        &mut self,
        packet: &Train,
        gso_size: u32,
        cursor: Cursor,
        shared: &mut Shared,
    ) -> Time {
        let flow = usize::from(packet.flow);
        let reverse = shared.reverse_of[flow].filter(|_| packet.carries > 0);
        let Train { number: seq, len, tsval, tsecr, push, fin, ecn, cwr, .. } = *packet;
        let carries = reverse.and_then(|reverse| shared.acks.take(reverse, packet.carries - 1));
        let options = carries.as_ref().map_or(0, Ack::option_bytes);
        let arrived = Arrived {
            segment: Segment { seq, len, gso_size, options, tsval, tsecr, push, fin, ecn, cwr },
            serial: packet.serial,
            carries,
        };
        if self.receives[flow].accepted {
            return self.take_packet(packet, &arrived, reverse, cursor, shared);
        }

        // tcp_check_req: the first packet after the SYN-ACK makes the socket.
        self.accept(packet, arrived.reverse_ack(reverse), cursor, shared);

        // The third packet of the handshake has no data and ends here.
        let has_data = packet.len > 0 || packet.fin;
        let cpu = match has_data {
            true => self.take_packet(packet, &arrived, reverse, cursor, shared),
            false => {
                shared.settle(packet);
                cursor.cpu
            }
        };
        // The program has the socket when the softirq is done, and sets its options.
        self.set_quickack(flow, cpu, shared);
        cpu
    }

    /// A packet of a connection that is there.
    fn take_packet(
        &mut self,
        packet: &Train,
        arrived: &Arrived,
        reverse: Option<usize>,
        cursor: Cursor,
        shared: &mut Shared,
    ) -> Time {
        let Cursor { cpu, now } = cursor;
        let flow = usize::from(packet.flow);
        let state = &mut self.receives[flow];
        if state.tcp.rcv_nxt == 0 && packet.len > 0 && packet.number == 0 {
            shared.event(now, packet.flow, EventKind::FirstData, u64::from(packet.len));
        }

        // tcp_add_backlog: a program owns the socket, so the segment waits for its release.
        if state.locked {
            state.backlog.push_back(*arrived);
            return cpu;
        }
        let cpu = match arrived.reverse_ack(reverse) {
            Some(other) => self.on_segment_with_ack(flow, other, cursor, arrived, shared),
            None => {
                self.on_segment(flow, cpu, arrived, shared);
                cpu
            }
        };
        if packet.fin {
            self.close_when_read(flow, cpu, shared);
        }
        cpu
    }

    pub(super) fn on_segment(
        &mut self,
        flow: usize,
        cpu: Time,
        arrived: &Arrived,
        shared: &mut Shared,
    ) {
        match &self.take_segment(flow, cpu, arrived, shared) {
            Taken::Ack(ack) => self.send_ack(flow, cpu, ack, shared),
            Taken::Asks(filled) => {
                if let Some(ack) = &self.receives[flow].tcp.ack_or_delay(cpu, *filled) {
                    self.send_ack(flow, cpu, ack, shared);
                }
            }
            Taken::Nothing => {}
        }
    }

    pub(super) fn take_segment(
        &mut self,
        flow: usize,
        cpu: Time,
        arrived: &Arrived,
        shared: &mut Shared,
    ) -> Taken {
        let tcp = &mut self.receives[flow].tcp;
        let (queued, next, left_out) = (tcp.segments_queued, tcp.rcv_nxt, tcp.left_out());
        // tcp_replace_ts_recent takes timestamps of segments that begin at or below rcv_wup.
        let echoed = arrived.segment.seq <= tcp.window.rcv_wup;
        let taken = tcp.take(cpu, &arrived.segment);
        self.receive_buffer.change(queued, tcp.segments_queued);
        if let Some(capture) = &mut shared.capture {
            // Where rcv_nxt moved, others were dropped in favour of this one.
            let refused = tcp.left_out() > left_out && tcp.rcv_nxt == next;
            capture.take_segment(flow as u16, arrived.serial, echoed, refused);
        }
        taken
    }

    /// Passes on the memory layout of a flow's sender, if the flow is received here.
    pub(crate) fn begin_page_frag(&mut self, flow: usize, page_frag: PageFrag) {
        if let Some(state) = self.receives.get_mut(flow) {
            state.tcp.begin_page_frag(page_frag);
        }
    }

    /// Wakes the reader and follows the timers.
    pub(super) fn after_receiving(&mut self, flow: usize, now: Time, shared: &Shared) {
        let state = &self.receives[flow];

        // sock_def_readable wakes a reader that sleeps; a busy one looks again by itself.
        let idle = !state.locked && !state.runnable && state.works_until.is_none();
        if idle && self.may_read(flow, now, shared) {
            self.receives[flow].runnable = true;
            self.runnable.push_back(Process::Reader(flow));
        }
        let state = &mut self.receives[flow];
        self.timers.set_wheel(flow, Timer::Delayed, state.tcp.acks.expiry);
        self.timers.set_compressed(flow, state.tcp.compressed_due());
        if state.rate.is_some() {
            self.timers.set(flow, Timer::Reader, state.works_until);
        }
    }

    pub(super) fn on_receiving_timer(
        &mut self,
        flow: usize,
        timer: Timer,
        now: Time,
        shared: &mut Shared,
    ) {
        let cpu = now.max(self.cpu.free);
        let state = &mut self.receives[flow];
        let ack = match timer {
            Timer::Reader => {
                state.works_until = None;
                self.cpu.urgent(cpu, cpu);
                None
            }
            // A compressed ACK's timer acts although a reader may own the socket: its end of read would make up for it.
            Timer::Compressed => state.tcp.on_compressed_timer(now),
            // tcp_delack_timer leaves the ACK to the release of an owned socket.
            _ if state.locked => {
                state.tcp.on_delack_timer_while_locked(now);
                None
            }
            _ => state.tcp.on_delack_timer(now),
        };
        if let Some(ack) = &ack {
            self.send_ack(flow, cpu, ack, shared);
        }
        self.after_receiving(flow, now, shared);
    }

    /// Sends the compressed ACKs that may leave at `now`, when one of their timers fires.
    pub(super) fn fire_expired(&mut self, now: Time, shared: &mut Shared) {
        while let Some(flow) = self.timers.expired(now) {
            self.on_receiving_timer(flow, Timer::Compressed, now, shared);
        }
    }

    /// Gives the reader its turn: it reads, or begins to where that takes time.
    pub(super) fn read(&mut self, flow: usize, now: Time, shared: &mut Shared) {
        let readable = self.readable(flow, shared);
        let state = &mut self.receives[flow];
        state.runnable = false;
        state.locked = true;
        let bytes = readable.min(state.buffer - state.begun);
        // Data copied before packets of the same moment belongs to the same call. The kernel itself makes the calls of
        // RPC.
        let read = self.host.cpu.read;
        let costs = read > Time::ZERO && state.begun == 0 && !self.rpc.has(flow);
        let call = if costs { read } else { Time::ZERO };
        let cost = call + copy_time(&self.host, bytes);
        let reading = Reading { flow, bytes };
        if cost > Time::ZERO {
            self.step = Some(Step::Reading(reading));
            self.cpu.begin_step(now, cost);
        } else {
            self.finish_read(reading, now, shared);
        }
    }

    /// Begins a read that finds less than it asks for. It copies the available data before the packets of its moment,
    /// which are in its backlog and supply the rest (6.12 `tcp_recvmsg_locked`).
    pub(super) fn begin_read(&mut self, flow: usize, now: Time) {
        let state = &mut self.receives[flow];
        if state.tcp.readable() == 0 {
            return;
        }
        let read = state.tcp.segments_read;
        state.begun = state.tcp.readable();
        state.tcp.copy(now, state.begun);
        self.receive_buffer.change(state.tcp.segments_read, read);
    }

    /// Takes the segments of a flow's backlog, with the CPU at `cpu`.
    pub(super) fn end_backlog(&mut self, flow: usize, cpu: Time, shared: &mut Shared) {
        if let Some(ack) = &self.receives[flow].tcp.end_backlog() {
            self.send_ack(flow, cpu, ack, shared);
        }
    }

    /// Ends a read.
    pub(super) fn finish_read(&mut self, reading: Reading, now: Time, shared: &mut Shared) {
        let flow = reading.flow;
        let state = &mut self.receives[flow];
        let (tcp, has_all) = (&mut state.tcp, state.begun > 0 && reading.bytes == 0);

        // TCP has to know the memory in the backlog (sk_backlog.len) before it takes segments from there.
        let waits = !state.backlog.is_empty();
        if waits {
            let segments = state.backlog.iter().map(|arrived| &arrived.segment);
            tcp.begin_backlog(segments.map(|segment| (segment.packets(), segment.packet_len())));
        }

        // tcp_cleanup_rbuf decides whether the freed window is worth an ACK.
        let read = tcp.segments_read;
        let ack = if has_all { tcp.clean_up() } else { tcp.read(now, reading.bytes) };
        self.receive_buffer.change(tcp.segments_read, read);
        if let Some(ack) = &ack {
            self.send_ack(flow, now, ack, shared);
        }

        // release_sock: segments that waited are processed before the reader continues.
        self.receives[flow].locked = false;
        while let Some(arrived) = &self.receives[flow].backlog.pop_front() {
            match arrived.reverse_ack(shared.reverse_of[flow]) {
                Some(other) => {
                    let cursor = Cursor { cpu: now, now };
                    self.on_segment_with_ack(flow, other, cursor, arrived, shared);
                }
                None => self.on_segment(flow, now, arrived, shared),
            }
        }
        if waits {
            self.end_backlog(flow, now, shared);
        }
        if self.receives[flow].quickack.is_some_and(|quickack| quickack.each_read) {
            self.set_quickack(flow, now, shared);
        }
        let state = &mut self.receives[flow];
        state.tcp.close_in_memory();
        let read = state.tcp.bytes_read;
        let (counts_messages, closes) = (state.arriving.is_some(), state.closes);
        let bytes = reading.bytes + mem::take(&mut state.begun);
        state.works_until = state.rate.map(|rate| now + rate.time_for(bytes));
        if state.finish_at == Some(read) {
            state.finish_at = None;
            state.has_read_all = true;
            shared.event(now, flow as u16, EventKind::Finished, read);
        }

        if counts_messages {
            self.report_messages_read(flow, now, shared);
        }
        self.wake_for_messages(flow, now, shared);
        if closes {
            self.close_when_read(flow, now, shared);
        }
        self.after_receiving(flow, now, shared);
    }
}
