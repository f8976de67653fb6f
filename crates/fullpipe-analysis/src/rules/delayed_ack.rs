//! Nagle's rule or TCP_CORK holds back the last part of messages: each takes longer than its round trip.
//!
//! A message in several writes ends in a segment that is not full. Nagle's rule holds it back until all earlier data is
//! acknowledged (RFC 896). The other host has nothing to send yet, so it delays that ACK: Linux for 40 ms
//! (TCP_DELACK_MIN). TCP_CORK holds such a segment for up to 200 ms (tcp(7)).
//!
//! A program that waits for each message loses rate by that. One that sends by the clock keeps its rate, and its messages
//! are late.
//!
//! Twin: a server that takes as long to answer. Its sender has no unsent data.

use super::dialogue::{Dialogue, HABIT, in_words, messages};
use super::{Cause, Context, Finding, One, Rule, When, setting};
use crate::document::{AskedBy, Messages};
use crate::held_parts::{DELAYED_S, HeldParts};
use crate::words::{ms, percent};
use fullpipe_scenario::config::System;

/// The rule.
pub const RULE: Rule =
    Rule { name: "delayed-ack", code: "nagle", when: When::Held(&["application", "nagle"]), find };

/// Part of the messages' time that their last parts have to wait.
const WORTH: f64 = 0.1;
/// Share of a flow's life from which on a program always has a message under way: its rate depends on their time.
const ALWAYS: f64 = 0.9;

fn find(context: &Context, cause: &Cause) -> Option<Finding> {
    let one = context.most(cause);
    let own = Talk::of(context, one)?;

    // A part of the messages' time that is small has another cause.
    let held_s = own.sides().map(|side| side.held.all_s()).sum::<f64>();
    if held_s < WORTH * own.messages_s {
        return None;
    }
    let mut holds: Vec<&Side> = own.sides().filter(|side| side.is_worth(held_s)).collect();
    holds.sort_by(|a, b| b.held.all_s().total_cmp(&a.held.all_s()));
    let first = holds.first()?;
    let is_corked = first.is_corked();
    let hosts = holds.iter().map(|side| &side.host[..]).collect::<Vec<_>>().join(" and ");

    let what = if is_corked { "TCP_CORK" } else { "Nagle's rule" };
    let times = own.messages.as_ref().map(|all| own.times(all));
    let because = [Some(first.waits(&own)), times].into_iter().flatten();

    // A program that sends by the clock has the rate that it asks for.
    let by_the_clock = own.messages_s < ALWAYS * own.lived_s;
    let is_alone = !by_the_clock && !own.is_ahead;
    let found = Finding {
        as_asked: by_the_clock,
        does: if is_alone { "stops" } else { "delays the messages of" },
        share: Some((held_s / own.lived_s).min(1.0)),
        ..Finding::new(format!("{what} on {hosts}"), cause.place.clone())
    };
    let found = found.because(because.collect::<Vec<_>>().join("; "));
    let or = if holds.iter().all(|side| side.is_in_one_write) {
        ""
    } else {
        ", or write each message at once"
    };

    // A cork is the program's own; Nagle's rule is TCP's.
    Some(match is_corked {
        true => found
            .cure(format!(
                "Let the program on {hosts} clear TCP_CORK behind each message{or}"
            ))
            .setting(setting("TCP_CORK", &first.host, AskedBy::Program)),
        false => found
            .cure(match first.awaits_delayed_ack(&own) && first.is_to_linux {
                true => format!(
                    "Let the program on {hosts} set TCP_NODELAY{or}; or, with Linux at the other end, let the program there set \
                     TCP_QUICKACK after each read"
                ),
                false => format!("Let the program on {hosts} set TCP_NODELAY{or}"),
            })
            .setting(setting("TCP_NODELAY", &first.host, AskedBy::Program)),
    })
}

/// Messages between two programs, and the time for which TCP held back their parts.
struct Talk {
    first: Side,
    /// The answering side; none where nobody answers.
    second: Option<Side>,
    /// Messages that were read.
    count: u64,
    /// Time for which any message was under way, s. Of several at a time it is the life of the flow.
    messages_s: f64,
    /// Times of the messages, where the trace has them.
    messages: Option<Messages>,
    /// Whether several messages were without an answer at some moment.
    is_ahead: bool,
    /// Round trip without queues, s.
    base_s: f64,
    /// Life of the flow, s.
    lived_s: f64,
}

