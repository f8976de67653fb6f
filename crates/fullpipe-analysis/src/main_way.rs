//! Data that a run is about: the flows of one way, or datagrams of UDP.
//!
//! The verdict and advice judge all of it. Reliefs judge its first flow and that flow's copies.

use crate::settings;
use fullpipe_base::path::Direction;
use fullpipe_base::units::Time;
use fullpipe_scenario::{App, DatagramKind, Datagrams, Flow, Resolved};

/// Share of the datagrams' demand below which flows are cross traffic.
const BESIDE: f64 = 0.01;

/// The largest datagrams of UDP, unless flows ask for more than next to nothing.
pub fn main_datagrams(run: &Resolved) -> Option<&Datagrams> {
    let size = |own: &Datagrams| {
        let lasts = own.end().min(run.duration).saturating_sub(own.start);
        own.rate.map_or(0.0, |rate| rate.0 as f64 / 8.0 * lasts.as_secs_f64())
    };
    let udp = run.datagrams.iter().filter(|own| own.kind == DatagramKind::Udp);
    let own = udp.max_by(|a, b| size(a).total_cmp(&size(b)))?;
    let ways = [Direction::Forward, Direction::Backward];
    let flows: f64 = ways.into_iter().filter_map(|way| asked(run, way)).sum();
    (flows < BESIDE * size(own)).then_some(own)
}

/// Way on which programs ask for the most data, as far as the path carries it.
///
/// Where both ways are alike it is forward. None where no flow sends.
pub fn main_way(run: &Resolved) -> Option<Direction> {
    let [forward, backward] = [Direction::Forward, Direction::Backward].map(|way| asked(run, way));
    match (forward, backward) {
        (None, None) => None,
        (forward, backward) if backward > forward => Some(Direction::Backward),
        _ => Some(Direction::Forward),
    }
}

/// Bytes that programs ask for on a way.
///
/// They are no more than the path carries while its longest flow lasts.
fn asked(run: &Resolved, way: Direction) -> Option<f64> {
    let allowed = settings::allowed(run, way).map_or(f64::INFINITY, |own| own.mbit() * 1e6 / 8.0);
    let there = || run.flow.iter().filter(|flow| flow.direction == way);
    let lasts = there().map(|flow| lasts(run, flow)).max()?;
    let flows = there().filter(|flow| flow.app != App::Nfs && !has_longer_reverse(run, flow));
    let mounts = run.nfs.iter().filter(|own| own.operation.direction() == way);
    let sum = flows.map(|flow| wanted(run, flow)).sum::<f64>()
        + mounts.map(|own| own.bytes() as f64).sum::<f64>();
    Some(sum.min(allowed * lasts.as_secs_f64()))
}

/// Time that a flow has at most.
fn lasts(run: &Resolved, flow: &Flow) -> Time {
    let left = run.duration.saturating_sub(flow.start);
    flow.duration.map_or(left, |own| own.min(left))
}

/// Bytes that a program writes; infinite where it writes as fast as it can.
fn wanted(run: &Resolved, flow: &Flow) -> f64 {
    let at_rate = match flow.app {
        App::Rate { rate } => rate.0 as f64 / 8.0 * lasts(run, flow).as_secs_f64(),
        App::Messages { .. } => of_messages(run, flow),
        // Programs that take turns send messages as well, of one write each.
        _ => run.reverse_flow(flow).map_or(f64::INFINITY, |_| of_messages(run, flow)),
    };
    flow.bytes.map_or(at_rate, |bytes| at_rate.min(bytes as f64))
}

/// Bytes of a flow's messages: those that may be without an answer, once in each period or round trip. Infinite where they have
/// neither answers nor a period.
fn of_messages(run: &Resolved, flow: &Flow) -> f64 {
    let asks = run.asks(flow);
    let round_trip = asks.map_or(Time::ZERO, |own| run.round_trip(own));
    // Messages that nobody answers go one by one.
    let paced = asks.unwrap_or(flow);
    let pace = paced.period().unwrap_or(Time::ZERO).max(round_trip).as_secs_f64();
    let at_once = flow.message() as f64 * f64::from(paced.in_flight());
    at_once * (lasts(run, flow).as_secs_f64() / pace).max(1.0)
}

