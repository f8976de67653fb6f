//! Causes that a headline names. This is the one place that knows how verdicts are worded.

use crate::causes::{CANNOT_TELL, HEALTHY, TOO_SHORT};
use serde_json::Value;

/// Causes that a verdict names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Says {
    /// Codes of the causes, the first one first; several are twins that cannot be told apart.
    pub codes: Vec<String>,
    /// "sure", "likely" or "cannot tell"; none where the verdict does not say.
    pub confidence: Option<String>,
}

/// The verdict of a headline, as JSON. `code`, `twins` and `confidence` come first; without a code its rule is translated.
pub fn says(headline: &Value) -> Says {
    let text = |key: &str| headline.get(key).and_then(Value::as_str);
    let confidence = text("confidence").map(|word| word.replace('_', " "));
    if confidence.as_deref() == Some("cannot tell") {
        return Says { codes: vec![CANNOT_TELL.into()], confidence };
    }
    if let Some(code) = text("code") {
        // A full path is healthy, however long the queue in front of it; a small ssthresh ends slow start early.
        let code = match code {
            "bloat" => HEALTHY,
            "metrics" => "ss_short",
            "rwnd_grow" => "rwnd_auto",
            code => code,
        };
        let twins = headline.get("twins").and_then(Value::as_array).into_iter().flatten();
        let named =
            |twin: &Value| twin.as_str().or_else(|| twin.get("code")?.as_str()).map(String::from);
        let twins = twins.filter_map(named).filter(|twin| twin != code);
        let codes = std::iter::once(code.to_string()).chain(twins).collect();
        return Says { codes, confidence };
    }
    let code = translated(headline);
    Says { codes: vec![code.into()], confidence }
}

/// Code of the cause that the rule of a headline means.
fn translated(headline: &Value) -> &'static str {
    let text = |key: &str| headline.get(key).and_then(Value::as_str).unwrap_or_default();
    let setting = |key: &str| headline.pointer(&format!("/setting/{key}"));
    let setting = |key: &str| setting(key).and_then(Value::as_str).unwrap_or_default();
    match text("grade") {
        // A card or a policer that is full is named all the same.
        "full" | "queue" if text("rule") == "nic" => return "nic",
        "full" | "queue" if text("rule") == "policer" => return "policer",
        "full" | "queue" => return HEALTHY,
        "cannot_tell" | "no_traffic" | "partial" => return CANNOT_TELL,
        _ => {}
    }
    if setting("name") == "net.ipv4.tcp_sack" {
        return "sack_off";
    }
    match text("rule") {
        "ack-path" => "ack_path",
        "application" if text("text").contains("no more than") => "app_write",
        "application" => "app_onoff",
        "round-trips" => "app_write",
        "slow-reader" => "app_read",
        "busy-cpu" if text("place").starts_with("receiver") => "cpu_receiver",
        "busy-cpu" => "cpu_sender",
        "random-loss" | "listed-loss" | "recovery" => "loss",
        "nic" | "full-qdisc" => "nic",
        "pacing" => "pacing",
        "policer" => "policer",
        "own-qdisc" => "qdisc",
        "reordering" => "reorder",
        "receive-window" if setting("set_by") == "sysctl" => "rwnd_auto",
        "receive-window" | "full-receive-buffer" => "rwnd_fixed",
        "growing-window" => "rwnd_auto",
        "rx-ring" | "backlog" => "rx_drop",
        "short-queue" | "aqm" | "delay-limit" => "small_buffer",
        "send-buffer" => "sndbuf",
        "cwnd-stays" | "initial-ssthresh" | "remembered-ssthresh" | "slow-growth" => "ss_short",
        "tx-ring" | "small-queues" => "tx_ring",
        "without-scaling" => "wscale_off",
        "slow-start" | "connecting" => TOO_SHORT,
        "link" => HEALTHY,
        _ => CANNOT_TELL,
    }
}
