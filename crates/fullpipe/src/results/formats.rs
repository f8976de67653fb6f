//! The reference page of the formats and the JSON Schema of the document, made from the
//! declarations of columns and the document's types.

use crate::analysis::document::{self, Document};
use crate::capture;
use crate::trace::packets::PacketTrain;
use crate::trace::schema::{EVENT_KINDS, FORMAT, Row, event_meaning};
use fullpipe_base::limits::{self, About};
use fullpipe_base::trace::{Counter, Event, FlowSample, Limit, StageSample};
use serde_json::{Map, Value};
use std::fmt::Write;

/// JSON Schema of `summary.json`, with a line end.
pub fn json_schema() -> String {
    let schema = schemars::schema_for!(Document);
    let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text + "\n"
}

/// The reference page, Markdown.
pub fn markdown() -> String {
    let mut page = String::from(HEAD);
    table::<FlowSample>(&mut page);
    table::<StageSample>(&mut page);
    table::<Event>(&mut page);
    event_kinds(&mut page);
    table::<Counter>(&mut page);
    table::<PacketTrain>(&mut page);
    page += PACKETS;
    limits(&mut page);
    let _ = write!(page, "\n## summary.json\n\nFormat {}. ", document::FORMAT);
    page += SUMMARY;
    document_types(&mut page);
    page += TAIL;
    page += &capture::reference();
    page
}

const HEAD: &str = "\
# Formats

<!-- Generated from the declarations in the code: fullpipe schema --markdown -->

What a run leaves on disk. Units stand in the names; MB is 10^6 bytes, MiB 2^20 bytes. The clock of
all traces is simulated time: integer nanoseconds since the start of the run.

| file | what it holds |
|---|---|
| `summary.json` | the document of all runs, described below and by `fullpipe schema` |
| `run.json` | wall clock, versions, command and machine: the only file that may differ between equal runs |
| `report.html` | the report, one file that needs no network; its element `fullpipe-data` is `summary.json`, a large one deflated (RFC 1951) and in base64 |
| `RUN/scenario.resolved.toml` | the complete scenario of a run, every default written out; it can be run |
| `RUN/flows.parquet`, `RUN/stages.parquet`, `RUN/events.parquet` | the trace of a run |
| `RUN/counters.parquet` | counters of the hosts, and of programs with datagrams |
| `RUN/packets.parquet` | the packets that passed one point, where `report.packets` or `--packets` asks for them |
| `RUN/time-sequence.html` | their time-sequence graph, one file that needs no network; `fullpipe report` draws it again |
| `RUN/intervals.csv` | the intervals of all flows of a run, named as in `summary.json` |

`RUN` is the name of the run (its variant and sweep point); characters other than letters, digits,
`.`, `_` and `=` become `-`, and a name that would stand twice gets a number.

The metadata of each Parquet file hold `fullpipe.format`, `fullpipe.table` and `fullpipe.checksum`: the FNV-1a
hash of the whole file, in which the checksum itself counts as sixteen zeros.

A results directory is written under a hidden name and renamed when it is whole. Nothing is ever
overwritten: under `fullpipe-results/` a name that exists gets a number (`fink-2007-run-2`) and `latest`
points to the newest; a directory named with `--out` must not exist yet, or be empty.
";

