//! `fullpipe watch`: the live connections of this host, again and again.

mod plain;

use crate::connections::rows::Rows;
use crate::diagnose::search;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::Output;
use crate::watch_arguments::WatchArguments;
use fullpipe::base::units::Time;
use fullpipe::observation::live::{Board, Room, Wanted, Watcher};
use fullpipe::observation::{Sockets, Unable};
use plain::Change;
use std::time::Duration;

/// Longest time between two looks.
const LOOKS: Time = Time::ms(500);
/// Looks that are kept: of all connections, and of one.
const LOOKS_KEPT: usize = 120_000;
const LOOKS_EACH: usize = 1_200;

/// Watches until it is to end.
pub fn watch(arguments: &WatchArguments, output: &Output) -> Result<(), Failure> {
    arguments.check().map_err(Failure::Input)?;
    interrupt::listen("")?;
    let mut watcher = watcher(arguments)?;
    lines(arguments, &mut watcher, output)
}

/// A watcher of the wanted connections.
fn watcher(arguments: &WatchArguments) -> Result<Watcher, Failure> {
    let choice = &arguments.choice;
    let selection = search::selected(choice, choice.selection(&arguments.ends))?;
    let sockets = search::namespace(choice, &selection).and_then(|own| match own {
        Some(own) => own.during(Sockets::open),
        None => Sockets::open(),
    });
    let room = Room { all: LOOKS_KEPT, each: LOOKS_EACH, closed: Time(2 * arguments.every.0) };

    // Pictures are at looks, so looks divide the time between them.
    let looks = arguments.every.0.div_ceil(LOOKS.0);
    let every = Duration::from_nanos(arguments.every.0 / looks);
    let wanted = Wanted { selection, pid: choice.pid };
    sockets.map(|own| Watcher::new(own, wanted, every, room)).map_err(failure)
}

/// Prints a picture at each interval.
fn lines(
    arguments: &WatchArguments,
    watcher: &mut Watcher,
    output: &Output,
) -> Result<(), Failure> {
    let (top, width) = (usize::from(arguments.top), output.style().width);
    let (mut next, mut last, mut was_empty) = (arguments.every, Time::ZERO, false);
    watcher.look().map_err(failure)?;
    let is_over = |next, now| arguments.lasts.is_some_and(|own| next > own && now >= own);
    while watcher.wait(|_, now| !interrupt::stopped() && !is_over(next, now)) {
        watcher.look().map_err(failure)?;
        let now = watcher.now();
        if now < next {
            continue;
        }

        // A picture that is late does not delay the next ones.
        next = Time(arguments.every.0 * (now.0 / arguments.every.0 + 1));
        let rows = Rows::of(&watcher.board, arguments.every, arguments.sort, "");
        let change = changed(&watcher.board, last);
        last = now;
        let is_empty = rows.rows.is_empty();
        match (arguments.json, is_empty) {
            (true, _) => {
                let line = plain::json(now, &rows, change, top).to_string();
                output.print(&(line + "\n"))?;
            }
            (false, true) if was_empty => {}
            (false, true) => {
                let sought = arguments.choice.sought(&arguments.ends);
                output.print(&plain::nothing(now, &sought))?;
            }
            (false, false) => output.print(&plain::text(now, &rows, change, top, width))?,
        }
        was_empty = is_empty;
    }
    Ok(())
}

/// Connections that began and closed since the last picture.
fn changed(board: &Board, last: Time) -> Change {
    let is_new = |time: Time| time > last;
    Change {
        begun: board.entries().filter(|own| is_new(own.begun)).count(),
        closed: board.entries().filter(|own| own.closed.is_some_and(is_new)).count(),
    }
}

fn failure(why: Unable) -> Failure {
    Failure::Environment(why.to_string())
}
