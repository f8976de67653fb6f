//! Way of the data that a run is about.
//!
//! The verdict, advice and reliefs all judge the flows of this way.

use crate::settings;
use fullpipe_base::path::Direction;
use fullpipe_base::units::Time;
use fullpipe_scenario::{App, Flow, Resolved};

/// The way on which programs ask for the most data, as far as the path carries it; forward of two alike ones. None where no
/// flow sends.
pub fn main_way(run: &Resolved) -> Option<Direction> {
    let [forward, backward] = [Direction::Forward, Direction::Backward].map(|way| asked(run, way));
    match (forward, backward) {
        (None, None) => None,
        (forward, backward) if backward > forward => Some(Direction::Backward),
        (None, _) => Some(Direction::Backward),
        _ => Some(Direction::Forward),
    }
}

/// Bytes that programs ask for on a way; no more than the path carries while its longest flow lasts.
fn asked(run: &Resolved, way: Direction) -> Option<f64> {
    let allowed = settings::allowed(run, way).map_or(f64::INFINITY, |own| own.mbit() * 1e6 / 8.0);
    let there = || run.flow.iter().filter(|flow| flow.direction == way);
    let lasts = there().map(|flow| lasts(run, flow)).max()?;
    let flows = there().filter(|flow| flow.app != App::Nfs && !is_smaller_half(run, flow));
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

/// Bytes that a program writes; infinite where it takes what it gets.
fn wanted(run: &Resolved, flow: &Flow) -> f64 {
    let at_rate = match flow.app {
        App::Rate { rate } => rate.0 as f64 / 8.0 * lasts(run, flow).as_secs_f64(),
        _ => f64::INFINITY,
    };
    flow.bytes.map_or(at_rate, |bytes| at_rate.min(bytes as f64))
}

/// Whether the other half of a flow with answers writes more at a time.
fn is_smaller_half(run: &Resolved, flow: &Flow) -> bool {
    let answered = run.answered_by(flow).and_then(|index| run.flow.get(index));
    let answers = run.flow.iter().find(|own| own.reply_to.as_ref() == Some(&flow.name));
    answered.or(answers).is_some_and(|other| other.write > flow.write)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_scenario::{Source, load};

    fn way_of(flows: &str) -> Option<Direction> {
        let text = format!(
            "duration = \"10s\"\n[path]\nforward = [{{ kind = \"link\", name = \"up\", rate = \"10Mbit\" }}]\n\
             back = [{{ kind = \"link\", name = \"down\", rate = \"100Mbit\" }}]\n\
             [hosts]\nsender = {{ kernel = \"6.12\" }}\nreceiver = {{ kernel = \"6.12\" }}\n{flows}"
        );
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
    fn a_mount_counts_with_its_files() {
        let flow = "[[flow]]\nname = \"short\"\nbytes = \"10kB\"\n";
        let mount = "[[nfs]]\nname = \"root\"\noperation = \"read\"\nfile = \"8MiB\"\n";
        assert_eq!(way_of(&format!("{flow}{mount}")), Some(Direction::Backward));
    }
}
