/** A part of the matrix for machines that are slow: small, another one for each seed, and something of everything. */
import { createHash } from 'node:crypto';
import type { Cell, EntryPoint } from './dimensions.ts';
import type { ExpectedCell } from './row.ts';

/**
 * Each cell that has something which none before it has: of its row the network, family, protocol or source; of its source
 * the entry point, with each network, place and policy; of what ovn-kubernetes is said to do wrong, each source, network
 * and place, by TCP and UDP. What SCTP shows says nothing of the others. Over which family each is asked changes by the seed.
 *
 * `internalTrafficPolicy: Local` decides about ClusterIPs, most of which need no guest: of it are only rows that have no
 * other policy.
 */
export const sampleOf = (cells: readonly ExpectedCell[], seed: string): ExpectedCell[] => {
  const rows = [...new Set(cells.map(({ row }) => row))];
  const seen = new Set<string>();
  const others = new Set(cells.filter((one) => !isItpLocal(one)).map(({ row }) => row));
  return mixed(
    cells.filter((one) => !isItpLocal(one) || !others.has(one.row)),
    seed,
  ).filter((one) => {
    const news = traits(one, rows.indexOf(one.row)).filter((trait) => !seen.has(trait));
    for (const trait of news) seen.add(trait);
    return news.length > 0;
  });
};

const isItpLocal = ({ cell }: ExpectedCell): boolean => cell.policy === 'ITP Local';

/** Neighbours of the table differ in one thing only: the first ones would all be of TCP over IPv4. */
const mixed = (cells: readonly ExpectedCell[], seed: string): ExpectedCell[] =>
  cells
    .map((one) => ({ one, digest: digestOf(`${seed} ${Object.values(one.cell).join()}`) }))
    .sort((a, b) => (a.digest < b.digest ? -1 : 1))
    .map(({ one }) => one);

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

const traits = ({ cell, row: { reports } }: ExpectedCell, row: number): string[] => {
  const { from, to, owner, family, protocol, endpoints, policy, mode } = cell;
  const kind = kindOf(to);
  const isSctp = protocol === 'SCTP';
  const all: readonly (readonly (string | number)[])[] = [
    [row, owner],
    [row, protocol],
    [row, family],
    [row, from],
    [from, to, owner],
    [from, kind, endpoints],
    [from, kind, policy],
    ...(reports === undefined || isSctp ? [] : [[row, from, kind, owner, endpoints, protocol]]),
  ];
  return all.map((values, index) => [mode, isSctp, index, ...values].join());
};

/** What a load balancer gives is an external address like `externalIPs`. */
const kindOf = (to: EntryPoint): Cell['to'] => (to === 'address of a load balancer' ? 'externalIP' : to);
