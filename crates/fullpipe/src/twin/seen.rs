//! A connection as its sending host has seen it, or as a capture shows it, as far as a twin needs it.

use super::figures::{Figures, figures};
use crate::analysis::RunMeta;
use crate::analysis::sockets;
use crate::analysis::sockets::facts::{Facts, quantile};
use crate::analysis::view::View;
use crate::analysis::view::sender::Sight;
use crate::base::trace::FlowSample;
use crate::base::trace::option::TIMESTAMPS;
use crate::base::units::Time;
use crate::capture::At;
use crate::captured::{self, Control};
use crate::observation::{Judged, Observation};
use crate::trace::recording::Recording;
use std::collections::BTreeMap;

/// Groups of causes in which the send buffer, and in which the sending program holds the flow. Packets show both alike.
const SEND_BUFFER: &str = "send buffer";
const SOURCE: &str = "source";
/// Bytes of the headers of IPv4 and TCP, those that IPv6 has more, and those of the timestamps option.
const HEADERS: u32 = 40;
const IPV6: u32 = 20;
const TIMESTAMP_BYTES: u32 = 12;
/// Memory of a byte in a send buffer, first guess: whole pages of large skbs, and their heads. The twin's trials fit it.
const MEMORY: f64 = 1.2;
/// Memory of a send buffer from which on it is taken to be the kernel's: three quarters of the default maximum of tcp_wmem.
const TUNED: u64 = 3 << 20;
/// Life of a connection whose beginning was not captured, before it.
const GROWN: Time = Time::secs(10);

/// Settings of the sending host that its trace does not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Release of its kernel; empty: not known.
    pub kernel: String,
    /// `net.ipv4.tcp_wmem`.
    pub tcp_wmem: Option<[u64; 3]>,
    /// `net.core.wmem_max`.
    pub wmem_max: Option<u64>,
    /// Bytes that the program asked for with SO_SNDBUF.
    pub sndbuf: Option<u64>,
}

/// An observation of a sending host.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Both ends of the connection.
    pub connection: String,
    /// Point of a run at which a capture shows what was seen; none where sockets did.
    pub captured_at: Option<At>,
    /// Congestion control that packets show.
    pub control: Option<Control>,
    /// Facts of the judged flow.
    pub facts: Facts,
    /// Code of the verdict's first cause; none where nothing was found.
    pub code: Option<String>,
    /// Group of that cause.
    pub group: String,
    /// Settings of the host.
    pub settings: Settings,
    /// Life before the first look, as far as it is known.
    pub age: Time,
    /// Segments that were sent again before the first look.
    pub lost_before: u64,
    /// Slow start threshold at the first look, packets; none where nothing has set it.
    pub first_ssthresh: Option<u32>,
    /// Whether both ends use timestamps.
    pub timestamps: bool,
    /// Bits by which the receiver's window is shifted.
    pub window_scale: u8,
    /// Parallel flows to the same host.
    pub flows: u32,
    /// First and last look.
    pub span: [Time; 2],
    /// Figures of these flows.
    pub figures: Figures,
    /// Payload that a send buffer holds at nearly all looks at most, bytes.
    pub largest_held: f64,
    /// Payload that a captured flow has in flight at nearly all looks at most, bytes.
    pub largest_flight: f64,
    /// Rates of all flows together in intervals of two round trips or more, Mb/s.
    pub rates: Vec<f64>,
}

impl Seen {
    /// The judged connection, with those beside it that go to the same host.
    ///
    /// # Errors
    /// A twin needs the sender's view of a connection with data; the text says what is missing.
    pub fn of(observation: &Observation, judged: &Judged) -> Result<Seen, String> {
        if judged.run.view.as_deref() != Some(View::SenderSockets.name()) {
            return Err("this host receives, and cwnd, RTT and losses are seen at the sender: \
                        observe there"
                .into());
        }
        let subject = &observation.followed.subjects[judged.subject];
        let sysctls = &observation.followed.host.sysctls;
        let settings = Settings {
            kernel: sysctls.kernel.clone(),
            tcp_wmem: sysctls.tcp_wmem,
            wmem_max: sysctls.wmem_max,
            sndbuf: subject.sndbuf,
        };
        let flows = observation.parallel(judged.subject);
        let busy = Time::us(subject.first.info.busy_time);
        let first = judged.run.findings.first();
        let seen = Seen::recorded(&judged.meta, &judged.recording, &flows)?;
        Ok(Seen {
            code: first.map(|own| own.code.clone()),
            group: first.map_or_else(String::new, |own| own.group.clone()),
            settings,
            age: busy,
            lost_before: subject.first.info.total_retrans,
            ..seen
        })
    }

    /// The captured connection. Packets show neither the sender's settings nor its congestion control.
    ///
    /// # Errors
    /// A twin needs packets of both directions, and data; the text says what is missing.
    pub fn captured(judged: &captured::Judged) -> Result<Seen, String> {
        let first = judged.run.findings.first();
        let group = first.map_or_else(String::new, |own| own.group.clone());
        let mut seen = Seen::recorded(&judged.meta, &judged.recording, &[0])?;

        // cwnd of a capture is what was in flight, so packets in flight are compared.
        seen.figures.full = 0.0;
        let write = seen.facts.pasted.wire.and_then(|own| own.write);
        let flight = largest_in_flight(&judged.recording);
        seen.largest_held = write.map_or(flight, |own| own.min(flight));
        let stamps = if seen.timestamps { TIMESTAMP_BYTES } else { 0 };
        let longer = if seen.connection.starts_with('[') { IPV6 } else { 0 };
        seen.facts.pmtu = seen.facts.mss + HEADERS + longer + stamps;

        let age = if judged.has_begin { Time::ZERO } else { GROWN };
        Ok(Seen {
            captured_at: judged.point(),
            control: judged.control,
            code: first.map(|own| own.code.clone()),
            settings: settings(&group, flight),
            group,
            age,
            largest_flight: flight,
            ..seen
        })
    }

