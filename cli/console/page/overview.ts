/** Health, networks, nodes, and where all of it comes from. */
import type { ConsoleModel, NetworkView, NodeView, Problem, SourceState } from '../types.ts';
import { button, type Column, element, replace, showTable } from './elements.ts';
import { ageText } from './freshness.ts';

export const showModel = (model: ConsoleModel, chosen: string | undefined, choose: (network: string) => void): void => {
  showTable('problems', 'Problems', PROBLEM_COLUMNS, model.problems);
  replace('notes', ...model.notes.map((note) => element('li', { class: 'doubt' }, note)));
  showTable('networks', 'Networks', networkColumns(chosen, choose), model.networks);
  showTable('nodes', 'Nodes', NODE_COLUMNS, model.nodes);
};

const PROBLEM_COLUMNS: readonly Column<Problem>[] = [
  {
    head: 'Severity',
    cell: ({ severity }) => element('span', { class: severity === 'error' ? 'bad' : 'doubt' }, severity),
  },
  {
    head: 'Problem',
    cell: ({ messages, count }) => {
      const more = count - messages.length;
      return element(
        'ul',
        {},
        ...[...messages, ...(more > 0 ? [`and ${more} more`] : [])].map((one) => element('li', {}, one)),
      );
    },
  },
  { head: 'Cause', cell: ({ cause }) => element('span', { class: 'word' }, cause) },
  { head: 'Next', cell: ({ next = '' }) => element('span', { class: 'lines' }, next) },
];

const networkColumns = (
  chosen: string | undefined,
  choose: (network: string) => void,
): readonly Column<NetworkView>[] => [
  {
    head: 'Network',
    cell: ({ name }) =>
      button(name, `network ${name}`, () => choose(name), { 'aria-pressed': String(name === chosen) }),
  },
  { head: 'Object', cell: ({ object }) => object },
  { head: 'Topology', cell: ({ topology, role }) => `${topology} ${role}` },
  { head: 'Subnets', cell: ({ subnets, usage }) => lines(usage.length > 0 ? usage : subnets) },
  { head: 'Pods', cell: ({ pods }) => (pods === undefined ? '?' : String(pods)) },
  { head: 'Nodes', cell: ({ nodes }) => (nodes === undefined ? '?' : `${nodes.ready}/${nodes.total}`) },
  {
    head: 'State',
    cell: ({ state, cause }) =>
      element(
        'span',
        { class: state === 'ready' ? 'good' : state === 'unknown' ? 'doubt' : 'bad' },
        cause === undefined ? state : `${state}: ${cause}`,
      ),
  },
];

const lines = (texts: readonly string[]): HTMLElement => element('span', { class: 'lines' }, texts.join('\n'));

const NODE_COLUMNS: readonly Column<NodeView>[] = [
  { head: 'Node', cell: ({ node }) => node },
  {
    head: 'Agent',
    cell: ({ agent, isHealthy }) => element('span', { class: isHealthy ? 'good' : 'bad' }, agent),
  },
  {
    head: 'Networks',
    cell: ({ networks }) =>
      networks === undefined ? '?' : `${networks.ready} ready, ${networks.pending} pending, ${networks.failed} failed`,
  },
  { head: 'Failing', cell: ({ failing }) => (failing === undefined ? '?' : failing.join(', ') || 'none') },
  { head: 'Message', cell: ({ message }) => message },
];

export const showSources = (sources: readonly SourceState[], now: number): void =>
  showTable('sources', 'Sources', sourceColumns(now), sources);

const sourceColumns = (now: number): readonly Column<SourceState>[] => [
  { head: 'Kind', cell: ({ resource }) => resource },
  {
    head: 'Watch',
    cell: ({ state }) => element('span', { class: KINDS[state] }, state),
  },
  { head: 'Since', cell: ({ since }) => `${ageText(now - since)} ago` },
  { head: 'Last heard', cell: ({ heardAt }) => (heardAt === undefined ? 'never' : `${ageText(now - heardAt)} ago`) },
  { head: 'Message', cell: ({ message = '' }) => message },
];

const KINDS = { live: 'good', loading: 'doubt', lost: 'bad', forbidden: 'doubt', absent: 'doubt' } as const;
