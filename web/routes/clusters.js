// `/clusters`: documents of the archive that belong together. Finding them is a job of the server; `job` in the address
// names it, so that a reload goes on waiting.

import { documentHref, pairHref } from '../addresses.js';
import { clusters as begin, job as ask } from '../api.js';
import { announce, h, name } from '../dom.js';
import { count, counted, share } from '../format.js';
import { problemNotice, problemOf } from '../problem.js';
import { go } from '../router.js';

/** @typedef {import('../router.js').Visit} Visit */
/** @typedef {import('../types.js').Cluster} Cluster */
/** @typedef {import('../types.js').Clusters} Clusters */
/** @typedef {import('../types.js').Job<Clusters>} ClusterJob */

/** Milliseconds between two looks at a job, at first and at most. */
const [SOON_MS, LATER_MS] = [200, 2000];
/** Clusters, and members of one, that are shown before more are asked for. */
const [CLUSTERS, MEMBERS] = [50, 12];

/** @param {Visit} visit */
export async function clusters({ url, signal }) {
  const id = url.searchParams.get('job');
  const job = id === null ? null : await /** @type {Promise<ClusterJob>} */ (ask(id, signal));
  const outcome = h('div', { class: 'outcome' });
  return {
    title: 'Clusters',
    body: [
      h('h1', {}, 'Clusters'),
      h('p', { class: 'lead' }, 'Documents of the archive that are near-duplicates of one among them, the keeper.'),
      form(job?.result?.threshold ?? 0.5, outcome),
      outcome,
    ],
    shown: () => {
      if (job) follow(job, outcome, signal);
    },
  };
}

/**
 * @param {number} threshold
 * @param {HTMLElement} outcome
 */
function form(threshold, outcome) {
  const slider = h('input', { type: 'range', id: 'threshold', min: 0.1, max: 1, step: 0.01, value: threshold });
  const reading = h('output', { for: 'threshold' });
  const show = () => {
    reading.textContent = share(slider.valueAsNumber);
  };
  slider.addEventListener('input', show);
  show();
  const node = h('form', { class: 'panel line' }, h('label', { for: 'threshold' }, 'Threshold'), slider, reading, h('button', { type: 'submit', class: 'primary' }, 'Find clusters'));
  node.addEventListener('submit', async (event) => {
    event.preventDefault();
    try {
      const { job } = await begin(slider.valueAsNumber);
      go(`/clusters?${new URLSearchParams({ job })}`);
    } catch (error) {
      outcome.replaceChildren(problemNotice(problemOf(error)));
    }
  });
  return node;
}

/**
 * Shows how far a job is until it ends.
 *
 * @param {ClusterJob} job
 * @param {HTMLElement} outcome
 * @param {AbortSignal} signal
 */
async function follow(job, outcome, signal) {
  const bar = h('progress', { 'aria-label': 'Progress' });
  const words = h('p', { class: 'soft' });
  outcome.replaceChildren(h('div', { class: 'progress' }, bar, words));
  try {
    for (let pause = SOON_MS; job.state === 'queued' || job.state === 'running'; pause = Math.min(2 * pause, LATER_MS)) {
      if (job.total > 0) {
        bar.max = job.total;
        bar.value = job.done;
      }
      words.textContent = job.total > 0 ? `${count(job.done)} of ${counted(job.total, 'document')}` : 'Waiting for its turn';
      await new Promise((resolve) => setTimeout(resolve, pause));
      job = await ask(job.id, signal);
    }
    if (job.error) outcome.replaceChildren(problemNotice(job.error));
    else if (job.result) outcome.replaceChildren(...result(job.result));
  } catch (error) {
    if (!signal.aborted) outcome.replaceChildren(problemNotice(problemOf(error)));
  }
}

/** @param {Clusters} found */
function result({ clusters: list, threshold }) {
  const documents = list.reduce((sum, cluster) => sum + cluster.size, 0);
  const summary = `${counted(list.length, 'cluster')} of ${counted(documents, 'document')} at ${share(threshold)} or above`;
  announce(summary);
  const cards = h('ol', { class: 'clusters' });
  return [h('h2', {}, summary), list.length === 0 ? h('p', { class: 'empty' }, 'No two documents are that similar.') : cards, ...more(cards, list, CLUSTERS, card, 'clusters')];
}

/**
 * Puts the first items into a list; the button that is returned puts in the next ones.
 *
 * @template Item
 * @param {HTMLElement} list
 * @param {Item[]} items
 * @param {number} some
 * @param {(item: Item) => HTMLElement} draw
 * @param {string} noun
 */
function more(list, items, some, draw, noun) {
  let shown = 0;
  const show = () => {
    const next = items.slice(shown, shown + some).map(draw);
    list.append(...next);
    shown += next.length;
    return next[0];
  };
  show();
  if (shown === items.length) return [];
  const label = () => `Show more ${noun} (${count(items.length - shown)} left)`;
  const button = h('button', { type: 'button' }, label());
  button.addEventListener('click', () => {
    const first = show();
    button.textContent = label();
    first?.querySelector('a')?.focus();
    if (shown === items.length) button.remove();
  });
  return [button];
}

/** @param {Cluster} cluster */
function card({ size, keeper, members }) {
  const kept = members.find((member) => member.id === keeper);
  const others = members.filter((member) => member.id !== keeper);
  const list = h('ul', { class: 'members' });
  const button = more(
    list,
    others,
    MEMBERS,
    (member) => h('li', {}, h('span', { class: 'number' }, share(member.similarity)), ' ', h('a', { href: pairHref(keeper, member.id) }, name(member.title || member.id))),
    'documents',
  );
  return h(
    'li',
    { class: 'card' },
    h('p', { class: 'over' }, `Keeper of ${counted(size, 'document')}`),
    h('h3', {}, h('a', { href: documentHref(keeper) }, name(kept?.title || keeper))),
    list,
    ...button,
  );
}
