//! Tables of a trace as Parquet files. Hides everything about the format; [`super::schema`] declares the columns.

use super::checksum;
use super::error::Error;
use super::recording::Recording;
use super::schema::{Access, Column, FORMAT, Kind, Names, Row};
use super::stage_info;
use fullpipe_base::trace::Counter;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, SchemaDescriptor, Type};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

/// Rows per row group: large enough to compress, small enough to hold twice in memory.
pub(super) const GROUP: usize = 1 << 17;
/// Values read at a time.
const BATCH: usize = 1 << 14;
const STAGES_KEY: &str = "fullpipe.stages";

/// Writes the tables of a run into `directory`: three, and a fourth one where there are counters.
///
/// # Errors
/// A file cannot be written.
pub fn write_all(
    directory: &Path,
    recording: &Recording,
    flow_names: &[String],
) -> Result<(), Error> {
    let names = Names { flows: flow_names, stages: &recording.stages };
    write(directory, &recording.flows, &names)?;
    write(directory, &recording.stage_samples, &names)?;
    write(directory, &recording.events, &names)?;
    // A run without counters has no table of them.
    match recording.counters.is_empty() {
        true => Ok(()),
        false => write(directory, &recording.counters, &names),
    }
}

/// Reads the tables of a run from `directory`.
///
/// # Errors
/// A file is missing, damaged, or not one that [`write_all`] wrote.
pub fn read_all(directory: &Path) -> Result<Recording, Error> {
    let (flows, _) = read(directory)?;
    let (stage_samples, stages) = read(directory)?;
    let (events, _) = read(directory)?;
    let counters = match directory.join(format!("{}.parquet", Counter::TABLE)).exists() {
        true => read(directory)?.0,
        false => Vec::new(),
    };
    Ok(Recording { stages: stages.unwrap_or_default(), flows, stage_samples, events, counters })
}

fn write<R: Row>(directory: &Path, rows: &[R], names: &Names) -> Result<(), Error> {
    let path = directory.join(format!("{}.parquet", R::TABLE));
    let cannot = |e: &dyn std::fmt::Display| Error::new(&path, format!("cannot be written: {e}"));
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(true);
    let mut file = options.open(&path).map_err(|e| cannot(&e))?;
    write_to(BufWriter::new(&file), rows, names).map_err(|e| cannot(&e))?;
    checksum::seal(&mut file).map_err(|e| cannot(&e))
}

fn write_to<R: Row>(out: impl Write + Send, rows: &[R], names: &Names) -> ParquetResult<()> {
    let columns = R::columns();
    let mut writer = begin(out, &columns, names)?;
    for group in rows.chunks(GROUP) {
        write_group(&mut writer, &columns, group, names)?;
    }
    writer.close()?;
    Ok(())
}

/// A file of these columns, without rows yet.
pub(super) fn begin<R: Row, W: Write + Send>(
    out: W,
    columns: &[Column<R>],
    names: &Names,
) -> ParquetResult<SerializedFileWriter<W>> {
    let properties = Arc::new(properties(columns, names));
    SerializedFileWriter::new(out, Arc::new(schema(columns)?), properties)
}

/// Writes a row group.
pub(super) fn write_group<R: Row, W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    columns: &[Column<R>],
    group: &[R],
    names: &Names,
) -> ParquetResult<()> {
    let mut group_writer = writer.next_row_group()?;
    for column in columns {
        let Some(mut column_writer) = group_writer.next_column()? else {
            break;
        };
        write_column(column_writer.untyped(), column, group, names)?;
        column_writer.close()?;
    }
    group_writer.close()?;
    Ok(())
}

fn write_column<R>(
    writer: &mut ColumnWriter,
    column: &Column<R>,
    rows: &[R],
    names: &Names,
) -> ParquetResult<()> {
    match (&column.access, writer) {
        (Access::Number { get, .. }, ColumnWriter::Int64ColumnWriter(writer)) => {
            let values: Vec<i64> = rows.iter().map(|row| get(row) as i64).collect();
            writer.write_batch(&values, None, None)?;
        }
        (Access::Number { get, .. }, ColumnWriter::Int32ColumnWriter(writer)) => {
            let values: Vec<i32> = rows.iter().map(|row| get(row) as u32 as i32).collect();
            writer.write_batch(&values, None, None)?;
        }
        (Access::Text { get, .. }, ColumnWriter::ByteArrayColumnWriter(writer)) => {
            let values: Vec<ByteArray> = rows.iter().map(|row| text(get(row, names))).collect();
            writer.write_batch(&values, None, None)?;
        }
        _ => unreachable!("the schema is made from the columns"),
    }
    Ok(())
}

