/** What a policy allows, before it is known on which network: templates of rules. */
import type { NetworkPolicy, PolicyPort, PolicyRule } from '../../../api/network-policy.ts';
import type { Cidr } from '../../../net/cidr.ts';
import { type Block, prefixesOf } from '../../../net/cidr-blocks.ts';
import { FAMILIES, type Family } from '../../../net/ip.ts';
import type { PolicyDirection, PolicyPorts, PolicyProtocol } from '../../model/policies/facts.ts';
import { type CanonicalSelector, canonicalSelector } from './canonical-selector.ts';
import { l4Rules, type NumberedPort, portTerm } from './l4-rules.ts';

/** Which pods are peers, on any one network. */
export interface Selection {
  /** In canonical form: `pods app=web in namespace red`. */
  readonly text: string;
  readonly scope: { readonly namespace: string } | { readonly namespaces: CanonicalSelector };
  readonly selector: CanonicalSelector;
  /** Host-network pods are selected, too. */
  readonly hosts: boolean;
}

export type TemplatePeers =
  | { readonly kind: 'any' }
  | { readonly kind: 'blocks'; readonly blocks: ReadonlyMap<Family, readonly Cidr[]> }
  | { readonly kind: 'pods'; readonly selection: Selection };

export interface PortName {
  readonly protocol: PolicyProtocol;
  readonly name: string;
}

export interface RuleTemplate {
  readonly direction: PolicyDirection;
  readonly peers: TemplatePeers;
  /** Absent: all traffic. Both empty is nothing. Those with numbers as `l4Rules` has them. */
  readonly ports?: { readonly numbered: readonly PolicyPorts[]; readonly named: readonly PortName[] } | undefined;
}

/** Undefined where its blocks make more than `MAX_PREFIXES`. */
export const templatesOf = (policy: NetworkPolicy): readonly RuleTemplate[] | undefined => {
  const templates: RuleTemplate[] = [];
  const room = { prefixes: MAX_PREFIXES };
  for (const direction of policy.types)
    for (const rule of direction === 'Ingress' ? policy.ingress : policy.egress) {
      const peers = peersOf(rule, policy.namespace, room);
      if (peers === undefined) return undefined;
      const ports = rule.ports.length === 0 ? undefined : portsOf(rule.ports);
      for (const one of peers) templates.push({ direction, peers: one, ...(ports && { ports }) });
    }
  return templates;
};

/** As many rules as it makes for a pod, per family, where each named port has one number: usually it has. */
export const weightOf = ({ ports }: RuleTemplate): number =>
  ports === undefined ? 1 : ports.numbered.length + ports.named.length;

/** As many numbers may a named port have among the peers of one selection: each is a rule. */
export const MAX_NUMBERS = 16;
/** As many prefixes may the blocks of a policy make, of both families together. */
export const MAX_PREFIXES = 8192;

/** Every pod of a network: whoever has a port of some name where no peer is named. */
export const EVERY_POD: Selection = {
  text: 'all pods in all namespaces',
  scope: { namespaces: canonicalSelector({}) },
  selector: canonicalSelector({}),
  hosts: true,
};

/** How many prefixes more the policy may have. */
interface Room {
  prefixes: number;
}

const peersOf = ({ peers }: PolicyRule, namespace: string, room: Room): readonly TemplatePeers[] | undefined => {
  if (peers.length === 0) return [{ kind: 'any' }];
  const blocks = blocksOf(
    peers.flatMap((peer) => (peer.kind === 'block' ? [peer] : [])),
    room,
  );
  if (blocks === undefined) return undefined;
  const selections = new Map<string, Selection>();
  for (const peer of peers) {
    const selection = peer.kind === 'pods' ? selectionOf(peer, namespace) : undefined;
    if (selection !== undefined) selections.set(selection.text, selection);
  }
  return [
    ...(blocks.size === 0 ? [] : [{ kind: 'blocks' as const, blocks }]),
    ...[...selections.values()].map((selection) => ({ kind: 'pods' as const, selection })),
  ];
};

/** Without families that have none. */
const blocksOf = (blocks: readonly Block[], room: Room): ReadonlyMap<Family, readonly Cidr[]> | undefined => {
  const byFamily = new Map<Family, readonly Cidr[]>();
  for (const family of FAMILIES) {
    const prefixes = prefixesOf(family, blocks, room.prefixes);
    if (prefixes === undefined) return undefined;
    room.prefixes -= prefixes.length;
    if (prefixes.length > 0) byFamily.set(family, prefixes);
  }
  return byFamily;
};

type PodPeer = Pick<Extract<PolicyRule['peers'][number], { kind: 'pods' }>, 'namespaces' | 'pods'>;

/**
 * @param namespace of the policy
 * @returns undefined: nothing can be selected
 */
export const selectionOf = ({ namespaces, pods }: PodPeer, namespace: string): Selection | undefined => {
  const selector = canonicalSelector(pods);
  const scope = namespaces === undefined ? undefined : canonicalSelector(namespaces);
  if (selector.isImpossible || scope?.isImpossible === true) return undefined;
  const what = selector.text === '' ? 'all pods' : `pods ${selector.text}`;
  // A selector in its canonical form has blanks only within a requirement or a quoted text, and no text begins with this word.
  if (scope === undefined)
    return { text: `${what} in namespace ${namespace}`, scope: { namespace }, selector, hosts: true };
  const where = scope.text === '' ? 'all namespaces' : `namespaces ${scope.text}`;
  return { text: `${what} in ${where}`, scope: { namespaces: scope }, selector, hosts: true };
};

const portsOf = (ports: readonly PolicyPort[]): RuleTemplate['ports'] => {
  const named = new Map<string, PortName>();
  const numbered: NumberedPort[] = [];
  for (const { protocol, port, endPort } of ports) {
    if (typeof port === 'string') named.set(portNameText({ protocol, name: port }), { protocol, name: port });
    else numbered.push(port === undefined ? { protocol } : { protocol, term: portTerm(port, endPort) });
  }
  const names = [...named].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name);
  return { numbered: l4Rules(numbered), named: names };
};

/** `http/tcp` */
export const portNameText = ({ name, protocol }: PortName): string => `${name}/${protocol}`;
