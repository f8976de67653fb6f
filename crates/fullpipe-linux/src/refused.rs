//! Values that the kernel refuses, by the keys of the scenario.
//!
//! Limits:
//! - Bounds of sysctls are known before a run. Any other value of a sysctl, a socket option or a module's parameter
//!   that the kernel refuses is found as the run begins.

use super::kernel::Family;
use fullpipe_base::path::Direction;
use fullpipe_guest::refusal::{Asked, Refusal, Role, Whose};
use fullpipe_scenario::engine::Failed;
use fullpipe_scenario::{Flow, Resolved, congestion};

/// The end of a run after the kernel has refused a value. Where no key of the scenario stands for the value, the fault
/// is not the scenario's.
pub(super) fn failed(refusal: &Refusal, run: &Resolved, family: Family) -> Failed {
    let Refusal { asked, said } = refusal;
    match wanted(asked, run, family) {
        Some(Wanted { key, value, why, range }) => Failed::Scenario(format!(
            "engine linux cannot do {key} = {value}: Linux {family} refuses it: {why}{said}{range}"
        )),
        None => Failed::Machine(format!("Linux {family} refuses {asked}: {said}")),
    }
}

/// End of a run after this machine's kernel has refused a value (engine `host`).
pub(super) fn failed_on_this_kernel(refusal: &Refusal, run: &Resolved) -> Failed {
    let Refusal { asked, said } = refusal;
    match wanted(asked, run, Family::default()) {
        Some(Wanted { key, value, why, .. }) => Failed::Scenario(format!(
            "engine host cannot do {key} = {value}: this machine's kernel refuses it: {why}{said}"
        )),
        None => Failed::Machine(format!("this machine's kernel refuses {asked}: {said}")),
    }
}

/// A refused setting of a scenario.
struct Wanted {
    key: String,
    value: String,
    /// More than the kernel says: the beginning of its words.
    why: &'static str,
    /// Range of valid values, where it is known: the end of a sentence.
    range: String,
}

impl Wanted {
    fn new(key: String, value: impl ToString) -> Wanted {
        Wanted { key, value: value.to_string(), why: "", range: String::new() }
    }
}

fn wanted(asked: &Asked, run: &Resolved, family: Family) -> Option<Wanted> {
    match asked {
        Asked::Sysctl { of, name, value } => {
            // The kernel has one rmem_max, which is that of the host that receives.
            let receives = if run.has(Direction::Forward) { "receiver" } else { "sender" };
            let value = if value.contains(' ') { format!("\"{value}\"") } else { value.clone() };
            Some(Wanted::new(sysctl(*of, name, run, receives)?, value))
        }
        Asked::Option { flow, role, name, value } => {
            let flow = &run.flow.get(*flow)?.name;
            let table = match role {
                Role::Sender => "sockopt",
                Role::Receiver => "receiver_sockopt",
            };
            Some(Wanted::new(format!("flow.{flow}.{table}.{name}"), value))
        }
        Asked::Congestion { flow, .. } => Some(algorithm(run.flow.get(*flow)?, family)),
    }
}

/// The key of a sysctl; none for a sysctl that the engine itself sets. `receives` is the host that provides `rmem_max`.
fn sysctl(of: Whose, name: &str, run: &Resolved, receives: &str) -> Option<String> {
    let dotted = name.replace('/', ".");
    let host = match of {
        Whose::Host(role) => format!("hosts.{}", host(role)),
        Whose::Beside(number) => format!("host.{}.set", run.host.get(number)?.name),
        Whose::Kernel if dotted == "net.core.rmem_max" => format!("hosts.{receives}"),
        Whose::Kernel | Whose::Router => return None,
    };
    match dotted.as_str() {
        "net.ipv4.tcp_timestamps" => Some(format!("{host}.timestamps")),
        _ => Some(format!("{host}.sysctl.{dotted}")),
    }
}

fn host(role: Role) -> &'static str {
    match role {
        Role::Sender => "sender",
        Role::Receiver => "receiver",
    }
}

