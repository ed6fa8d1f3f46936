// The map of the passages: the two texts as bars, with a ribbon from each passage to its partner. Ribbons of moved
// passages cross other ribbons.

import { svg } from './dom.js';
import { passageStyle } from './passages.js';

/** @typedef {import('./passages.js').Passages} Passages */
/** @typedef {import('./passages.js').SideName} SideName */

/** Width of a bar, on a map of width 100. */
const BAR = 18;
/** Length of the map. The browser scales the map to its size on the screen. */
const LENGTH = 1000;
/** Minimum length of a passage on the map, so that a short passage is visible. */
const LEAST = 3;

/**
 * Draws the map. The map marks the current passage, and a click on a ribbon goes to its passage. `look` sets the part
 * of a text that is in view, as shares of the length of the text.
 *
 * @param {Passages} passages
 * @param {AbortSignal} signal
 */
export function passageMap(passages, signal) {
  const moved = Array.from({ length: passages.count }, (_, at) => passages.get(at)).filter((passage) => passage.moved);
  const isHorizontal = matchMedia('(max-width: 52rem)');
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
    map.setAttribute('viewBox', isHorizontal.matches ? `0 0 ${LENGTH} 100` : `0 0 100 ${LENGTH}`);
    map.replaceChildren(...shapes(passages, isHorizontal.matches), windows.left, windows.right);
    look('left', ...inView.left);
    look('right', ...inView.right);
    show();
  };
  const show = () => {
    map.querySelector('.current')?.classList.remove('current');
    const current = map.querySelector(`[data-passage="${passages.current}"]`);
    current?.classList.add('current');
    // In SVG, later nodes cover earlier nodes. The current ribbon covers the other ribbons, and the windows cover the
    // current ribbon.
    if (current) windows.left.before(current);
  };
  const look = (/** @type {SideName} */ side, /** @type {number} */ from, /** @type {number} */ to) => {
    inView[side] = [from, to];
    windows[side].setAttribute('d', block(from * LENGTH, to * LENGTH, side === 'left' ? 0 : 100 - BAR, isHorizontal.matches));
  };
  map.addEventListener('click', (event) => {
    const shape = event.target instanceof Element ? event.target.closest('[data-passage]') : null;
    if (shape) passages.go(Number(shape.getAttribute('data-passage')));
  });
  passages.addEventListener('change', show, { signal });
  isHorizontal.addEventListener('change', draw, { signal });
  draw();
  return { element: map, look };
}

/**
 * Formats a point of the map, given its distances along and across the bars.
 *
 * @param {number} along
 * @param {number} across
 * @param {boolean} isHorizontal whether the bars are horizontal, as they are if one text is above the other
 */
function point(along, across, isHorizontal) {
  return isHorizontal ? `${along.toFixed(1)} ${across}` : `${across} ${along.toFixed(1)}`;
}

/**
 * Returns the outline of a part of a bar.
 *
 * @param {number} from
 * @param {number} to
 * @param {number} at the position of the bar across the map
 * @param {boolean} isHorizontal
 */
function block(from, to, at, isHorizontal) {
  return `M${point(from, at, isHorizontal)}L${point(from, at + BAR, isHorizontal)}L${point(to, at + BAR, isHorizontal)}L${point(to, at, isHorizontal)}Z`;
}

/**
 * @param {Passages} passages
 * @param {boolean} isHorizontal
 */
function shapes(passages, isHorizontal) {
  const { left, right } = passages.views;
  const span = (/** @type {typeof left} */ view, /** @type {number} */ passage) => {
    const [start, end] = view.range(passage).map((at) => (at / Math.max(view.length, 1)) * LENGTH);
    return [Math.min(start, LENGTH - LEAST), Math.max(end, start + LEAST)];
  };
  const bar = (/** @type {number} */ at) => svg('path', { class: 'bar', d: block(0, LENGTH, at, isHorizontal) });
  const ribbons = Array.from({ length: passages.count }, (_, passage) => {
    const [from, to] = span(left, passage);
    const [partnerFrom, partnerTo] = span(right, passage);
    const near = `M${point(from, BAR, isHorizontal)}L${point(partnerFrom, 100 - BAR, isHorizontal)}`;
    const far = `L${point(partnerTo, 100 - BAR, isHorizontal)}L${point(to, BAR, isHorizontal)}Z`;
    return svg(
      'g',
      { class: passageStyle(passages.get(passage), passage), 'data-passage': passage },
      svg('path', { class: 'ribbon', d: near + far }),
      svg('path', { class: 'block', d: block(from, to, 0, isHorizontal) + block(partnerFrom, partnerTo, 100 - BAR, isHorizontal) }),
    );
  });
  return [bar(0), bar(100 - BAR), ...ribbons];
}
