//! Parts of a scenario that random numbers decide. Each engine draws its own numbers, so these parts differ without an
//! error.

use crate::scenario::{Discipline, Element, Impairment, Losses, Resolved, Surroundings};
use fullpipe_base::units::Time;

/// Keys and names of the elements that draw random numbers in a run, in the path's order, the sender's host first.
pub fn draws(run: &Resolved) -> Vec<String> {
    let hosts = run.stations().into_iter().filter(|station| {
        let qdisc = &station.host.qdisc;
        qdisc.red.is_some() || qdisc.netem.is_some_and(|netem| chosen(netem.loss))
    });
    let around = run.surroundings();
    let ways = [("forward", &run.path.forward), ("back", &run.path.back)];
    let elements = ways.into_iter().flat_map(|(way, elements)| {
        let random = elements.iter().filter(|element| of_element(element, &around));
        random.map(move |element| format!("path.{way}.{}", element.name()))
    });
    hosts.map(|station| format!("{}.qdisc", station.key())).chain(elements).collect()
}

fn of_element(element: &Element, run: &Surroundings) -> bool {
    // Disciplines that mark or drop by chance.
    let queue = element.queue().map(|queue| &queue.discipline);
    if matches!(queue, Some(Discipline::Red(_) | Discipline::Pie(_) | Discipline::Cake(_))) {
        return true;
    }

    // Elements draw where their law leaves something to chance.
    match element.impairment(run) {
        Impairment::Spread(spread) => spread.width > Time::ZERO,
        Impairment::Overtake(overtake) => chosen(overtake.chosen.probability),
        Impairment::Copy(copied) => chosen(copied.probability),
        Impairment::Lose { law: Losses::Independent(loss), .. } => chosen(loss),
        Impairment::Lose { law: Losses::TwoStates { .. }, .. } => true,
        Impairment::Rate(_)
        | Impairment::Opportunities { .. }
        | Impairment::Delay { .. }
        | Impairment::DelayFlow { .. }
        | Impairment::LoseListed(_)
        | Impairment::MarkListed(_)
        | Impairment::Police { .. }
        | Impairment::Narrow { .. }
        | Impairment::Shape { .. } => false,
    }
}

/// Whether something of this probability happens to some and not to others.
fn chosen(probability: f64) -> bool {
    probability > 0.0 && probability < 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Beside, Source, load};

    fn drawn(path: &str, qdisc: &str) -> Vec<String> {
        let text = format!(
            "[path]\nforward = [{{ kind = \"link\", name = \"l\", rate = \"1Gbit\" }}, {path}]\n\
             [hosts]\nsender = {{ kernel = \"6.12\", qdisc = {{ {qdisc} }} }}\n\
             receiver = {{ kernel = \"6.12\" }}\n[[flow]]\nname = \"f\"\nduration = \"1s\"\n"
        );
        let source = Source::from_bytes("draws.toml", text.as_bytes(), Beside::Nothing);
        let scenario = source.and_then(|source| load(&source, &[], &[]));
        draws(&scenario.unwrap_or_else(|wrong| panic!("{wrong}")).plans()[0].resolved)
    }

    #[test]
    fn what_decides_by_chance_is_named_and_nothing_else() {
        let random = [
            "kind = \"loss\", probability = 0.1",
            "kind = \"duplicate\", probability = 0.1",
            "kind = \"link\", rate = \"1Gbit\", queue = { discipline = \"red\" }",
        ];
        for element in random {
            let found = drawn(&format!("{{ {element}, name = \"x\" }}"), "kind = \"fq\"");
            assert_eq!(found, ["path.forward.x"], "{element}");
        }
        let certain = [
            "kind = \"loss\", probability = 0.0",
            "kind = \"delay\", delay = \"1ms\"",
            "kind = \"link\", rate = \"1Gbit\", queue = { discipline = \"codel\" }",
        ];
        for element in certain {
            let found = drawn(&format!("{{ {element}, name = \"x\" }}"), "kind = \"netem\"");
            assert!(found.is_empty(), "{element}: {found:?}");
        }
        let delay = "{ kind = \"delay\", name = \"x\", delay = \"1ms\" }";
        let red = "kind = \"red\", limit = \"1MB\"";
        assert_eq!(drawn(delay, red), ["hosts.sender.qdisc"]);
        assert_eq!(drawn(delay, "kind = \"netem\", loss = 0.5"), ["hosts.sender.qdisc"]);
    }
}
