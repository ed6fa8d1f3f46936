// How numbers, times and places are written: as the command writes them.

/** @typedef {import('./types.js').Place} Place */

/**
 * A count, in groups of three digits that no line end parts.
 *
 * @param {number} number
 */
export function count(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

/**
 * A count with its noun. Nouns that take more than an s are given with their plural.
 *
 * @param {number} number
 * @param {string} noun
 * @param {string} [plural]
 */
export function counted(number, noun, plural = `${noun}s`) {
  return `${count(number)}\u00a0${number === 1 ? noun : plural}`;
}

/**
 * A similarity or a containment. It is cut, not rounded: only what is equal reads 1.00, and nothing below a threshold
 * reads as if it reached it.
 *
 * @param {number} value from 0 to 1
 */
export function share(value) {
  // 0.29 * 100 is 28.999999999999996: the product is rounded far behind the digits that are shown.
  return (Math.floor(Number((value * 100).toFixed(6))) / 100).toFixed(2);
}

/**
 * A probability. It is cut, as a similarity is: only what is certain reads 100 %.
 *
 * @param {number} value from 0 to 1
 */
export function percent(value) {
  return `${Math.floor(Number((value * 1000).toFixed(6))) / 10}\u00a0%`;
}

/** @param {number} number of bytes */
export function bytes(number) {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(Math.floor(Math.log10(Math.max(number, 1)) / 3), units.length - 1);
  const digits = power === 0 ? count(number) : (number / 1000 ** power).toPrecision(3);
  return `${digits}\u00a0${units[power]}`;
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
 * A place in the margin of its text.
 *
 * @param {Place} place
 */
export function placeSign(place) {
  const [[kind, number]] = Object.entries(place);
  return kind === 'paragraph'
    ? `¶\u00a0${number}`
    : `${{ page: 'p.', slide: 'slide', chapter: 'ch.' }[kind] ?? kind}\u00a0${number}`;
}

/**
 * Passages, of which there may be more than the longest that are known.
 *
 * @param {number} known
 * @param {number} further
 */
export function passagesIn(known, further) {
  return further > 0
    ? `the ${count(known)} longest of ${counted(known + further, 'passage')}`
    : counted(known, 'passage');
}
