/** What rules of both versions of the API have in common. */
import { z } from 'zod';
import { strictSelectorSchema } from '../network-policy.ts';
import { maskedCidrSchema } from '../scalars.ts';
import type { AdminAction, AdminPeer, AdminPort } from './types.ts';

/** A rule as it is written, less the words in which the versions differ. */
export interface RuleFields {
  readonly name?: string | undefined;
  readonly action: AdminAction;
  readonly peers: readonly WrittenPeer[];
  readonly ports: readonly AdminPort[];
}

/** Names of domains as they are written: one that cannot be resolved is not allowed, and the rest of its rule is. */
export type WrittenPeer =
  | Exclude<AdminPeer, { readonly kind: 'domains' }>
  | { readonly kind: 'domains'; readonly names: readonly string[] };

/** Of peers, and of ports, of a rule of v1alpha1; v1alpha2 has 25. */
const MAX_ITEMS = 100;
/** Of a peer's networks, and of its domain names. */
const MAX_NETWORKS = 25;

export const itemsOf = <Item extends z.ZodType>(item: Item) => z.array(item).min(1).max(MAX_ITEMS);
export const ruleName = z.string().optional();

/**
 * Exactly one of the fields that are known: with none, the API says, the object has one that is newer than its reader. One beside it may narrow
 * what is meant: without it the object would be about more.
 */
export const oneOf = <Shape extends z.core.$ZodLooseShape>(fields: Shape) =>
  z.strictObject(fields).refine((object) => Object.values(object).filter((value) => value !== undefined).length === 1, {
    error: `must have exactly one of ${Object.keys(fields).join(', ')}`,
  });

const namespacedPod = z.strictObject({ namespaceSelector: strictSelectorSchema, podSelector: strictSelectorSchema });
const podFields = { namespaces: strictSelectorSchema.optional(), pods: namespacedPod.optional() };

const podsOf = ({ namespaces, pods }: z.output<z.ZodObject<typeof podFields>>) =>
  pods === undefined
    ? { namespaces: namespaces ?? {}, pods: {} }
    : { namespaces: pods.namespaceSelector, pods: pods.podSelector };

export const subjectSchema = oneOf(podFields).transform(podsOf);

export const ingressPeer = oneOf(podFields).transform((fields): WrittenPeer => ({ kind: 'pods', ...podsOf(fields) }));

export const egressPeer = oneOf({
  ...podFields,
  nodes: strictSelectorSchema.optional(),
  networks: z.array(maskedCidrSchema).min(1).max(MAX_NETWORKS).optional(),
  domainNames: z.array(z.string()).min(1).max(MAX_NETWORKS).optional(),
}).transform(({ nodes, networks, domainNames, ...fields }): WrittenPeer => {
  if (nodes !== undefined) return { kind: 'nodes', nodes };
  if (networks !== undefined) return { kind: 'networks', blocks: networks };
  return domainNames === undefined ? { kind: 'pods', ...podsOf(fields) } : { kind: 'domains', names: domainNames };
});

export const portNumber = z.int().min(1).max(65_535);
/** Of a container port: IANA_SVC_NAME. */
export const portName = z.string().min(1).max(63);

/** A range of one port is no range to the API, and harmless. */
export const rangeOf = (start: number, end: number): number | readonly [number, number] =>
  start === end ? start : [start, end];

export const isRange = ({ start, end }: { readonly start: number; readonly end: number }): boolean => start <= end;
