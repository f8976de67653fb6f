//! Recordings made by hand and by chance, for the tests of trace and analysis.
#![allow(dead_code)]

use fullpipe::analysis::settings::FlowSettings;
use fullpipe::analysis::{FlowMeta, RunMeta, WayMeta};
use fullpipe::trace::recording::Recording;
use fullpipe::trace::schema::{EVENT_KINDS, Row, stage_kinds};
use fullpipe_sim::config::Direction;
use fullpipe_sim::trace::{
    Counter, Event, EventKind, FlowSample, Limit, ReceiverSocket, SenderSocket, StageInfo,
    StageSample,
};
use fullpipe_sim::units::Time;
use proptest::prelude::*;

/// Payload of a full segment in these recordings.
pub const MSS: u64 = 1000;

/// A run of one flow from 0 on, one-second intervals, samples of 100 ms, a bottleneck "link".
pub fn meta() -> RunMeta {
    RunMeta {
        variant: "base".into(),
        set: serde_json::Map::new(),
        engine: "sim".into(),
        substituted: Vec::new(),
        unvalidated: Vec::new(),
        chosen_qdiscs: Vec::new(),
        tuned: Default::default(),
        notes: Vec::new(),
        places: Default::default(),
        partial: false,
        main_way: Some(Direction::Forward),
        main_datagrams: None,
        or_settled: None,
        loops: Vec::new(),
        waits: Vec::new(),
        datagrams: Vec::new(),
        nfs: Vec::new(),
        flows: vec![FlowMeta {
            name: "bulk".into(),
            hosts: ["sender", "receiver"].map(String::from),
            direction: Direction::Forward,
            congestion: "cubic".into(),
            kernel: "2.6.20".into(),
            start: Time::ZERO,
            follows: false,
            stop: None,
            bytes: None,
            base_rtt: None,
            reverse_flow: None,
            shaper: None,
            settings: FlowSettings::default(),
            earlier: None,
            pasted: Default::default(),
        }],
        mss: MSS as u32,
        interval: Time::secs(1),
        first_interval: Time::secs(1),
        clock_offset: Time::ZERO,
        sample: Time::ms(100),
        bin: Time::ms(250),
        ways: [
            WayMeta {
                bottlenecks: vec!["link".into()],
                queues: vec!["link".into()],
                ..WayMeta::default()
            },
            WayMeta::default(),
        ],
        published: None,
        expectations: Vec::new(),
    }
}

/// A stage named after its kind.
pub fn stage_info(index: u16, kind: &'static str) -> StageInfo {
    StageInfo {
        index,
        name: kind.into(),
        kind,
        direction: "forward",
        unit: "segment",
        capacity: Some(100),
        timed: false,
    }
}

/// A step of 100 ms of a flow and of the link.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Segments delivered in it.
    pub segments: u64,
    /// Limit of the sender in the step.
    pub limit: Limit,
    /// Milliseconds the link was busy in it.
    pub busy_ms: u64,
}

/// A recording of 100-ms steps of flow 0 with accept() at `accepted`, a smoothed RTT of 200 ms.
pub fn steps(accepted: Time, steps: &[Step]) -> Recording {
    let mut recording = Recording { stages: vec![stage_info(0, "link")], ..Recording::default() };
    let mut flow = FlowSample { srtt_us: 200_000, ..FlowSample::blank() };
    let mut link = StageSample::default();
    for (index, step) in steps.iter().enumerate() {
        let time = Time::ms(100 * (index as u64 + 1));
        (flow.time, link.time) = (time, time);
        flow.bytes_delivered += step.segments * MSS;
        flow.segments_delivered += step.segments;
        flow.limits[step.limit as usize] += 100_000_000;
        flow.cwnd = 10 + index as u32;
        flow.ssthresh = u32::MAX;
        link.busy_ns += step.busy_ms * 1_000_000;
        link.waiting = index as u64;
        link.peak = index as u64 + 1;
        recording.flows.push(flow.clone());
        recording.stage_samples.push(link);
    }
    recording.events.push(event(accepted, EventKind::Accepted, 0));
    recording
}

/// An event of flow 0.
pub fn event(time: Time, kind: EventKind, value: u64) -> Event {
    Event { time, flow: 0, kind, value }
}

