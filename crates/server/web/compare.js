// The view of a pair: a pane for each text, the map between the panes, and the toolbar that goes from passage to
// passage.

import { h } from './dom.js';
import { count, counted, placeName } from './format.js';
import { passageMap } from './passage-map.js';
import { MOVED, passageStyle } from './passages.js';

/** @typedef {import('./passages.js').Passages} Passages */
/** @typedef {import('./passages.js').SideName} SideName */

/** Key in local storage of the setting that switches the keys n and p off. */
const KEYS = 'minwise-keys';

/**
 * @param {Passages} passages
 * @param {AbortSignal} signal
 */
export function compareView(passages, signal) {
  const map = passageMap(passages, signal);
  const pane = (/** @type {SideName} */ side) => {
    const node = h(
      'section',
      { class: `pane ${side}`, tabindex: 0, 'aria-label': side === 'left' ? 'Left text' : 'Right text' },
      passages.views[side].element,
    );
    const look = () =>
      map.look(side, node.scrollTop / node.scrollHeight, (node.scrollTop + node.clientHeight) / node.scrollHeight);
    node.addEventListener('scroll', look, { passive: true });
    return { node, look };
  };
  const [left, right] = [pane('left'), pane('right')];
  const element = h(
    'div',
    { class: 'compare' },
    passages.count > 0 && toolbar(passages, signal),
    h('div', { class: 'panes' }, left.node, map.element, right.node),
  );
  /** Draws both texts. The panes must already be in the page, because the width of a line is measured. */
  const drawn = async () => {
    const { views } = passages;
    const both = [views.left.draw(signal), views.right.draw(signal)];
    await Promise.all(both);
    if (signal.aborted) return;
    passages.align();
    left.look();
    right.look();
    element.toggleAttribute('data-drawn', true);
  };
  return { element, drawn };
}

/**
 * @param {Passages} passages
 * @param {AbortSignal} signal
 */
function toolbar(passages, signal) {
  const now = h('p', { class: 'now' });
  const show = () => now.replaceChildren(...description(passages));
  passages.addEventListener('change', show, { signal });
  show();
  const keys = h('input', { type: 'checkbox', id: 'keys' });
  keys.checked = localStorage.getItem(KEYS) !== 'off';
  keys.addEventListener('change', () => localStorage.setItem(KEYS, keys.checked ? 'on' : 'off'));
  document.addEventListener('keydown', (event) => keys.checked && goByKey(event, passages), { signal });
  return h(
    'div',
    { class: 'toolbar', role: 'group', 'aria-label': 'Passages' },
    h('button', { type: 'button', click: () => passages.step(-1) }, '↑', h('span', { class: 'word' }, 'Previous')),
    h('button', { type: 'button', click: () => passages.step(1) }, '↓', h('span', { class: 'word' }, 'Next')),
    now,
    h(
      'div',
      { class: 'tick keys' },
      keys,
      h('label', { for: 'keys' }, 'Keys ', h('kbd', {}, 'n'), ' ', h('kbd', {}, 'p')),
    ),
  );
}

/** @param {Passages} passages */
function description(passages) {
  const { current } = passages;
  const passage = passages.get(current);
  const places = [passages.views.left.place(current), passages.views.right.place(current)];
  return [
    h(
      'span',
      { class: `chip ${passageStyle(passage, current)}` },
      passage.moved ? `${count(current + 1)} ${MOVED} moved` : count(current + 1),
    ),
    ` of ${count(passages.count)} · ${counted(passage.tokens, passages.unit)}`,
    places[0] && places[1] ? ` · ${placeName(places[0])} ↔ ${placeName(places[1])}` : '',
  ];
}

/**
 * Goes to the next or previous passage when a key is pressed, unless a person types into a field.
 *
 * @param {KeyboardEvent} event
 * @param {Passages} passages
 */
function goByKey(event, passages) {
  const isTyping =
    event.target instanceof Element && event.target.closest('textarea, select, dialog, input:not([type=checkbox])');
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'n' || event.key === 'j') passages.step(1);
  else if (event.key === 'p' || event.key === 'k') passages.step(-1);
  else return;
  event.preventDefault();
}
