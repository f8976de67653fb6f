//! `fullpipe watch`: the live connections of this host, again and again.
//!
//! | file | concern |
//! |---|---|
//! | `plain.rs` | pictures as text and as JSON |
//! | `screen.rs`, `app.rs` | the terminal: its pictures, and what keys do |
//! | `list.rs`, `detail.rs` | all connections, and one of them, on the screen |
//! | `judged.rs` | the kept looks as an observation, judged or written |
//! | `prometheus.rs` | the figures over HTTP |

mod app;
mod detail;
mod judged;
mod list;
mod plain;
mod prometheus;
mod screen;

use crate::connections::columns::TABLE;
use crate::connections::rows::Rows;
use crate::diagnose::{self, search};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Output, note};
use crate::watch_arguments::WatchArguments;
use app::App;
use fullpipe::base::units::Time;
use fullpipe::observation::live::{Board, Room, Wanted, Watcher};
use fullpipe::observation::{Sockets, Unable};
use fullpipe::results::provenance::Provenance;
use fullpipe::results::rundir::Place;
use judged::{Hosts, Kept};
use plain::Lines;
use prometheus::Exporter;
use std::io::{IsTerminal, stdin, stdout};
use std::time::{Duration, Instant, SystemTime};

/// Longest time between two looks, and that of verdicts.
const LOOKS: Time = Time::ms(500);
const LOOKS_OF_VERDICTS: Time = Time::ms(100);
/// Looks that are kept of all connections.
const LOOKS_KEPT: usize = 100_000;
/// Looks that are kept of one connection: two minutes of ten a second, and an hour where they are to be written.
const LOOKS_EACH: usize = 1_200;
const LOOKS_WRITTEN: usize = 36_000;
/// Connections of a picture in lines, and of a result, where nothing is said.
const TOP: u16 = 10;

/// Watches until it is to end.
pub fn watch(arguments: &WatchArguments, output: &Output) -> Result<(), Failure> {
    arguments.check().map_err(Failure::Input)?;
    let place = arguments.save.clone().map(Place::Exactly);
    place.as_ref().map_or(Ok(()), Place::check)?;
    interrupt::listen("")?;
    let (started, clock) = (SystemTime::now(), Instant::now());
    let is_terminal = stdin().is_terminal() && stdout().is_terminal();
    let is_dumb = std::env::var("TERM").is_ok_and(|own| own == "dumb");
    let on_screen = is_terminal && !is_dumb && !arguments.plain && !arguments.json;
    let mut pictures = Pictures::new(arguments, on_screen)?;
    match on_screen {
        true => {
            let color = output.style().color && arguments.color == "auto";
            let sought = arguments.choice.sought(&arguments.ends);
            screen::show(&mut pictures, App::new(arguments.sort, arguments.every, color, sought))
        }
        false => pictures.each(&mut Lines::new(arguments, output)),
    }?;
    match place {
        Some(place) => pictures.keep(&place, started, clock.elapsed()),
        None => Ok(()),
    }
}

/// A manner to show pictures.
trait Shows {
    /// Shows what there is before the first interval is over.
    ///
    /// # Errors
    /// The output cannot be written.
    fn begin(&mut self, _: &Board, _: Time, _: &Hosts) -> Result<(), Failure> {
        Ok(())
    }

    /// Shows the connections now.
    ///
    /// # Errors
    /// The output cannot be written.
    fn picture(&mut self, board: &Board, now: Time, hosts: &Hosts) -> Result<(), Failure>;

    /// Whether the watch goes on; asked many times a second.
    ///
    /// # Errors
    /// The input cannot be read.
    fn goes_on(&mut self, _: &Board, _: Time, _: &Hosts) -> Result<bool, Failure> {
        Ok(!interrupt::stopped())
    }
}

/// Pictures of the wanted connections.
struct Pictures<'a> {
    arguments: &'a WatchArguments,
    watcher: Watcher,
    hosts: Hosts,
    exporter: Option<Exporter>,
}

impl<'a> Pictures<'a> {
    /// Finds the namespace of the wanted connections; `has_verdicts`: looks are as frequent as verdicts need them.
    fn new(arguments: &'a WatchArguments, has_verdicts: bool) -> Result<Pictures<'a>, Failure> {
        let choice = &arguments.choice;
        let selection = search::selected(choice, choice.selection(&arguments.ends))?;
        let namespace = search::namespace(choice, &selection).map_err(failure)?;
        let sockets = match &namespace {
            Some(own) => own.during(Sockets::open),
            None => Sockets::open(),
        };

        // Pictures are at looks, so looks divide the time between them.
        let is_written = arguments.save.is_some();
        let longest = if has_verdicts || is_written { LOOKS_OF_VERDICTS } else { LOOKS };
        let looks = arguments.every.0.div_ceil(longest.0);
        let every = Duration::from_nanos(arguments.every.0 / looks);
        let room = match is_written {
            true => Room { all: LOOKS_KEPT, each: LOOKS_WRITTEN, closed: Time::NEVER },
            false => {
                Room { all: LOOKS_KEPT, each: LOOKS_EACH, closed: Time(2 * arguments.every.0) }
            }
        };
        let wanted = Wanted { selection, pid: choice.pid };
        let watcher = Watcher::new(sockets.map_err(failure)?, wanted, every, room);
        let exporter = arguments.prometheus.map(Exporter::bind).transpose()?;
        Ok(Pictures { arguments, watcher, hosts: Hosts { namespace, every }, exporter })
    }

    /// Shows a picture at each interval until the watch is to end.
    fn each(&mut self, shows: &mut dyn Shows) -> Result<(), Failure> {
        let (every, hosts) = (self.arguments.every, &self.hosts);
        let mut next = every;
        self.watcher.look().map_err(failure)?;
        shows.begin(&self.watcher.board, self.watcher.now(), hosts)?;
        self.export();
        loop {
            let mut failed = None;
            let is_over = |now| self.arguments.lasts.is_some_and(|own| next > own && now >= own);
            let goes_on = self.watcher.wait(|board, now| {
                let asked = shows.goes_on(board, now, hosts);
                let goes_on = asked.unwrap_or_else(|why| {
                    failed = Some(why);
                    false
                });
                goes_on && !is_over(now)
            });
            if !goes_on {
                return failed.map_or(Ok(()), Err);
            }
            self.watcher.look().map_err(failure)?;
            let now = self.watcher.now();
            if now >= next {
                // A picture that is late does not delay the next ones.
                next = Time(every.0 * (now.0 / every.0 + 1));
                shows.picture(&self.watcher.board, now, hosts)?;
                self.export();
            }
        }
    }

    /// Hands the figures to Prometheus.
    fn export(&self) {
        if let Some(exporter) = &self.exporter {
            exporter.update(&Rows::of(&self.watcher.board, self.arguments.every, &TABLE[0], ""));
        }
    }

    /// Keeps the busiest connections as a result.
    fn keep(&self, place: &Place, started: SystemTime, lasted: Duration) -> Result<(), Failure> {
        let (board, lateness) = (&self.watcher.board, self.watcher.lateness());
        let most = usize::from(self.arguments.top.unwrap_or(TOP));
        let provenance = Provenance::here(diagnose::command(), started, lasted);
        match self.hosts.keep(board, most, lateness, &Kept { place, provenance })? {
            Some(kept) => {
                note(&format!("kept: {}; `fullpipe report` shows it again", kept.display()));
            }
            None => note("note: nothing is kept: no data has moved"),
        }
        Ok(())
    }
}

fn failure(why: Unable) -> Failure {
    Failure::Environment(why.to_string())
}
