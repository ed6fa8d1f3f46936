// Finds the language of a text by its script. The browser chooses line breaks, glyphs and voices by the language.

/** Number of characters at the beginning of a text that are examined. */
const SAMPLE = 2000;

/**
 * Returns the language tag of a text, or an empty string if the language is not known. Without a tag, the browser would
 * take the text for English, the language of the page.
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

/** Characters of scripts without spaces, each of which is a token. */
const SINGLE_TOKENS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;
const RUNS = /[\p{Alphabetic}\p{M}\p{N}_]+/gu;

/**
 * Returns the noun for the tokens of a text, by the rule of `ShingleUnit::noun_in` of `minwise`. If a text has more
 * characters of scripts without spaces than words, its tokens are called characters.
 *
 * @param {string} spec of the archive
 * @param {string | null} text
 * @returns {'word' | 'character' | 'term'}
 */
export function unitOf(spec, text) {
  if (spec.includes('chars:')) return 'character';
  if (spec.includes('terms')) return 'term';
  const sample = (text ?? '').slice(0, SAMPLE);
  const alone = sample.match(SINGLE_TOKENS)?.length ?? 0;
  const runs = sample.replaceAll(SINGLE_TOKENS, ' ').match(RUNS)?.length ?? 0;
  return alone > runs ? 'character' : 'word';
}
