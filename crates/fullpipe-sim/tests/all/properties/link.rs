//! A link fed with random trains.

use super::hold;
use crate::scenarios::{log_uniform, paths};
use fullpipe_sim::config::{Discipline, Element, Link};
use fullpipe_sim::link::chain::Chain;
use fullpipe_sim::packet::{Ecn, Kind, Train};
use fullpipe_sim::units::Time;
use proptest::prelude::*;

/// Any link with a drop-tail queue, and trains that come to it one after the other.
pub fn trains_and_link() -> impl Strategy<Value = (Link, Vec<Train>)> {
    let train =
        (log_uniform(1, 60), log_uniform(1, 1_000_000), 0..3u64, 40..9000u32, 0..2_000_000u64);
    let trains = prop::collection::vec(train, 1..60).prop_map(|drawn| {
        let (mut time, mut number) = (Time::ZERO, 0);
        let train = |(count, spacing, together, ip_len, pause)| {
            let spacing = if together == 0 { 0 } else { spacing };
            let first = time + Time(pause);
            let (flow, kind, count) = (0, Kind::Ack, count as u32);
            let (serial, skb, len, tsval) = (number, 0, 0, 0);
            let train = Train {
                flow,
                connection: flow,
                kind,
                skb,
                number,
                len,
                ip_len,
                ecn: Ecn::NotEct,
                ece: false,
                cwr: false,
                carries: 0,
                tsval,
                tsecr: 0,
                push: false,
                fin: false,
                count,
                serial,
                first,
                spacing,
            };
            time = train.last();
            number += u64::from(count);
            train
        };
        drawn.into_iter().map(train).collect()
    });
    let link = paths::link().prop_map(|link| Link { discipline: Discipline::Fifo, ..link });
    (link, trains)
}

/// Checks that every packet's transmission starts on arrival, or at the end of the one before it.
pub fn is_work_conserving(link: &Link, trains: &[Train]) -> Result<(), String> {
    let mut chain = Chain::new(&[Element::Link(link.clone())], 0, samples());
    let (mut done, mut taken) = (Time::ZERO, 0);
    for train in trains {
        let mut out = Vec::new();
        chain.push(train, &mut out);
        for packet in out.iter().flat_map(|t| (0..t.count).map(move |i| t.part(i, 1))) {
            let i = u32::try_from(packet.number - train.number).map_err(|e| e.to_string())?;
            hold!(i < train.count && packet.number >= taken, "{packet:?} of {train:?}");
            taken = packet.number + 1;
            let bytes = packet.ip_len + link.framing.overhead();
            let service = link.rate.wire_time(u64::from(bytes));
            hold!(packet.first == done.max(train.time(i)) + service, "{packet:?} after {done}");
            done = packet.first;
        }
    }
    Ok(())
}

/// Samples that are never taken.
fn samples() -> fullpipe_sim::stage::Samples {
    fullpipe_sim::stage::Samples::every(Time::secs(1), Time::NEVER)
}
