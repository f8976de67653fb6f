//! Scenarios that are right: recipes, round trip, variants, sweeps, options.

use fullpipe::scenario::{Resolved, Source, load, recipes};

fn reload(resolved: &Resolved) -> Resolved {
    let text = resolved.to_toml();
    let again = load(&Source::text("resolved.toml", &text), &[], &[]);
    let again = again.unwrap_or_else(|problems| panic!("{text}\n{problems}"));
    assert_eq!(again.plans().len(), 1);
    again.plans()[0].resolved.clone()
}

#[test]
fn a_resolved_recipe_parses_to_itself() {
    for recipe in recipes() {
        let scenario = load(&recipe.source(), &[], &[]).unwrap_or_else(|e| panic!("{e}"));
        assert!(!scenario.plans().is_empty());
        for plan in scenario.plans() {
            assert_eq!(reload(&plan.resolved), plan.resolved, "{}: {}", recipe.name, plan.name());
        }
    }
}
