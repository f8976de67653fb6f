//! Pictures as lines of text, or as one line of JSON.

use super::judged::Hosts;
use super::{Shows, TOP};
use crate::connections::columns::TABLE;
use crate::connections::rows::{Row, Rows};
use crate::connections::table::Layout;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::Output;
use crate::watch_arguments::WatchArguments;
use fullpipe::base::units::Time;
use fullpipe::numbers::{count, rate, short};
use fullpipe::observation::live::Board;
use serde_json::{Map, Value, json};

/// Pictures one below the other.
pub struct Lines<'a> {
    arguments: &'a WatchArguments,
    output: &'a Output,
    /// Moment of the last picture.
    last: Time,
    /// Whether it had no connection.
    was_empty: bool,
    /// True until the reader of the output is gone.
    is_read: bool,
}

impl<'a> Lines<'a> {
    /// No picture yet.
    pub fn new(arguments: &'a WatchArguments, output: &'a Output) -> Lines<'a> {
        Lines { arguments, output, last: Time::ZERO, was_empty: false, is_read: true }
    }
}

impl Shows for Lines<'_> {
    fn picture(&mut self, board: &Board, now: Time, _: &Hosts) -> Result<(), Failure> {
        let (arguments, output) = (self.arguments, self.output);
        let rows = Rows::of(board, arguments.every, arguments.sort, "");
        let top = usize::from(arguments.top.unwrap_or(TOP));
        let change = Change::since(board, self.last);
        let (is_empty, was_empty) = (rows.rows.is_empty(), self.was_empty);
        (self.last, self.was_empty) = (now, is_empty);
        let picture = match (arguments.json, is_empty) {
            (true, _) => json(now, &rows, change, top).to_string() + "\n",
            (false, true) if was_empty => return Ok(()),
            (false, true) => nothing(now, &arguments.choice.sought(&arguments.ends)),
            (false, false) => text(now, &rows, change, top, output.style().width),
        };
        self.is_read = output.print_on(&picture)?;
        Ok(())
    }

    fn goes_on(&mut self, _: &Board, _: Time, _: &Hosts) -> Result<bool, Failure> {
        Ok(self.is_read && !interrupt::stopped())
    }
}

/// Number of connections that began and closed since the last picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Change {
    /// Connections that are new.
    begun: usize,
    /// Connections that are closed.
    closed: usize,
}

impl Change {
    /// Connections that began and closed since a moment.
    fn since(board: &Board, last: Time) -> Change {
        let is_new = |time: Time| time > last;
        Change {
            begun: board.entries().filter(|own| is_new(own.begun)).count(),
            closed: board.entries().filter(|own| own.closed.is_some_and(is_new)).count(),
        }
    }
}

/// A picture as text: what there is in one line, and a table of the first `top` rows.
fn text(now: Time, rows: &Rows, change: Change, top: usize, width: usize) -> String {
    let [sent, received] = rows.total.map(|bytes| rate(bytes * 8e-6));
    let plural = if rows.count == 1 { "connection" } else { "connections" };
    let mut out = format!("{:.1} s: {} {plural}", now.as_secs_f64(), count(rows.count as u64));
    let changed = [(change.begun, "new"), (change.closed, "closed")];
    for (number, word) in changed.into_iter().filter(|own| own.0 > 0) {
        out += &format!(", {} {word}", count(number as u64));
    }
    out += &format!("; {sent} sent, {received} received\n");

    let layout = Layout::new(width, 0);
    let lines = rows.rows.iter().take(top).map(|row| layout.row(row));
    for line in std::iter::once(layout.heading()).chain(lines) {
        out += line.trim_end();
        out.push('\n');
    }
    let hidden = rows.rows.len().saturating_sub(top);
    if hidden > 0 {
        out += &format!("and {} more\n", count(hidden as u64));
    }
    out + "\n"
}

/// A picture as JSON.
fn json(now: Time, rows: &Rows, change: Change, top: usize) -> Value {
    let shown: Vec<Value> = rows.rows.iter().take(top).map(connection).collect();
    let [sent, received] = rows.total;
    json!({
        "time_seconds": now.as_secs_f64(),
        "count": rows.count,
        "begun": change.begun,
        "closed": change.closed,
        "sent_bytes_per_second": sent,
        "received_bytes_per_second": received,
        "connections": shown,
    })
}

/// A connection: its ends, then all columns in base units.
fn connection(row: &Row) -> Value {
    let first = &row.entry.first;
    let process = row.entry.process.as_ref();
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| _ = map.insert(key.into(), value);
    put("here", first.here.to_string().into());
    put("there", first.there.to_string().into());
    put("process", process.map(|own| own.name.clone()).into());
    put("pid", process.map(|own| own.pid).into());
    put("congestion", first.congestion.clone().into());
    put("sends", row.sends().into());
    put("closed", row.entry.closed.is_some().into());
    put("limit", row.figures.limit.map(|own| own.name).into());
    for column in &TABLE {
        put(&column.key(), (column.value)(row).map_or(Value::Null, number));
    }
    Value::Object(map)
}

/// A number, without a fraction where it is whole.
fn number(value: f64) -> Value {
    match value.fract() == 0.0 && value.abs() < 2f64.powi(53) {
        true => json!(value as i64),
        false => json!(value),
    }
}

/// The text where there is no connection.
fn nothing(now: Time, sought: &str) -> String {
    format!("{} s: there is no {sought} yet; waiting\n", short(now.as_secs_f64()))
}
