//! The connections as rows: those that a filter leaves, in the order of a column.

use super::columns::Column;
use fullpipe::base::units::Time;
use fullpipe::observation::live::{Board, Entry, Figures};
use fullpipe::observation::tcp_info::TcpInfo;
use std::net::SocketAddr;

/// A connection with its figures.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// The connection.
    pub entry: &'a Entry,
    /// Its state over the last interval.
    pub figures: Figures,
}

impl<'a> Row<'a> {
    /// A connection over the interval before the last look.
    pub fn of(entry: &'a Entry, over: Time) -> Row<'a> {
        Row { entry, figures: entry.figures(over) }
    }

    /// State of its socket.
    pub fn info(&self) -> &TcpInfo {
        &self.entry.last().info
    }

    /// Whether this end sends more than it receives.
    pub fn sends(&self) -> bool {
        self.figures.sent >= self.figures.received
    }

    /// Bytes per second of the direction that carries more.
    pub fn rate(&self) -> f64 {
        self.figures.sent.max(self.figures.received)
    }

    /// Limit of the last interval, in words.
    pub fn limit(&self) -> &'static str {
        match (self.entry.closed, self.figures.limit) {
            (Some(_), _) => "closed",
            (None, Some(own)) => own.label,
            (None, None) => "other end",
        }
    }

    /// Name of the process, where it is known.
    pub fn process(&self) -> &str {
        self.entry.process.as_ref().map_or("", |own| &own.name)
    }

    /// Both ends, in at most `width` characters: without the own address where they do not fit.
    pub fn ends(&self, width: usize) -> String {
        let (here, there) = (self.entry.first.here, self.entry.first.there);
        let way = if self.sends() { '>' } else { '<' };
        let whole = format!("{here} {way} {there}");
        let short = || format!("{} {way} {there}", here.port());
        let fits = |text: &String| text.chars().count() <= width;
        let text = Some(whole).filter(fits).or_else(|| Some(short()).filter(fits));
        text.unwrap_or_else(|| cut(way, there, width))
    }
}

/// The other end alone; its port stays where its address is cut.
fn cut(way: char, there: SocketAddr, width: usize) -> String {
    let port = format!(":{}", there.port());
    let whole = format!("{way} {}", there.to_string().trim_end_matches(&port));
    let room = width.saturating_sub(port.len());
    match whole.chars().count() <= room {
        true => whole + &port,
        false => {
            whole.chars().take(room.saturating_sub(1)).chain(['…']).collect::<String>() + &port
        }
    }
}

/// All connections of a board over an interval.
#[derive(Debug)]
pub struct Rows<'a> {
    /// Rows that fit the filter, in their order.
    pub rows: Vec<Row<'a>>,
    /// Number of all.
    pub count: usize,
    /// Bytes per second of all, sent and received.
    pub total: [f64; 2],
}

impl<'a> Rows<'a> {
    /// The connections of a board, by that column; `filter` is a part of what a row names.
    pub fn of(board: &'a Board, over: Time, sort: &Column, filter: &str) -> Rows<'a> {
        // Closed ones stay for two intervals, so that they are seen to go.
        let is_old = |at: Time| board.now() >= at + over + over;
        let entries = board.entries().filter(|own| !own.closed.is_some_and(is_old));
        let all: Vec<Row> = entries.map(|own| Row::of(own, over)).collect();
        let total = [
            all.iter().map(|own| own.figures.sent).sum(),
            all.iter().map(|own| own.figures.received).sum(),
        ];
        let count = all.iter().filter(|own| own.entry.closed.is_none()).count();
        let mut rows: Vec<Row> = all.into_iter().filter(|own| fits(own, filter)).collect();

        // Of equal ones those that have moved more come first; the rest keeps its order.
        let value = |own: &Row| (sort.value)(own).unwrap_or(f64::NEG_INFINITY);
        rows.sort_by(|a, b| {
            let by_rate = || b.rate().total_cmp(&a.rate());
            let by_bytes = || b.entry.moved().cmp(&a.entry.moved());
            value(b).total_cmp(&value(a)).then_with(by_rate).then_with(by_bytes)
        });
        Rows { rows, count, total }
    }
}

/// Whether a row names the text that is looked for.
fn fits(own: &Row, filter: &str) -> bool {
    if filter.is_empty() {
        return true;
    }
    let (here, there) = (own.entry.first.here, own.entry.first.there);
    let congestion = &own.entry.first.congestion;
    let text = format!("{here} {there} {} {congestion} {}", own.process(), own.limit());
    text.to_lowercase().contains(&filter.to_lowercase())
}