/// Whether the reverse flow of a flow with answers has longer messages.
fn has_longer_reverse(run: &Resolved, flow: &Flow) -> bool {
    run.reverse_flow(flow).is_some_and(|other| other.message() > flow.message())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_scenario::{Source, load};

    const TEXT: &str = "duration = \"10s\"\n[path]\nforward = [{ kind = \"link\", name = \"up\", rate = \"10Mbit\" }]\n\
        back = [{ kind = \"link\", name = \"down\", rate = \"100Mbit\" }]\n\
        [hosts]\nsender = { kernel = \"6.12\" }\nreceiver = { kernel = \"6.12\" }\nFLOWS";

    fn way_of(flows: &str) -> Option<Direction> {
        let text = TEXT.replace("FLOWS", flows);
        let scenario = load(&Source::text("t", &text), &[], &[]).unwrap_or_else(|e| panic!("{e}"));
        main_way(&scenario.plans()[0].resolved)
    }

    #[test]
    fn the_way_with_the_most_data_counts() {
        let upload = "[[flow]]\nname = \"up\"\nduration = \"9s\"\n";
        let download = "[[flow]]\nname = \"down\"\nduration = \"9s\"\ndirection = \"backward\"\n";
        let short = "[[flow]]\nname = \"short\"\nbytes = \"10kB\"\n";
        let slow = "[[flow]]\nname = \"slow\"\nduration = \"9s\"\ndirection = \"backward\"\n\
                    app = { kind = \"rate\", rate = \"1Mbit\" }\n";
        assert_eq!(way_of(upload), Some(Direction::Forward));
        assert_eq!(way_of(&format!("{short}{download}")), Some(Direction::Backward));
        // The way down is ten times as fast.
        assert_eq!(way_of(&format!("{upload}{download}")), Some(Direction::Backward));
        assert_eq!(way_of(&format!("{slow}{upload}")), Some(Direction::Forward));
    }

    #[test]
    fn of_a_flow_with_answers_the_larger_writes_count() {
        let pair = |asks: &str, answers: &str| {
            way_of(&format!(
                "[[flow]]\nname = \"asks\"\nduration = \"9s\"\nwrite = \"{asks}\"\n\
                 [[flow]]\nname = \"answers\"\nreply_to = \"asks\"\nwrite = \"{answers}\"\n"
            ))
        };
        assert_eq!(pair("100B", "64KiB"), Some(Direction::Backward));
        assert_eq!(pair("64KiB", "100B"), Some(Direction::Forward));
    }

    #[test]
    fn a_flow_of_small_messages_asks_for_no_more_than_its_round_trips_carry() {
        let typed = "[[flow]]\nname = \"keys\"\nduration = \"9s\"\nwrite = \"48B\"\n\
             app = { kind = \"messages\", period = \"150ms\" }\n\
             [[flow]]\nname = \"echo\"\nreply_to = \"keys\"\nwrite = \"60B\"\n";
        let copied =
            "[[flow]]\nname = \"scp\"\nduration = \"9s\"\napp = { program = \"openssh\" }\n";
        assert_eq!(way_of(typed), Some(Direction::Backward));
        assert_eq!(way_of(&format!("{typed}{copied}")), Some(Direction::Forward));
    }

    #[test]
    fn datagrams_are_meant_where_flows_ask_for_next_to_nothing() {
        let udp = "[[datagrams]]\nname = \"udp\"\nkind = \"udp\"\nsize = \"1kB\"\nrate = \"20Mbit\"\nduration = \"9s\"\n";
        let meant = |flows: &str| {
            let text = TEXT.replace("FLOWS", &format!("{flows}{udp}"));
            let scenario =
                load(&Source::text("t", &text), &[], &[]).unwrap_or_else(|e| panic!("{e}"));
            main_datagrams(&scenario.plans()[0].resolved).is_some()
        };
        let slow = "[[flow]]\nname = \"slow\"\nduration = \"9s\"\napp = { kind = \"rate\", rate = \"100kbit\" }\n";
        assert!(meant("[[flow]]\nname = \"short\"\nbytes = \"10kB\"\n") && meant(slow));
        assert!(!meant("[[flow]]\nname = \"up\"\nduration = \"9s\"\n"));
    }

    #[test]
    fn a_mount_counts_with_its_files() {
        let flow = "[[flow]]\nname = \"short\"\nbytes = \"10kB\"\n";
        let mount = "[[nfs]]\nname = \"root\"\noperation = \"read\"\nfile = \"8MiB\"\n";
        assert_eq!(way_of(&format!("{flow}{mount}")), Some(Direction::Backward));
    }
}
