// Where the passages are: the two texts as two bars, and a ribbon from each passage to its partner. Ribbons that cross
// are passages that moved.

import { svg } from './dom.js';
import { passageStyle } from './passages.js';

/** @typedef {import('./passages.js').Passages} Passages */
/** @typedef {import('./passages.js').SideName} SideName */

/** Across the map: the width of a bar. The map is 100 wide and 1000 long, whatever its shape on the screen. */
const BAR = 18;
const LENGTH = 1000;
/** The least length of a passage, so that it can be seen. */
const LEAST = 3;

/**
 * A map that follows the walk through the passages; a click on a ribbon goes to its passage. `look` tells it which
 * part of a text is in view, as shares of its length.
 *
 * @param {Passages} passages
 * @param {AbortSignal} signal
 */
export function passageMap(passages, signal) {
  const moved = Array.from({ length: passages.count }, (_, at) => passages.get(at)).filter((passage) => passage.moved);
  const lies = matchMedia('(max-width: 52rem)');
  const map = svg('svg', {
    class: 'map',
    role: 'img',
    preserveAspectRatio: 'none',
    'aria-label': `Map of the passages: ${passages.count}, of which ${moved.length} moved`,
  });
  /** @type {Record<SideName, [from: number, to: number]>} */
  const inView = { left: [0, 0], right: [0, 0] };
  const windows = { left: svg('path', { class: 'window' }), right: svg('path', { class: 'window' }) };
  const draw = () => {
    map.setAttribute('viewBox', lies.matches ? `0 0 ${LENGTH} 100` : `0 0 100 ${LENGTH}`);
    map.replaceChildren(...shapes(passages, lies.matches), windows.left, windows.right);
    look('left', ...inView.left);
    look('right', ...inView.right);
    show();
  };
  const show = () => {
    map.querySelector('.current')?.classList.remove('current');
    const current = map.querySelector(`[data-passage="${passages.current}"]`);
    current?.classList.add('current');
    // Above the other ribbons, below the windows.
    if (current) windows.left.before(current);
  };
  const look = (/** @type {SideName} */ side, /** @type {number} */ from, /** @type {number} */ to) => {
    inView[side] = [from, to];
    windows[side].setAttribute('d', block(from * LENGTH, to * LENGTH, side === 'left' ? 0 : 100 - BAR, lies.matches));
  };
  map.addEventListener('click', (event) => {
    const shape = event.target instanceof Element ? event.target.closest('[data-passage]') : null;
    if (shape) passages.go(Number(shape.getAttribute('data-passage')));
  });
  passages.addEventListener('change', show, { signal });
  lies.addEventListener('change', draw, { signal });
  draw();
  return { element: map, look };
}

/**
 * A point at a distance along the bars and one across them.
 *
 * @param {number} along
 * @param {number} across
 * @param {boolean} lies whether the bars lie, as where the texts are above each other
 */
function point(along, across, lies) {
  return lies ? `${along.toFixed(1)} ${across}` : `${across} ${along.toFixed(1)}`;
}

/**
 * A part of a bar.
 *
 * @param {number} from
 * @param {number} to
 * @param {number} at where the bar is, across
 * @param {boolean} lies
 */
function block(from, to, at, lies) {
  return `M${point(from, at, lies)}L${point(from, at + BAR, lies)}L${point(to, at + BAR, lies)}L${point(to, at, lies)}Z`;
}

/**
 * @param {Passages} passages
 * @param {boolean} lies
 */
function shapes(passages, lies) {
  const { left, right } = passages.views;
  const span = (/** @type {typeof left} */ view, /** @type {number} */ passage) => {
    const [start, end] = view.range(passage).map((at) => (at / Math.max(view.length, 1)) * LENGTH);
    return [Math.min(start, LENGTH - LEAST), Math.max(end, start + LEAST)];
  };
  const bar = (/** @type {number} */ at) => svg('path', { class: 'bar', d: block(0, LENGTH, at, lies) });
  const ribbons = Array.from({ length: passages.count }, (_, passage) => {
    const [from, to] = span(left, passage);
    const [partnerFrom, partnerTo] = span(right, passage);
    const near = `M${point(from, BAR, lies)}L${point(partnerFrom, 100 - BAR, lies)}`;
    const far = `L${point(partnerTo, 100 - BAR, lies)}L${point(to, BAR, lies)}Z`;
    return svg(
      'g',
      { class: passageStyle(passages.get(passage), passage), 'data-passage': passage },
      svg('path', { class: 'ribbon', d: near + far }),
      svg('path', { class: 'block', d: block(from, to, 0, lies) + block(partnerFrom, partnerTo, 100 - BAR, lies) }),
    );
  });
  return [bar(0), bar(100 - BAR), ...ribbons];
}
