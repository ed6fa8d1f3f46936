// Formats numbers, times and places as the command prints them.

/** @typedef {import('./types.js').Place} Place */

/**
 * Formats a count in groups of three digits, separated by commas.
 *
 * @param {number} number
 */
export function count(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',');
}

/**
 * Formats a count with its noun. `plural` is needed for nouns whose plural is not formed by an s.
 *
 * @param {number} number
 * @param {string} noun
 * @param {string} [plural]
 */
export function counted(number, noun, plural = `${noun}s`) {
  return `${count(number)}\u00a0${number === 1 ? noun : plural}`;
}

/**
 * Formats a similarity, a share or a probability in percent. The value is truncated and not rounded, so that only 1 is
 * shown as 100 %, and no value below a threshold is shown as the threshold.
 *
 * @param {number} value from 0 to 1
 */
export function percent(value) {
  // 0.29 * 1000 is 289.99999999999994, so the product is rounded to six digits before it is truncated.
  return `${Math.floor(Number((value * 1000).toFixed(6))) / 10}\u00a0%`;
}

/** @param {number} number of bytes */
export function bytes(number) {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(Math.floor(Math.log10(Math.max(number, 1)) / 3), units.length - 1);
  const digits = power === 0 ? count(number) : (number / 1000 ** power).toPrecision(3);
  return `${digits}\u00a0${units[power]}`;
}

/**
 * Matches the part of a word before a cut. Scripts without spaces do not match, because their texts may be cut
 * anywhere.
 */
const BROKEN_WORD = /[^\s\u2e80-\uffff]{1,40}$/u;

/**
 * Returns the beginning of a text in one line, up to the end of a word.
 *
 * @param {string} text
 * @param {number} most characters
 */
export function excerpt(text, most) {
  const line = text.replace(/\s+/gu, ' ');
  if (line.length <= most) return line;
  const cut = line.slice(0, most);
  const isWhole = /[\s\u2e80-\uffff]/u.test(line[most]);
  const words = (isWhole ? cut : cut.replace(BROKEN_WORD, '')).replace(/[\s,;:–—-]+$/u, '');
  // A single word may be longer than `most`, and a cut may split a character of two code units.
  return `${(words || cut).replace(/[\ud800-\udbff]$/u, '')}…`;
}

/** @param {string} time as RFC 3339 */
export function day(time) {
  return time.slice(0, 10);
}

/** @param {Place} place */
export function placeName(place) {
  const [[kind, number]] = Object.entries(place);
  return `${kind}\u00a0${number}`;
}

/**
 * Returns the label of a place in the margin of its text.
 *
 * @param {Place} place
 */
export function placeSign(place) {
  const [[kind, number]] = Object.entries(place);
  return kind === 'paragraph'
    ? `¶\u00a0${number}`
    : `${{ page: 'p.', slide: 'slide', chapter: 'ch.' }[kind] ?? kind}\u00a0${number}`;
}