fn text(text: std::borrow::Cow<str>) -> ByteArray {
    ByteArray::from(text.into_owned().into_bytes())
}

/// Counters grow slowly, so differences are stored; texts repeat, so a dictionary is.
fn properties<R: Row>(columns: &[Column<R>], names: &Names) -> WriterProperties {
    let mut builder = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_created_by(format!("fullpipe {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_key_value_metadata(Some(metadata::<R>(names)));
    for column in columns.iter().filter(|column| column.kind != Kind::Text) {
        let path = ColumnPath::from(column.name.as_str());
        builder = builder
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    builder.build()
}

fn metadata<R: Row>(names: &Names) -> Vec<KeyValue> {
    let pair = |key: &str, value: String| KeyValue::new(key.to_string(), value);
    let mut pairs = vec![
        pair("fullpipe.format", FORMAT.to_string()),
        pair("fullpipe.table", R::TABLE.to_string()),
    ];
    // Only the table of stages describes the stages.
    if R::TABLE == "stages" {
        pairs.push(pair(STAGES_KEY, stage_info::to_json(names.stages)));
    }
    // The checksum is filled in when the file is complete.
    pairs.push(pair(checksum::KEY, checksum::UNSEALED.to_string()));
    pairs
}

fn schema<R: Row>(columns: &[Column<R>]) -> ParquetResult<Type> {
    let fields: ParquetResult<Vec<_>> = columns.iter().map(field).collect();
    Type::group_type_builder(R::TABLE).with_fields(fields?).build()
}

fn field<R>(column: &Column<R>) -> ParquetResult<Arc<Type>> {
    let (physical, logical) = types(column.kind);
    let builder = Type::primitive_type_builder(&column.name, physical)
        .with_logical_type(Some(logical))
        .with_repetition(Repetition::REQUIRED);
    builder.build().map(Arc::new)
}

fn types(kind: Kind) -> (Physical, LogicalType) {
    match kind {
        Kind::U8 => (Physical::INT32, LogicalType::integer(8, false)),
        Kind::U16 => (Physical::INT32, LogicalType::integer(16, false)),
        Kind::U32 => (Physical::INT32, LogicalType::integer(32, false)),
        Kind::U64 => (Physical::INT64, LogicalType::integer(64, false)),
        Kind::Text => (Physical::BYTE_ARRAY, LogicalType::String),
    }
}

/// The stages that a table describes, where it does.
pub type Stages = Option<Vec<fullpipe_base::trace::StageInfo>>;

fn read<R: Row>(directory: &Path) -> Result<(Vec<R>, Stages), Error> {
    let mut rows = Vec::new();
    let stages = read_groups(directory, |group| rows.extend(group))?;
    Ok((rows, stages))
}

/// Reads a table from `directory` by row groups.
///
/// # Errors
/// It is missing, damaged, or not one that this program wrote.
pub fn read_groups<R: Row>(directory: &Path, each: impl FnMut(Vec<R>)) -> Result<Stages, Error> {
    let path = directory.join(format!("{}.parquet", R::TABLE));
    let file = File::open(&path).map_err(|e| {
        Error::new(&path, format!("cannot read: {e}"))
            .hint(format!("a run directory has a table of {} per run", R::TABLE))
    })?;
    // The decoder takes some input for granted. The checksum finds accidental damage; a file made to deceive must not
    // end the program either.
    let decoded = catch_unwind(AssertUnwindSafe(|| read_from(file, each)));
    decoded.unwrap_or_else(|_| Err("its pages contradict each other".into())).map_err(|what| {
        Error::new(&path, format!("damaged: {what}")).hint("run the scenario again")
    })
}

fn read_from<R: Row>(mut file: File, mut each: impl FnMut(Vec<R>)) -> Result<Stages, String> {
    // The checksum comes first, because the decoder trusts what it reads.
    match checksum::fits(&mut file) {
        Ok(true) => {}
        Ok(false) => return Err("it does not have the checksum it was written with".into()),
        Err(e) => return Err(e.to_string()),
    }
    let reader = SerializedFileReader::new(file).map_err(|e| e.to_string())?;
    let stages = check_metadata::<R>(&reader)?;
    let columns = R::columns();
    let places = places(&reader, &columns)?;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(|e| e.to_string())?;
        let mut rows = Vec::new();
        read_group(&*group, &columns, &places, &mut rows)?;
        each(rows);
    }
    Ok(stages)
}

fn metadata_value<'a>(reader: &'a SerializedFileReader<File>, key: &str) -> Option<&'a str> {
    let pairs = reader.metadata().file_metadata().key_value_metadata();
    let pair = pairs.into_iter().flatten().find(|pair| pair.key == key);
    pair.and_then(|pair| pair.value.as_deref())
}

