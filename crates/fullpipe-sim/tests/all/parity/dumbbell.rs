//! Several hosts at an end of the path.

use super::same;
use crate::random;
use crate::scenarios::{self, Size};
use fullpipe_sim::config::Config;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Number of cases by the number of hosts that have sent data.
static SENT: Mutex<[u32; 6]> = Mutex::new([0; 6]);

fn compare(config: &Config) -> Result<(), String> {
    let (record, _) = same(config)?;
    let last = record.flows().filter(|sample| sample.time == config.end);
    let lively = last.filter(|sample| sample.segments_delivered > 8);
    let hosts =
        lively.map(|sample| config.hosts_of(&config.flows[usize::from(sample.flow)])[0].name);
    SENT.lock().unwrap()[hosts.collect::<BTreeSet<_>>().len()] += 1;
    Ok(())
}

#[test]
fn several_hosts_give_equal_traces() {
    let size = Size { packets: 2000, samples: 60 };
    random::check(2000, scenarios::dumbbell(size), compare);
    let sent = SENT.lock().unwrap();
    assert!(sent[2] >= 100 && sent[3] >= 5, "hardly any from several hosts: {sent:?}");
}