/// One sender of messages.
struct Side {
    /// Its host.
    host: String,
    /// The host that acknowledges.
    to: String,
    /// Whether that is Linux, as far as it is known.
    is_to_linux: bool,
    held: HeldParts,
    /// Whether the program sets TCP_CORK, as far as it is known.
    sets_cork: bool,
    /// Whether each message is one write, as far as it is known.
    is_in_one_write: bool,
}

impl Talk {
    /// The messages of a flow; none where they are no habit, or no round trip is known.
    fn of(context: &Context, one: &One) -> Option<Talk> {
        let dialogue = Dialogue::of(context, one);
        let messages = messages(context, one);
        let count = dialogue.as_ref().map(|own| own.turns).or(Some(messages?.count))?;
        let base_s = one.meta.base_rtt?.as_secs_f64();
        let life = &context.lives.flows[one.index];
        let lived_s = life.end.saturating_sub(life.start).as_secs_f64();
        if count < HABIT || lived_s <= 0.0 {
            return None;
        }

        // Without times each turn lasts until the next one.
        let is_ahead = dialogue.as_ref().is_some_and(|own| own.is_ahead());
        let median_s = messages.filter(|_| !is_ahead).map(|all| all.median_ms * 1e-3);
        let messages_s = median_s.map_or(lived_s, |own| (own * count as f64).min(lived_s));
        let side = |index: usize| {
            let [host, to] = context.meta.flows[index].hosts.clone();
            let own = &context.meta.flows[index].settings;
            let is_in_one_write =
                own.message.zip(own.write).is_some_and(|(size, write)| size <= write.into());
            let held = HeldParts::of(&context.traces.flows[index], context.meta.mss);
            let is_to_linux = own.systems[1] == System::Linux;
            Side { host, to, is_to_linux, held, sets_cork: own.is_corked, is_in_one_write }
        };
        Some(Talk {
            first: side(one.index),
            second: one.meta.reverse_flow.map(side),
            count,
            messages_s,
            messages,
            is_ahead,
            base_s,
            lived_s,
        })
    }

    fn sides(&self) -> impl Iterator<Item = &Side> {
        std::iter::once(&self.first).chain(&self.second)
    }

    /// "half of the answers come within 101 ms, 95 % within 102 ms, and a round trip takes 20 ms".
    fn times(&self, all: &Messages) -> String {
        format!("{}, and a round trip takes {}", in_words(all), ms(self.base_s * 1e3))
    }
}

impl Side {
    /// Whether a cork holds the parts. A corked socket sends none, also while data is in flight.
    fn is_corked(&self) -> bool {
        self.sets_cork || self.held.by_cork_s > self.held.by_nagle_s
    }

    /// Whether the side has a worthwhile part of all waits, which take `all_s`.
    fn is_worth(&self, all_s: f64) -> bool {
        self.held.all_s() >= WORTH * all_s
    }

    /// Whether each message waits so long that the other host must have delayed its ACK.
    fn awaits_delayed_ack(&self, talk: &Talk) -> bool {
        let each_s = self.held.by_nagle_s / talk.count as f64;
        !talk.is_ahead && each_s >= talk.base_s + DELAYED_S
    }

    /// "the last part of each message waits 60.5 ms for a delayed ACK of receiver".
    fn waits(&self, talk: &Talk) -> String {
        let Side { to, held, .. } = self;
        if self.is_corked() {
            return match talk.is_ahead {
                true => "parts of messages wait for more data".into(),
                false => {
                    let each = ms(held.all_s() / talk.count as f64 * 1e3);
                    format!("the last part of each message waits {each} for more data")
                }
            };
        }

        // Parts of several messages leave together: no wait is that of one message.
        if talk.is_ahead {
            // The last wait may outlast the flow.
            let share = percent((held.all_s() / talk.lived_s).min(1.0));
            return format!("parts of messages wait for ACKs of {to} {share} of the time");
        }
        let each = ms(held.all_s() / talk.count as f64 * 1e3);
        let what = if self.awaits_delayed_ack(talk) { "a delayed ACK" } else { "an ACK" };
        format!("the last part of each message waits {each} for {what} of {to}")
    }
}
