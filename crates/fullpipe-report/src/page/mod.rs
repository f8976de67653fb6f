//! Parts that all HTML pages share: colours, layout, scales, and text made safe for HTML and JSON.

pub mod assets;
pub mod escape;
