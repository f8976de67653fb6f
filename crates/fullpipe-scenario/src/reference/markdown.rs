//! The reference page.

use super::groups;
use crate::format::diagnostic::CODES;
use crate::format::keys::{Default, Group, Kind, Section};
use crate::format::quantity::{
    DESCRIPTORS, Dimension, PACKETS, RATE, SIZE, TIME, TIME_PER_BYTE, TIME_PER_CALL,
    TIME_PER_PACKET,
};
use crate::format::real_sysctl::{REAL_SYSCTLS, RealSysctl};
use crate::format::sysctl::{SYSCTLS, written};
use crate::metric::{
    BACKWARD_STAGES, DATAGRAMS, FAIRNESS, FLOW, LIMITS, Metric, NFS, RECEIVER_STAGES,
    SENDER_STAGES, STAGE, UDP_SOCKET,
};
use crate::profile::{self, KERNELS, Kernel, shown};
use crate::published;
use crate::{congestion, slow_start};
use fullpipe_base::bounds::Bounds;
use fullpipe_base::units::Time;
use fullpipe_sim::cc::{self, Description, KernelVersion};
use fullpipe_sim::tcp::behaviour::BEHAVIOURS;
use fullpipe_sim::tcp::profile::PROFILES;
use std::fmt::Write;

const INTRODUCTION: &str = "\
# Scenarios

<!-- Generated from the declarations in the code: fullpipe schema scenario --markdown -->

A scenario is a TOML file that says what is run: a path, its hosts, and the flows between them; which
variants and sweep points; what figures others published; what the result has to be. `fullpipe run
my.toml` runs it, `fullpipe run --dry-run my.toml` shows what it means with every default written out.
An editor that knows JSON Schema checks and completes it with what `fullpipe schema scenario` prints.

The smallest one:

```toml
[path]
rate = \"1Gbit\"
delay = { forward = \"10ms\", back = \"10ms\" }

[hosts]
sender = { kernel = \"2.6.20\" }
receiver = { kernel = \"2.6.20\" }

[[flow]]
name = \"bulk\"
duration = \"10s\"
```

Unknown keys are errors. A message names the file, line and column, says what is expected and lists
names that are near; all problems of a file are reported at once as far as they can be found.

## Variants, sweeps and `--set`

The file's keys are the base. A variant changes it, a sweep point changes that, and `--set KEY=VALUE`
comes last. All three use dotted keys: `path.delay.forward`, `flow.NAME.congestion.initial_ssthresh`,
`path.forward.NAME.rate`, `hosts.sender.sysctl.net.core.wmem_max`. A list of tables is addressed by the
`name` of its entry. A value replaces the whole former value, so a table replaces a table.

After `--set` a value is TOML, or, where that fails, text without quotes: `--set path.rate=2Gbit`. A
`--set` of a key that is an axis of the sweep replaces the axis.

```toml
[[variant]]
name = \"short queue\"
set = { \"path.queue.limit\" = \"100 packets\" }

[sweep]
\"path.delay.forward\" = [\"10ms\", \"20ms\", \"40ms\"]
```
";

/// The page.
pub fn markdown() -> String {
    let mut page = INTRODUCTION.to_string();
    units(&mut page);
    page += "\n## Keys\n";
    page += "\nKeys of the outermost level stand before the first table header.\n";
    for group in groups() {
        table(&mut page, group);
    }
    sysctls(&mut page);
    behaviours(&mut page);
    congestion_controls(&mut page);
    slow_starts(&mut page);
    metrics(&mut page);
    figures(&mut page);
    codes(&mut page);
    page
}

/// Text for a cell of a table.
fn cell(text: &str) -> String {
    text.trim().replace(['\n', '\r'], " ").replace('|', "\\|")
}

fn row(page: &mut String, cells: &[&str]) {
    let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
    *page += &format!("| {} |\n", cells.join(" | "));
}

fn head(page: &mut String, titles: &[&str]) {
    *page += "\n";
    row(page, titles);
    *page += &format!("|{}\n", "---|".repeat(titles.len()));
}

