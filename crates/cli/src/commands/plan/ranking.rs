//! Ranks all kinds of sketches, each in the size that a standard error requires, and recommends two.

use minwise::figure::{counted, grouped};
use minwise::sketch::Method;
use serde_json::{Value, json};

use super::{First, table};

/// Ranking of all kinds of sketches for one standard error at one similarity.
pub(super) struct MethodRanking {
    similarity: f64,
    error: f64,
    /// Sketches that reach the error, by ascending bytes; sketches with equal bytes, by ascending hashes per shingle.
    ranked: Vec<RankedMethod>,
    /// Kinds that cannot reach the error, each in its largest size.
    out_of_reach: Vec<Method>,
}

struct RankedMethod {
    method: Method,
    bytes: usize,
    hashes: usize,
}

/// Recommended sketch, with the reason.
struct Recommended {
    sketch: Method,
    reason: String,
    /// Similarity below which the mean error of the sketch's estimates exceeds the standard error.
    biased_below: Option<f64>,
}

impl Recommended {
    fn json(&self) -> Value {
        json!({"sketch": self.sketch.to_string(), "reason": self.reason, "biased_below": self.biased_below})
    }
}

impl MethodRanking {
    pub(super) fn new(similarity: f64, error: f64) -> Self {
        let (mut ranked, mut out_of_reach) = (vec![], vec![]);
        for kind in Method::kinds() {
            match Method::smallest(kind, similarity, error) {
                Some(method) => ranked.push(RankedMethod {
                    method,
                    bytes: method.size_bytes(),
                    hashes: method.hashes_per_shingle(),
                }),
                None => out_of_reach.push(Method::largest(kind)),
            }
        }
        ranked.sort_by_cached_key(|ranked| (ranked.bytes, ranked.hashes, ranked.method.to_string()));
        Self { similarity, error, ranked, out_of_reach }
    }

    /// Returns the sketch with bands that takes the fewest bytes; among equal bytes, the fewest hashes per shingle.
    fn candidates(&self) -> Option<Recommended> {
        let least = self.ranked.iter().find(|ranked| ranked.method.bandable().is_some())?;
        let RankedMethod { method, bytes, hashes } = *least;
        let hashes = match hashes {
            1 => "1 hash".to_owned(),
            _ => format!("{} hashes", grouped(hashes as u64)),
        };
        let bytes = counted(bytes as u64, "byte");
        let reason = format!(
            "{bytes} and {hashes} per shingle: the fewest bytes of all kinds that can find candidates, and the fewest hashes for these bytes"
        );
        Some(Recommended { sketch: method, reason, biased_below: None })
    }

    /// Returns the sketch that takes the fewest bytes.
    fn storage(&self) -> Option<Recommended> {
        let least = self.ranked.first()?;
        let reason = format!("{}, the fewest of all kinds", counted(least.bytes as u64, "byte"));
        let biased_below = least.method.biased_below(self.similarity, self.error);
        Some(Recommended { sketch: least.method, reason, biased_below })
    }

    pub(super) fn sketches_json(&self) -> Value {
        self.ranked
            .iter()
            .map(|RankedMethod { method, bytes, hashes }| {
                json!({
                    "sketch": method.to_string(),
                    "bytes": bytes,
                    "hashes_per_shingle": hashes,
                    "bandable": method.bandable().is_some(),
                })
            })
            .collect()
    }

    pub(super) fn out_of_reach_json(&self) -> Value {
        self.out_of_reach
            .iter()
            .map(|method| {
                json!({
                    "sketch": method.to_string(),
                    "standard_error": method.variance(self.similarity).sqrt(),
                })
            })
            .collect()
    }

    pub(super) fn recommended_json(&self) -> Value {
        json!({
            "candidates": self.candidates().map(|recommended| recommended.json()),
            "storage": self.storage().map(|recommended| recommended.json()),
        })
    }

    pub(super) fn text(&self) -> String {
        let wanted = format!(
            "a standard error of {} at similarity {}, in long documents",
            self.error, self.similarity
        );
        let mut out = format!("\nsketches for {wanted}\n\n");
        if self.ranked.is_empty() {
            out += "no kind of sketch reaches it at any size\n";
        } else {
            out += &self.ranked_text();
        }
        if !self.out_of_reach.is_empty() {
            out += "\nkinds that do not reach it, each in its largest size with its standard error\n\n";
            out += &self.out_of_reach_text();
        }
        let uses = [
            ("with this error, to find candidates", self.candidates()),
            ("with this error, to keep sketches for comparison only", self.storage()),
        ];
        for (at, (to, Recommended { sketch, reason, biased_below })) in
            uses.into_iter().filter_map(|(to, recommended)| Some((to, recommended?))).enumerate()
        {
            out += if at == 0 { "\n" } else { "" };
            out += &format!("{to}, take `{sketch}`: {reason}\n");
            if let Some(similarity) = biased_below {
                out += &format!(
                    "warning: below similarity {similarity:.2}, estimates of `{sketch}` are off by more than {} on average\n",
                    self.error
                );
            }
        }
        out
    }

    fn ranked_text(&self) -> String {
        let rows = self.ranked.iter().map(|RankedMethod { method, bytes, hashes }| {
            let bands = if method.bandable().is_some() { "yes" } else { "no" };
            [method.to_string(), bytes.to_string(), hashes.to_string(), bands.to_owned()]
        });
        table(First::Names, ["sketch", "bytes", "hashes per shingle", "can find candidates"], rows.collect())
    }

    fn out_of_reach_text(&self) -> String {
        let rows = self.out_of_reach.iter().map(|method| {
            let error = method.variance(self.similarity).sqrt();
            // If a sketch cannot distinguish similarities near this one, the formula has no bound and gives values
            // above 1.
            let error = if error < 1.0 { format!("{error:.6}") } else { "above 1".to_owned() };
            [method.to_string(), error]
        });
        table(First::Names, ["sketch", "standard error"], rows.collect())
    }
}
