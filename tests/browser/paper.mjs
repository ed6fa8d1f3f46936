// Counts the pages of printed documents.

/** Returns the number of pages of a PDF file that Chromium wrote. */
export function pages(pdf) {
  return pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length ?? 0;
}
