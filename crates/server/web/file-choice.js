// The files to check, which are chosen in a dialog or dropped on the page, with buttons that remove them.

import { announce, h, name } from './dom.js';
import { bytes, counted } from './format.js';

/**
 * Name endings that the file dialog offers first. Other files may be chosen, too, because the server recognises formats
 * by content.
 */
const ENDINGS = '.docx,.odt,.pdf,.html,.htm,.md,.txt,.pptx,.epub';

export class FileChoice {
  /** @type {File[]} */
  list = [];
  #chosen = h('ul', { class: 'files', 'aria-label': 'Files to check' });
  #input = h('input', {
    type: 'file',
    multiple: true,
    accept: ENDINGS,
    hidden: true,
    'aria-hidden': 'true',
    tabindex: -1,
  });
  #button = h('button', { type: 'button', click: () => this.#input.click() }, 'Choose files');
  element = h(
    'div',
    { class: 'drop' },
    h('p', {}, h('strong', {}, 'Or drop files on this page')),
    h(
      'p',
      { class: 'soft' },
      'Word, PDF, OpenDocument, HTML, Markdown, plain text. Several files are checked one after the other.',
    ),
    this.#button,
    this.#input,
    this.#chosen,
  );

  constructor() {
    this.#input.addEventListener('change', () => {
      this.#add([...(this.#input.files ?? [])]);
      this.#input.value = '';
    });
  }

  /**
   * Accepts files that are dropped on the document.
   *
   * @param {Document} target
   * @param {AbortSignal} signal
   */
  takeDropsOn(target, signal) {
    const isFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes('Files') ?? false;
    const over = (/** @type {boolean} */ is) => target.documentElement.classList.toggle('dropping', is);
    target.addEventListener(
      'dragover',
      (event) => {
        if (!isFiles(event)) return;
        event.preventDefault();
        over(true);
      },
      { signal },
    );
    target.addEventListener('dragleave', (event) => event.relatedTarget === null && over(false), { signal });
    target.addEventListener(
      'drop',
      (event) => {
        if (!isFiles(event)) return;
        event.preventDefault();
        over(false);
        this.#add([...(event.dataTransfer?.files ?? [])]);
      },
      { signal },
    );
    signal.addEventListener('abort', () => over(false));
  }

  clear() {
    this.list = [];
    this.#draw();
  }

  /** @param {File[]} files */
  #add(files) {
    this.list.push(...files);
    this.#draw();
    announce(`${counted(this.list.length, 'file')} to check`);
  }

  #draw() {
    const remove = (/** @type {File} */ file) => {
      this.list = this.list.filter((other) => other !== file);
      this.#draw();
      this.#button.focus();
    };
    this.#chosen.replaceChildren(
      ...this.list.map((file) =>
        h(
          'li',
          {},
          name(file.name),
          h('span', { class: 'soft' }, bytes(file.size)),
          h(
            'button',
            { type: 'button', class: 'quiet', 'aria-label': `Remove ${file.name}`, click: () => remove(file) },
            '×',
          ),
        ),
      ),
    );
  }
}
