// `/clusters`: the clusters of the archive. A job of the server finds the clusters. The address has the id of the job,
// so that a reloaded page continues to wait for the job.

import { clusters as begin, job as ask } from '../api.js';
import { clusterList } from '../cluster-list.js';
import { announce, h } from '../dom.js';
import { count, counted, percent } from '../format.js';
import { problemNotice, problemOf } from '../problem.js';
import { go } from '../router.js';

/** @typedef {import('../router.js').Visit} Visit */
/** @typedef {import('../types.js').Clusters} Clusters */
/** @typedef {import('../types.js').Job<Clusters>} ClusterJob */

/** First pause between two requests for a job, in milliseconds. The pause doubles each time. */
const FIRST_PAUSE_MS = 200;
/** Longest pause between two requests for a job, in milliseconds. */
const LONGEST_PAUSE_MS = 2000;

/** @param {Visit} visit */
export async function clusters({ url, signal }) {
  const id = url.searchParams.get('job');
  const job = id === null ? null : await /** @type {Promise<ClusterJob>} */ (ask(id, signal));
  const outcome = h('div', { class: 'outcome' });
  return {
    title: 'Clusters',
    body: [
      h('h1', {}, 'Clusters'),
      h(
        'p',
        { class: 'lead' },
        'A cluster is a group of documents of the archive: one document, and other documents that are similar to it.',
      ),
      form(job?.result?.threshold ?? 0.5, outcome, signal),
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
 * @param {AbortSignal} signal
 */
function form(threshold, outcome, signal) {
  const slider = h('input', { type: 'range', id: 'threshold', min: 0.1, max: 1, step: 0.01, value: threshold });
  const reading = h('output', { for: 'threshold' });
  const show = () => {
    reading.textContent = percent(slider.valueAsNumber);
  };
  slider.addEventListener('input', show);
  show();
  const submit = h('button', { type: 'submit', class: 'primary' }, 'Find clusters');
  const node = h(
    'form',
    { class: 'panel line' },
    h('label', { for: 'threshold' }, 'Minimum similarity'),
    slider,
    reading,
    submit,
  );
  node.addEventListener('submit', async (event) => {
    event.preventDefault();
    submit.disabled = true;
    try {
      const { job } = await begin(slider.valueAsNumber);
      // A person who has gone to another view in the meantime stays in that view.
      if (!signal.aborted) go(`/clusters?${new URLSearchParams({ job })}`);
    } catch (error) {
      outcome.replaceChildren(problemNotice(problemOf(error)));
      submit.disabled = false;
    }
  });
  return node;
}

/**
 * Shows the progress of a job until it ends, then its result.
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
    for (
      let pause = FIRST_PAUSE_MS;
      job.state === 'queued' || job.state === 'running';
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS)
    ) {
      if (job.total > 0) {
        bar.max = job.total;
        bar.value = job.done;
      }
      words.textContent =
        job.total > 0 ? `${count(job.done)} of ${counted(job.total, 'document')}` : 'Waiting for another job to end';
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
function result({ clusters: list, further, documents, threshold, recall_at_threshold, left_out }) {
  const all = `${counted(list.length + further, 'cluster')} with ${counted(documents, 'document')} in all, at a similarity of ${percent(threshold)} or more`;
  const summary = further > 0 ? `The ${count(list.length)} largest of ${all}` : all;
  announce(summary);
  // The list cannot show pairs that were not compared, so the text states the share of pairs that are found.
  const missed = h(
    'p',
    { class: 'soft facts' },
    `About ${percent(recall_at_threshold)} of the pairs with a similarity of exactly ${percent(threshold)} are found, and a larger share of the pairs above it. `,
    left_out > 0 &&
      `${counted(left_out, 'document')} ${left_out === 1 ? 'has' : 'have'} a little in common with very many others. Some pairs with ${left_out === 1 ? 'this document' : 'these documents'} may be missing.`,
  );
  if (list.length === 0)
    return [h('h2', {}, summary), missed, h('p', { class: 'empty' }, 'No pair with this similarity was found.')];
  return [h('h2', {}, summary), missed, ...clusterList(list)];
}
