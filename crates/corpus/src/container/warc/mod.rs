//! WARC and WET files, as Common Crawl publishes them.
//!
//! A WARC file is a sequence of records. Each record has named headers and a block of bytes. A `response` record holds an
//! HTTP response, a `conversion` record (WET) holds plain text, and other records describe the crawl.
//!
//! | file | question it answers |
//! |---|---|
//! | `bytes` | From what are records read? |
//! | `headers` | Which name has which value, in WARC and in HTTP? |
//! | `record` | Where do records begin and end? |
//! | `members` | Which gzip member holds which record? |
//! | `http` | Which status, media type and body has a response? |
//! | `chunked`, `coding` | Which bytes did the server encode? |
//! | `document` | Which id and text has a record? |
//! | `follow` | Which other records are copied with a document? |

#![allow(dead_code, reason = "the container that calls this module does not exist yet")]

pub(crate) mod bytes;
mod chunked;
mod coding;
pub(crate) mod document;
pub(crate) mod follow;
pub(crate) mod headers;
pub(crate) mod http;
pub(crate) mod members;
pub(crate) mod record;
