// The language of a text as far as its script tells it: line breaks, glyphs and voices depend on it.

/** How much of a text is looked at. */
const SAMPLE = 2000;

/**
 * A language tag, or the empty one, which stands for "not known": without it a text would pass for the page's English.
 *
 * @param {string} text
 */
export function language(text) {
  const sample = text.slice(0, SAMPLE);
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(sample)) return 'ja';
  if (/\p{Script=Hangul}/u.test(sample)) return 'ko';
  if (/\p{Script=Han}/u.test(sample)) return 'zh';
  return '';
}

/**
 * The unit in which the length of a text and of its passages is counted.
 *
 * @param {string} spec of the archive
 * @param {string | null} text
 * @returns {'word' | 'character'}
 */
export function unitOf(spec, text) {
  const isWithoutSpaces = ['ja', 'zh'].includes(language(text ?? ''));
  return spec.includes('chars:') || isWithoutSpaces ? 'character' : 'word';
}
