//! `fullpipe watch`: the live connections of this host, again and again.
//!
//! | file | concern |
//! |---|---|
//! | `plain.rs` | pictures as text and as JSON |
//! | `screen.rs`, `app.rs` | the terminal: its pictures, and what keys do |
//! | `list.rs`, `detail.rs` | all connections, and one of them, on the screen |
//! | `judged.rs` | the kept looks as an observation, judged |

mod app;
mod detail;
mod judged;
mod list;
mod plain;
mod screen;

use crate::diagnose::search;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::Output;
use crate::watch_arguments::WatchArguments;
use app::App;
use fullpipe::base::units::Time;
use fullpipe::observation::live::{Board, Room, Wanted, Watcher};
use fullpipe::observation::{Sockets, Unable};
use judged::Hosts;
use plain::Lines;
use std::io::{IsTerminal, stdin, stdout};
use std::time::Duration;

/// Longest time between two looks, and that of verdicts.
const LOOKS: Time = Time::ms(500);
const LOOKS_OF_VERDICTS: Time = Time::ms(100);
/// Looks that are kept: of all connections, and of one.
const LOOKS_KEPT: usize = 120_000;
const LOOKS_EACH: usize = 1_200;

/// Watches until it is to end.
pub fn watch(arguments: &WatchArguments, output: &Output) -> Result<(), Failure> {
    arguments.check().map_err(Failure::Input)?;
    interrupt::listen("")?;
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
        let longest = if has_verdicts { LOOKS_OF_VERDICTS } else { LOOKS };
        let looks = arguments.every.0.div_ceil(longest.0);
        let every = Duration::from_nanos(arguments.every.0 / looks);
        let room = Room { all: LOOKS_KEPT, each: LOOKS_EACH, closed: Time(2 * arguments.every.0) };
        let wanted = Wanted { selection, pid: choice.pid };
        let watcher = Watcher::new(sockets.map_err(failure)?, wanted, every, room);
        Ok(Pictures { arguments, watcher, hosts: Hosts { namespace, every } })
    }

    /// Shows a picture at each interval until the watch is to end.
    fn each(&mut self, shows: &mut dyn Shows) -> Result<(), Failure> {
        let (every, hosts) = (self.arguments.every, &self.hosts);
        let mut next = every;
        self.watcher.look().map_err(failure)?;
        shows.begin(&self.watcher.board, self.watcher.now(), hosts)?;
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
            }
        }
    }
}

fn failure(why: Unable) -> Failure {
    Failure::Environment(why.to_string())
}
