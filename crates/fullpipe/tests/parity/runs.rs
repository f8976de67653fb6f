//! A case on an engine.

use crate::suite::Case;
use fullpipe::analysis::{self, Made, RunMeta, document::Run};
use fullpipe::engine::linux::kernel::{Cache, Record, Wanted};
use fullpipe::engine::{self, Engine};
use fullpipe::scenario::Resolved;
use fullpipe::trace::recording::Recording;
use fullpipe_sim::trace::Control;
use fullpipe_sim::units::Time;

struct ToTheEnd;

impl Control for ToTheEnd {
    fn go_on(&mut self, _now: Time) -> bool {
        true
    }
}

/// The engine called `name`.
pub fn engine(name: &str) -> &'static dyn Engine {
    engine::find(name).expect("an engine of this name")
}

/// The trace of a case on the engine called `name`.
pub fn trace(name: &str, resolved: &Resolved) -> Recording {
    let mut recording = Recording::default();
    let outcome = engine(name).run(resolved, &mut recording, &mut ToTheEnd);
    let outcome = outcome.unwrap_or_else(|e| panic!("{name}: {e:?}"));
    assert!(outcome.complete);
    recording
}

/// What the report says about a trace of a case.
pub fn analysed(case: &Case, recording: &Recording) -> Run {
    analysis::run(&RunMeta::from_plan(&case.scenario, case.plan(), Made::default()), recording)
}

/// The kernel that `case` asks for.
pub fn wanted(case: &Case) -> Wanted {
    let host = &case.plan().resolved.hosts.sender;
    let hz = host.hz.to_string().parse().expect("an HZ that Linux has");
    Wanted { family: host.kernel.parse().unwrap_or_default(), hz }
}

/// The kernel that runs `case`. None without it, which is said; a failure where FULLPIPE_REQUIRE_KERNEL is set.
pub fn kernel(case: &Case) -> Option<Record> {
    let resolved = &case.plan().resolved;
    let found = engine("linux").ready(resolved).and_then(|()| {
        let cache = Cache::of_user().map_err(|e| e.to_string())?;
        let entry = cache.find(&wanted(case)).ok_or("no such kernel is built")?;
        entry.record.map_err(|e| e.to_string())
    });
    match found {
        Ok(record) => Some(record),
        Err(why) if std::env::var_os("FULLPIPE_REQUIRE_KERNEL").is_none() => {
            println!("skipped: {why}");
            None
        }
        Err(why) => panic!("{why}"),
    }
}
