//! Live connections as rows of a table.
//!
//! | file | concern |
//! |---|---|
//! | `columns.rs` | the columns: name, unit, heading, how each is shown |
//! | `rows.rs` | connections as rows: sorted and filtered |
//! | `table.rs` | rows as lines that fit a width |

pub mod columns;
pub mod rows;
pub mod table;
