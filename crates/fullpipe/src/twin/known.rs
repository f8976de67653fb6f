//! Values of a twin, each with its origin.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Origin {
    /// Word of the user.
    Given,
    /// Reading of a socket or a setting.
    Measured,
    /// Consequence of what sockets show.
    Derived,
    /// Guess, as nothing shows it.
    Assumed,
}

impl Origin {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Origin::Given => "given",
            Origin::Measured => "measured",
            Origin::Derived => "derived",
            Origin::Assumed => "assumed",
        }
    }
}

/// A value, its origin, and the reason for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Known<T> {
    /// The value.
    pub value: T,
    /// Its origin.
    pub origin: Origin,
    /// Source of the value, in words.
    pub why: String,
}

impl<T> Known<T> {
    /// A value that the user said.
    pub fn given(value: T, why: impl Into<String>) -> Known<T> {
        Known { value, origin: Origin::Given, why: why.into() }
    }

    /// A value that a socket or a setting shows.
    pub fn measured(value: T, why: impl Into<String>) -> Known<T> {
        Known { value, origin: Origin::Measured, why: why.into() }
    }

    /// A value that follows from what sockets show.
    pub fn derived(value: T, why: impl Into<String>) -> Known<T> {
        Known { value, origin: Origin::Derived, why: why.into() }
    }

    /// A value that nothing shows.
    pub fn assumed(value: T, why: impl Into<String>) -> Known<T> {
        Known { value, origin: Origin::Assumed, why: why.into() }
    }

    /// Another value with this origin.
    pub fn map<U>(self, of: impl FnOnce(T) -> U) -> Known<U> {
        Known { value: of(self.value), origin: self.origin, why: self.why }
    }
}

/// A key of the twin's scenario as reports show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TwinValue")]
pub struct Value {
    /// Key of the scenario; absent keys keep the default of the kernel's profile.
    pub key: String,
    /// Value as the scenario writes it; absent: the default of the kernel's profile.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<String>,
    /// Origin of the value.
    pub origin: Origin,
    /// Source of the value, in words.
    pub why: String,
}
