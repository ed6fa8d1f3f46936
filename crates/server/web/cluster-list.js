// Shows clusters as cards: at first, some clusters with some members each, and buttons that show more.

import { documentHref, pairHref } from './addresses.js';
import { h, shortName } from './dom.js';
import { count, counted, percent } from './format.js';

/** @typedef {import('./types.js').Cluster} Cluster */
/** @typedef {import('./types.js').Member} Member */

/** Number of clusters that are shown at a time. */
const CLUSTERS = 50;
/** Number of members per cluster that are shown at a time. */
const MEMBERS = 12;

/** @param {Cluster[]} clusters */
export function clusterList(clusters) {
  const cards = h('ol', { class: 'clusters' });
  return [cards, ...more(cards, clusters, CLUSTERS, card, 'clusters')];
}

/**
 * Appends the first items to a list, and returns a button that appends the next items, if there are more.
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
    first.querySelector('a')?.focus();
    if (shown === items.length) button.remove();
  });
  return [button];
}

/** @param {Cluster} cluster */
function card({ size, keeper, members }) {
  const kept = members.find((member) => member.id === keeper);
  const others = members.filter((member) => member.id !== keeper);
  const list = h('ul', { class: 'members' });
  const member = (/** @type {Member} */ { id, title, similarity }) =>
    h(
      'li',
      {},
      h('span', { class: 'number' }, percent(similarity)),
      ' ',
      h('a', { href: pairHref(keeper, id) }, shortName(title || id)),
    );
  const button = more(list, others, MEMBERS, member, 'documents');
  return h(
    'li',
    { class: 'card' },
    h('p', { class: 'over' }, `${counted(size - 1, 'document')} ${size === 2 ? 'is' : 'are'} similar to`),
    h('h3', {}, h('a', { href: documentHref(keeper) }, shortName(kept?.title || keeper))),
    list,
    ...button,
    size > members.length && h('p', { class: 'soft' }, `${counted(size - members.length, 'document')} more`),
  );
}
