//! The options of `serve`.

use super::OutputOptions;

#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// The folder of the index.
    #[arg(long, value_name = "DIR")]
    pub index: String,

    /// Where to listen. What others can reach needs `--tokens`; with port 0 a free one is taken, and standard output says which.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub listen: String,

    /// A file that only its owner may read, with lines of `read TOKEN` or `write TOKEN`. Without it everybody on this machine may do
    /// everything.
    #[arg(long, value_name = "FILE")]
    pub tokens: Option<String>,

    /// The most bytes of a request.
    #[arg(long, value_name = "SIZE", default_value = "64MiB", help_heading = "Limits")]
    pub max_body: String,

    /// The most memory for what is held at once: half of it for requests and answers, which wait for it, half for jobs that run or
    /// wait, which are refused without.
    #[arg(long, value_name = "SIZE", default_value = "256MiB", help_heading = "Limits")]
    pub body_memory: String,

    /// Seconds that a request may take.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "60",
        allow_hyphen_values = true,
        help_heading = "Limits"
    )]
    pub timeout: String,

    /// Requests that are answered at once; further ones are told to come again.
    #[arg(
        long,
        value_name = "N",
        default_value = "512",
        allow_hyphen_values = true,
        help_heading = "Limits"
    )]
    pub max_requests: String,

    /// Connections at once; further ones wait.
    #[arg(
        long,
        value_name = "N",
        default_value = "1024",
        allow_hyphen_values = true,
        help_heading = "Limits"
    )]
    pub max_connections: String,

    /// Requests a second of one token, or of one address without one; `off` for as many as they like.
    #[arg(
        long,
        value_name = "N",
        default_value = "100",
        allow_hyphen_values = true,
        help_heading = "Limits"
    )]
    pub rate: String,

    /// Jobs that add documents, running or waiting; of those that look for clusters there are two.
    #[arg(long, value_name = "N", default_value = "16", allow_hyphen_values = true, help_heading = "Limits")]
    pub max_jobs: String,

    /// Seconds for requests and jobs to come to an end when the server is stopped.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "30",
        allow_hyphen_values = true,
        help_heading = "Limits"
    )]
    pub grace: String,

    #[command(flatten)]
    pub messages: OutputOptions,
}
