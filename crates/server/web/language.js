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

/** Characters of scripts that are written without spaces: each is a token. */
const ALONE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;
const RUNS = /[\p{Alphabetic}\p{M}\p{N}_]+/gu;

/**
 * The unit in which the length of a text and of its passages is counted, as `ShingleUnit::noun_in` of `minwise` has it: words of a
 * text that has more characters of scripts without spaces than words are called characters.
 *
 * @param {string} spec of the archive
 * @param {string | null} text
 * @returns {'word' | 'character' | 'term'}
 */
export function unitOf(spec, text) {
  if (spec.includes('chars:')) return 'character';
  if (spec.includes('terms')) return 'term';
  const sample = (text ?? '').slice(0, SAMPLE);
  const alone = sample.match(ALONE)?.length ?? 0;
  const runs = sample.replaceAll(ALONE, ' ').match(RUNS)?.length ?? 0;
  return alone > runs ? 'character' : 'word';
}
