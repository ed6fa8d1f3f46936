//! The careful way through a line finds the wanted fields in any JSON.
//!
//! Nothing is decoded during the walk, so lone surrogates do no harm. Nothing is built: the walk finds the beginning
//! and end of the wanted values in the line, and the caller decodes the values afterwards.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer as _, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The fields to search for in an object: the rest of each path; `None` if the path does not lead into the object.
#[derive(Clone, Copy)]
pub(super) struct WantedFields<'p> {
    pub(super) text: Option<&'p [String]>,
    pub(super) id: Option<&'p [String]>,
}

impl WantedFields<'_> {
    /// Returns the fields to search for in the value of the member called `name`. An empty path is that value itself.
    pub(super) fn after(self, name: impl AsRef<[u8]>) -> Self {
        let rest = |path: Option<_>| {
            let (first, rest): (&String, _) = path.and_then(<[String]>::split_first)?;
            (first.as_bytes() == name.as_ref()).then_some(rest)
        };
        Self { text: rest(self.text), id: rest(self.id) }
    }
}

/// A wanted value.
#[derive(Clone, Copy, Default)]
pub(super) enum Slot<'a> {
    #[default]
    Missing,
    Once(&'a RawValue),
    Repeated,
}

impl<'a> Slot<'a> {
    fn fill(&mut self, value: &'a RawValue) {
        *self = match self {
            Self::Missing => Self::Once(value),
            Self::Once(_) | Self::Repeated => Self::Repeated,
        };
    }
}

/// The values that a walk has found.
#[derive(Default)]
pub(super) struct FoundFields<'a> {
    pub(super) text: Slot<'a>,
    pub(super) id: Slot<'a>,
}

/// Walks a JSON object.
pub(super) fn walk<'a>(object: &'a str, wanted: WantedFields<'_>) -> serde_json::Result<FoundFields<'a>> {
    let mut found = FoundFields::default();
    let mut deserializer = serde_json::Deserializer::from_str(object);
    deserializer.deserialize_map(ObjectWalk { wanted, found: &mut found })?;
    deserializer.end()?;
    Ok(found)
}

/// Walks the members of one object.
struct ObjectWalk<'w, 'p, 'a> {
    wanted: WantedFields<'p>,
    found: &'w mut FoundFields<'a>,
}

impl<'a> Visitor<'a> for ObjectWalk<'_, '_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut members: A) -> Result<(), A::Error> {
        let Self { wanted, found } = self;
        while let Some(next) = members.next_key_seed(Name(wanted))? {
            if next.text.is_none() && next.id.is_none() {
                members.next_value::<IgnoredAny>()?;
                continue;
            }
            let value: &'a RawValue = members.next_value()?;
            if next.text.is_some_and(<[String]>::is_empty) {
                found.text.fill(value);
            }
            if next.id.is_some_and(<[String]>::is_empty) {
                found.id.fill(value);
            }
            if value.get().starts_with('{') {
                let inside = ObjectWalk { wanted: next, found: &mut *found };
                let mut deserializer = serde_json::Deserializer::from_str(value.get());
                deserializer.deserialize_map(inside).map_err(A::Error::custom)?;
            }
        }
        Ok(())
    }
}

/// Matches the name of a member against the wanted fields.
struct Name<'p>(WantedFields<'p>);

impl<'a, 'p> DeserializeSeed<'a> for Name<'p> {
    type Value = WantedFields<'p>;

    fn deserialize<D: serde::Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        // The name is read as bytes, because the name may have a lone surrogate, too.
        deserializer.deserialize_bytes(self)
    }
}

impl<'p> Visitor<'_> for Name<'p> {
    type Value = WantedFields<'p>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_bytes<E>(self, name: &[u8]) -> Result<Self::Value, E> {
        Ok(self.0.after(name))
    }
}
