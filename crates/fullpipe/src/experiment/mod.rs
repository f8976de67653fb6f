//! Choices around the pipeline wherever a scenario is run, by the command or from Python: the engines that run it, and
//! their allowed deviations from it.

mod choice;

pub use choice::{
    Allowed, BETWEEN, Chosen, Unfit, answers, kernel_for, known_keys, named, objections,
    permission, several,
};
