//! Facts about a run that has no scenario and no host at hand.

use crate::analysis::pasted::Pasted;
use crate::analysis::settings::{Buffer, FlowSettings};
use crate::analysis::{FlowMeta, RunMeta, WayMeta};
use crate::base::path::Direction;
use crate::base::units::Time;
use serde_json::Map;
use std::collections::BTreeMap;

/// Host whose end a text shows.
pub const HOST: &str = "this host";
/// Name of the other one.
pub const OTHER: &str = "the other host";
/// Bytes of a segment with timestamps, on Ethernet, where the text does not say it.
pub const MSS: u32 = 1448;

/// Facts about a run of that name.
pub fn run(name: &str, engine: &str, flows: Vec<FlowMeta>, mss: u32, sample: Time) -> RunMeta {
    RunMeta {
        variant: name.into(),
        set: Map::new(),
        engine: engine.into(),
        substituted: Vec::new(),
        unvalidated: Vec::new(),
        chosen_qdiscs: Vec::new(),
        tuned: BTreeMap::new(),
        notes: Vec::new(),
        places: BTreeMap::new(),
        partial: false,
        main_way: Some(Direction::Forward),
        main_datagrams: None,
        or_settled: None,
        flows,
        loops: Vec::new(),
        waits: Vec::new(),
        datagrams: Vec::new(),
        nfs: Vec::new(),
        mss: mss.max(1),
        interval: Time::secs(1),
        first_interval: Time::secs(1),
        clock_offset: Time::ZERO,
        sample,
        bin: Time::ms(250),
        ways: [WayMeta::default(), WayMeta::default()],
        published: None,
        expectations: Vec::new(),
    }
}

/// Facts about a flow that this host sends; `asked`: bytes of SO_SNDBUF.
pub fn flow(name: String, congestion: &str, asked: Option<u64>, pasted: Pasted) -> FlowMeta {
    let (most, tuned) = (u64::MAX, u64::MAX);
    let send = Buffer { asked, most, tuned, counts_data: false };
    FlowMeta {
        name,
        direction: Direction::Forward,
        hosts: [HOST.into(), OTHER.into()],
        congestion: congestion.into(),
        kernel: String::new(),
        start: Time::ZERO,
        follows: false,
        stop: None,
        bytes: None,
        base_rtt: None,
        reverse_flow: None,
        shaper: None,
        settings: FlowSettings { send, ..FlowSettings::default() },
        earlier: None,
        pasted,
    }
}
