//! What stands around the pipeline wherever a scenario is run, by the command or from Python: which engines run it, and what
//! they may do otherwise than it says.

mod choice;

pub use choice::{
    Allowed, BETWEEN, Chosen, Unfit, answers, kernel_for, known_keys, named, objections,
    permission, several,
};
