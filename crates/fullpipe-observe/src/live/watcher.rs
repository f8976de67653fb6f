//! Looks at all wanted connections of a namespace, those included that begin meanwhile.
//!
//! A dump of all sockets finds new connections. Between two dumps each busy connection is asked for alone, so that idle
//! ones cost little.

use super::Lateness;
use super::board::{Board, Cookie, Room};
use super::choice::Selection;
use super::pace::Pace;
use crate::process;
use crate::sockets::{Connection, Sockets};
use crate::unable::Unable;
use fullpipe_base::units::Time;
use std::collections::BTreeSet;
use std::time::Duration;

/// Longest time between two dumps. With a look's delay it stays below 2 s.
const DUMPS: Time = Time::ms(1_900);

/// The wanted connections, also those that do not exist yet.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Their ends.
    pub selection: Selection,
    /// The process that has them.
    pub pid: Option<u32>,
}

/// Watches connections.
pub struct Watcher {
    sockets: Sockets,
    wanted: Wanted,
    /// The connections.
    pub board: Board,
    pace: Pace,
    /// Time between two looks.
    every: Time,
    /// Moment of the last dump.
    dumped: Option<Time>,
}

impl Watcher {
    /// Watches the wanted connections among those of `sockets`, from now on.
    pub fn new(sockets: Sockets, wanted: Wanted, every: Duration, room: Room) -> Watcher {
        let nanos = u64::try_from(every.as_nanos()).unwrap_or(u64::MAX);
        let (board, pace) = (Board::new(room), Pace::new(every));
        Watcher { sockets, wanted, board, pace, every: Time(nanos), dumped: None }
    }

    /// Time since the beginning.
    pub fn now(&self) -> Time {
        self.pace.now()
    }

    /// Lateness and cost so far. The cost is that of the calling thread.
    pub fn lateness(&self) -> Lateness {
        self.pace.lateness()
    }

    /// Waits for the next look; false if `go_on` ends the wait.
    pub fn wait(&mut self, mut go_on: impl FnMut(&Board, Time) -> bool) -> bool {
        let board = &self.board;
        self.pace.wait(|now| go_on(board, now))
    }

    /// Looks at the connections now.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn look(&mut self) -> Result<(), Unable> {
        let now = self.pace.now();
        let is_last_chance = |dumped: Time| now + self.every > dumped + DUMPS;
        match self.dumped.is_none_or(is_last_chance) {
            true => self.dump(now)?,
            false => self.follow(now)?,
        }
        self.name();
        self.board.tidy(now);
        Ok(())
    }

    /// Looks at all sockets.
    fn dump(&mut self, now: Time) -> Result<(), Unable> {
        self.dumped = Some(now);

        // The sockets of a process that has ended are closed.
        if let Some(pid) = self.wanted.pid {
            self.wanted.selection.inodes = Some(process::sockets(pid).unwrap_or_default());
        }
        let mut there = BTreeSet::new();
        for own in self.sockets.all()? {
            // A socket that a process has closed has no inode, and is watched until its data is sent.
            if self.wanted.selection.fits(&own) || self.board.get(&own.cookie).is_some() {
                there.insert(own.cookie);
                self.board.look(now, own);
            }
        }

        // A dump may miss a socket.
        let is_missing = |own: &Connection| !there.contains(&own.cookie);
        let open = self.board.entries().filter(|own| own.closed.is_none());
        let missing = open.map(|own| &own.first).filter(|own| is_missing(own));
        let missing: Vec<Connection> = missing.cloned().collect();
        missing.iter().try_for_each(|own| self.one(now, own))
    }

    /// Looks at the busy sockets.
    fn follow(&mut self, now: Time) -> Result<(), Unable> {
        let open = self.board.entries().filter(|own| own.closed.is_none());
        let followed = open.filter(|own| own.is_awake() || own.is_fresh());
        let followed: Vec<Connection> = followed.map(|own| own.first.clone()).collect();
        followed.iter().try_for_each(|own| self.one(now, own))
    }

    fn one(&mut self, now: Time, own: &Connection) -> Result<(), Unable> {
        match self.sockets.one(own)? {
            Some(look) => self.board.look(now, look),
            None => self.board.close(&own.cookie, now),
        }
        Ok(())
    }

    /// Looks for the processes of busy connections, once for each.
    fn name(&mut self) {
        let is_new = |own: &&mut super::Entry| !own.is_named && own.is_awake();
        let (mut inodes, mut cookies) = (BTreeSet::new(), BTreeSet::<Cookie>::new());
        for own in self.board.entries_mut().filter(is_new) {
            own.is_named = true;
            inodes.insert(own.first.inode);
            cookies.insert(own.first.cookie);
        }
        inodes.remove(&0);
        if inodes.is_empty() {
            return;
        }
        let owners = process::owners(&inodes);
        for own in self.board.entries_mut().filter(|own| cookies.contains(&own.first.cookie)) {
            own.process = owners.get(&own.first.inode).cloned();
        }
    }
}
