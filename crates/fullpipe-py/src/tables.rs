//! Tables of a trace as Arrow, handed on through the PyCapsule interface.

use crate::error;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Int32Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{
    ArrayRef, DictionaryArray, Int32Array, PrimitiveArray, RecordBatch, RecordBatchIterator,
    StringArray,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{Field, Schema};
use fullpipe::base::trace::{Counter, Event, FlowSample, StageSample};
use fullpipe::trace::columns::{Values, values};
use fullpipe::trace::packets::PacketTrain;
use fullpipe::trace::recording::Recording;
use fullpipe::trace::schema::{Names, Row};
use fullpipe::trace::table::read_groups;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// A table. Each reader is given the same buffers: nothing is copied.
#[pyclass(frozen, module = "fullpipe._fullpipe")]
pub struct Table {
    schema: Arc<Schema>,
    batches: Vec<RecordBatch>,
}

#[pymethods]
impl Table {
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    #[getter]
    fn num_rows(&self) -> usize {
        self.__len__()
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Unit and meaning of each column.
    #[getter]
    fn meanings(&self) -> HashMap<String, (String, String)> {
        let of = |field: &Arc<Field>| {
            let get = |key: &str| field.metadata().get(key).cloned().unwrap_or_default();
            (field.name().clone(), (get("unit"), get("meaning")))
        };
        self.schema.fields().iter().map(of).collect()
    }

    /// The schema as a capsule "arrow_schema".
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref());
        PyCapsule::new_with_value(py, schema.map_err(error::environment)?, c"arrow_schema")
    }

    /// The rows as a capsule "arrow_array_stream"; there is one schema, whatever is requested.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let rows = RecordBatchIterator::new(batches, self.schema.clone());
        let stream = FFI_ArrowArrayStream::new(Box::new(rows));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// The tables of every run.
pub const NAMES: [&str; 4] = [FlowSample::TABLE, StageSample::TABLE, Event::TABLE, Counter::TABLE];
/// The table of runs that keep their packets.
pub const PACKETS: &str = PacketTrain::TABLE;

/// The table of that name.
pub fn table_of(recording: &Recording, flows: &[String], name: &str) -> PyResult<Table> {
    let names = Names { flows, stages: &recording.stages };
    match name {
        FlowSample::TABLE => table(&recording.flows, &names),
        StageSample::TABLE => table(&recording.stage_samples, &names),
        Event::TABLE => table(&recording.events, &names),
        Counter::TABLE => table(&recording.counters, &names),
        other => Err(PyValueError::new_err(format!(
            "there is no table {other}, only {} and {PACKETS}",
            NAMES.join(", ")
        ))),
    }
}

/// The packets that were kept in a folder, batch by batch: trains of them can be many.
pub fn packets(folder: &Path, flows: &[String]) -> PyResult<Table> {
    let names = Names { flows, stages: &[] };
    let (mut batches, mut wrong) = (Vec::new(), None);
    let read = read_groups(folder, |rows: Vec<PacketTrain>| match batch(&rows, &names) {
        Ok(batch) => batches.push(batch),
        Err(why) => wrong = Some(why),
    });
    read.map_err(error::environment)?;
    wrong.map_or(Ok(()), Err)?;
    if batches.is_empty() {
        batches.push(batch::<PacketTrain>(&[], &names)?);
    }
    Ok(Table { schema: batches[0].schema(), batches })
}

fn table<R: Row>(rows: &[R], names: &Names) -> PyResult<Table> {
    let batch = batch(rows, names)?;
    Ok(Table { schema: batch.schema(), batches: vec![batch] })
}

fn batch<R: Row>(rows: &[R], names: &Names) -> PyResult<RecordBatch> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for column in R::columns() {
        let array = array(values(&column, rows, names))?;
        let about = [
            ("unit", column.unit.to_string()),
            ("meaning", column.meaning.clone()),
            ("observed at", column.point.to_string()),
            ("clock", column.clock.name().to_string()),
        ];
        let about = about.map(|(key, value)| (key.to_string(), value));
        let field = Field::new(&column.name, array.data_type().clone(), false);
        fields.push(field.with_metadata(HashMap::from(about)));
        arrays.push(array);
    }
    let schema = Arc::new(Schema::new(fields));
    RecordBatch::try_new(schema, arrays).map_err(error::environment)
}

/// Takes the vector as it is; texts become a dictionary.
fn array(values: Values) -> PyResult<ArrayRef> {
    Ok(match values {
        Values::U8(own) => Arc::new(PrimitiveArray::<UInt8Type>::from(own)),
        Values::U16(own) => Arc::new(PrimitiveArray::<UInt16Type>::from(own)),
        Values::U32(own) => Arc::new(PrimitiveArray::<UInt32Type>::from(own)),
        Values::U64(own) => Arc::new(PrimitiveArray::<UInt64Type>::from(own)),
        Values::Text { texts, rows } => {
            let texts = Arc::new(StringArray::from(texts));
            let array = DictionaryArray::<Int32Type>::try_new(Int32Array::from(rows), texts);
            Arc::new(array.map_err(error::environment)?)
        }
    })
}
