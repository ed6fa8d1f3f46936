//! Integration tests of the server, through the requests of its clients.

#![allow(clippy::unwrap_used, reason = "in a test it is an assertion")]

mod access;
mod check;
mod clients;
mod documents;
mod examples;
mod full_disk;
mod jobs;
mod limits;
mod openapi;
mod opening;
mod page;
mod shutdown;
mod support;
mod uploads;
