// `/overview`: numbers and charts of the archive.

import { stats } from '../api.js';
import { description, h } from '../dom.js';
import { bytes, count, counted } from '../format.js';
import { histogram } from '../histogram.js';
import { unitOf } from '../language.js';
import { barCell, table } from '../table.js';

/** @typedef {import('../router.js').Visit} Visit */
/** @typedef {import('../types.js').Stats} Stats */

/** Number of months that are shown, up to the newest month. */
const MONTHS = 24;

const DOCUMENTS = { title: 'Documents', isNumber: true };

/** @param {Visit} visit */
export async function overview({ signal }) {
  const archive = await stats(signal);
  return {
    title: 'Overview',
    body: [
      h('h1', {}, 'Overview'),
      h(
        'dl',
        { class: 'figures' },
        description('Documents', count(archive.documents)),
        description('Text', bytes(archive.text_bytes)),
        description('Space on disk', bytes(archive.disk_bytes)),
        description('Shortest shared passage that a check finds', counted(archive.passage, unitOf(archive.spec, null))),
      ),
      h('section', {}, h('h2', {}, 'How similar the documents are'), similarities(archive)),
      archive.added_by_month && archive.added_by_month.length > 0 && months(archive.added_by_month.slice(-MONTHS)),
      h(
        'details',
        { class: 'more' },
        h('summary', {}, 'Details'),
        h(
          'dl',
          { class: 'terms' },
          description('Texts of the documents', archive.text_kept ? 'kept' : 'not kept'),
          description('Changes since the archive was created', count(archive.sequence)),
          description('Version of the server', archive.version),
          description('Settings of the archive (spec)', archive.spec),
          description('Bands × rows', `${count(archive.bands)} × ${count(archive.rows)}`),
        ),
      ),
    ],
  };
}

/** @param {Stats} archive */
function similarities({ similarities: sampled }) {
  if (!sampled || sampled.buckets.length === 0) return h('p', { class: 'empty' }, 'The archive has no two documents to compare yet.');
  const { buckets } = sampled;
  const [least, step] = [buckets[0].from, buckets[0].to - buckets[0].from];
  // The heights are logarithmic, because in most archives nearly all documents are dissimilar to all others: on a
  // linear scale, the bars of similar documents would be invisible.
  const caption = `A sample of ${counted(sampled.documents_sampled, 'document')}: for each document of the sample, the most similar other document of the archive was searched. The height of a bar is the number of documents whose most similar document has this similarity, on a logarithmic scale.`;
  const bars = buckets.map(({ from, to, documents }) => ({ from, to, count: documents }));
  return h(
    'div',
    { class: 'panel' },
    histogram(bars, caption, {
      label: 'Minimum similarity',
      logarithmic: true,
      value: least + step * Math.floor(buckets.length / 2),
      // The counts within a bar are unknown, so the slider moves from bar to bar.
      step,
      most: buckets[buckets.length - 1].from,
      counts: (threshold) => {
        const first = Math.round((threshold - least) / step);
        const reach = buckets.slice(first).reduce((sum, bucket) => sum + bucket.documents, 0);
        return { reach, noun: reach === 1 ? 'document' : 'documents' };
      },
    }),
  );
}

/** @param {{ month: string, documents: number }[]} list */
function months(list) {
  const most = Math.max(...list.map((month) => month.documents));
  const rows = list.map(({ month, documents }) =>
    h('tr', {}, h('th', { scope: 'row' }, month), barCell(DOCUMENTS, count(documents), documents / most)),
  );
  return h(
    'section',
    { class: 'months' },
    h('h2', {}, 'Added by month'),
    table('Documents added by month', [{ title: 'Month' }, DOCUMENTS], rows),
  );
}
