// The matches of a document: a table, and a slider that hides the matches below a value.

import { documentHref } from './addresses.js';
import { announce, description, h, shortName } from './dom.js';
import { count, counted, percent } from './format.js';
import { barsOf, histogram } from './histogram.js';
import { unitOf } from './language.js';
import { metadataLine } from './metadata.js';
import { barCell, cell, table } from './table.js';

/** @typedef {import('./types.js').Answer} Answer */
/** @typedef {import('./types.js').Match} Match */
/** @typedef {{ threshold: number, containment: number }} Thresholds of the check that found the matches */
/** @typedef {{ title: string, isNumber: true, isLeading?: boolean, threshold: number, of: (match: Match) => number }} Measure a column by which matches are sorted */

const LONGEST = { title: 'Longest passage', isNumber: true };

/**
 * @param {Answer} answer
 * @param {{ self: string, other: string }} names of the document and of a match, in sentences
 * @param {Thresholds} thresholds
 * @param {(match: Match) => string} pairHref
 */
export function matchesView(answer, { self, other }, thresholds, pairHref) {
  const { matches, further } = answer;
  if (matches.length === 0) {
    return [h('p', { class: 'empty' }, `No document of the archive shares enough text with ${self}.`), details(answer)];
  }
  const unit = unitOf(answer.spec, answer.query.text);
  const measures = measuresOf(matches, self, other, thresholds);
  const rows = matches.map((match) => row(match, measures, unit, pairHref(match)));
  const list = table(`Documents that share text with ${self}`, [{ title: 'Document' }, ...measures, LONGEST], rows);
  const none = h('p', { class: 'empty' }, 'No match reaches this value. Move the slider to the left to see more.');
  return [
    thresholdPanel(matches, measures, rows, (isEmpty) => {
      list.toggleAttribute('hidden', isEmpty);
      none.toggleAttribute('hidden', !isEmpty);
    }),
    list,
    none,
    further > 0 &&
      h(
        'p',
        { class: 'soft' },
        `These are the best ${count(matches.length)} of ${counted(matches.length + further, 'match', 'matches')}. “Matches shown, at most” in the options of a check changes that.`,
      ),
    details(answer),
  ];
}

/**
 * @param {Match[]} matches
 * @param {string} self
 * @param {string} other
 * @param {Thresholds} thresholds
 * @returns {Measure[]} the most prominent measure first
 */
function measuresOf(matches, self, other, { threshold, containment }) {
  /** @type {Measure[]} */
  const measures = [
    {
      title: `Share of ${self} found in ${other}`,
      isNumber: true,
      isLeading: true,
      threshold: containment,
      of: (match) => match.containment_of_query,
    },
    {
      title: `Share of ${other} found in ${self}`,
      isNumber: true,
      threshold: containment,
      of: (match) => match.containment_of_document,
    },
    { title: 'Similarity of the two', isNumber: true, threshold, of: (match) => match.similarity },
  ];
  if (matches.some((match) => match.weighted !== null)) {
    measures.push({
      title: 'Weighted similarity',
      isNumber: true,
      threshold: 0,
      of: (match) => match.weighted ?? 0,
    });
  }
  return measures;
}

/**
 * Creates a slider for one of the measures. The slider hides the rows below its value, and sorts the table by the
 * measure.
 *
 * @param {Match[]} matches
 * @param {Measure[]} measures
 * @param {HTMLElement[]} rows of the matches
 * @param {(isEmpty: boolean) => void} changed
 */
