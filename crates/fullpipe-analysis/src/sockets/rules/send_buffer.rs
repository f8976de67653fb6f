//! The send buffer is too small.

use super::super::facts::Facts;
use super::super::verdict::{Verdict, between};
use super::Rule;
use crate::document::AskedBy;
use crate::pasted::Column;
use crate::rules::valued;
use crate::words::{bytes, percent};

pub const RULE: Rule = Rule { name: "small-send-buffer", needs: &[], find };

/// Share of time that Linux itself charges to the buffer, from which on the buffer is the cause.
pub const STOPS: f64 = 0.05;
/// Part of the buffer in use that shows a blocked writer: it is woken when a third is free.
const USED: f64 = 0.5;
/// Share of looks at which nothing is left to send.
const STARVES: f64 = 0.5;
/// Part of the largest size from which on the kernel does not tune the buffer further. Below it the buffer follows cwnd.
const GROWN: f64 = 0.95;

fn find(facts: &Facts) -> Option<Verdict> {
    let own = &facts.main;

    // A buffer that the kernel still tunes follows cwnd, and limits nothing.
    let fixed =
        facts.buffer.asked.is_some() || facts.buffer.limit >= GROWN * facts.buffer.tuned as f64;
    let starves = fixed && own.idle >= STARVES && facts.buffer.used >= USED;

    // A long queue makes any buffer look small.
    if facts.rtt_us >= super::window::QUEUE * facts.min_rtt_us {
        return None;
    }

    // Linux's own clock is the best evidence, a blocked writer the second best.
    (own.sndbuf >= STOPS || starves).then(|| {
        let seen = !facts.pasted.lacks(&[Column::InFlight]);
        let share = if seen { own.sndbuf.max(own.idle) } else { own.sndbuf };
        let points =
            0.6 + 0.2 * between(own.sndbuf, 0.0, STOPS) + 0.2 * f64::from(u8::from(starves));
        let limit = bytes(facts.buffer.limit as u64);
        let (name, by, cure) = match facts.buffer.asked {
            Some(_) => ("SO_SNDBUF", AskedBy::Program, "Let the program ask for no SO_SNDBUF"),
            None => {
                ("net.ipv4.tcp_wmem", AskedBy::Sysctl, "Raise the maximum of net.ipv4.tcp_wmem")
            }
        };
        let own_time = format!("Linux charges {} of the time to it", percent(own.sndbuf));
        let found =
            Verdict::new("sndbuf", format!("The send buffer of {}", facts.host), share, points)
                .remedy(cure);

        // One look has no use of the buffer over time, and does not say who has set its size.
        let found = match facts.pasted.one_look {
            true => found.remedy(format!("{cure}, and let the program ask for no SO_SNDBUF")),
            false => found
                .because(format!(
                    "{name} allows {limit}, of which {} is used",
                    percent(facts.buffer.used)
                ))
                .setting(valued(name, &facts.host, limit, None, by)),
        };
        if own.sndbuf > 0.0 { found.because(own_time) } else { found }
    })
}
