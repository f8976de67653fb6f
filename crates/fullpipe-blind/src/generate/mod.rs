//! Drawing of cases. Equal seed, count and number give equal bytes.

mod breaks;
mod draft;
pub mod draw;
mod healthy;
mod text;

use crate::causes::{BROKEN, HEALTHY, OF_HOSTS, TOO_SHORT};
use crate::label::{self, Label, Verdict};
use draft::Draft;
use draw::Draw;

/// Every so manyth case is healthy or too short.
const UNBROKEN: usize = 4;
/// Interval of too short cases among these.
const SHORT: usize = 3;
/// Drafts of one case at most.
const ATTEMPTS: u32 = 60;

/// A case: a scenario and its label.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Name of both files without their endings.
    pub name: String,
    /// Scenario.
    pub text: String,
    /// Label.
    pub label: Label,
}

/// Cases drawn for one number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawn {
    /// The case; none where no draft of it was clear.
    pub case: Option<Case>,
    /// Cases that are not scored: a weak gain, or a second relief that helps.
    pub apart: Vec<Case>,
}

/// Hosts of a set's cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// With CPU costs, interrupt moderation and extra hosts.
    Full,
    /// Without these, so that an engine with real kernels runs the cases; causes in such keys are not drawn.
    Plain,
}

/// Causes of a set's cases, in a random order that follows from the seed.
pub fn causes(seed: u64, count: usize, hosts: Hosts) -> Vec<&'static str> {
    let kinds: Vec<&'static str> = BROKEN
        .into_iter()
        .filter(|cause| hosts == Hosts::Full || !OF_HOSTS.contains(cause))
        .collect();
    let (mut broken, mut short) = (0, 0);

    // Every UNBROKEN-th case has no break, and some of these are too short to judge.
    let mut all: Vec<&'static str> = (0..count)
        .map(|number| match number % UNBROKEN {
            0 => {
                short += 1;
                if short % SHORT == 0 { TOO_SHORT } else { HEALTHY }
            }
            _ => {
                broken += 1;
                kinds[(broken - 1) % kinds.len()]
            }
        })
        .collect();

    // The order is shuffled (Fisher and Yates).
    let mut draw = Draw::new(seed, "order");
    for last in (1..all.len()).rev() {
        all.swap(last, draw.below(last + 1));
    }
    all
}

/// A draft of a case with its cure.
struct Pair {
    case: String,
    cured: Option<String>,
    setting: bool,
}

/// Draws the case of this number until its label is clear, or until there were enough drafts.
///
/// # Errors
/// A draft that is no scenario, or that the simulator cannot run, which is a bug.
pub fn draw(seed: u64, number: usize, cause: &'static str, hosts: Hosts) -> Result<Drawn, String> {
    let mut drawn = Drawn::default();

    // A draft may not fit the cause, and its label may not be clear: then the next one is drawn.
    for attempt in 0..ATTEMPTS {
        let Some(pair) = pair([seed, number as u64, attempt.into()], cause, hosts) else {
            continue;
        };
        let asked = label::Asked {
            cause,
            setting: pair.setting,
            seed,
            number: number as u64,
            attempt,
            cured: pair.cured.as_deref(),
        };
        let (label, verdict) = label::label(&pair.case, &asked)
            .map_err(|why| format!("case {number}, draft {attempt} ({cause}): {why}"))?;
        let name = format!("case-{number:04}");
        match verdict {
            Verdict::Clear => {
                drawn.case = Some(Case { name, text: pair.case, label });
                break;
            }
            Verdict::Apart => {
                let name = format!("{name}-{attempt:02}");
                drawn.apart.push(Case { name, text: pair.case, label });
            }
            Verdict::Unfit => {}
        }
    }
    Ok(drawn)
}

fn pair([seed, number, attempt]: [u64; 3], cause: &str, hosts: Hosts) -> Option<Pair> {
    let mut draw = Draw::new(seed, &format!("case {number} {attempt}"));
    let text = |draft: &Draft| match hosts {
        Hosts::Full => text::text(draft),
        Hosts::Plain => text::text(&draft.plain()),
    };
    let mut cured = healthy::healthy(&mut draw);
    let case: Draft = match cause {
        HEALTHY => return Some(Pair { case: text(&cured), cured: None, setting: false }),
        TOO_SHORT => {
            breaks::too_short(&mut draw, &mut cured)?;
            return Some(Pair { case: text(&cured), cured: None, setting: false });
        }
        _ => breaks::broken(&mut draw, cause, cured.clone())?,
    };
    let setting = SETTINGS.contains(&cause);
    Some(Pair { case: text(&case), cured: Some(text(&cured)), setting })
}

/// Causes that a setting of a host cures.
const SETTINGS: [&str; 10] = [
    "pacing",
    "qdisc",
    "rwnd_auto",
    "rwnd_fixed",
    "rx_drop",
    "sack_off",
    "sndbuf",
    "ss_short",
    "tx_ring",
    "wscale_off",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes;
    use fullpipe::scenario::{Source, load};

    #[test]
    fn a_quarter_is_healthy_or_short_and_all_causes_have_their_share() {
        let all = super::causes(1, 400, Hosts::Full);
        let count = |code: &str| all.iter().filter(|own| **own == code).count();
        assert_eq!(count(HEALTHY) + count(TOO_SHORT), 100);
        assert_eq!(count(TOO_SHORT), 33);
        for cause in causes::BROKEN {
            assert!((13..=14).contains(&count(cause)), "{cause}");
        }
        assert_ne!(all, super::causes(2, 400, Hosts::Full));
    }

    /// Each draft of each cause is a scenario, has no word of its cause, and is drawn again byte for byte.
    #[test]
    fn drafts_are_scenarios_without_hints() {
        for cause in causes::all() {
            for number in 0..20 {
                let draw = || pair([7, number, 0], cause, Hosts::Full);
                let Some(drawn) = draw() else { continue };
                assert_eq!(drawn.case, draw().expect("again").case);
                let source = Source::text("case.toml", &drawn.case);
                let loaded = load(&source, &[], &[]);
                loaded.unwrap_or_else(|e| panic!("{cause}: {e}\n{}", drawn.case));
                for hint in ["title", "#", "break", "variant"] {
                    assert!(!drawn.case.contains(hint), "{hint} in {}", drawn.case);
                }
            }
        }
    }

    #[test]
    fn plain_sets_have_no_costs_and_no_causes_in_them() {
        let all = super::causes(1, 400, Hosts::Plain);
        assert!(all.iter().all(|cause| !OF_HOSTS.contains(cause)));
        let drawn = pair([7, 1, 0], "loss", Hosts::Plain).expect("a draft");
        assert_eq!(drawn.case.matches("copy = \"0ps/byte\"").count(), 2);
    }

    #[test]
    fn settings_are_causes() {
        assert!(SETTINGS.iter().all(|code| causes::named(code).is_some()));
    }
}
