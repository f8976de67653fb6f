//! A case on an engine.

use crate::made::ToTheEnd;
use fullpipe::engine;
use fullpipe::engine::linux::kernel::{Cache, Record, Wanted};
use fullpipe::parity::both;
use fullpipe::parity::case::Case;
use fullpipe::parity::table::Table;

/// Table of a case on the engine called `name`.
pub fn table(name: &str, case: &Case) -> Table {
    let table = both::run(name, case, &mut ToTheEnd);
    table.unwrap_or_else(|e| panic!("{} on {name}: {e:?}", case.name)).expect("a whole run")
}

/// The kernel that `case` asks for.
pub fn wanted(case: &Case) -> Wanted {
    let host = &case.plan.resolved.hosts.sender;
    let hz = host.config.hz.to_string().parse().expect("an HZ that Linux has");
    Wanted { family: host.config.kernel.parse().unwrap_or_default(), hz, ..Wanted::default() }
}

/// The kernel that runs `case`. None without it, which is said; a failure where FULLPIPE_REQUIRE_KERNEL is set.
pub fn kernel(case: &Case) -> Option<Record> {
    let linux = engine::find(both::JUDGE).expect("an engine of this name");
    let found = linux.ready(&case.plan.resolved).and_then(|()| {
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
