//! `intervals.csv`: the intervals of all flows of a run, from the document.

use crate::analysis::document::{Interval, Run};
use serde_json::Value;
use std::io::Write;

/// Writes the intervals of all flows of a run: the flow's name, then the document's names; limits
/// become columns "limits.NAME"; null is an empty field.
///
/// # Errors
/// `out` refuses.
pub fn write(out: impl Write, run: &Run) -> csv::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    let mut header_written = false;
    for flow in &run.flows {
        for interval in &flow.intervals {
            let (names, values): (Vec<_>, Vec<_>) = fields(interval).into_iter().unzip();

            // All intervals have the same fields, so the first one names the columns.
            if !header_written {
                writer.write_record(std::iter::once("flow".to_string()).chain(names))?;
                header_written = true;
            }
            writer.write_record(std::iter::once(flow.name.clone()).chain(values))?;
        }
    }
    Ok(writer.flush()?)
}

/// Name and value of each field in the document's order.
fn fields(interval: &Interval) -> Vec<(String, String)> {
    let Ok(Value::Object(object)) = serde_json::to_value(interval) else {
        return Vec::new();
    };
    let mut fields = Vec::new();
    for (name, value) in object {
        match value {
            // Limits are a table of their own: each becomes a column.
            Value::Object(parts) => fields.extend(
                parts.into_iter().map(|(part, value)| (format!("{name}.{part}"), show(&value))),
            ),
            value => fields.push((name, show(&value))),
        }
    }
    fields
}

fn show(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}
