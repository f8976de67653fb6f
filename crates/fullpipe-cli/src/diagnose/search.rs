//! Finds the wanted connections in the namespaces where they may be, and observes them.

use super::watching::Watching;
use crate::choice::Choice;
use crate::diagnose_arguments::DiagnoseArguments;
use crate::failure::Failure;
use crate::output::note;
use fullpipe::observation::{
    Manner, Namespace, Observation, Seen, Selection, Sockets, Unable, follow, process, survey,
};
use fullpipe::trace::recording::Recording;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

/// Time between two looks.
const EVERY: Duration = Duration::from_millis(100);
/// Neighbours of the judged connections that are followed too: they show what else this host sends.
const BESIDE: usize = 64;
/// Rate of a connection from which on it counts as a neighbour, bit/s.
const BUSY: f64 = 100e3;

/// Outcome of an observation.
pub enum Watched {
    /// The trace of the judged connections.
    Seen(Box<Observation>),
    /// No connection fits; those that exist, the busiest one first.
    Nothing(Vec<Seen>),
    /// The connections that fit wait for the answer to their SYN.
    Connecting(Vec<Seen>),
    /// The connections closed before the first look.
    Gone,
}

/// Observes the wanted connections.
pub fn observe(arguments: &DiagnoseArguments) -> Result<Watched, Failure> {
    let selection = selected(&arguments.choice, arguments.selection())?;
    let watched = namespace(&arguments.choice, &selection).and_then(|own| match own {
        Some(own) => own.during(|| here(arguments, &selection)),
        None => here(arguments, &selection),
    });
    watched.map_err(|why| Failure::Environment(why.to_string()))
}

/// The selection with the sockets that a process has now, where one is wanted.
///
/// # Errors
/// The process's sockets cannot be listed.
pub fn selected(choice: &Choice, selection: Selection) -> Result<Selection, Failure> {
    let Some(pid) = choice.pid else { return Ok(selection) };
    let own = process::sockets(pid).map_err(|why| unreadable(pid, &why))?;
    Ok(Selection { inodes: Some(own), ..selection })
}

/// The process's sockets cannot be listed.
fn unreadable(pid: u32, why: &std::io::Error) -> Failure {
    match why.kind() {
        std::io::ErrorKind::NotFound => Failure::Input(format!("there is no process {pid}")),
        std::io::ErrorKind::PermissionDenied => {
            let text = format!("process {pid}: {why}; sockets of other users need root");
            Failure::Environment(text)
        }
        _ => Failure::environment(format!("process {pid}"), why),
    }
}

/// The namespace of the wanted connections; none where it is the caller's.
///
/// # Errors
/// A namespace cannot be entered, or its kernel shows no sockets.
pub fn namespace(choice: &Choice, selection: &Selection) -> Result<Option<Namespace>, Unable> {
    match (&choice.netns, choice.pid) {
        (Some(file), _) => Namespace::at(file).map(Some),
        (None, Some(pid)) => of_process(pid, selection),
        (None, None) => Ok(None),
    }
}

/// The namespace of the process's threads that has its busiest connection.
fn of_process(pid: u32, selection: &Selection) -> Result<Option<Namespace>, Unable> {
    // Nothing has to be entered where the caller's namespace has connections of it.
    let own = look(selection)?;
    let others = match own.iter().any(|seen| seen.fits) {
        true => Vec::new(),
        false => Namespace::of_process(pid)?,
    };
    let mut best: Option<(f64, Namespace)> = None;
    for namespace in others {
        let seen = namespace.during(|| look(selection))?;
        if let Some(first) = seen.iter().find(|own| own.fits)
            && best.as_ref().is_none_or(|(weight, _)| first.weight() > *weight)
        {
            best = Some((first.weight(), namespace));
        }
    }
    Ok(best.map(|(_, namespace)| namespace))
}

fn look(selection: &Selection) -> Result<Vec<Seen>, Unable> {
    survey(&mut Sockets::open()?, selection)
}

/// Observes in the calling thread's namespace.
fn here(arguments: &DiagnoseArguments, selection: &Selection) -> Result<Watched, Unable> {
    let mut sockets = Sockets::open()?;
    let seen = survey(&mut sockets, selection)?;
    let (mut chosen, others): (Vec<Seen>, Vec<Seen>) =
        seen.iter().cloned().partition(|own| own.fits);
    if chosen.is_empty() {
        return Ok(Watched::Nothing(seen));
    }
    if chosen.iter().all(|own| own.own.is_connecting()) {
        return Ok(Watched::Connecting(chosen));
    }
    chosen.retain(|own| !own.own.is_connecting());

    // Wanted ones beyond the number are neighbours as well.
    let judged = chosen.len().min(usize::from(arguments.top));
    let more = chosen.split_off(judged);
    let busy = more.iter().filter(|own| own.rate >= BUSY).count();
    if busy > 0 && !arguments.quiet {
        note(&format!("note: {busy} more busy ones fit; --top {} judges them, too", judged + busy));
    }
    let neighbours = more.into_iter().chain(others).filter(|own| own.rate >= BUSY);

    // The other end of a judged connection carries the same data.
    let mirrored: BTreeSet<[SocketAddr; 2]> =
        chosen.iter().map(|own| [own.own.there, own.own.here]).collect();
    let neighbours = neighbours.filter(|own| !mirrored.contains(&[own.own.here, own.own.there]));
    chosen.extend(neighbours.take(BESIDE));

    let lasts = Duration::from_nanos(arguments.lasts.as_ns());
    let manner = Manner { every: EVERY, lasts, always_writes: false };
    let mut watching = Watching::new(arguments.quiet, judged, lasts);
    let mut recording = Recording::default();
    let followed = follow(&mut sockets, chosen, judged, manner, &mut recording, &mut watching)?;
    watching.end();
    Ok(match followed {
        Ok(followed) => {
            Watched::Seen(Box::new(Observation { followed, recording, judged, manner }))
        }
        Err(_) => Watched::Gone,
    })
}