fn check_metadata<R: Row>(reader: &SerializedFileReader<File>) -> Result<Stages, String> {
    // A table of another format, or of another kind, is refused before its columns are read.
    match metadata_value(reader, "fullpipe.format").and_then(|text| text.parse().ok()) {
        Some(FORMAT) => {}
        Some(other) => {
            return Err(format!("format {other}, where this program knows {FORMAT}"));
        }
        None => return Err("not a table of fullpipe".into()),
    }
    match metadata_value(reader, "fullpipe.table") {
        Some(table) if table == R::TABLE => {}
        _ => return Err(format!("not the table of {}", R::TABLE)),
    }
    metadata_value(reader, STAGES_KEY).map(stage_info::from_json).transpose()
}

/// Place of each column in the file; none where a table of an earlier version lacks it.
fn places<R: Row>(
    reader: &SerializedFileReader<File>,
    columns: &[Column<R>],
) -> Result<Vec<Option<usize>>, String> {
    let descriptor = reader.metadata().file_metadata().schema_descr_ptr();
    columns.iter().map(|column| place(&descriptor, column)).collect()
}

/// Place of a column among those of the file; none where a table of an earlier version lacks it.
fn place<R: Row>(file: &SchemaDescriptor, column: &Column<R>) -> Result<Option<usize>, String> {
    let at = file.columns().iter().position(|own| own.name() == column.name);
    if at.is_none() && R::is_later(&column.name) {
        return Ok(None);
    }
    let at = at.ok_or_else(|| format!("no column {}", column.name))?;
    let found = &file.columns()[at];
    // Columns of this program have no nulls and no lists, so their levels are 0.
    let flat = found.max_def_level() == 0 && found.max_rep_level() == 0;
    if found.physical_type() == types(column.kind).0 && flat {
        Ok(Some(at))
    } else {
        Err(format!("column {} is not of type {}", column.name, column.kind.name()))
    }
}

fn read_group<R: Row>(
    group: &dyn RowGroupReader,
    columns: &[Column<R>],
    places: &[Option<usize>],
    rows: &mut Vec<R>,
) -> Result<(), String> {
    let start = rows.len();
    for (number, (column, place)) in columns.iter().zip(places).enumerate() {
        let Some(place) = *place else { continue };
        let reader = group.get_column_reader(place).map_err(|e| e.to_string())?;
        // The first column makes the rows, and the others fill them.
        let mut target = Target { rows: &mut *rows, at: start, grows: number == 0 };
        read_column(reader, column, &mut target)?;
        if target.at != target.rows.len() {
            return Err(format!("column {} ends early", column.name));
        }
    }
    Ok(())
}

/// The rows that a column's values go to; the first column makes them.
struct Target<'a, R> {
    rows: &'a mut Vec<R>,
    at: usize,
    grows: bool,
}

impl<R: Row> Target<'_, R> {
    fn next(&mut self) -> Result<&mut R, String> {
        if self.grows {
            self.rows.push(R::blank());
        }
        self.at += 1;
        self.rows.get_mut(self.at - 1).ok_or_else(|| "columns of unequal length".into())
    }
}

