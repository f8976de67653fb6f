//! Causes that a headline names. This is the one place that knows how verdicts are worded.

use crate::causes::{CANNOT_TELL, HEALTHY};
use fullpipe::analysis::rules::RULES;
use serde_json::Value;

/// Causes that a verdict names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Says {
    /// Codes of the causes, the first one first; several are twins that cannot be distinguished.
    pub codes: Vec<String>,
    /// "sure", "likely" or "cannot tell"; none where the verdict does not say.
    pub confidence: Option<String>,
}

/// The verdict of a headline, as JSON. `code`, `twins` and `confidence` have priority; without a code the rule's code
/// counts.
pub fn says(headline: &Value) -> Says {
    let text = |key: &str| headline.get(key).and_then(Value::as_str);
    let confidence = text("confidence").map(|word| word.replace('_', " "));
    if confidence.as_deref() == Some("cannot tell") {
        return Says { codes: vec![CANNOT_TELL.into()], confidence };
    }
    // A full path is healthy, however long the queue in front of it; a small ssthresh ends slow start early.
    let code = match text("code").unwrap_or_else(|| translated(headline)) {
        "bloat" => HEALTHY,
        "metrics" => "ss_short",
        "rwnd_grow" => "rwnd_auto",
        code => code,
    };
    let twins = headline.get("twins").and_then(Value::as_array).into_iter().flatten();
    let twins = twins.filter_map(Value::as_str).filter(|twin| *twin != code);
    let codes = std::iter::once(code).chain(twins).map(String::from).collect();
    Says { codes, confidence }
}

/// Code of the cause that the rule of a headline finds; a full path is healthy, but for a card or a policer that fill it.
fn translated(headline: &Value) -> &'static str {
    let text = |key: &str| headline.get(key).and_then(Value::as_str).unwrap_or_default();
    let rule = RULES.iter().find(|rule| rule.name == text("rule"));
    match (text("grade"), rule.map(|rule| rule.code)) {
        ("full" | "queue", Some(code @ ("nic" | "policer"))) => code,
        ("full" | "queue", _) => HEALTHY,
        ("cannot_tell" | "no_traffic" | "partial", _) => CANNOT_TELL,
        (_, code) => code.unwrap_or(CANNOT_TELL),
    }
}