fn units(page: &mut String) {
    *page += "\n## Units\n\nA quantity is a string with its unit. Decimal and binary prefixes mean what they say \
              (MB is 10^6 bytes, MiB 2^20). What is not a whole number of the base unit is refused, never rounded.\n";
    head(page, &["quantity", "base unit", "units", "example"]);

    // Dimensions in the order in which readers meet them.
    let all: [&Dimension; 8] = [
        &RATE,
        &TIME,
        &SIZE,
        &PACKETS,
        &DESCRIPTORS,
        &TIME_PER_BYTE,
        &TIME_PER_PACKET,
        &TIME_PER_CALL,
    ];
    for dimension in all {
        let units: Vec<&str> = dimension.units.iter().map(|(name, _)| *name).collect();
        let example = format!("`\"{}\"`", dimension.example);
        row(page, &[dimension.name, dimension.base, &units.join(", "), &example]);
    }
    *page += "\nA rate's `bit` may be followed by `/s`. A probability is a number from 0 to 1, or a percentage: \
              `1e-3`, `\"0.1%\"`.\n";
}

fn table(page: &mut String, group: &Group) {
    let _ = writeln!(page, "\n### {}", title(group));

    // Names with an article explain themselves.
    if !group.name.starts_with("the ") {
        let _ = writeln!(page, "\n{}", cell(group.doc));
    }
    head(page, &["key", "value", "default", "meaning"]);
    for key in group.keys {
        let default = match key.default {
            Default::Required => "required".to_string(),
            Default::Unless(other) => format!("required, unless there is `{other}`"),
            Default::Is(text) => format!("`{text}`"),
            Default::Empty => "its own defaults".into(),
            Default::Absent(text) => text.into(),
        };
        row(page, &[&format!("`{}`", key.name), &value(&key.kind), &default, key.doc]);
    }
}

/// Heading of a table: "`[path]`", "A link"; for the outermost level the contents of the file.
fn title(group: &Group) -> String {
    if group.name.starts_with("the ") {
        return group.doc.trim().trim_end_matches('.').into();
    }
    match group.name.strip_prefix('a') {
        Some(name) => format!("A{name}"),
        None => format!("`{}`", group.name.replace(" or ", "` or `")),
    }
}

/// A link to the table's heading.
fn link(group: &Group) -> String {
    let anchor: String = title(group)
        .to_lowercase()
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || " -_".contains(*c))
        .collect();
    format!("[{}](#{})", title(group), anchor.replace(' ', "-"))
}

/// Form of a value, with its bounds.
fn value(kind: &Kind) -> String {
    match kind {
        Kind::Quantity { dimension, min, max } => {
            let bounds = match dimension.base {
                "nanoseconds" => format!("{} to {}", Time(*min), Time(*max)),
                base => format!("{min} to {max} {base}"),
            };
            format!("{}, {bounds}", dimension.name)
        }
        Kind::Table(group) => format!("a table, see {}", link(group)),
        Kind::Short { group, short } => format!("`{short}` alone, or a table, see {}", link(group)),
        Kind::Named(group) | Kind::List(group) => format!("tables, see {}", link(group)),
        Kind::Elements(kinds) => {
            let names: Vec<String> = kinds.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            format!("tables, each with a `kind`: {}", names.join(", "))
        }
        kind => kind.describe(),
    }
}

