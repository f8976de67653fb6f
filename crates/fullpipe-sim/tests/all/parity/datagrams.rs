//! Datagrams beside flows: UDP and echo requests, each way, slow and faster than what carries them.

use super::{Seen, same, show};
use crate::random;
use crate::scenarios::{self, Size};
use fullpipe_sim::config::Config;
use proptest::prelude::*;
use std::sync::Mutex;

static SEEN: Seen = Mutex::new(std::collections::BTreeMap::new());

fn compare(config: &Config) -> Result<(), String> {
    let (told, _) = same(config)?;
    for own in &config.datagrams {
        let last = |what: &str| {
            let name = format!("datagrams.{}.{what}", own.name);
            told.counters().filter(|c| *c.name == *name).last().map_or(0, |c| c.value)
        };
        let [sent, refused, received] = ["sent", "refused", "received"].map(last);
        let [lost, duplicates] = ["lost", "duplicates"].map(last);
        if received - duplicates + refused > sent || lost + received - duplicates > sent {
            return Err(format!("{}: more than were sent", own.name));
        }
        let whats = ["refused", "received", "lost", "reordered", "duplicates", "jitter_ns"];
        for what in whats.into_iter().chain(["rcvbuf_errors", "rtt_ns"]) {
            if last(what) > 0 {
                show(&SEEN, what);
            }
        }
    }
    Ok(())
}

#[test]
fn datagrams_tell_what_packets_tell() {
    let size = Size { packets: 1500, samples: 50 };
    random::check(1500, scenarios::config(size).prop_map(scenarios::with_datagrams), compare);
    let seen = SEEN.lock().unwrap();
    let whats = ["refused", "received", "lost", "reordered", "duplicates", "jitter_ns"];
    for what in whats.into_iter().chain(["rcvbuf_errors", "rtt_ns"]) {
        assert!(seen.get(what).is_some_and(|&cases| cases >= 10), "hardly any {what}: {seen:?}");
    }
}