    /// Another cause for the same flow, which packets show alike; none where there is none.
    pub fn alike(&self) -> Option<Seen> {
        let group = match &self.group[..] {
            SEND_BUFFER => SOURCE,
            SOURCE => SEND_BUFFER,
            _ => return None,
        };
        self.captured_at.as_ref().map(|_| Seen {
            code: None,
            group: group.into(),
            settings: settings(group, self.largest_flight),
            ..self.clone()
        })
    }

    /// Flows of a recording in the sender's view. Cause, settings and age are left to the caller.
    ///
    /// # Errors
    /// The recording has no data of these flows.
    pub fn recorded(meta: &RunMeta, recording: &Recording, flows: &[u16]) -> Result<Seen, String> {
        const EMPTY: &str = "too little was seen: the connection has carried next to nothing";
        let sight = Sight::new(meta, recording).ok_or(EMPTY)?;
        let own = sight.flows.first().ok_or(EMPTY)?;
        let facts = sockets::facts(&sight, own);
        let is_one = |flow: u16| flows.contains(&flow);
        let times: Vec<Time> =
            recording.flows.iter().filter(|row| is_one(row.flow)).map(|row| row.time).collect();
        let (Some(from), Some(to)) = (times.first(), times.last()) else {
            return Err(EMPTY.into());
        };
        let span = [*from, *to];
        let figures = figures(recording, is_one, span).ok_or(EMPTY)?;
        let first = own.looks.first().ok_or(EMPTY)?;
        if facts.min_rtt_us <= 0.0 || facts.mss == 0 {
            return Err(EMPTY.into());
        }
        Ok(Seen {
            connection: own.name.clone(),
            captured_at: None,
            control: None,
            code: None,
            group: String::new(),
            settings: Settings::default(),
            age: Time::ZERO,
            lost_before: 0,
            first_ssthresh: (first.ssthresh < crate::base::tcp::INFINITE_SSTHRESH)
                .then_some(first.ssthresh),
            timestamps: first.socket.options & TIMESTAMPS != 0,
            window_scale: first.socket.snd_wscale,
            flows: flows.len() as u32,
            span,
            figures,
            largest_held: largest_held(recording, is_one),
            largest_flight: 0.0,
            rates: rates(recording, is_one, facts.min_rtt_us),
            facts,
        })
    }

    /// Rate that most intervals have, Mb/s.
    pub fn usual_mbit(&self) -> f64 {
        quantile(&self.rates, 0.5)
    }

    /// Rate of the fastest tenth of the intervals, Mb/s.
    pub fn peak_mbit(&self) -> f64 {
        quantile(&self.rates, 0.9).max(self.figures.mbit)
    }
}

/// Settings of a captured sender. A buffer that holds the flow has nothing beside what is in flight.
fn settings(group: &str, flight: f64) -> Settings {
    let memory = (flight * MEMORY) as u64;
    match group == SEND_BUFFER {
        false => Settings::default(),
        // As much as Linux allows by itself is taken for its limit; a program asks for less.
        true if memory >= TUNED => {
            Settings { tcp_wmem: Some([4096, 16_384, memory]), ..Settings::default() }
        }
        true => {
            Settings { sndbuf: Some(memory / 2), wmem_max: Some(memory), ..Settings::default() }
        }
    }
}

/// Rates of flows together in intervals of two round trips or more, Mb/s.
fn rates(recording: &Recording, is_one: impl Fn(u16) -> bool, min_rtt_us: f64) -> Vec<f64> {
    // Bytes of all flows at each look; a look reaches the flows one after the other.
    let mut acked: BTreeMap<u16, u64> = BTreeMap::new();
    let mut looks: Vec<(Time, u64)> = Vec::new();
    for row in recording.flows.iter().filter(|row| is_one(row.flow)) {
        let is_next = acked.contains_key(&row.flow);
        acked.insert(row.flow, row.bytes_acked);
        let sum = acked.values().sum();
        match looks.last_mut() {
            Some(last) if !is_next || row.time.saturating_sub(last.0) < Time::ms(1) => last.1 = sum,
            _ => looks.push((row.time, sum)),
        }
    }
    let mut rates = Vec::new();
    let mut from = match looks.first() {
        Some(first) => *first,
        None => return rates,
    };
    for look in looks {
        let seconds = look.0.saturating_sub(from.0).as_secs_f64();
        if seconds > 0.0 && seconds * 1e6 >= 2.0 * min_rtt_us {
            rates.push(look.1.saturating_sub(from.1) as f64 * 8.0 / 1e6 / seconds);
            from = look;
        }
    }
    rates
}

/// Payload that a captured flow has in flight at nine looks of ten at most, bytes.
fn largest_in_flight(recording: &Recording) -> f64 {
    let bytes = |row: &FlowSample| f64::from(row.in_flight) * f64::from(row.sender.snd_mss);
    quantile(&recording.flows.iter().map(bytes).collect::<Vec<f64>>(), 0.9)
}

/// Payload that a send buffer holds at nine looks of ten at most, bytes.
fn largest_held(recording: &Recording, is_one: impl Fn(u16) -> bool) -> f64 {
    let held = |row: &FlowSample| {
        row.unsent as f64 + f64::from(row.sender.unacked) * f64::from(row.sender.snd_mss)
    };
    let rows = recording.flows.iter().filter(|row| is_one(row.flow));
    quantile(&rows.map(held).collect::<Vec<f64>>(), 0.9)
}
