// `/pair`: two documents side by side, with their shared passages.
//
// The parameters `left` and `right` are ids. The parameter `checked` replaces `left` if the left text was checked:
// `checked` is the number of the text in the last check. Such a pair shows a match of this check, with the options of
// the check. The answer of a check has only the longest passages, so this view loads all passages.

import { documentHref, resultHref } from '../addresses.js';
import { pair as ask, wholeDocument } from '../api.js';
import { lastChecks, titleOf } from '../checks.js';
import { description, h, name, shortName } from '../dom.js';
import { count, counted, percent } from '../format.js';
import { compareView } from '../compare.js';
import { unitOf } from '../language.js';
import { metadataLine } from '../metadata.js';
import { passageTable } from '../passage-table.js';
import { Passages } from '../passages.js';
import { problemOf } from '../problem.js';

/** @typedef {import('../checks.js').Checked} Checked */
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
      ? await ask({ id: url.searchParams.get('left') ?? '' }, right, {}, signal)
      : await pairOfCheck(Number(checked), right, signal);
  const called = checked === null ? ['left text', 'right text'] : ['submission', 'document'];
  const titles = [found.left, found.right].map((side) => side.title || side.id || '');
  const body = [
    checked !== null && h('p', { class: 'back' }, h('a', { href: resultHref(Number(checked)) }, '← All matches')),
    h('h1', { class: 'unseen' }, 'Compare ', name(titles[0]), ' with ', name(titles[1])),
    h('div', { class: 'sides' }, sideHeader(found.left, 'left'), verdict(found, called), sideHeader(found.right, 'right')),
  ];
  const view = { title: `${titles[0]} and ${titles[1]}`, wide: true };
  if (!isReadable(found.left) || !isReadable(found.right)) {
    body.push(
      h('p', { class: 'notice' }, 'The archive keeps no texts, so the two cannot be shown side by side.'),
    );
    return { ...view, body };
  }
  if (found.passages.length === 0) body.push(h('p', { class: 'notice' }, 'These documents share no passage.'));
  if (found.further_passages) body.push(incomplete(found.passages.length, found.further_passages));
  const passages = new Passages(found.left, found.right, found.passages, unitOf(found.spec, found.left.text));
  const compare = compareView(passages, signal);
  const list = h('div');
  const shown = async () => {
    await compare.drawn();
    // The table is added after the texts, because the first layout is faster without the table.
    if (!signal.aborted && found.passages.length > 0) list.append(passageTable(passages));
  };
  return { ...view, body: [...body, compare.element, list], shown };
}

/**
 * @param {number} shown
 * @param {number} further
 */
function incomplete(shown, further) {
  return h(
    'p',
    { class: 'notice bad', role: 'alert' },
    `Only the ${count(shown)} longest of ${counted(shown + further, 'passage')} are coloured: the others could not be loaded. Load the page again to try once more.`,
  );
}

/**
 * @param {Side} side
 * @returns {side is Readable}
 */
function isReadable(side) {
  return side.text !== null;
}

/**
 * Returns the pair of a checked text and one of its matches.
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
    throw new Error(
      'This submission is gone: the page keeps submissions only until it is reloaded or until the next check. Check the text again.',
    );
  const { query, spec } = checked.answer;
  const document = await wholeDocument(id, signal);
  /** @type {Pair} */
  const known = {
    left: { id: null, title: titleOf(checked), text: query.text, marks: query.marks, metadata: {} },
    right: document,
    similarity: match.similarity,
    containment_of_left: match.containment_of_query,
    containment_of_right: match.containment_of_document,
    // If the archive keeps no texts, passages have no place in the document, and no texts are shown side by side.
    passages: match.passages.flatMap((passage) =>
      passage.document === null ? [] : [{ ...passage, left: passage.query, right: passage.document }],
    ),
    further_passages: match.further_passages,
    spec,
  };
  if (match.further_passages === 0 || query.text === null || document.text === null) return known;
  try {
    const { passages } = await ask({ text: query.text }, id, checked.options, signal);
    return { ...known, passages, further_passages: 0 };
  } catch (error) {
    if (signal.aborted || problemOf(error).status === 404) throw error;
    return known;
  }
}

/**
 * @param {Side} side
 * @param {string} place
 */
function sideHeader(side, place) {
  const title = shortName(side.title || side.id || '');
  const origin = side.id === null ? 'Submission' : side.title ? shortName(side.id) : 'In the archive';
  return h(
    'div',
    { class: `side ${place}` },
    h('h2', {}, side.id === null ? title : h('a', { href: documentHref(side.id) }, title)),
    h('p', { class: 'soft' }, origin),
    metadataLine(side.metadata),
  );
}

/**
 * Shows the similarity of the two documents in figures, the most prominent figure first.
 *
 * @param {Pair} found
 * @param {string[]} called the names of the left and the right document in sentences
 */
function verdict({ similarity, containment_of_left, containment_of_right, passages, further_passages = 0 }, called) {
  const moved = passages.filter((passage) => passage.moved).length;
  const all = counted(passages.length + further_passages, 'passage');
  const figure = (/** @type {number} */ value, /** @type {string} */ words) =>
    description(words, percent(value));
  return h(
    'div',
    { class: 'verdict' },
    h(
      'dl',
      {},
      figure(containment_of_left, `of the ${called[0]} found in the ${called[1]}`),
      figure(containment_of_right, `of the ${called[1]} found in the ${called[0]}`),
      figure(similarity, 'similarity of the two'),
    ),
    h('p', { class: 'soft' }, `${all} in common${moved > 0 ? `, ${count(moved)} in another order` : ''}`),
  );
}
