//! Tables of a trace as CSV, from [`super::schema`].

use super::schema::{Access, Names, Row};
use std::io::Write;

/// Writes a table of a trace with a header line; its columns equal the Parquet file's.
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
