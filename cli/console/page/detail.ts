/** Of the chosen network: who reaches whom by configuration, and its pods. */
import type { MatrixCell, MatrixMember, NetworkDetail, PodView, ReachMatrix } from '../types.ts';
import { button, byId, type Column, element, replace, setText, showTable } from './elements.ts';

/** @param detail undefined: it has not come yet; null: the network is gone @param onTrace called with a pod */
export const showDetail = (
  network: string,
  detail: NetworkDetail | null | undefined,
  onTrace: (pod: string) => void,
): void => {
  byId('detail').hidden = false;
  setText('detail-title', `Network ${network}`);
  if (detail === undefined || detail === null) {
    replace(
      'matrix',
      element('p', { class: 'doubt' }, detail === null ? 'There is no such network any more.' : 'Reading.'),
    );
    for (const id of ['matrix-notes', 'pods']) replace(id);
    return;
  }
  const { matrix, pods, morePods } = detail;
  replace('matrix-notes', ...matrix.notes.map((note) => element('li', { class: 'doubt' }, note)));
  replace('matrix', matrixTable(matrix));
  showTable('pods', 'Pods', podColumns(onTrace), pods);
  if (morePods > 0) byId('pods').append(element('p', { class: 'faint' }, `${morePods} more pods.`));
  replace('pod-names', ...pods.map(({ pod }) => element('option', { value: pod })));
};

const matrixTable = ({ network, from, to, cells }: ReachMatrix): HTMLElement =>
  element(
    'table',
    { class: 'matrix', 'aria-label': `Who reaches whom of ${network}, by configuration` },
    element(
      'thead',
      {},
      element('tr', {}, element('th', { scope: 'col' }, 'from ↓ to →'), ...to.map((one) => header(one, 'col'))),
    ),
    element(
      'tbody',
      {},
      ...from.map((sender, row) =>
        element(
          'tr',
          {},
          header(sender, 'row'),
          ...to.map((target, column) => cell(sender, target, cells[row]?.[column], `${row} ${column}`)),
        ),
      ),
    ),
  );

const header = ({ label, detail }: MatrixMember, scope: string): HTMLElement =>
  element('th', { scope }, label, element('br'), element('span', { class: 'faint' }, detail));

const cell = (from: MatrixMember, to: MatrixMember, of: MatrixCell | undefined, key: string): HTMLElement => {
  const { reaches, why } = of ?? { reaches: 'unknown', why: '' };
  const text = `${from.label} → ${to.label}: ${reaches === 'unknown' ? 'not decided here' : reaches}, ${why}`;
  const show = (): void => setText('why', text);
  const made = button(reaches === 'unknown' ? '–' : reaches, key, show, { title: why, 'aria-label': text });
  return element('td', { class: reaches }, made);
};

const podColumns = (onTrace: (pod: string) => void): readonly Column<PodView>[] => [
  { head: 'Pod', cell: ({ pod }) => pod },
  { head: 'Node', cell: ({ node }) => node },
  { head: 'Addresses', cell: ({ addresses }) => element('span', { class: 'lines' }, addresses.join('\n')) },
  {
    head: 'State',
    cell: ({ state }) => element('span', { class: state === 'ready' ? 'good' : 'doubt' }, state),
  },
  { head: 'Message', cell: ({ message }) => message },
  { head: 'Path', cell: ({ pod }) => button('Trace from here', `trace ${pod}`, () => onTrace(pod)) },
];