/// Any flow sample, without sense.
pub fn any_flow_sample() -> impl Strategy<Value = FlowSample> {
    let wide = prop::array::uniform8(any::<u64>());
    let narrow = prop::array::uniform5(any::<u32>());
    let limits = prop::array::uniform16(any::<u64>());
    (any::<u16>(), wide, narrow, any::<u8>(), limits).prop_map(
        |(flow, wide, narrow, ca_state, limits)| FlowSample {
            time: Time(wide[0]),
            flow,
            bytes_delivered: wide[1],
            segments_delivered: wide[2],
            segments_sent: wide[3],
            segments_retransmitted: wide[4],
            bytes_sent: wide[5].rotate_left(7),
            bytes_retransmitted: wide[5].rotate_left(9),
            bytes_acked: wide[5],
            acks_received: wide[6],
            walked_for_sacks: wide[6].rotate_left(7),
            walked_to_mark: wide[6].rotate_left(9),
            walked_to_resend: wide[6].rotate_left(11),
            cwnd: narrow[0],
            ssthresh: narrow[1],
            srtt_us: narrow[2],
            rto_us: narrow[3],
            in_flight: narrow[4],
            snd_wnd: wide[7],
            unsent: wide[0].rotate_left(7),
            ca_state,
            limits,
            sender: sender_socket(&wide, &narrow, ca_state),
            receiver: receiver_socket(&wide, &narrow),
        },
    )
}

/// A sender's socket of these numbers, without sense.
fn sender_socket(wide: &[u64; 8], narrow: &[u32; 5], small: u8) -> SenderSocket {
    SenderSocket {
        min_rtt_us: narrow[0].rotate_left(3),
        rttvar_us: narrow[1].rotate_left(3),
        unacked: narrow[2].rotate_left(3),
        sacked: narrow[3].rotate_left(3),
        lost: narrow[4].rotate_left(3),
        retrans_out: narrow[0].rotate_left(5),
        reordering: narrow[1].rotate_left(5),
        reord_seen: wide[0].rotate_left(13),
        dsack_dups: wide[1].rotate_left(13),
        pacing_rate: wide[2].rotate_left(13),
        max_pacing_rate: wide[3].rotate_left(13),
        busy_time_us: wide[4].rotate_left(13),
        rwnd_limited_us: wide[5].rotate_left(13),
        sndbuf_limited_us: wide[6].rotate_left(13),
        snd_mss: narrow[2].rotate_left(5),
        pmtu: narrow[3].rotate_left(5),
        delivered: wide[7].rotate_left(13),
        delivered_ce: wide[0].rotate_left(15),
        wmem_queued: wide[1].rotate_left(15),
        sndbuf: wide[2].rotate_left(15),
        wmem_alloc: wide[3].rotate_left(15),
        options: small.rotate_left(1),
        snd_wscale: small.rotate_left(2),
        rcv_wscale: small.rotate_left(3),
        backoff: small.rotate_left(4),
        retransmits: small.rotate_left(5),
        total_rto: wide[4].rotate_left(15),
    }
}

/// A receiver's socket of these numbers, without sense.
fn receiver_socket(wide: &[u64; 8], narrow: &[u32; 5]) -> ReceiverSocket {
    ReceiverSocket {
        rcv_rtt_us: narrow[0].rotate_left(7),
        rcv_space: wide[0].rotate_left(17),
        rcv_ooopack: wide[1].rotate_left(17),
        rcv_wnd: wide[2].rotate_left(17),
        rcvbuf: wide[3].rotate_left(17),
        rmem_alloc: wide[4].rotate_left(17),
        unread: wide[5].rotate_left(17),
        rcv_mss: narrow[1].rotate_left(7),
        advmss: narrow[2].rotate_left(7),
        rcv_ssthresh: wide[6].rotate_left(17),
        bytes_received: wide[7].rotate_left(17),
    }
}

/// Any stage sample, without sense.
pub fn any_stage_sample() -> impl Strategy<Value = StageSample> {
    (any::<u16>(), prop::array::uniform15(any::<u64>())).prop_map(|(stage, n)| StageSample {
        requeues: n[10],
        time: Time(n[0]),
        stage,
        waiting: n[1],
        waiting_bytes: n[2],
        peak: n[3],
        entered: n[4],
        left: n[5],
        dropped: n[6],
        marked: n[7],
        busy_ns: n[8],
        blocked_ns: n[9],
        waiting_ns: n[11],
        waiting_byte_us: n[12],
        full_ns: n[13],
        empty_ns: n[14],
    })
}

