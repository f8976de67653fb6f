//! One sentence on whether a result is as expected and as published.

use crate::document::{Judged, Run};

/// Sentence on one run; none where nothing was expected or published.
pub fn run(run: &Run) -> Option<Judged> {
    all(std::iter::once(run))
}

/// Sentence on several runs together.
pub fn all<'a>(runs: impl Iterator<Item = &'a Run> + Clone) -> Option<Judged> {
    // Expectations and published figures judge a run apart from each other.
    let expectations = runs.clone().flat_map(|run| &run.expectations);
    let (count, hold) =
        (expectations.clone().count(), expectations.filter(|own| own.passed).count());
    let published = runs.filter_map(|run| run.published.as_ref());
    let rows = published.clone().flat_map(|own| &own.rows);
    let (total, outside) = (rows.clone().count(), rows.filter(|row| !row.in_band).count());
    let whole = published.clone().all(|own| own.band_whole);

    let good = hold == count && outside == 0 && whole;
    let expected = (count > 0).then(|| format!("{hold} of {count} expectations hold"));
    let compared = (total > 0).then(|| match outside {
        0 => format!("all {total} published rows lie within the band"),
        n => format!("{n} of {total} published rows lie outside the band"),
    });
    let text = match (expected, compared) {
        (None, None) => return None,
        (Some(expected), None) => expected,
        (None, Some(compared)) => capital(&compared),
        (Some(expected), Some(compared)) => {
            // "But" where one of the two is good and the other is not.
            let and = if (hold == count) == (outside == 0) { "and" } else { "but" };
            format!("{expected}, {and} {compared}")
        }
    };
    let cut = if whole { "" } else { " (the band is not whole: interrupted)" };
    Some(Judged { text: format!("{text}{cut}."), good })
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
