// What was checked last. It is kept in memory only: a submission is confidential, and a reload forgets it.

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
 * The title of a text that was checked, or what stands for it.
 *
 * @param {Checked} checked
 */
export function titleOf(checked) {
  return ('answer' in checked && checked.answer.query.title) || checked.name;
}

/** The longest first line of a text that passes for its title. */
const TITLE = 120;

/**
 * What a pasted text is called: its first line, if that is short.
 *
 * @param {string} text
 */
export function nameOf(text) {
  const [line] = text.trim().split('\n', 1);
  return line.length <= TITLE ? line : 'Pasted text';
}
