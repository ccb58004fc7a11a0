/**
 * Which of a policy's parts have a set of their own on a network. Each has the policy's rules with named ports once more, and who writes pods
 * chooses the numbers: of too many parts, those of most pods keep their sets, and the others share one in which nothing of the protocol is open.
 */
import type { Problem } from '../../problem.ts';
import type { PodState } from '../state.ts';
import type { AdminState, SiteState, Subject } from './admin-state.ts';
import { type SubjectPart, subjectSetOf } from './compile.ts';
import type { AdminTemplate } from './templates.ts';

/** As many parts with sets of their own may a policy have on a network … */
const MAX_PARTS = 64;
/** … and as many rules, per family, where each has all that it can have. */
const MAX_PART_RULES = 4096;

/** How many parts of a policy may have sets of their own. */
export const partLimit = (templates: readonly AdminTemplate[]): number => {
  const named = templates.filter(({ direction, names }) => direction === 'Ingress' && names.length > 0);
  const rules = named.reduce((sum, { peers }) => sum + peers.length, 0);
  return Math.max(1, Math.min(MAX_PARTS, Math.floor(MAX_PART_RULES / Math.max(1, rules))));
};

/** Forgets parts without members, and chooses who shares. @returns pods, where others share now */
export const limitParts = (site: SiteState): PodState[] => {
  for (const [id, { members }] of site.parts) if (members === 0) site.parts.delete(id);
  const before = site.excess;
  site.excess = excessOf(site);
  if (before.size === site.excess.size && before.isSubsetOf(site.excess)) return [];
  return [...site.state.subjects].flatMap(([pod, subject]) => (subject.site === site ? [pod] : []));
};

/** Ids of sets that a subject is in. */
export const setsOf = ({ site, parts }: Subject): string[] => [
  ...new Set(parts.map((id) => setOf(site, id, site.parts.get(id)?.part)[0])),
];

/** By id: the sets that a policy has on a network. */
export const setsAt = (site: SiteState): ReadonlyMap<string, SubjectPart> =>
  new Map([...site.parts].map(([id, { part }]) => setOf(site, id, part)));

/** Where it is not followed to the letter, as pods have more numbers than it may name. */
export const problemsAt = ({ key, sites }: AdminState): Problem[] => {
  const overRoom = [...sites.values()].flatMap(({ excessOfNode }) => excessOfNode?.message ?? []);
  const messages = [...sites.values()].flatMap(({ notes, excess, state }) =>
    excess.size > 0 ? [...notes, manyParts(state.rules.limit)] : notes,
  );
  return [
    ...overRoom.map((message) => ({ object: key, message })),
    ...[...new Set(messages)].map((message) => ({ object: key, severity: 'warning' as const, message })),
  ];
};

const manyParts = (limit: number): string =>
  `pods of this node have more than ${limit} numbers for its named ports: those of fewest pods are allowed nothing there, and rules that deny or pass deny them all of the protocol`;

const setOf = (site: SiteState, id: string, part: SubjectPart): [id: string, part: SubjectPart] => {
  if (part === undefined || !site.excess.has(id)) return [id, part];
  const shared = { protocol: part.protocol, others: true } as const;
  return [subjectSetOf({ network: site.network, policy: site.state.key }, shared), shared];
};

/** It follows from which pods there are, and not from the order in which they came. */
const excessOf = ({ parts, whole, state }: SiteState): ReadonlySet<string> => {
  // First what is true of most policies, whose rules need not be known for it.
  if (parts.size <= 1) return NONE;
  const { limit } = state.rules;
  if (parts.size - 1 <= limit) return NONE;
  const byMembers = [...parts].filter(([id]) => id !== whole);
  byMembers.sort(([a, some], [b, others]) => others.members - some.members || (a < b ? -1 : 1));
  return new Set(byMembers.slice(limit).map(([id]) => id));
};

const NONE: ReadonlySet<string> = new Set();
