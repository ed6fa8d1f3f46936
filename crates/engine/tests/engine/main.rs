//! Whole runs of the engine: against brute force, and against corpora made to hurt.

mod oracle;
mod random;
mod recall;
mod skew;
mod stream;
mod support;
