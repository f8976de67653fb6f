//! Blind test of verdicts: random cases with a known cause, and how often a verdict names it.
//!
//! [`generate`] draws healthy paths and breaks one thing. [`label`] proves the cause by its counterfactual, in acknowledged bytes.
//! [`folder`] keeps cases as pairs of a scenario and a label. [`score`] runs the scenarios and compares verdicts with labels.
//!
//! Limits:
//! - Labels come from the simulator, also where a real kernel makes the scored runs.
//! - All cases follow one generator. Figures for real traffic are lower.

pub mod advised;
pub mod causes;
pub mod folder;
pub mod generate;
pub mod judging;
pub mod label;
pub mod score;
pub mod work;
