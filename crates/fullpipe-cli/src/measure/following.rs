//! Rows on standard error while a test runs.

use super::rows::{Rows, amount};
use super::verdict::{Observing, Verdict};
use crate::interrupt;
use crate::output::note;
use fullpipe::numbers::seconds;
use fullpipe_measure::account::Row;
use fullpipe_measure::outcome::{Stream, Watch};
use fullpipe_measure::parameters::Parameters;
use std::net::SocketAddr;

/// Shows rows, observes the streams, and ends the test after a signal.
pub struct Following {
    quiet: bool,
    /// Whether programs write as fast as they can: no rate was asked for.
    always_writes: bool,
    rows: Rows,
    observing: Option<Observing>,
}

impl Following {
    /// Without any text where it is to be quiet. A server is asked later.
    pub fn new(quiet: bool, asked: Option<&Parameters>) -> Following {
        let always_writes = asked.is_some_and(|own| own.bandwidth.is_none());
        Following { quiet, always_writes, rows: Rows::default(), observing: None }
    }

    /// Verdict on the streams, or the reason why there is none.
    pub fn verdict(self) -> Result<Verdict, String> {
        let observing = self.observing.ok_or("no counted time, so there is no verdict")?;
        observing.verdict()
    }

    fn say(&self, text: &str) {
        if !self.quiet {
            note(text);
        }
    }
}

impl Watch for Following {
    fn asked(&mut self, client: SocketAddr, asked: &Parameters) {
        let way = match (asked.bidirectional, asked.reverse) {
            (true, _) => "sends and receives",
            (_, true) => "receives",
            _ => "sends",
        };
        let what = match asked.num {
            0 if asked.time == 0 => "without an end".into(),
            0 => format!("for {}", seconds(asked.time.into())),
            bytes => amount(bytes),
        };
        let streams = if asked.parallel == 1 { "" } else { ", in parallel streams" };
        self.always_writes = asked.bandwidth.is_none();
        self.say(&format!("client {client} {way} {what}{streams}"));
    }

    fn refused(&mut self, client: SocketAddr) {
        self.say(&format!("client {client} was turned away: a test runs"));
    }

    fn begins(&mut self, streams: &[Stream]) {
        self.observing = Some(Observing::begin(streams, self.always_writes));
    }

    fn ends(&mut self) {
        self.observing.iter().for_each(Observing::end);
    }

    fn interval(&mut self, streams: &[Stream], rows: &[Row]) {
        let text = self.rows.text(streams, rows);
        text.iter().for_each(|line| self.say(line));
    }

    fn is_stopped(&self) -> bool {
        interrupt::stopped()
    }
}
