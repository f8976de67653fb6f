//! Reference of the format for users, generated from the tables that the parser uses.

mod markdown;
mod schema;

pub use markdown::markdown;
pub use schema::json_schema;

use super::format::keys::{Group, Kind, Section};
use super::written::{Asked, Run};

/// All tables of a scenario, each once, in the order in which they are met.
fn groups() -> Vec<&'static Group> {
    let mut found = Vec::new();
    visit(Run::GROUP, &mut found);
    visit(Asked::GROUP, &mut found);
    found
}

fn visit(group: &'static Group, found: &mut Vec<&'static Group>) {
    if found.iter().any(|known| known.id == group.id) {
        return;
    }
    found.push(group);
    for key in group.keys {
        match key.kind {
            Kind::Table(inner) | Kind::Named(inner) | Kind::List(inner) => visit(inner, found),
            Kind::Short { group, .. } => visit(group, found),
            Kind::Elements(groups) => groups.iter().for_each(|(_, group)| visit(group, found)),
            _ => {}
        }
    }
}
