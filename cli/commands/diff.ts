/** `udnctl diff`: what is programmed on this node otherwise than it is desired, for each network. */
import { BACKENDS, type DifferenceStatus, type DifferencesStatus } from '../../api/agent-status.ts';
import type { AgentClient } from '../node/agent-client.ts';
import { findNetwork } from '../node/find-network.ts';
import { kindOf } from '../node/kind-of.ts';
import type { TextOutput } from '../output/format.ts';

export interface DiffOptions {
  /** Only of this network; also of one that is gone, by its name. */
  readonly network?: string | undefined;
}

export interface DiffOutput extends TextOutput {
  /** 0: no difference; 1: differences; 2: not everything could be read. */
  readonly exitStatus: 0 | 1 | 2;
}

export const diff = async (
  agent: Pick<AgentClient, 'networks' | 'differences'>,
  { network }: DiffOptions,
): Promise<DiffOutput> => {
  const all = await agent.differences();
  const name = network === undefined ? undefined : await nameOf(agent, all, network);
  const differences = all.differences.filter((one) => name === undefined || one.network === name);
  const unsupported = all.unsupported.filter((one) => name === undefined || one.network === name);
  const { unreadable } = all;
  return {
    data: { differences, unreadable, unsupported },
    lines: linesOf({ differences, unreadable, unsupported }),
    exitStatus: unreadable.length > 0 ? 2 : differences.length > 0 ? 1 : 0,
  };
};

const nameOf = async (
  agent: Pick<AgentClient, 'networks'>,
  { differences }: Pick<DifferencesStatus, 'differences'>,
  name: string,
): Promise<string> =>
  differences.some(({ network }) => network === name) ? name : findNetwork(await agent.networks(), name).name;

const linesOf = ({ differences, unreadable, unsupported }: DifferencesStatus): string[] => {
  const byNetwork = Map.groupBy(differences, ({ network }) => network ?? '');
  const networks = [...byNetwork.keys()].sort();
  return [
    ...networks.flatMap((network) => [
      network === '' ? 'of no network' : `network ${network}`,
      ...backendLines(byNetwork.get(network) ?? []),
    ]),
    ...unreadable.map(({ backend, message }) => `! ${backend} cannot be read, its state is unknown: ${message}`),
    ...(differences.length + unreadable.length === 0 ? ['no difference'] : []),
    ...unsupportedLines(unsupported),
  ];
};

/** It is no difference: nobody can do anything about it on this machine. */
const unsupportedLines = (unsupported: DifferencesStatus['unsupported']): string[] =>
  [...Map.groupBy(unsupported, ({ message }) => message)].map(([message, items]) => {
    const kinds = [...Map.groupBy(items, kindOf)].map(([kind, { length }]) => `${length} ${kind}`).sort();
    const networks = [...new Set(items.flatMap(({ network }) => network ?? []))].sort();
    const whose = networks.length > NAMED_NETWORKS ? `${networks.length} networks` : networks.join(', ');
    return `? not supported: ${message}: ${kinds.join(', ')}${whose === '' ? '' : ` of ${whose}`}`;
  });

const NAMED_NETWORKS = 3;

const backendLines = (differences: readonly DifferenceStatus[]): string[] =>
  BACKENDS.flatMap((backend) => {
    const own = differences.filter((one) => one.backend === backend);
    if (own.length === 0) return [];
    return [`  ${backend}`, ...own.toSorted((a, b) => (a.key < b.key ? -1 : 1)).flatMap(differenceLines)];
  });

const SIGNS = { missing: '+', unwanted: '-', different: '~' } as const;

const differenceLines = ({ kind, key, owners, wanted, actual, problem }: DifferenceStatus): string[] => [
  `    ${SIGNS[kind]} ${key}${owners.length === 0 ? '' : `  (${owners.join(', ')})`}`,
  ...textLines('-', actual, key),
  ...textLines('+', wanted, key),
  ...(problem === undefined || wanted?.includes(problem) === true ? [] : [`        ! ${problem}`]),
];

/** A chain is a line for each rule. */
const textLines = (sign: '-' | '+', text: string | undefined, key: string): string[] =>
  text === undefined || text === key ? [] : text.split('\n').map((line) => `        ${sign} ${line}`);
