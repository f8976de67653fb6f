//! Parts of pages that all pages share.

use fullpipe_analysis::limits::{COUNT, TABLE};
use std::fmt::Write;

/// Colours of the light and the dark theme, without limits' colours.
const THEME_CSS: &str = include_str!("assets/theme.css");
/// The line of [`THEME_CSS`] that the colours of limits replace.
const COLOURS: &str = "  /* limits */\n";
/// The line of [`THEME_CSS`] that the classes of limits replace.
const CLASSES: &str = "/* .limits */\n";
/// Colour of limits that are not known, on light and on dark paper.
const REST: [&str; 2] = ["#9aa0a6", "#747a80"];

/// Colours of the light and the dark theme.
pub fn theme_css() -> String {
    let (mut colours, mut classes) = (String::new(), String::new());
    for (at, [light, dark]) in TABLE.iter().map(|own| own.colour).chain([REST]).enumerate() {
        let _ = writeln!(colours, "  --limit-{at}: light-dark({light}, {dark});");
        let rest = if at == COUNT { ", .limit-rest" } else { "" };
        let _ = writeln!(classes, ".limit-{at}{rest} {{ --fill: var(--limit-{at}); }}");
    }
    THEME_CSS.replace(COLOURS, &colours).replace(CLASSES, &classes)
}

/// Content security policy: it forbids every request, also requests that a hostile document would try to add.
pub const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                          img-src data:; base-uri 'none'; form-action 'none'";
/// Layout of a page.
pub const PAGE_CSS: &str = include_str!("assets/page.css");
/// Scales of axes.
pub const SCALE_JS: &str = include_str!("assets/scale.js");
/// The switch between the themes.
pub const THEME_JS: &str = include_str!("assets/theme.js");
