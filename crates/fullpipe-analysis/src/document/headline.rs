//! The answer of a run and of a document, in one line.

use super::{Confidence, Finding};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer: how fast it was, how fast it could be, what is in the way, and what to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Headline {
    /// The whole answer in one line. Its first sentence has rate, share, place and setting.
    pub text: String,
    /// How good the result is: "full", "queue" (full, with a long queue), "late" (full after a long start), "as_asked" (the
    /// programs ask for no more), "below", "lossy", "failed", "no_traffic", "partial" or "cannot_tell".
    pub grade: Grade,
    /// Rate of payload reached, Mb/s (10^6); absent where nothing was sent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rate_mbit: Option<f64>,
    /// Rate of payload that the path allows to all flows of one direction together, Mb/s.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub allowed_mbit: Option<f64>,
    /// Share of the allowed rate that was reached (0 to 1).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub share: Option<f64>,
    /// Cause that stops the flows, and its share of their lives, in words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cause: Option<String>,
    /// Limit that stops the flows most, by its name in `Flow.limits`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit: Option<String>,
    /// Share of the flows' lives in which it does (0 to 1).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit_share: Option<f64>,
    /// Name of the rule that explains the cause; absent where none does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rule: Option<String>,
    /// Code of the cause (`fullpipe explain CODE`); absent where no rule explains it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
    /// Group of the cause: where in the chain it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub group: Option<String>,
    /// Certainty of the cause; absent where no cause is named.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub confidence: Option<Confidence>,
    /// Codes of causes that look the same in the view of the run.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub twins: Vec<String>,
    /// Stage or host where it does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub place: Option<String>,
    /// Setting that is meant.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub setting: Option<Setting>,
    /// Time that packets wait in a standing queue, ms; absent where no queue stands.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queue_ms: Option<f64>,
    /// Whether expectations and published figures agree with the result.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub judged: Option<Judged>,
}

impl Headline {
    /// The headline with the cause of a finding. Its text stays.
    #[must_use]
    pub fn about(self, own: &Finding) -> Headline {
        Headline {
            cause: Some(own.cause.clone()),
            limit_share: Some(own.share_of_time),
            rule: Some(own.rule.clone()),
            code: Some(own.code.clone()),
            group: Some(own.group.clone()),
            confidence: Some(own.confidence),
            twins: own.twins.clone(),
            place: own.place.clone(),
            setting: own.setting.clone(),
            ..self
        }
    }

    /// Whether the run is as good as its path, and as expected and published.
    pub fn is_good(&self) -> bool {
        self.grade.is_good() && self.judged.as_ref().is_none_or(|judged| judged.good)
    }
}

/// How good a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Grade {
    /// The path is full: 90 % or more of the allowed rate.
    Full,
    /// The path is full, and a long queue stands in front of it.
    Queue,
    /// The path is full in the end, but the way there takes more than a tenth of the time.
    Late,
    /// Nothing of the path or of TCP is in the way: the programs ask for no more.
    AsAsked,
    /// Less than the path allows.
    Below,
    /// A tenth or more of the datagrams did not arrive.
    Lossy,
    /// No data arrived, or a connection was given up.
    Failed,
    /// Nobody sent anything.
    NoTraffic,
    /// The run was cut short, or runs are missing.
    Partial,
    /// The trace does not say what is in the way.
    CannotTell,
}

impl Grade {
    /// Whether the result deserves praise.
    pub fn is_good(self) -> bool {
        matches!(self, Grade::Full | Grade::AsAsked)
    }

    /// Whether the run itself went wrong.
    pub fn is_failure(self) -> bool {
        matches!(self, Grade::Failed | Grade::NoTraffic | Grade::Partial)
    }
}

/// A setting that stops a flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "HeadlineSetting")]
pub struct Setting {
    /// Name as Linux spells it, for instance "net.ipv4.tcp_wmem", "SO_SNDBUF" or "ethtool -G rx"; of an
    /// element of the path the scenario's key, for instance "burst".
    pub name: String,
    /// Host or element that has it.
    pub host: String,
    /// Value that acted, with its unit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<String>,
    /// Value that the path needs, with its unit; absent where another value does not help, or is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub needed: Option<String>,
    /// Who asked for the value: "sysctl" (or its default), "program", "cut" (a sysctl cut what the program asked for), "peer",
    /// "device" or "path".
    pub set_by: AskedBy,
}

/// Who has set a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum AskedBy {
    /// A sysctl or its default.
    Sysctl,
    /// The program, by setsockopt or by what it does.
    Program,
    /// The program asked for more, and a sysctl cut it.
    Cut,
    /// The other host, in its SYN or its window.
    Peer,
    /// Card, driver or qdisc.
    Device,
    /// An element between the hosts.
    Path,
}

/// Whether a result is as expected and as published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Judged {
    /// One sentence.
    pub text: String,
    /// True when all expectations hold and all published rows lie within their bands.
    pub good: bool,
}
