//! Axes and repetitions put into a scenario's text, so that the sweep is a scenario that the command takes, too.

use crate::error;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Key, Table, Value, value};

/// The text with `[sweep]` replaced by these axes and `repeat.seeds` by these seeds, where they are given. A text that
/// is no TOML stays as it is: reading it shows why.
pub fn with(text: &str, axes: Option<&Bound<'_, PyDict>>, seeds: Option<u32>) -> PyResult<String> {
    let Ok(mut document) = text.parse::<DocumentMut>() else { return Ok(text.into()) };
    if let Some(axes) = axes {
        let mut table = Table::new();
        for (key, points) in axes {
            let key: String = key.extract()?;
            table.insert_formatted(&Key::new(key), Item::Value(toml(&points)?));
        }
        document.insert("sweep", Item::Table(table));
    }
    if let Some(seeds) = seeds {
        let repeat = document.entry("repeat").or_insert(Item::Table(Table::new()));
        let Some(repeat) = repeat.as_table_like_mut() else {
            return Err(error::scenario("`repeat` of the scenario is no table"));
        };
        repeat.insert("seeds", value(i64::from(seeds)));
    }
    Ok(document.to_string())
}

/// A value as TOML writes it.
pub fn toml(own: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(flag) = own.cast::<PyBool>() {
        return Ok(flag.is_true().into());
    }
    if own.cast::<PyInt>().is_ok() {
        return Ok(own.extract::<i64>()?.into());
    }
    if own.cast::<PyFloat>().is_ok() {
        return Ok(own.extract::<f64>()?.into());
    }
    if let Ok(text) = own.cast::<PyString>() {
        return Ok(text.to_string().into());
    }
    if own.cast::<PyList>().is_ok() || own.cast::<PyTuple>().is_ok() {
        let items: PyResult<Array> = own.try_iter()?.map(|item| toml(&item?)).collect();
        return Ok(Value::Array(items?));
    }
    if let Ok(table) = own.cast::<PyDict>() {
        let mut inline = InlineTable::new();
        for (key, item) in table {
            inline.insert(key.extract::<String>()?, toml(&item)?);
        }
        return Ok(Value::InlineTable(inline));
    }
    // Numbers of other libraries, such as numpy's.
    if let Ok(number) = own.call_method0("item") {
        return toml(&number);
    }
    let kind = own.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "a {kind} is no value of a scenario: expected bool, int, float, str, list or dict"
    )))
}
