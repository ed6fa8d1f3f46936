// `/pair`: two documents side by side, with the passages they share.
//
// `left` and `right` are ids; `checked` in place of `left` is the number of a text that was checked. Such a pair shows
// what the check found, by its options, rather than what a second comparison would find without them.

import { documentHref, resultHref } from '../addresses.js';
import { pair as ask, wholeDocument } from '../api.js';
import { lastChecks, titleOf } from '../checks.js';
import { h, name } from '../dom.js';
import { passagesIn, share } from '../format.js';
import { compareView } from '../compare.js';
import { metadataLine } from '../metadata.js';
import { passageTable } from '../passage-table.js';
import { Passages } from '../passages.js';

/** @typedef {import('../router.js').Visit} Visit */
/** @typedef {import('../types.js').Pair} Pair */
/** @typedef {import('../types.js').Side} Side */
/** @typedef {Side & { text: string }} Readable */

/** @param {Visit} visit */
export async function pair({ url, signal }) {
  const checked = url.searchParams.get('checked');
  const right = url.searchParams.get('right') ?? '';
  const found =
    checked === null
      ? await ask(url.searchParams.get('left') ?? '', right, signal)
      : await pairOfCheck(Number(checked), right, signal);
  const titles = [found.left, found.right].map((side) => side.title || side.id || '');
  const body = [
    checked !== null && h('p', { class: 'back' }, h('a', { href: resultHref(Number(checked)) }, '← All matches')),
    h('h1', { class: 'unseen' }, 'Compare ', name(titles[0]), ' with ', name(titles[1])),
    h(
      'div',
      { class: 'sides' },
      sideHeader(found.left, 'left', found.containment_of_left),
      verdict(found),
      sideHeader(found.right, 'right', found.containment_of_right),
    ),
  ];
  const view = { title: `${titles[0]} and ${titles[1]}`, wide: true };
  if (!isReadable(found.left) || !isReadable(found.right)) {
    body.push(
      h(
        'p',
        { class: 'notice' },
        'The archive keeps no text of its documents, so that there is nothing to lay side by side.',
      ),
    );
    return { ...view, body };
  }
  if (found.passages.length === 0) body.push(h('p', { class: 'notice' }, 'These documents share no passage.'));
  const passages = new Passages(found.left, found.right, found.passages);
  const compare = compareView(passages, signal);
  const list = h('div');
  const shown = async () => {
    await compare.drawn();
    // Below the texts, and so after them: the first layout has less to do.
    if (!signal.aborted && found.passages.length > 0) list.append(passageTable(passages));
  };
  return { ...view, body: [...body, compare.element, list], shown };
}

/**
 * @param {Side} side
 * @returns {side is Readable}
 */
function isReadable(side) {
  return side.text !== null;
}

/**
 * The pair of a text that was checked and one of its matches.
 *
 * @param {number} number
 * @param {string} id
 * @param {AbortSignal} signal
 * @returns {Promise<Pair>}
 */
async function pairOfCheck(number, id, signal) {
  const checked = lastChecks()[number];
  const match = checked && 'answer' in checked ? checked.answer.matches.find((other) => other.id === id) : undefined;
  if (!match || !('answer' in checked))
    throw new Error('The submission is no longer known: it was forgotten when the page was loaded again');
  const { query } = checked.answer;
  const document = await wholeDocument(id, signal);
  return {
    left: { id: null, title: titleOf(checked), text: query.text, marks: query.marks, metadata: {} },
    right: document,
    similarity: match.similarity,
    containment_of_left: match.containment_of_query,
    containment_of_right: match.containment_of_document,
    // Without texts a passage has no place in the document, and nothing is laid side by side.
    passages: match.passages.flatMap((passage) =>
      passage.document === null ? [] : [{ ...passage, left: passage.query, right: passage.document }],
    ),
    further_passages: match.further_passages,
  };
}

/**
 * @param {Side} side
 * @param {string} place
 * @param {number} containment
 */
function sideHeader(side, place, containment) {
  const title = name(side.title || side.id || '');
  return h(
    'div',
    { class: `side ${place}` },
    h('h2', {}, side.id === null ? title : h('a', { href: documentHref(side.id) }, title)),
    h(
      'p',
      { class: 'soft' },
      side.id === null ? 'Submission' : name(side.id),
      ` · ${share(containment)} of it is shared`,
    ),
    metadataLine(side.metadata),
  );
}

/** @param {Pair} found */
function verdict({ similarity, passages, further_passages = 0 }) {
  const moved = passages.filter((passage) => passage.moved).length;
  return h(
    'div',
    { class: 'verdict' },
    h('p', { class: 'figure' }, share(similarity)),
    h('p', { class: 'soft' }, 'similarity'),
    h('p', { class: 'soft' }, `${passagesIn(passages.length, further_passages)}${moved > 0 ? `, ${moved} moved` : ''}`),
  );
}