/// Key of a congestion control that the kernel does not have. Its module checks its parameters when the kernel starts,
/// and does not register if it refuses one. All kernels have all modules.
fn algorithm(flow: &Flow, family: Family) -> Wanted {
    let name = &flow.congestion.name;
    let key = format!("flow.{}.congestion", flow.name);
    let modules = congestion::of_real_kernels();
    let Some(module) = modules.iter().find(|module| module.name == name.as_str()) else {
        return Wanted::new(key, name);
    };
    let defaults = congestion::defaults(module, family.name());

    // Only parameters that differ from their defaults can be the reason.
    let changed = |name: &str| flow.congestion.parameters.get(name) != defaults.get(name);
    let changed: Vec<_> = module.parameters.iter().filter(|p| changed(p.name)).collect();
    let range = changed
        .iter()
        .map(|p| format!("; {} ({}, {} to {}): {}", p.name, p.unit, p.min, p.max, p.meaning));
    let range = range.collect();
    let of = |name: &str| flow.congestion.parameters.get(name).copied().unwrap_or_default();
    let why = "its module does not register: ";
    match changed[..] {
        [] => Wanted::new(key, name),
        [one] => Wanted { why, range, ..Wanted::new(format!("{key}.{}", one.name), of(one.name)) },
        _ => {
            let values = changed.iter().map(|p| format!(", {} = {}", p.name, of(p.name)));
            let table = format!("{{ name = \"{name}\"{} }}", values.collect::<String>());
            Wanted { why, range, ..Wanted::new(key, table) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullpipe_scenario::{Source, load};

    const SCENARIO: &str = r#"
[path]
rate = "1Gbit"
[hosts]
sender = { kernel = "6.12" }
receiver = { kernel = "6.12" }
[[flow]]
name = "first"
duration = "1s"
[[flow]]
name = "second"
duration = "1s"
congestion = { name = "cdg", window = 7, use_shadow = 0 }
"#;

    fn failure(asked: Asked) -> Failed {
        let scenario = load(&Source::text("asked.toml", SCENARIO), &[], &[]).expect("valid");
        let refusal = Refusal { asked, said: "No".into() };
        failed(&refusal, &scenario.plans()[0].resolved, Family::V6_12)
    }

    fn sysctl(of: Whose, name: &str, value: &str) -> Asked {
        Asked::Sysctl { of, name: name.into(), value: value.into() }
    }

    #[test]
    fn what_a_scenario_asks_for_is_named_by_its_key() {
        let option = |role| Asked::Option { flow: 0, role, name: "TCP_SYNCNT".into(), value: 9 };
        let (sender, receiver) = (Whose::Host(Role::Sender), Whose::Host(Role::Receiver));
        let congestion = |flow, name: &str| Asked::Congestion { flow, name: name.into() };
        let cases = [
            (
                sysctl(sender, "net/ipv4/tcp_ecn", "3"),
                "hosts.sender.sysctl.net.ipv4.tcp_ecn = 3",
                "",
            ),
            (
                sysctl(receiver, "net/ipv4/tcp_rmem", "1 2 3"),
                "hosts.receiver.sysctl.net.ipv4.tcp_rmem = \"1 2 3\"",
                "",
            ),
            (sysctl(sender, "net/ipv4/tcp_timestamps", "1"), "hosts.sender.timestamps = 1", ""),
            (
                sysctl(Whose::Kernel, "net/core/rmem_max", "1"),
                "hosts.receiver.sysctl.net.core.rmem_max = 1",
                "",
            ),
            (option(Role::Sender), "flow.first.sockopt.TCP_SYNCNT = 9", ""),
            (option(Role::Receiver), "flow.first.receiver_sockopt.TCP_SYNCNT = 9", ""),
            (congestion(0, "cubic"), "flow.first.congestion = cubic", ""),
            (
                congestion(1, "cdg"),
                "flow.second.congestion = { name = \"cdg\", use_shadow = 0, window = 7 }",
                "its module does not register: ",
            ),
        ];
        for (asked, key, why) in cases {
            let Failed::Scenario(text) = failure(asked) else {
                panic!("{key}: not the scenario's")
            };
            let expected = format!("engine linux cannot do {key}: Linux 6.12 refuses it: {why}No");
            assert!(text.starts_with(&expected), "{text}");
        }
    }

    #[test]
    fn what_the_engine_sets_is_no_fault_of_the_scenario() {
        let text = "Linux 6.12 refuses sysctl net/ipv4/tcp_mem = 1: No";
        let found = failure(sysctl(Whose::Kernel, "net/ipv4/tcp_mem", "1"));
        assert_eq!(found, Failed::Machine(text.into()));
    }
}
