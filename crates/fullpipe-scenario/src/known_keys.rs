//! Every key that a run can have, for the check of options that name keys.

use super::format::keys::{Group, Kind, Section};
use super::format::near;
use super::format::real_sysctl::REAL_SYSCTLS;
use super::format::sysctl::SYSCTLS;
use super::written::Run;
use super::{App, Flow, Resolved, congestion, slow_start};
use fullpipe_base::sockopt::SOCKOPTS;
use fullpipe_sim::tcp::behaviour::BEHAVIOURS;

/// The dotted keys of `run`, tables included, whether something was written there or not.
pub fn keys(run: &Resolved) -> Vec<String> {
    let mut keys = Keys { run, found: Vec::new() };
    keys.table("", Run::GROUP, None);
    keys.found
}

/// Keys that are close to `written`, nearest first.
pub fn near_keys<'a>(written: &str, keys: &'a [String]) -> Vec<&'a str> {
    near::names(written, keys.iter().map(String::as_str))
}

/// Names that are close to `written`, nearest first, at most three.
pub fn near_names<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    near::names(written, names)
}

struct Keys<'a> {
    run: &'a Resolved,
    found: Vec<String>,
}

impl Keys<'_> {
    /// The keys of a table, which belongs to a flow or to none.
    fn table(&mut self, prefix: &str, group: &Group, flow: Option<&Flow>) {
        for key in group.keys {
            let name = format!("{prefix}{}", key.name);
            self.below(&name, &key.kind, flow);
            self.found.push(name);
        }
    }

    fn below(&mut self, name: &str, kind: &Kind, flow: Option<&Flow>) {
        match *kind {
            Kind::Table(group) | Kind::Short { group, .. } => {
                self.table(&format!("{name}."), group, flow);
            }
            Kind::Named(group) => {
                // Mounts and flows are lists of one kind; the key separates them.
                for own in &self.run.nfs {
                    if name == "nfs" {
                        self.item(&format!("{name}.{}", own.name), group, None);
                    }
                }

                // Flows of mounts come from [[nfs]]: their keys do not exist.
                for flow in self.run.flow.iter().filter(|flow| flow.app != App::Nfs) {
                    if name != "nfs" {
                        self.item(&format!("{name}.{}", flow.name), group, Some(flow));
                    }
                }
            }
            Kind::Elements(groups) => {
                let path = &self.run.path;

                // Elements are named after their way.
                let elements = if name.ends_with("forward") { &path.forward } else { &path.back };
                for element in elements {
                    let group = groups.iter().find(|(kind, _)| *kind == element.kind());
                    if let Some((_, group)) = group {
                        self.item(&format!("{name}.{}", element.name()), group, None);
                    }
                }
            }
            Kind::Sysctl => {
                let real = REAL_SYSCTLS.iter().map(|known| known.name);
                self.named(name, SYSCTLS.iter().map(|known| known.name).chain(real));
            }
            Kind::Sockopt => self.named(name, SOCKOPTS.iter().map(|known| known.name)),
            Kind::Behaviour => self.named(name, BEHAVIOURS.iter().map(|known| known.name)),
            // Parameters depend on the flow's algorithm.
            Kind::Congestion => {
                let of = flow.map(|flow| flow.congestion.name.as_str());
                let real = congestion::of_real_kernels();
                let module = real.iter().find(|module| Some(module.name) == of);
                let parameters = module.into_iter().flat_map(|module| &module.parameters);
                self.named(name, ["name"].into_iter().chain(parameters.map(|p| p.name)));
            }
            Kind::SlowStart => {
                // Parameters of all slow starts count: any of them could be chosen.
                let all = slow_start::slow_starts();
                let parameters = all.iter().flat_map(|one| &one.parameters).map(|p| p.name);
                self.named(name, ["name"].into_iter().chain(parameters));
            }
            _ => {}
        }
    }

    /// An item of a list, by its name.
    fn item(&mut self, name: &str, group: &Group, flow: Option<&Flow>) {
        self.found.push(name.into());
        self.table(&format!("{name}."), group, flow);
    }

    fn named<'n>(&mut self, table: &str, names: impl IntoIterator<Item = &'n str>) {
        self.found.extend(names.into_iter().map(|name| format!("{table}.{name}")));
    }
}
