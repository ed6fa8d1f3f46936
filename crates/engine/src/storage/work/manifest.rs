//! The manifest of a run: its options and its inputs.

use minwise::figure::{counted, grouped};
use minwise::{Observer, Stage};
use minwise_corpus::{ContentHash, Corpus};
use serde::{Deserialize, Serialize};

use super::{WorkFile, WorkFolder, about, finish};
use crate::error::{Error, ErrorKind};
use crate::parallel;
use crate::storage::store::StoredFile;

/// Options that change the result of a run, and hashes of its inputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Names and values of the options, by the names of the settings.
    options: Vec<(String, String)>,
    inputs: Vec<ManifestInput>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ManifestInput {
    name: String,
    bytes: u64,
    /// Content hash, in hexadecimal.
    hash: String,
}

impl Manifest {
    /// Makes a manifest, and reads all inputs to compute their hashes.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corpus`] if an input cannot be read, and with [`ErrorKind::Cancelled`] if the observer
    /// cancels.
    pub fn new(
        options: Vec<(String, String)>,
        corpus: &Corpus,
        threads: usize,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        observer.begin(Stage::Hash, corpus.size_bytes());
        let mut inputs = vec![];
        let hash = |(): &mut (), source: usize| -> Result<_, Error> {
            let hash = corpus.content_hash(source as u32, &mut |bytes| {
                observer.advance(bytes);
                !observer.cancelled()
            })?;
            let Some(ContentHash { bytes, hash, .. }) = hash else { return Err(ErrorKind::Cancelled.into()) };
            Ok(ManifestInput {
                name: corpus.sources()[source].name().to_owned(),
                bytes,
                hash: format!("{hash:032x}"),
            })
        };
        let sources = corpus.sources().len();
        parallel::in_order(
            sources,
            threads,
            || (),
            hash,
            |input| {
                inputs.push(input);
                Ok(())
            },
        )?;
        Ok(Self { options, inputs })
    }

    pub(super) fn write(&self, work: &WorkFolder) -> Result<(), Error> {
        finish(work.create(WorkFile::Manifest)?, self)
    }

    /// Refuses to resume a run that was begun with other options or inputs.
    pub(super) fn check(&self, file: &StoredFile) -> Result<(), Error> {
        let before: Self = about(file)?;
        let changed = |reason: String| Error::from(ErrorKind::Changed { setting: None, reason });
        let setting = |name: &str, reason: String| match name {
            // These three values follow from settings and inputs; no setting has their name.
            "spec" => changed(format!("the spec {reason}")),
            "format" => changed(format!("the format of the inputs {reason}")),
            "version" => changed(format!("the version of Minwise {reason}")),
            _ => ErrorKind::Changed { setting: Some(name.to_owned()), reason }.into(),
        };
        for (name, now) in &self.options {
            match before.options.iter().find(|(before, _)| bare(before) == name) {
                Some((_, before)) if before == now => {}
                Some((_, before)) => {
                    return Err(setting(name, format!("was `{before}` then and is `{now}` now")));
                }
                None => {
                    return Err(setting(
                        name,
                        format!("is `{now}` now, and the version that began the run did not have it"),
                    ));
                }
            }
        }
        if let Some((name, before)) =
            before.options.iter().find(|(name, _)| self.options.iter().all(|(now, _)| now != bare(name)))
        {
            return Err(setting(
                bare(name),
                format!("was `{before}` then, and this version does not have it"),
            ));
        }
        for (then, now) in before.inputs.iter().zip(&self.inputs) {
            if then.name != now.name {
                return Err(changed(format!("`{}` is read where `{}` was read then", now.name, then.name)));
            }
            if then.bytes != now.bytes {
                let (then, bytes) = (counted(then.bytes, "byte"), grouped(now.bytes));
                return Err(changed(format!("`{}` had {then} then and has {bytes} now", now.name)));
            }
            if then.hash != now.hash {
                return Err(changed(format!("`{}` has as many bytes as then, but other content", now.name)));
            }
        }
        let (then, now) = (before.inputs.len(), self.inputs.len());
        match (before.inputs.get(now), self.inputs.get(then)) {
            (None, None) => Ok(()),
            (Some(missing), _) => {
                Err(changed(format!("`{}` was read then and is not given now", missing.name)))
            }
            (None, Some(new)) => Err(changed(format!("`{}` is new", new.name))),
        }
    }
}

/// Returns the name of a setting without the hyphens `--`, which earlier versions wrote.
fn bare(name: &str) -> &str {
    name.strip_prefix("--").unwrap_or(name)
}
