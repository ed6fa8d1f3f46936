// A histogram of similarities, with a slider for a threshold. The number of values that reach the threshold is shown.

import { h, svg } from './dom.js';
import { count, percent } from './format.js';

/** @typedef {{ from: number, to: number, count: number }} Bar */
/**
 * @typedef {object} Threshold
 * @property {string} label of the slider
 * @property {number} value initial value of the slider
 * @property {boolean} [logarithmic] whether the height of a bar is the logarithm of its count
 * @property {number} step
 * @property {number} [most] highest threshold; by default, the upper end of the last bar
 * @property {(threshold: number) => { reach: number, noun: string }} counts returns the number of values that reach a
 * threshold
 * @property {(threshold: number) => void} [changed]
 */

/** Height of the drawing, in its own units. */
const HEIGHT = 100;
/** Minimum height of a bar whose count is not 0. */
const LEAST = 1.5;

/** Number of histograms so far, for the ids of sliders. */
let histograms = 0;

/**
 * Counts values in bars of equal width.
 *
 * @param {number[]} values from 0 to 1
 * @param {number} bars
 * @returns {Bar[]}
 */
export function barsOf(values, bars = 20) {
  const counts = new Array(bars).fill(0);
  for (const value of values) counts[Math.min(bars - 1, Math.floor(value * bars))] += 1;
  return counts.map((count, at) => ({ from: at / bars, to: (at + 1) / bars, count }));
}

/**
 * @param {Bar[]} bars in ascending order, adjacent and of equal width
 * @param {string} caption
 * @param {Threshold} threshold
 */
export function histogram(bars, caption, { label, value, logarithmic = false, step, most, counts, changed }) {
  histograms += 1;
  const id = `threshold-${histograms}`;
  const [least, end] = [bars[0].from, bars[bars.length - 1].to];
  const drawing = draw(bars, caption, logarithmic);
  const input = h('input', { type: 'range', id, min: least, max: most ?? end, step, value });
  // The slider is as long as the bars that it can reach, so that its thumb is below the line of the threshold.
  input.style.setProperty('--reach', String(((most ?? end) - least) / (end - least)));
  // The output is silent for screen readers, because the value text of the slider has the same words.
  const reading = h('output', { for: id, 'aria-live': 'off' });
  const follow = () => {
    const at = Number(input.value);
    const { reach, noun } = counts(at);
    const words = `${count(reach)} ${noun} at ${percent(at)} or above`;
    reading.replaceChildren(h('strong', {}, count(reach)), ` ${noun} at `, h('strong', {}, percent(at)), ' or above');
    input.setAttribute('aria-valuetext', words);
    drawing.mark(at);
    changed?.(at);
  };
  input.addEventListener('input', follow);
  follow();
  return h(
    'figure',
    { class: 'histogram' },
    h('figcaption', {}, caption),
    drawing.element,
    h('label', { for: id, class: 'unseen' }, label),
    input,
    h('div', { class: 'axis', 'aria-hidden': 'true' }, ...ticks(least, end)),
    h('p', { class: 'reading' }, reading),
  );
}

/**
 * @param {number} least
 * @param {number} end
 */
function ticks(least, end) {
  return [0, 0.25, 0.5, 0.75, 1].map((part) => h('span', {}, percent(least + part * (end - least))));
}

/**
 * @param {Bar[]} bars
 * @param {string} caption
 * @param {boolean} logarithmic
 */
function draw(bars, caption, logarithmic) {
  const scale = (/** @type {number} */ count) => (logarithmic ? Math.log1p(count) : count);
  const top = scale(Math.max(1, ...bars.map((bar) => bar.count)));
  const [least, end] = [bars[0].from, bars[bars.length - 1].to];
  const x = (/** @type {number} */ value) => ((value - least) / (end - least)) * 1000;
  const shapes = bars.map((bar) => {
    const height = bar.count === 0 ? 0 : Math.max(LEAST, (scale(bar.count) / top) * (HEIGHT - 4));
    const title = svg('title', {}, `${percent(bar.from)} to ${percent(bar.to)}: ${count(bar.count)}`);
    return svg('rect', { x: x(bar.from) + 2, width: x(bar.to) - x(bar.from) - 4, y: HEIGHT - height, height }, title);
  });
  const line = svg('path', { class: 'threshold' });
  const highest = bars.reduce((best, bar) => (bar.count > best.count ? bar : best));
  const summary = `${caption}. The tallest bar, from ${percent(highest.from)} to ${percent(highest.to)}, counts ${count(highest.count)}`;
  const element = svg(
    'svg',
    { viewBox: `0 0 1000 ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': summary },
    ...shapes,
    svg('path', { class: 'ground', d: `M0 ${HEIGHT}H1000` }),
    line,
  );
  /** @param {number} threshold */
  const mark = (threshold) => {
    line.setAttribute('d', `M${x(threshold)} 0V${HEIGHT}`);
    const half = (bars[0].to - bars[0].from) / 2;
    bars.forEach((bar, at) => shapes[at].classList.toggle('below', bar.from + half < threshold));
  };
  return { element, mark };
}
