//! Parts of advice that the terminal and the page show alike: tables, sentences and commands.

use super::answer::kept;
use super::change::{How, Scope};
use super::document::{Advice, Result};
use super::files::File;
use super::method::Kept;
use super::newcomer::Newcomer;
use crate::analysis::numbers;
use crate::analysis::words::{bytes, ms, percent};
use crate::report::terminal::grid::{Column, number, words};

/// Heading of [`changes`].
pub const CHANGES: &str = "Changes, and the result with all others but without this one";
/// Heading of the notes.
pub const NOTES: &str = "Costs and conditions";

/// Columns of [`rates`]. Without messages the last one is absent.
pub fn of_rates(advice: &Advice) -> Vec<Column> {
    let wait = if advice.has_turns { "wait" } else { "queue" };
    let rate = [
        words(""),
        number("rate", "Mb/s"),
        number("of path", ""),
        number(wait, "ms"),
        number("sent again", "segments"),
    ];
    let message = advice.today.message_ms.map(|_| number("message", "ms"));
    rate.into_iter().chain(message).collect()
}

/// Rows of today and, where something is advised, of the changes.
pub fn rates(advice: &Advice) -> Vec<Vec<String>> {
    let row = |name: &str, own: &Result| {
        let rate = [
            name.to_string(),
            numbers::short(own.mbit),
            own.share.map_or_else(|| numbers::ABSENT.into(), numbers::share),
            numbers::short(own.queue_ms),
            numbers::count(own.retransmitted),
        ];
        rate.into_iter().chain(own.message_ms.map(numbers::short)).collect::<Vec<String>>()
    };
    let advised = (!advice.changes.is_empty()).then(|| row("advised", &advice.advised));
    [row("today", &advice.today)].into_iter().chain(advised).collect()
}

/// Phrase on how rates and times of messages were taken.
pub fn rates_are(advice: &Advice) -> String {
    let of_messages = match advice.today.message_ms {
        Some(_) => "; of messages the median time",
        None => "",
    };
    let runs = match advice.seeds {
        0 | 1 => format!("rates once the flows have grown{of_messages}"),
        runs => format!(
            "rates once the flows have grown{of_messages}, each the worst of {runs} runs with other seeds, starts and delays"
        ),
    };
    match advice.has_turns {
        true => format!(
            "{runs}; wait: what a round trip takes more than the path, in queues and for delayed ACKs"
        ),
        false => runs,
    }
}

/// Columns of [`changes`]. Without messages the last one is absent.
pub fn of_changes(advice: &Advice) -> &'static [Column] {
    let without_messages = OF_CHANGES.len() - usize::from(advice.today.message_ms.is_none());
    &OF_CHANGES[..without_messages]
}

const OF_CHANGES: [Column; 6] = [
    words("setting"),
    words("of"),
    words("today"),
    words("advised"),
    number("without", "Mb/s"),
    number("message", "ms"),
];

/// Rows of the changes.
pub fn changes(advice: &Advice) -> Vec<Vec<String>> {
    advice
        .changes
        .iter()
        .map(|own| {
            let change = &own.change;
            let words = [&change.setting, &change.whose, &change.today, &change.advised];
            let without = [numbers::short(own.without_mbit)];
            let message = own.without_message_ms.map(numbers::short);
            words.into_iter().cloned().chain(without).chain(message).collect()
        })
        .collect()
}

/// Factor on the time of messages from which on a change's absence is worth a word.
const LATER: f64 = 1.1;

/// Reason of a change, its least size, and the queue without it.
pub fn reason(own: &Kept, advice: &Advice) -> String {
    // In the unit of the advised size.
    let least = own.least.map_or_else(String::new, |least| {
        format!(" The least that fills the path is {}.", bytes(least.next_multiple_of(64 << 10)))
    });
    // Where the rate is higher without a change, the queue is what it is for.
    let (queue_ms, most) = (advice.advised.queue_ms, advice.advised.mbit);
    let is_longer = own.without_queue_ms > queue_ms + 1.0
        || own.without_queue_ms > queue_ms && own.without_mbit > most;
    let delay = match advice.has_turns {
        _ if !is_longer => String::new(),
        // TCP's round trip counts the time for which the other host delays its ACK.
        true => format!(
            " Without it a round trip takes {} more, in queues and for delayed ACKs.",
            ms(own.without_queue_ms)
        ),
        false => format!(" Without it {} wait in queues.", ms(own.without_queue_ms)),
    };

    // Messages may be late although the rate is the same.
    let late = own.without_message_ms.zip(advice.advised.message_ms);
    let late = late.filter(|(without, with)| *without >= LATER * with);
    let late = late.map_or_else(String::new, |(without, _)| {
        format!(" Without it half of the messages take {} or more.", ms(without))
    });
    format!("{}.{least}{delay}{late}", own.change.why)
}

/// Heading of [`different`].
pub const DIFFERENT: &str = "If the path is a little different";

/// Rates with the changes on paths that are a little different.
pub fn different(advice: &Advice) -> Vec<String> {
    advice
        .sensitivity
        .iter()
        .map(|own| format!("{}: {}{}", own.what, numbers::rate(own.mbit), kept(own.share)))
        .collect()
}

/// Heading of [`joins`].
pub const JOINS: &str = "If another flow joins later";

/// Part of its rate today below which a newcomer has lost something.
const KEPT: f64 = 0.95;

/// Rate of a flow that begins when the others have the path.
pub fn joins(own: &Newcomer) -> String {
    let less = match own.mbit < KEPT * own.today_mbit {
        true => ": the changes leave it less",
        false => "",
    };
    format!(
        "After {:.0} s it has {}, {} of its part of the path; with today's settings {}{less}.",
        own.after_s,
        numbers::rate(own.mbit),
        percent(own.mbit / own.part_mbit),
        numbers::rate(own.today_mbit)
    )
}

/// Heading of changes that no file makes.
pub fn by_hand(advice: &Advice) -> &'static str {
    let all = || advice.changes.iter().map(|own| &own.change);
    let is_of_path = all().any(|own| own.scope == Scope::Path);
    let is_of_system = all().any(|own| matches!(own.how, How::System { .. }));
    let is_of_program = all().any(|own| own.scope == Scope::Application);
    match (is_of_path, is_of_system, is_of_program) {
        (true, ..) => "In programs and the network",
        (false, true, false) => "On hosts that are not Linux",
        (false, true, true) => "In programs, and on hosts that are not Linux",
        (false, false, _) => "In the program",
    }
}

/// Heading of a file.
pub fn place(file: &File) -> String {
    format!("On {}, as root: {}", file.host, file.path)
}

/// Commands around a file, in the order in which an administrator runs them.
pub fn commands(file: &File) -> Vec<(&'static str, String)> {
    let save = file.save.clone().map(|command| ("keep first", command));
    let undo = format!("rm {}; {}", file.path, file.undo);
    save.into_iter().chain([("at once", file.apply.clone()), ("undo", undo)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newcomer_that_has_less_than_today_is_said() {
        let own = Newcomer { after_s: 60.0, mbit: 120.0, today_mbit: 180.0, part_mbit: 240.0 };
        let expected = "After 60 s it has 120 Mb/s, 50 % of its part of the path; with today's settings 180 Mb/s: the changes leave it less.";
        assert_eq!(joins(&own), expected);
        let more = Newcomer { mbit: 200.0, ..own };
        assert!(joins(&more).ends_with("with today's settings 180 Mb/s."), "{}", joins(&more));
    }
}
