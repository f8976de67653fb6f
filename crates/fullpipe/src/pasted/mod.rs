//! Pasted texts as runs: iperf3, nuttcp, `ss`, and counters of a host, judged by the rules of sockets.
//!
//! | file | concern |
//! |---|---|
//! | `meta.rs` | facts about a run that has no scenario |
//! | `transfer.rs` | rows of a measured transfer as a trace |
//! | `datagrams.rs` | rows of UDP |
//! | `print.rs` | one print of a socket as a trace |
//! | `host.rs` | counters of a host as a trace |
//! | `join.rs` | one verdict from several texts |
//! | `lines.rs` | the lines that show a verdict |
//!
//! A text says less than a socket. Columns that it lacks are named in [`Pasted`], so rules that need them stay quiet.

mod datagrams;
mod host;
mod join;
mod lines;
pub(crate) mod meta;
mod print;
mod transfer;

pub use fullpipe_observe::text::{KINDS, Text};
pub use lines::Quote;

use crate::analysis::document::Run;
use crate::analysis::pasted::Pasted;
use crate::observation::Selection;
use fullpipe_observe::sockets::Connection;
use serde::Serialize;

/// A text with its name.
#[derive(Clone, Debug)]
pub struct Named {
    /// Name of the file.
    pub name: String,
    /// The text as it is.
    pub plain: String,
    /// Its contents.
    pub text: Text,
}

impl Named {
    /// Reads a text.
    pub fn new(name: &str, plain: String) -> Named {
        Named { name: name.into(), text: Text::read(&plain), plain }
    }
}

/// Verdict on one part of the texts.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// Facts, headline and findings.
    #[serde(skip)]
    pub run: Run,
    /// Subject and figures, a line.
    pub about: String,
    /// Lines of the texts that show it.
    pub lines: Vec<Quote>,
    /// Facts that the text does not show.
    pub hidden: String,
    /// Command that shows them.
    pub next: String,
    /// Remarks on the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Kind of the text.
    #[serde(skip)]
    kind: Kind,
}

/// Kind of a text, in the order in which verdicts of equal certainty count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Looks at sockets, again and again.
    Looks,
    /// A transfer, from its sender.
    Sender,
    /// One look at a socket.
    Look,
    /// A transfer, from its receiver.
    Receiver,
    /// Counters of a host.
    Host,
}

/// Verdicts on texts, the one that decides first. Looks at sockets that appear again are `again`: others judge them.
pub fn answers(texts: &[Named], wanted: &Selection, again: Vec<Answer>) -> Vec<Answer> {
    let mut all = again;
    let has_looks = !all.is_empty();
    for own in texts {
        for transfer in &own.text.transfers {
            all.extend(transfer::answers(own, transfer));
        }
        if !has_looks {
            let wanted = own.text.sockets.iter().filter(|one| wanted.fits(&one.own));
            let busiest = wanted.max_by_key(|one| bytes(&one.own));
            all.extend(busiest.map(|one| print::answer(own, one)));
        }
        all.extend(host::answer(own));
    }
    join::joined(all)
}

/// Looks at sockets of all texts, as one text has them: those of one text are together.
pub fn looks(texts: &[Named], wanted: &Selection) -> Vec<Vec<Connection>> {
    let mut looks: Vec<Vec<Connection>> = Vec::new();
    let sockets = texts.iter().flat_map(|own| &own.text.sockets);
    for one in sockets.filter(|one| wanted.fits(&one.own)) {
        let own = &one.own;
        let is_same = |it: &Connection| it.here == own.here && it.there == own.there;
        match looks.last_mut() {
            Some(look) if !look.iter().any(is_same) => look.push(own.clone()),
            _ => looks.push(vec![own.clone()]),
        }
    }
    looks
}

/// The verdict on looks at sockets, which the rules of live connections have made.
pub fn of_looks(texts: &[Named], run: Run, about: String) -> Answer {
    let own = texts.iter().find(|own| !own.text.sockets.is_empty());
    let lines = own.map_or_else(Vec::new, |own| {
        let last = own.text.sockets.last();
        last.map_or_else(Vec::new, |one| vec![Quote::of(own, one.line)])
    });
    let hidden = "counters, settings and CPU of the host".into();
    let next = "nstat -n; sleep 10; nstat".into();
    Answer { run, about, lines, hidden, next, notes: Vec::new(), kind: Kind::Looks }
}

impl Answer {
    /// Whether it is about the counters of a host.
    pub fn is_of_host(&self) -> bool {
        self.kind == Kind::Host
    }
}

fn bytes(own: &Connection) -> u64 {
    own.info.bytes_acked.saturating_add(own.info.bytes_received)
}

/// Facts of a text that shows nothing about single columns.
fn blind(hidden: &[crate::analysis::pasted::Column]) -> Pasted {
    Pasted { hidden: hidden.to_vec(), ..Pasted::default() }
}
