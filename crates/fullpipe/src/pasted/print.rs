//! One print of a socket as a trace: nothing at its beginning, and its totals at the end.
//!
//! The trace lasts as long as Linux says that the socket was busy. So its rate is that of the busy time, and shares of
//! time are shares of that.

use super::lines::Quote;
use super::transfer::time;
use super::{Answer, Kind, Named, blind, meta};
use crate::analysis::pasted::{Column, Pasted};
use crate::analysis::view::View;
use crate::analysis::{self};
use crate::base::tcp::INFINITE_SSTHRESH;
use crate::base::trace::{FlowSample, ReceiverSocket, SenderSocket, option};
use crate::base::units::Time;
use crate::numbers::{count, rate, share, short};
use crate::observation::meta::of_sockets;
use crate::trace::recording::Recording;
use crate::trace::schema::Row as _;
use fullpipe_observe::tcp_info::TcpInfo;
use fullpipe_observe::text::sockets::Printed;

/// Least time of the trace, seconds: a socket that was busy for less has shown nothing.
const LEAST: f64 = 1e-3;
/// Source of the trace.
const ENGINE: &str = "ss";

/// The verdict on one print.
pub fn answer(from: &Named, one: &Printed) -> Answer {
    let info = &one.own.info;
    let sends = info.bytes_acked.max(info.bytes_sent) >= info.bytes_received;
    let busy = (info.busy_time as f64 / 1e6).max(LEAST);
    let pasted = Pasted {
        one_look: true,
        rate_only: !sends,
        ..blind(&[
            Column::Rtt,
            Column::InFlight,
            Column::Window,
            Column::Acks,
            Column::Memory,
            Column::Moments,
        ])
    };

    let name = format!("{} > {}", one.own.here, one.own.there);
    let flow = meta::flow(name.clone(), &one.own.congestion, None, pasted);
    let recording = Recording { flows: samples(one, busy, sends), ..Recording::default() };
    let meta = of_sockets(&name, ENGINE, vec![flow], info.snd_mss, time(busy));
    let mut run = analysis::run_in(View::SenderSockets, &meta, &recording);
    if !sends && let Some(headline) = &mut run.headline {
        headline.text = received(one);
    }
    let host = one.own.there.ip();
    let each = "while sleep 0.1; do ss -tinmH dst";
    Answer {
        about: about(from, one, sends),
        lines: vec![Quote::of(from, one.line), Quote::of(from, one.until)],
        hidden: "when something happened, what was full at other moments, and the other end".into(),
        next: format!(
            "{each} {host}; done > FILE   (at {})",
            if sends { "this end" } else { "both ends" }
        ),
        notes: notes(one, sends),
        kind: Kind::Look,
        run,
    }
}

/// A state that the rules may look at: columns that a print leaves out do not look full.
fn samples(one: &Printed, busy: f64, sends: bool) -> Vec<FlowSample> {
    let info = &one.own.info;
    let least = if info.min_rtt == u32::MAX { info.rtt } else { info.min_rtt };
    let socket = SenderSocket {
        min_rtt_us: least,
        unacked: info.unacked,
        options: info.options | option::SACK | option::TIMESTAMPS,
        ..info.sender_socket(0)
    };
    let rest = TcpInfo { memory: Default::default(), ..info.clone() };
    let begins = FlowSample {
        time: Time::ZERO,
        flow: 0,
        bytes_sent: 1,
        cwnd: info.snd_cwnd,
        ssthresh: INFINITE_SSTHRESH,
        srtt_us: info.rtt,
        in_flight: info.in_flight(),
        unsent: u64::from(info.notsent_bytes),
        snd_wnd: u64::from(info.snd_wnd),
        sender: SenderSocket {
            min_rtt_us: least,
            unacked: info.unacked,
            ..SenderSocket::default()
        },
        receiver: ReceiverSocket::default(),
        ..FlowSample::blank()
    };
    let acked =
        if sends { info.data_acked(true).max(info.bytes_acked) } else { info.bytes_received };
    let ends = FlowSample {
        time: time(busy),
        bytes_acked: acked,
        bytes_delivered: acked,
        bytes_sent: info.bytes_sent.max(acked),
        bytes_retransmitted: info.bytes_retrans,
        segments_sent: info.data_segs_out,
        segments_delivered: info.delivered,
        segments_retransmitted: rest.total_retrans,
        acks_received: info.segs_in.saturating_sub(info.data_segs_in),
        ssthresh: info.ssthresh(),
        sender: socket,
        ..begins.clone()
    };
    vec![begins, ends]
}

/// A receiving socket shows what waits in it at this moment.
fn received(one: &Printed) -> String {
    let info = &one.own.info;
    match info.rqueue {
        0 => "One look at a receiving socket does not show what limits the flow: nothing waits to be read. \
              Look at the sender's socket (`ss -tin` there)."
            .into(),
        bytes => format!(
            "At this moment {} bytes wait for the receiving program: it reads slowly, or this is chance. Look again and again.",
            count(bytes.into())
        ),
    }
}

fn about(from: &Named, one: &Printed, sends: bool) -> String {
    let (own, info) = (&one.own, &one.own.info);
    let ms = |us: u32| short(f64::from(us) / 1000.0);
    let bytes = if sends { info.bytes_acked } else { info.bytes_received };
    let done = format!(
        "{} MB {}",
        short(bytes as f64 / 1e6),
        if sends { "acknowledged" } else { "received" }
    );
    let ends = format!("{}: ss, {} > {}", from.name, own.here, own.there);
    if !sends {
        return format!("{ends}: {done}, Recv-Q {}", count(info.rqueue.into()));
    }
    let busy = info.busy_time as f64 / 1e6;
    let mean = if busy > 0.0 { rate(bytes as f64 * 8e-6 / busy) } else { "no rate".into() };
    format!(
        "{ends}: {done} in {} s of work ({mean}), RTT {} ms (least {}), cwnd {}, {} sent again, {}",
        short(busy),
        ms(info.rtt),
        if info.min_rtt == u32::MAX { "?".into() } else { ms(info.min_rtt) },
        count(info.snd_cwnd.into()),
        count(info.total_retrans),
        own.congestion
    )
}

/// Figures that are computed from the print.
fn notes(one: &Printed, sends: bool) -> Vec<String> {
    let info = &one.own.info;
    if !sends {
        return Vec::new();
    }
    let mut notes = Vec::new();
    let bits = |packets: u32| f64::from(packets) * f64::from(info.snd_mss) * 8.0;
    if info.rtt > 0 {
        let now = |packets| rate(bits(packets) / f64::from(info.rtt));
        notes.push(format!(
            "cwnd / RTT allows {} at this moment; {} of it are in flight",
            now(info.snd_cwnd),
            now(info.in_flight())
        ));
    }
    if info.busy_time > 0 {
        let part = |us: u64| share(us as f64 / info.busy_time as f64);
        notes.push(format!(
            "of the busy time the receiver's window stopped {}, the send buffer {}",
            part(info.rwnd_limited),
            part(info.sndbuf_limited)
        ));
    }
    if one.app_limited {
        notes.push(
            "app_limited: the last rate sample had nothing to send, so delivery_rate is no bound"
                .into(),
        );
    }
    if !one.knows_window {
        notes.push("this version of ss prints no windows".into());
    }
    notes
}
