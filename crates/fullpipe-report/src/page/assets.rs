//! Parts of pages that all pages share.

/// Colours of the light and the dark theme.
pub const THEME_CSS: &str = include_str!("assets/theme.css");
/// Layout of a page.
pub const PAGE_CSS: &str = include_str!("assets/page.css");
/// Scales of axes.
pub const SCALE_JS: &str = include_str!("assets/scale.js");
/// The switch between the themes.
pub const THEME_JS: &str = include_str!("assets/theme.js");
