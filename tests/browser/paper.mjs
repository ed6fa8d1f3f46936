// What is printed.

/** The number of pages of a PDF file that Chromium wrote. */
export function pages(pdf) {
  return pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length ?? 0;
}