function thresholdPanel(matches, measures, rows, changed) {
  const all = counted(matches.length, 'match', 'matches');
  const showAll = h('button', { type: 'button' }, `Show all ${all}`);
  const chartOf = (/** @type {Measure} */ { title, threshold, of }) => {
    const values = matches.map(of);
    const order = rows.map((_, at) => at).sort((a, b) => values[b] - values[a] || a - b);
    // On the first call, the rows are not in the table yet, so they are sorted after the table is built.
    queueMicrotask(() => rows[0].parentElement?.append(...order.map((at) => rows[at])));
    return histogram(barsOf(values), `Matches by ${title.toLowerCase()}`, {
      label: `Minimum: ${title.toLowerCase()}`,
      // The slider has steps of one percent. The threshold is truncated, because a slider above the threshold would
      // hide matches.
      value: Math.floor(Number((threshold * 100).toFixed(6))) / 100,
      step: 0.01,
      counts: (minimum) => ({ reach: values.filter((value) => value >= minimum).length, noun: `of ${all}` }),
      changed: (minimum) => {
        rows.forEach((node, at) => node.toggleAttribute('hidden', values[at] < minimum));
        const hidden = values.filter((value) => value < minimum).length;
        showAll.toggleAttribute('hidden', hidden === 0);
        changed(hidden === values.length);
      },
    });
  };
  const options = measures.map(({ title }, at) => h('option', { value: at }, title));
  const select = h('select', { id: 'measure' }, ...options);
  const chart = h('div', { class: 'chart' }, chartOf(measures[0]));
  select.addEventListener('change', () => chart.replaceChildren(chartOf(measures[Number(select.value)])));
  showAll.addEventListener('click', () => {
    const slider = chart.querySelector('input');
    if (!slider) return;
    slider.value = '0';
    slider.dispatchEvent(new Event('input'));
    slider.focus();
    announce(all);
  });
  return h(
    'section',
    { class: 'panel', 'aria-label': 'Sort and filter the matches' },
    h('div', { class: 'choice' }, h('label', { for: 'measure' }, 'Sort and filter by'), select),
    chart,
    showAll,
  );
}

/**
 * @param {Match} match
 * @param {Measure[]} measures
 * @param {string} unit
 * @param {string} href of the pair
 */
function row(match, measures, unit, href) {
  const document = { href: documentHref(match.id), class: 'id', 'aria-label': `Document ${match.id} in the archive` };
  const passages = match.passages.length + match.further_passages;
  return h(
    'tr',
    {},
    h(
      'th',
      { scope: 'row' },
      h('a', { href, class: 'title' }, shortName(match.title || match.id)),
      h('div', {}, h('a', document, match.title ? shortName(match.id) : 'in the archive')),
      metadataLine(match.metadata),
    ),
    measures.map((measure) => barCell(measure, percent(measure.of(match)), measure.of(match))),
    cell(
      LONGEST,
      counted(match.longest_passage, unit),
      h('div', { class: 'soft' }, `${counted(passages, 'passage')}, ${counted(match.shared_tokens, unit)} in all`),
    ),
  );
}

/** Shows how the answer was found. @param {Answer} answer */
function details({ query, compared, not_compared, passed_over, recall_at_threshold, elapsed_ms, spec }) {
  return h(
    'div',
    { class: 'facts' },
    not_compared > 0 &&
      h(
        'p',
        { class: 'notice' },
        `${counted(not_compared, 'document')} with less in common ${not_compared === 1 ? 'was' : 'were'} not compared, because one check compares only the most promising documents.`,
      ),
    h(
      'details',
      { class: 'more' },
      h('summary', {}, 'Details'),
      h(
        'dl',
        { class: 'terms' },
        description('Documents compared', count(compared)),
        description('Time', `${count(Math.round(elapsed_ms))}\u00a0ms`),
        description('Probability of finding a document that has just the minimum similarity', `${percent(recall_at_threshold)} or more`),
        passed_over > 0 && description('Pieces of text not looked up, because very many documents contain them', count(passed_over)),
        description('Shingles of the text', count(query.shingles)),
        description('Settings of the archive', spec),
      ),
      h(
        'p',
        { class: 'soft' },
        'The similarity is the text that both documents share, divided by all the text of both. A text that is a small part of a long document has a low similarity to it, even if all of the text was copied.',
      ),
    ),
  );
}
