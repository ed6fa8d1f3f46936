// The addresses of the page's own routes.

/** @param {string} id */
export const documentHref = (id) => `/document/${encodeURIComponent(id)}`;

/**
 * @param {string} left an id
 * @param {string} right an id
 */
export const pairHref = (left, right) => `/pair?${new URLSearchParams({ left, right })}`;

/**
 * The pair of a text that was checked and a document.
 *
 * @param {number} checked its number among the texts that were checked
 * @param {string} right an id
 */
export const checkedPairHref = (checked, right) => `/pair?${new URLSearchParams({ checked: String(checked), right })}`;

/** @param {number} checked */
export const resultHref = (checked) =>
  checked === 0 ? '/check' : `/check?${new URLSearchParams({ checked: String(checked) })}`;

/** @param {{ search?: string, after?: string | null }} page */
export function archiveHref({ search = '', after = null }) {
  const parameters = new URLSearchParams();
  if (search !== '') parameters.set('search', search);
  if (after !== null) parameters.set('after', after);
  return parameters.size > 0 ? `/archive?${parameters}` : '/archive';
}
