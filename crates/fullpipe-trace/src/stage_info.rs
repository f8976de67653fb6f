//! Facts about stages: their description as JSON, kept in the metadata of the stages table, and the reasons of their
//! drops.

use super::schema::{DIRECTIONS, UNITS, stage_kinds};
use fullpipe_base::trace::StageInfo;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Written {
    index: u16,
    name: String,
    kind: String,
    direction: String,
    unit: String,
    capacity: Option<u64>,
    #[serde(default)]
    timed: bool,
}

/// A JSON array, one object per stage.
pub fn to_json(stages: &[StageInfo]) -> String {
    let written: Vec<Written> = stages.iter().map(written).collect();
    serde_json::to_string(&written).expect("plain structures become JSON")
}

fn written(info: &StageInfo) -> Written {
    Written {
        index: info.index,
        name: info.name.clone(),
        kind: info.kind.into(),
        direction: info.direction.into(),
        unit: info.unit.into(),
        capacity: info.capacity,
        timed: info.timed,
    }
}

/// The stages of an array that [`to_json`] has written; the error is a clause.
pub fn from_json(text: &str) -> Result<Vec<StageInfo>, String> {
    let written: Vec<Written> =
        serde_json::from_str(text).map_err(|e| format!("its list of stages: {e}"))?;
    written.into_iter().map(info).collect()
}

fn info(written: Written) -> Result<StageInfo, String> {
    Ok(StageInfo {
        index: written.index,
        name: written.name,
        kind: known(&stage_kinds(), &written.kind)?,
        direction: known(&DIRECTIONS, &written.direction)?,
        unit: known(&UNITS, &written.unit)?,
        capacity: written.capacity,
        timed: written.timed,
    })
}

fn known(list: &[&'static str], text: &str) -> Result<&'static str, String> {
    let found = list.iter().find(|known| **known == text);
    found.copied().ok_or_else(|| format!("its list of stages has an unknown \"{text}\""))
}

/// Why a stage of this kind drops, as a clause.
pub fn why_dropped(kind: &str) -> &str {
    match kind {
        "qdisc" | "link" | "shaper" | "varying-link" | "trace-link" => "queue full",
        "delay" => "holds no more packets",
        "loss" | "gilbert-elliott" => "random loss",
        "drop" => "on its list",
        "mtu" => "larger than its MTU",
        "policer" => "no tokens",
        "rx_ring" => "ring full",
        "backlog" => "full (net.core.netdev_max_backlog)",
        "udp_socket" => "no room for it (UdpRcvbufErrors)",
        "receive_buffer" => "no room for it, or outside the window",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::from_json;

    fn stages(kind: &str) -> String {
        let rest = r#""direction": "forward", "unit": "segment", "capacity": null"#;
        format!(r#"[{{"index": 1, "name": "a", "kind": "{kind}", {rest}}}]"#)
    }

    #[test]
    fn only_known_kinds_are_read() {
        for kind in ["link", "rx_ring"] {
            assert_eq!(from_json(&stages(kind)).expect("a kind")[0].kind, kind);
        }
        for wrong in ["", "Link", "a-new-kind"] {
            let error = from_json(&stages(wrong)).expect_err("no kind");
            assert!(error.contains(&format!("unknown \"{wrong}\"")), "{error}");
        }
    }
}
