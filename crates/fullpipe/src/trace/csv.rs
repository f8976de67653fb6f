//! Tables as CSV: those of the trace from [`super::schema`], the intervals from the document.

use super::schema::{Access, Names, Row};
use crate::analysis::document::{Interval, Run};
use serde_json::Value;
use std::io::Write;

/// Writes a table of a trace with a header line; the columns are those of the Parquet file.
///
/// # Errors
/// `out` refuses.
pub fn write_table<R: Row>(out: impl Write, rows: &[R], names: &Names) -> csv::Result<()> {
    let columns = R::columns();
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(columns.iter().map(|column| &column.name))?;
    for row in rows {
        writer.write_record(columns.iter().map(|column| match &column.access {
            Access::Number { get, .. } => get(row).to_string(),
            Access::Text { get, .. } => get(row, names).into_owned(),
        }))?;
    }
    Ok(writer.flush()?)
}

/// Writes the intervals of all flows of a run: the flow's name, then the document's names; limits
/// become columns "limits.NAME"; null is an empty field.
///
/// # Errors
/// `out` refuses.
pub fn write_intervals(out: impl Write, run: &Run) -> csv::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    let mut header_written = false;
    for flow in &run.flows {
        for interval in &flow.intervals {
            let (names, values): (Vec<_>, Vec<_>) = fields(interval).into_iter().unzip();
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