const PACKETS: &str = "
Points are those of [captures](#captures). A packet is told when it is known what became of it, so that `dropped` and
`dropped_at` say more than a capture can. Its timestamps and IP identification stand in captures only.

`time-sequence.html` holds the same trains in chunks (the values' differences as LEB128 numbers, deflated, in base64), and
coarser levels: what passed in bins of time that are four times as wide from level to level. Rounds of slow start are
marked as the sender's TCP has them (`slow_start_rounds` of a Flow).
";

const SUMMARY: &str = "\
The same document is printed by `--json`.

The interval clock of a flow starts when the receiver's accept() returns, earlier by the scenario's
`report.clock_offset`. A counter at a moment is its value at the last sample not later than that;
nothing is interpolated. The last interval ends with the flow or the run, may be shorter than the
others, and takes what was delivered after the last full one, so that intervals add up to the flow.

A flow lives from its connect() until the receiver has read everything, or the run ends. `mean_mbit` and
`limits` cover this life. Where it writes for a `duration`, engine `linux` dates the read that finds its end; in the
simulator its life ends with the sample that shows its last byte delivered, up to `report.sample` later, and no earlier
than its `duration`.

The plateau of a flow is the median of the highest sixth of its full intervals (at least three). It is
reached only if three intervals lie at 90 % of it or above, and the rate has stopped rising: from the first
of them on, the median of the later half is at most 5 % above that of the earlier half.
`time_to_plateau_s` is the end of the first interval at 90 % of it or above; `time_to_full_rate_s` that of the first
of three in a row at 90 % of what the slowest link of the way forward, or a card that is slower, can carry in full segments.

A row of published figures belongs to the ramp up to and including the one in which the published rate
saturates (the plateau begins at 98 % of the published plateau). The band of a row holds what it would count
if the interval clock started up to half a smoothed round-trip time earlier or later. Rows that end after the
run are left out.
";

const TAIL: &str = "
## intervals.csv

One line per flow and interval: `flow`, then the fields of Interval in the order above; shares become
columns `limits.NAME`; null is an empty field.
";

fn table<R: Row>(page: &mut String) {
    let _ = write!(
        page,
        "\n## {}.parquet\n\nFormat {FORMAT}. A row is {}.\n\n\
         | column | type | unit | observed at | clock | meaning |\n|---|---|---|---|---|---|\n",
        R::TABLE,
        R::MEANING
    );
    for column in R::columns() {
        let (kind, clock) = (column.kind.name(), column.clock.name());
        let _ = writeln!(
            page,
            "| `{}` | {kind} | {} | {} | {clock} | {} |",
            column.name, column.unit, column.point, column.meaning
        );
    }

    // Stages are described once a file, not in each row.
    if R::TABLE == StageSample::TABLE {
        *page += "\nThe file's metadata also describe the stages under `fullpipe.stages`: a JSON array of \
                  `index`, `name`, `kind`, `direction`, `unit`, `capacity` (as in the document's Stage), and `timed`: whether \
                  the columns from `waiting_ns` on tell something; else they are 0, and only the samples tell.\n";
    }
}

fn event_kinds(page: &mut String) {
    *page += "\n| kind | meaning |\n|---|---|\n";
    for kind in EVENT_KINDS {
        let _ = writeln!(page, "| `{}` | {} |", kind.name(), event_meaning(kind));
    }
}

fn limits(page: &mut String) {
    *page += "\n## Limits\n\nA limit is the predicate that stopped the sender from sending. In the trace \
              they are columns `limit_NAME_ns`, in documents shares that add up to 1.\n\n\
              | name | what stopped the sender |\n|---|---|\n";

    // Limits beyond the trace's own are derived by the analysis.
    for About { index, name, meaning, .. } in limits::by_index() {
        let only = if *index < Limit::COUNT { "" } else { "documents only: " };
        let _ = writeln!(page, "| `{name}` | {only}{meaning} |");
    }
    *page += "\nWhere drops or marks have cut cwnd, documents name their places: `reductions` of a flow has shares of its life, a \
              part of those of cwnd. A cut begins with the first sample that shows the flow in CWR, Recovery or Loss, \
              or a lower ssthresh, and ends with the first one that shows neither. Its causes are the packets that places \
              on the data's way have dropped or marked since the cut before ended, each place in proportion; without any of them \
              it is no cut. The time in which cwnd held the flow back belongs to the causes of the latest cut. Places \
              count packets of all flows, and a cut that is undone stays one until the next.\n";
}

fn document_types(page: &mut String) {
    let schema = schemars::schema_for!(Document).to_value();
    let empty = Map::new();
    one_type(page, "Document", &schema);
    let parts = schema.get("$defs").and_then(Value::as_object).unwrap_or(&empty);
    for (name, part) in parts {
        one_type(page, name, part);
    }
}

fn one_type(page: &mut String, name: &str, schema: &Value) {
    let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let _ = write!(page, "\n### {name}\n\n{about}\n\n| field | type | meaning |\n|---|---|---|\n");
    let fields = schema.get("properties").and_then(Value::as_object);
    for (field, schema) in fields.into_iter().flatten() {
        let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = writeln!(page, "| `{field}` | {} | {about} |", type_name(schema));
    }
}

/// A JSON type in words.
fn type_name(schema: &Value) -> String {
    // A reference has the type's name as its last part.
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return reference.rsplit('/').next().unwrap_or_default().into();
    }
    if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
        return choices.iter().map(type_name).collect::<Vec<_>>().join(" or ");
    }

    // Null beside a type makes an array of types.
    match schema.get("type") {
        Some(Value::String(name)) => with_items(name, schema),
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str);
            names.map(|name| with_items(name, schema)).collect::<Vec<_>>().join(" or ")
        }
        _ => "any".into(),
    }
}

fn with_items(name: &str, schema: &Value) -> String {
    let of = |key| schema.get(key).filter(|inner| inner.is_object()).map(type_name);
    match name {
        "array" => format!("array of {}", of("items").unwrap_or_else(|| "any".into())),
        "object" => {
            format!("name to {}", of("additionalProperties").unwrap_or_else(|| "any".into()))
        }
        name => name.into(),
    }
}
