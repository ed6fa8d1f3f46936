// The options of a check: the conditions of a match, and the text to ignore. Shares are typed in percent.

import { h } from './dom.js';

/** @typedef {import('./types.js').Options} Options */

/** Number of fields so far, from which the next field gets its id. */
let fields = 0;

/**
 * Creates a labelled field.
 *
 * @param {string} label
 * @param {HTMLInputElement | HTMLTextAreaElement} input
 * @param {string} [note]
 */
function field(label, input, note) {
  fields += 1;
  input.id = `option-${fields}`;
  if (note) input.setAttribute('aria-describedby', `${input.id}-note`);
  return h(
    'div',
    { class: input.type === 'checkbox' ? 'tick' : 'field' },
    input.type === 'checkbox' && input,
    h('label', { for: input.id }, label),
    input.type !== 'checkbox' && input,
    note && h('p', { class: 'soft', id: `${input.id}-note` }, note),
  );
}

/** Creates the form of the options. `read` returns the options. */
export function checkOptions() {
  const share = (/** @type {number} */ value) =>
    h('input', { type: 'number', min: 0, max: 100, step: 'any', value, required: true });
  const threshold = share(50);
  const containment = share(30);
  const top = h('input', { type: 'number', min: 1, max: 1000, step: 1, value: 10, required: true });
  const excluded = h('input', { type: 'text', autocomplete: 'off', placeholder: 'applicant' });
  const value = h('input', { type: 'text', autocomplete: 'off' });
  const frequency = h('input', { type: 'number', min: 1, step: 1 });
  const since = h('input', { type: 'date' });
  const until = h('input', { type: 'date' });
  const quotations = h('input', { type: 'checkbox' });
  const references = h('input', { type: 'checkbox' });
  const template = h('textarea', { rows: 3, spellcheck: 'false', dir: 'auto' });

  const element = h(
    'details',
    { class: 'options' },
    h('summary', {}, 'Options'),
    h(
      'div',
      { class: 'groups' },
      h(
        'fieldset',
        {},
        h('legend', {}, 'What counts as a match'),
        field('Minimum similarity, in percent', threshold),
        field(
          'Minimum share of one text that is found in the other, in percent',
          containment,
          'A document is a match if it reaches one of the two minima, or if it shares a long passage.',
        ),
        field('Matches shown, at most', top),
      ),
      h(
        'fieldset',
        {},
        h('legend', {}, 'Text to ignore'),
        field('Quotations', quotations),
        field('Lists of references', references),
        field('Text found in more documents than', frequency, 'Standard phrases, for example. An empty field sets no limit.'),
        field('This text', template, 'The questions of a form, for example.'),
      ),
      h(
        'fieldset',
        {},
        h('legend', {}, 'Documents to leave out'),
        field('Documents whose field', excluded),
        field('has the value', value),
        field('Documents added before', since),
        field('Documents added after', until),
      ),
    ),
  );

  /** @returns {Options} */
  const read = () => ({
    threshold: threshold.valueAsNumber / 100,
    containment: containment.valueAsNumber / 100,
    top: top.valueAsNumber,
    ignore_quotations: quotations.checked,
    ignore_references: references.checked,
    ...(frequency.value !== '' && { max_df: frequency.valueAsNumber }),
    ...(template.value.trim() !== '' && { ignore_text: [template.value.toWellFormed()] }),
    ...(excluded.value.trim() !== '' && {
      exclude: [excluded.value.trim()],
      metadata: { [excluded.value.trim()]: value.value },
    }),
    ...(since.value !== '' && { since: since.value }),
    ...(until.value !== '' && { until: until.value }),
  });
  // An invalid field opens the options, because a person must see the field to correct it.
  element.addEventListener('invalid', () => (element.open = true), { capture: true });
  return { element, read };
}
