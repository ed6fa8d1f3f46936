//! `minwise index create` creates an empty archive.

use std::path::Path;

use minwise::candidate::{Winnow, tune};
use minwise::sketch::Bits;
use minwise_corpus::visible;
use minwise_index::{Index, IndexSettings, Texts};

use crate::Exit;
use crate::args::IndexCreateArgs;
use crate::printer::{Failure, Printer};
use crate::settings::{self, FlagProblems};
use crate::summary::SummaryLines;

pub fn run(args: &IndexCreateArgs, printer: &Printer) -> Result<Exit, Failure> {
    super::refuse_no_name(&args.folder)?;
    let mut problems = FlagProblems::default();
    let threshold = settings::threshold(&args.threshold, &mut problems);
    let recall = problems.share_or(0.996, "--recall", &args.recall);
    problems.check("--recall", tune::check_recall(recall));
    let passage = problems.whole_or(IndexSettings::default().passage, 1, "--passage", &args.passage);
    let bits = match args.bits.as_str() {
        "all" => None,
        bits => problems.check("--bits", bits.parse::<Bits>()),
    };
    let spec = settings::spec(&args.spec, &mut problems);
    problems.check("--passage", Winnow::new(spec.shingling, passage));
    problems.finish()?;

    let banding = tune::choose(threshold, recall, spec.method.registers(), |similarity| similarity)
        .map_err(minwise_index::Error::from)?;
    let texts = if args.no_text { Texts::LeftOut } else { Texts::Kept };
    let settings = IndexSettings::default()
        .spec(spec)
        .bands(banding.bands())
        .rows(banding.rows())
        .passage(passage)
        .bits(bits)
        .texts(texts);
    let index = Index::create(Path::new(&args.folder), &settings)?;
    let mut lines = SummaryLines::default();
    lines.line("created", format!("`{}`", visible(&args.folder)));
    super::show::add_settings(&mut lines, index.settings());
    printer.note(&lines.to_string());
    Ok(Exit::Done)
}
