// The results of the last check. The results are kept in memory only, because submissions are confidential. A reload
// drops the results.

/** @typedef {import('./types.js').Answer} Answer */
/** @typedef {import('./types.js').ProblemBody} ProblemBody */
/** @typedef {import('./types.js').Options} Options */
/** @typedef {{ name: string, answer: Answer, options: Options } | { name: string, problem: ProblemBody }} Checked */

/** @type {Checked[]} */
let checks = [];

/** @param {Checked[]} list */
export function rememberChecks(list) {
  checks = list;
}

export function lastChecks() {
  return checks;
}

/**
 * Returns the title of a checked text, or its name if it has no title.
 *
 * @param {Checked} checked
 */
export function titleOf(checked) {
  return ('answer' in checked && checked.answer.query.title) || checked.name;
}

/** Maximum length of a first line that serves as the name of a text. */
const LONGEST_NAME = 120;

/**
 * Returns the name of a pasted text: its first line, if the line is short.
 *
 * @param {string} text
 */
export function nameOf(text) {
  const [line] = text.trim().split('\n', 1);
  return line.length <= LONGEST_NAME ? line : 'Pasted text';
}