fn sysctls(page: &mut String) {
    *page += "\n## sysctls and kernel profiles\n\nSizes are bytes, as the kernel writes them, or have a unit.\n";
    let names: Vec<String> = KERNELS.iter().map(|kernel| shown(kernel.name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    head(page, &[&["sysctl", "meaning"], names.as_slice()].concat());

    // One column a kernel: defaults change between versions.
    for entry in SYSCTLS {
        let defaults: Vec<String> = KERNELS
            .iter()
            .map(|k| {
                // A kernel without that sysctl has a dash.
                let value = written(&k.sysctl).into_iter().find(|(name, _)| *name == entry.name);
                value.map_or("–".into(), |(_, value)| value.to_string().replace('"', ""))
            })
            .collect();
        let name = format!("`{}`", entry.name);
        let mut cells = vec![name.as_str(), entry.doc];
        cells.extend(defaults.iter().map(String::as_str));
        row(page, &cells);
    }
    *page += "\nOn genuine kernels (--engine linux) also, as numbers that `Documentation/networking/ip-sysctl.rst` of the \
              kernel explains, within the bounds that the kernels themselves have:\n";

    // Real kernels have more, which the simulator does not model.
    head(page, &["sysctl", "values", "kernels"]);
    for sysctl in REAL_SYSCTLS {
        row(page, &real_sysctl(sysctl).each_ref().map(String::as_str));
    }
    *page += "\nThe maxima of `tcp_rmem` and `tcp_wmem` grow with the host's memory up to 4 MiB, those of \
              `net.core` up to 131071; the profile has these maxima.\n";

    // Other defaults of profiles follow in a table of their own.
    head(page, &["profile", "hz", "timestamps", "tso", "qdisc.limit", "rings", "congestion"]);
    for k in KERNELS {
        let [hz, timestamps, tso] = [k.hz.to_string(), k.timestamps.to_string(), k.tso.to_string()];
        let [qdisc, ring] =
            [format!("{} packets", k.qdisc_limit), format!("{} descriptors", k.ring)];
        row(page, &[&shown(k.name), &hz, &timestamps, &tso, &qdisc, &ring, k.congestion]);
    }
}

/// Name, values, kernels that have it.
fn real_sysctl(sysctl: &RealSysctl) -> [String; 3] {
    let Bounds { min: least, max: most } = sysctl.bounds;
    let values =
        if most == i64::MAX { format!("{least} and more") } else { format!("{least} to {most}") };
    let kernels: Vec<&str> = profile::real_kernels()
        .map(|kernel| kernel.name)
        .filter(|kernel| KernelVersion::parse(kernel).is_some_and(|v| sysctl.is_in(v)))
        .collect();
    [format!("`{}`", sysctl.name), values, kernels.join(", ")]
}

/// The rows of the kernel profiles, which `behaviour` of a host overrides.
fn behaviours(page: &mut String) {
    *page += "\n## Behaviours of kernel profiles\n\nEach can be overridden by name in a host: \
              `behaviour = { reduction = \"prr\" }`. Where each appeared is told in \
              `crates/fullpipe-sim/src/tcp/kernel/rows`. What has a dash is not read there, and is refused \
              ([kernels.md](kernels.md#rows-that-not-all-read)).\n";
    let names: Vec<String> = PROFILES.iter().map(|profile| shown(profile.name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    head(page, &[&["behaviour", "meaning", "choices"], names.as_slice()].concat());
    for entry in BEHAVIOURS {
        let name = format!("`{}`", entry.name);
        let choices = (entry.choices)().join(", ");
        let mut cells = vec![name.as_str(), entry.doc, &choices];

        // A row that the profile does not read has a dash.
        cells.extend(
            PROFILES.iter().map(|profile| {
                if entry.unmet(profile).is_none() { entry.of(profile) } else { "–" }
            }),
        );
        row(page, &cells);
    }
}

fn congestion_controls(page: &mut String) {
    *page += "\n## Congestion controls\n\nA parameter that is not written has the default of the sender's kernel profile. What \
              each one is, after which source, and where it differs, is told in [congestion.md](congestion.md). Of `compound`, which no version of Linux has, the same values go with all kernels; \
              engine `linux` refuses it.\n";
    let simulated: Vec<&Kernel> = KERNELS
        .iter()
        .filter(|kernel| !kernel.is_real && !profile::is_unvalidated(kernel.name))
        .collect();
    algorithms(page, &cc::algorithms(), &simulated);
    *page += "\nGenuine kernels have these, with the parameters of their modules. One kernel has one value of a parameter \
              for all flows.\n";
    algorithms(page, &congestion::of_real_kernels(), &profile::real_kernels().collect::<Vec<_>>());
}

fn slow_starts(page: &mut String) {
    *page += "\n## Slow starts\n\n`slow_start` of a flow is one of these. The first three are what kernels have, and set the \
              parameters of the congestion control that stand for them; no kernel has the others, which the \
              simulator puts in the place of its slow start ([slow-start.md](slow-start.md)).\n";
    head(page, &["parameter", "values", "unit", "meaning", "default"]);
    for one in slow_start::slow_starts() {
        row(page, &[&format!("**{}**", one.name), "", "", one.title, ""]);
        for p in &one.parameters {
            let (name, values) = (format!("`{}`", p.name), format!("{} to {}", p.min, p.max));
            let default =
                p.defaults.first().map(|(_, value)| value.to_string()).unwrap_or_default();
            row(page, &[&name, &values, p.unit, p.meaning, &default]);
        }
    }
}

/// A table of algorithms with their defaults in these kernels.
fn algorithms(page: &mut String, algorithms: &[Description], kernels: &[&Kernel]) {
    let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name).collect();
    head(page, &[&["parameter", "values", "unit", "meaning"], names.as_slice()].concat());
    for algorithm in algorithms {
        let name = format!("**{}**", algorithm.name);

        // The algorithm's own row has no values: its parameters follow.
        let blank = vec![""; names.len()];
        row(page, &[&[name.as_str(), "", "", algorithm.title], blank.as_slice()].concat());
        for p in &algorithm.parameters {
            let defaults = kernels.iter().map(|kernel| {
                let all = congestion::defaults(algorithm, kernel.name);
                all.get(p.name).map(i64::to_string).unwrap_or_default()
            });
            let defaults: Vec<String> = defaults.collect();
            let (name, values) = (format!("`{}`", p.name), format!("{} to {}", p.min, p.max));
            let mut cells = vec![name.as_str(), values.as_str(), p.unit, p.meaning];
            cells.extend(defaults.iter().map(String::as_str));
            row(page, &cells);
        }
    }
}

fn metrics(page: &mut String) {
    *page += "\n## Metrics of `[[expect]]`\n";
    head(page, &["metric", "unit of `within`", "where", "meaning"]);
    let limits = Metric { name: "limits.LIMIT", ..LIMITS };
    for metric in FLOW.iter().chain([&limits]) {
        metric_row(page, "flow", metric);
    }
    for metric in FAIRNESS {
        metric_row(page, "fairness", metric);
    }
    for metric in DATAGRAMS {
        metric_row(page, "datagrams", metric);
    }
    for metric in NFS {
        metric_row(page, "nfs", metric);
    }
    for metric in STAGE {
        metric_row(page, "stage", metric);
    }
    let list =
        |names: &[&str]| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    let limits: Vec<&str> = fullpipe_base::limits::limit_names().collect();
    let _ = writeln!(
        page,
        "\nStages are the path's elements by name, and the hosts': `sender.` with {}; `receiver.` with {}; where a \
         flow goes backward also {}; of a host that UDP datagrams go to also `HOST.{UDP_SOCKET}`.\n\
         LIMIT is one of {}. A tolerance is in the metric's unit, or relative: `\"2 %\"`.",
        list(SENDER_STAGES),
        list(RECEIVER_STAGES),
        list(BACKWARD_STAGES),
        list(&limits),
    );
}

fn metric_row(page: &mut String, subject: &str, metric: &Metric) {
    let extent = match (metric.per_interval, metric.whole_run) {
        (true, true) => "per interval, or the whole run",
        (true, false) => "per interval",
        _ => "the whole run",
    };
    let of = if subject == "fairness" { subject.into() } else { format!("{subject}.NAME") };
    let name = format!("`{of}.{}`", metric.name);
    row(page, &[&name, metric.unit.example(), extent, metric.doc]);
}

fn figures(page: &mut String) {
    *page += "\n## Published figures\n\nThe file that `published` names is TOML too. The length of an interval is its \
              size divided by its rate. iperf3 JSON, ss logs and CSV are not read yet.\n";
    for group in [published::File::GROUP, published::RunTable::GROUP] {
        table(page, group);
    }
}

fn codes(page: &mut String) {
    *page += "\n## Codes of messages\n";
    head(page, &["code", "meaning"]);
    for (code, meaning) in CODES {
        row(page, &[&format!("`{code}`"), meaning]);
    }
}