/// Any event, without sense.
pub fn any_event() -> impl Strategy<Value = Event> {
    (any::<u64>(), any::<u16>(), 0..EVENT_KINDS.len(), any::<u64>()).prop_map(
        |(time, flow, kind, value)| Event {
            time: Time(time),
            flow,
            kind: EVENT_KINDS[kind],
            value,
        },
    )
}

/// Any recording, without sense: nothing fits together.
pub fn any_recording() -> impl Strategy<Value = Recording> {
    let stages = prop::collection::vec(
        (any::<u16>(), 0..stage_kinds().len(), any::<Option<u64>>(), any::<bool>()),
        0..4,
    );
    let stages = stages.prop_map(|stages| {
        let info = |(index, kind, capacity, timed): (u16, usize, Option<u64>, bool)| StageInfo {
            capacity,
            timed,
            name: format!("\"{}\", {index}", stage_kinds()[kind]),
            ..stage_info(index, stage_kinds()[kind])
        };
        stages.into_iter().map(info).collect()
    });
    let flows = prop::collection::vec(any_flow_sample(), 0..40);
    let samples = prop::collection::vec(any_stage_sample(), 0..40);
    let events = prop::collection::vec(any_event(), 0..40);
    let counters = prop::collection::vec(any_counter(), 0..40);
    let all = (stages, flows, samples, events, counters);
    all.prop_map(|(stages, flows, stage_samples, events, counters)| Recording {
        stages,
        flows,
        stage_samples,
        events,
        counters,
    })
}

fn any_counter() -> impl Strategy<Value = Counter> {
    let texts = ("[a-z]{1,3}", ".{0,9}");
    (any::<u64>(), texts, any::<u64>()).prop_map(|(time, (host, name), value)| Counter {
        time: Time(time),
        host: host.into(),
        name: name.into(),
        value,
    })
}

/// A step of a sensible run: its length, the delivered data, the split of its time.
type Move = (u64, u64, usize, u64, bool);

/// A recording that an engine could have made: one flow, counters that grow, time that is mostly
/// attributed; and the run it belongs to.
pub fn sensible_run() -> impl Strategy<Value = (RunMeta, Recording)> {
    let one = (1_u64..400, 0_u64..5000, 0..Limit::COUNT, 0_u64..101, any::<bool>());
    let moves = prop::collection::vec(one, 1..200);
    (moves, 0_u64..500, 0_u64..300, 200_u64..3000, any::<bool>(), 0_u32..400_000).prop_map(
        |(moves, accepted, offset, interval, finished, srtt)| {
            let accepted = Time::ms(accepted);
            let mut meta = meta();
            meta.clock_offset = Time::ms(offset);
            meta.interval = Time::ms(interval);
            meta.first_interval = Time::ms(interval / 2 + 1);
            let recording = play(&moves, accepted, finished, srtt);
            (meta, recording)
        },
    )
}

fn play(moves: &[Move], accepted: Time, finished: bool, srtt_us: u32) -> Recording {
    let mut recording = Recording { stages: vec![stage_info(0, "link")], ..Recording::default() };
    let mut flow = FlowSample { srtt_us, ..FlowSample::blank() };
    let mut link = StageSample::default();
    for (length, segments, limit, busy, known) in moves {
        let time = flow.time + Time::ms(*length);
        (flow.time, link.time) = (time, time);
        // Nothing is read before accept().
        if time > accepted {
            flow.bytes_delivered += segments * MSS;
            flow.segments_delivered += segments;
        }
        flow.limits[*limit] += if *known { length * 1_000_000 } else { length * 700_000 };
        link.busy_ns += length * busy * 10_000;
        recording.flows.push(flow.clone());
        recording.stage_samples.push(link);
    }
    recording.events.push(event(accepted, EventKind::Accepted, 0));
    if finished {
        let end = Time::ns(flow.time.as_ns() - 500_000);
        recording.events.push(event(end, EventKind::Finished, flow.bytes_delivered));
    }
    recording
}
