/** Elements of the page. Text goes in as text: nothing here, and no caller, makes HTML of what the cluster says. */

export type Child = Node | string;

interface Attributes {
  readonly class?: string;
  readonly [name: string]: string | undefined;
}

export const element = (name: string, attributes: Attributes = {}, ...children: readonly Child[]): HTMLElement => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, value);
  made.append(...children.map((child) => (typeof child === 'string' ? visible(child) : child)));
  return made;
};

/** @throws when the page lacks it */
export const byId = (id: string): HTMLElement => {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found;
};

export const setText = (id: string, text: string, kind = ''): void => {
  const target = byId(id);
  const shown = visible(text);
  // A live region that is written again is read out again.
  if (target.textContent !== shown) target.textContent = shown;
  target.className = kind;
};

/** Characters that turn the direction of text around, or that nobody sees, would let one name pass for another. */
export const visible = (text: string): string => text.replaceAll(/[[\p{Cc}\p{Cf}]--[\n\t]]/gv, '\ufffd');

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => Child;
}

/** Replaces what is in there, and keeps the focus where it was. */
export const showTable = <Row>(
  id: string,
  caption: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): void => {
  const table = element(
    'table',
    { 'aria-label': caption },
    element('thead', {}, element('tr', {}, ...columns.map(({ head }) => element('th', { scope: 'col' }, head)))),
    element(
      'tbody',
      {},
      ...rows.map((row) =>
        element(
          'tr',
          {},
          ...columns.map(({ cell }, index) =>
            element(index === 0 ? 'th' : 'td', index === 0 ? { scope: 'row' } : {}, cell(row)),
          ),
        ),
      ),
    ),
  );
  replace(id, rows.length === 0 ? element('p', { class: 'faint' }, `No ${caption.toLowerCase()}.`) : table);
};

/** Elements with `data-focus` have the focus again when they come back. */
export const replace = (id: string, ...children: readonly Child[]): void => {
  const target = byId(id);
  const focused = document.activeElement;
  const key = focused instanceof HTMLElement && target.contains(focused) ? focused.dataset['focus'] : undefined;
  target.replaceChildren(...children);
  if (key === undefined) return;
  for (const one of target.querySelectorAll<HTMLElement>('[data-focus]')) if (one.dataset['focus'] === key) one.focus();
};

export const button = (label: string, focus: string, onClick: () => void, attributes: Attributes = {}): HTMLElement => {
  const made = element('button', { type: 'button', 'data-focus': focus, ...attributes }, label);
  made.addEventListener('click', onClick);
  return made;
};