fn read_column<R: Row>(
    reader: ColumnReader,
    column: &Column<R>,
    target: &mut Target<R>,
) -> Result<(), String> {
    let strange = |value: &dyn std::fmt::Display| {
        format!("column {} has a value of \"{value}\"", column.name)
    };

    // Parquet's physical types are signed, so a number is kept by its bits.
    match (&column.access, reader) {
        (Access::Number { set, .. }, ColumnReader::Int64ColumnReader(mut reader)) => batches(
            |values| reader.read_records(BATCH, None, None, values),
            |value: i64| {
                set(target.next()?, value as u64);
                Ok(())
            },
        ),
        (Access::Number { set, .. }, ColumnReader::Int32ColumnReader(mut reader)) => batches(
            |values| reader.read_records(BATCH, None, None, values),
            |value: i32| match u64::from(value as u32) {
                value if value > column.kind.max() => Err(strange(&value)),
                value => {
                    set(target.next()?, value);
                    Ok(())
                }
            },
        ),
        (Access::Text { set, .. }, ColumnReader::ByteArrayColumnReader(mut reader)) => batches(
            |values| reader.read_records(BATCH, None, None, values),
            |value: ByteArray| {
                let text = value.as_utf8().map_err(|e| e.to_string())?;
                if set(target.next()?, text) { Ok(()) } else { Err(strange(&text)) }
            },
        ),
        _ => Err(format!("column {} is not of type {}", column.name, column.kind.name())),
    }
}

fn batches<T>(
    mut read: impl FnMut(&mut Vec<T>) -> ParquetResult<(usize, usize, usize)>,
    mut put: impl FnMut(T) -> Result<(), String>,
) -> Result<(), String> {
    loop {
        let mut values = Vec::with_capacity(BATCH);
        let (records, ..) = read(&mut values).map_err(|e| e.to_string())?;
        if records == 0 {
            return Ok(());
        }
        values.into_iter().try_for_each(&mut put)?;
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema::{Clock, number};
    use super::*;
    use fullpipe_base::trace::{FlowSample, Limit};
    use fullpipe_base::units::Time;

    /// Rows of two versions of a table.
    #[derive(Debug, PartialEq)]
    struct Earlier {
        a: u64,
    }

    #[derive(Debug, PartialEq)]
    struct Today {
        a: u64,
        b: u64,
    }

    impl Row for Earlier {
        const TABLE: &'static str = "versions";
        const MEANING: &'static str = "a row of a test";
        fn blank() -> Earlier {
            Earlier { a: 0 }
        }
        fn columns() -> Vec<Column<Earlier>> {
            vec![number!(Earlier U64 "a", a, "", Moment, "a test", "a number")]
        }
    }

    impl Row for Today {
        const TABLE: &'static str = "versions";
        const MEANING: &'static str = "a row of a test";
        fn is_later(column: &str) -> bool {
            column == "b"
        }
        fn blank() -> Today {
            Today { a: 0, b: 0 }
        }
        fn columns() -> Vec<Column<Today>> {
            vec![
                number!(Today U64 "a", a, "", Moment, "a test", "a number"),
                number!(Today U64 "b", b, "", Moment, "a test", "another one"),
            ]
        }
    }

    #[test]
    fn what_an_earlier_table_lacks_is_blank() {
        let directory = tempfile::tempdir().unwrap();
        write(directory.path(), &[Earlier { a: 3 }, Earlier { a: 5 }], &Names::default()).unwrap();
        let (rows, _) = read::<Today>(directory.path()).unwrap();
        assert_eq!(rows, [Today { a: 3, b: 0 }, Today { a: 5, b: 0 }]);
        write(directory.path(), &[Today { a: 3, b: 4 }], &Names::default()).unwrap();
        let (rows, _) = read::<Today>(directory.path()).unwrap();
        assert_eq!(rows, [Today { a: 3, b: 4 }]);
    }

    /// Files that were changed and sealed again, so that only the decoder can refuse them.
    #[test]
    fn files_made_to_deceive_do_not_end_the_program() {
        let directory = tempfile::tempdir().unwrap();
        let rows: Vec<FlowSample> = (0..200)
            .map(|n| FlowSample {
                time: Time::ms(n),
                bytes_delivered: n * n,
                limits: [n; Limit::COUNT],
                ..FlowSample::blank()
            })
            .collect();
        write(directory.path(), &rows, &Names::default()).unwrap();
        let path = directory.path().join("flows.parquet");
        let good = std::fs::read(&path).unwrap();
        let mut refused = 0;
        for round in 0..2000_usize {
            let mut bytes = good.clone();
            let at = round * 7919 % (good.len() - 4);
            bytes[at] ^= 1 << (round % 8);
            std::fs::write(&path, bytes).unwrap();
            let mut file = File::options().read(true).write(true).open(&path).unwrap();
            let sealed = checksum::seal(&mut file).is_ok();
            refused += usize::from(sealed && read::<FlowSample>(directory.path()).is_err());
        }
        assert!(refused > 200, "only {refused} were refused");
    }
}
