// Nodes are built, never parsed: what documents hold can only become text.

/** @typedef {Node | string | number | null | undefined | false | Child[]} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Attributes */

// Control characters, and those that end a line or turn the reading direction round: these could make a text look like
// another one. The same set as in the command's output.
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/**
 * Text from a document with everything in it to be seen. Tabs and line ends stay; the end of a page is no more to be
 * seen than that of a line.
 *
 * @param {string} text
 */
export function visible(text) {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll('\f', '')
    .replace(UNSAFE, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`);
}

/**
 * @param {Element} node
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') node.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false)
      node.setAttribute(name, value === true ? '' : String(value));
  }
  append(node, children);
}

/**
 * Appends children to a node; null, undefined and false stand for none.
 *
 * @param {Element} node
 * @param {Child[]} children
 */
function append(node, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(node, child);
    else if (child instanceof Node) node.append(child);
    else if (child !== null && child !== undefined && child !== false) node.append(visible(String(child)));
  }
}

/**
 * An element of HTML. A function among the attributes is a listener for the event of that name.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  fill(node, attributes, children);
  return node;
}

/**
 * An element of SVG.
 *
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  fill(node, attributes, children);
  return node;
}

/**
 * A name that comes from outside, in a direction of its own.
 *
 * @param {string} text
 */
export function name(text) {
  return h('bdi', {}, text);
}

/** Characters of a title or an id in a list or a head, and how many of them are its end. */
const [SHORT, END] = [120, 30];

/**
 * A title or an id that is shortened in the middle, because the names of files often differ in their ends only. The whole of it is
 * its tooltip.
 *
 * @param {string} text
 */
export function shortName(text) {
  const characters = [...text];
  if (characters.length <= SHORT) return name(text);
  const [beginning, end] = [characters.slice(0, SHORT - END), characters.slice(-END)];
  return h('bdi', { title: text }, `${beginning.join('')} … ${end.join('')}`);
}

/**
 * An element of the shell that index.html has.
 *
 * @param {string} id
 * @returns {HTMLElement}
 */
export function shell(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`index.html has no #${id}`);
  return node;
}

/**
 * Says something to those who do not see the page change.
 *
 * @param {string} message
 */
export function announce(message) {
  shell('status').textContent = visible(message);
}
