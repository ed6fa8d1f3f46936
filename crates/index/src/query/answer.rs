//! The answer of a check. `minwise check --format jsonl` and the API of the server write this type.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::passages::SharedPassage;
use crate::record::Mark;

/// The conditions of a match that a document meets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Reasons {
    /// The similarity reaches the threshold.
    pub similarity: bool,
    /// The containment of one of the two texts in the other reaches the minimum containment.
    pub containment: bool,
    /// A shared passage reaches the minimum length.
    pub passage: bool,
}

impl Reasons {
    pub(crate) fn any(self) -> bool {
        self.similarity || self.containment || self.passage
    }
}

/// A document of the archive that shares text with the checked text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Match {
    /// Id of the document.
    pub id: String,
    /// Title of the document, or null.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub title: Option<String>,
    /// Metadata of the document: any JSON object.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub metadata: Map<String, Value>,
    /// Conditions of a match that the document meets; at least one is true.
    pub reasons: Reasons,
    /// Exact Jaccard similarity.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 1))]
    pub similarity: f64,
    /// Exact share of the checked text's shingles that the document has.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 1))]
    pub containment_of_query: f64,
    /// Exact share of the document's shingles that the checked text has.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 1))]
    pub containment_of_document: f64,
    /// Weighted Jaccard similarity, or null without `weight`.
    #[cfg_attr(feature = "openapi", schema(required = true, minimum = 0, maximum = 1))]
    pub weighted: Option<f64>,
    /// Length of the longest shared passage, in tokens.
    pub longest_passage: usize,
    /// Number of tokens of the checked text that are in shared passages.
    pub shared_tokens: usize,
    /// The longest shared passages, in the order of the checked text.
    pub passages: Vec<SharedPassage>,
    /// Number of shared passages that are not in the answer.
    pub further_passages: usize,
}

/// The text that was checked.
// An index fills in the counts. Callers set `id`, `title`, `text` and `marks`, because the index does not
// have them for a text from outside of the archive.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Queried {
    /// Id of the text: the id of the archived document, or the id under which a command read the text; null for a text
    /// that was sent to the server.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub id: Option<String>,
    /// Title of the text, or null.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub title: Option<String>,
    /// Number of characters of the text.
    pub characters: usize,
    /// Number of tokens of the text.
    pub tokens: usize,
    /// Number of distinct shingles of the text, without shingles that options of the check leave out.
    pub shingles: usize,
    /// The checked text. It is null in answers of the command, and for a document of an archive that keeps no texts.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub text: Option<String>,
    /// Beginnings of the pages, slides, chapters or paragraphs of the text, in ascending order.
    pub marks: Vec<Mark>,
}

/// Answer of a check.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct Answer {
    /// The text that was checked.
    pub query: Queried,
    /// The matches, best first.
    pub matches: Vec<Match>,
    /// Number of matches that are not in the answer, because there are more matches than `top`.
    pub further: usize,
    /// Number of candidates that were compared exactly.
    pub compared: usize,
    /// Number of candidates that were not compared, because there are more candidates than the option `candidates`
    /// allows. The number also counts candidates that would not have been compared anyway: documents that were removed
    /// since the last compaction, and documents that an option excludes.
    pub not_compared: usize,
    /// Number of fingerprints (selected shingles of the text) that were not looked up, because more documents have them
    /// than `max_df` allows.
    pub passed_over: usize,
    /// Minimum probability that the check finds a document whose similarity is exactly the threshold. A document that shares a passage of the
    /// minimum length is found. Both statements hold only if `not_compared` is 0.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 1))]
    pub recall_at_threshold: f64,
    /// Reason why no byte ranges of passages in the archived documents are known; null if they are known.
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub no_passages: Option<String>,
    /// Settings of the archive by which texts become shingles and sketches.
    pub spec: String,
}
