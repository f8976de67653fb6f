//! A table that is written row by row, in row groups, so that memory never holds all of it.

use super::schema::{Column, Names, Row};
use super::table::{self, GROUP};
use super::{Error, checksum};
use fullpipe_base::trace::StageInfo;
use parquet::file::writer::SerializedFileWriter;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// Orders the rows of a group before they are written.
type Sort<R> = fn(&mut [R]);

/// Writer of a table's file, row by row. Memory holds at most one group of rows.
pub struct Stream<R: Row> {
    path: PathBuf,
    file: File,
    writer: SerializedFileWriter<BufWriter<File>>,
    columns: Vec<Column<R>>,
    flows: Vec<String>,
    stages: Vec<StageInfo>,
    rows: Vec<R>,
    sort: Sort<R>,
}

impl<R: Row> Stream<R> {
    /// Begins the file `path`; `sort` orders each group.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn create(path: &Path, flows: Vec<String>, sort: Sort<R>) -> Result<Stream<R>, Error> {
        let cannot = |e: &dyn std::fmt::Display| cannot_write(path, e);
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(true);
        let file = options.open(path).map_err(|e| cannot(&e))?;
        let out = BufWriter::new(file.try_clone().map_err(|e| cannot(&e))?);
        let (columns, stages) = (R::columns(), Vec::new());
        let names = Names { flows: &flows, stages: &stages };
        let writer = table::begin(out, &columns, &names).map_err(|e| cannot(&e))?;
        let (path, rows) = (path.to_path_buf(), Vec::new());
        Ok(Stream { path, file, writer, columns, flows, stages, rows, sort })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// A group cannot be written.
    pub fn push(&mut self, row: R) -> Result<(), Error> {
        self.rows.push(row);
        if self.rows.len() < GROUP { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<(), Error> {
        if self.rows.is_empty() {
            return Ok(());
        }
        (self.sort)(&mut self.rows);
        let names = Names { flows: &self.flows, stages: &self.stages };
        let written = table::write_group(&mut self.writer, &self.columns, &self.rows, &names);
        self.rows.clear();
        written.map_err(|e| cannot_write(&self.path, &e))
    }

    /// Writes the remaining rows, and the file's end.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> Result<(), Error> {
        self.flush()?;
        let (path, mut file) = (self.path, self.file);
        self.writer.close().map_err(|e| cannot_write(&path, &e))?;
        checksum::seal(&mut file).map_err(|e| cannot_write(&path, &e))
    }
}

fn cannot_write(path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::new(path, format!("cannot be written: {error}"))
}
