// `/`: the form that checks a text or files against the archive.

import { health } from '../api.js';
import { CheckForm } from '../check-form.js';
import { h } from '../dom.js';
import { counted } from '../format.js';

/** @typedef {import('../router.js').Visit} Visit */

/** @type {CheckForm | null} */
let form = null;

/** @param {Visit} visit */
export async function check({ signal }) {
  const { documents, body_bytes } = await health(signal);
  const archive = counted(documents, 'document');
  form ??= new CheckForm();
  form.visit(signal, body_bytes);
  return {
    title: 'Check',
    body: [
      h('h1', {}, 'Check a document'),
      h(
        'p',
        { class: 'lead' },
        `Compare a text with the ${archive} of the archive and see what they share.`,
      ),
      form.element,
    ],
  };
}
