/**
 * What network policies allow, asked of the objects one by one: it knows nothing of rules, sets and selectors in canonical form, so that
 * what does can be compared with it.
 */
import { type LabelSelector, matchesSelector } from '../../api/label-selector.ts';
import { type Cidr, cidrContainsIp, parseCidr } from '../../net/cidr.ts';
import { type Ip, parseIp } from '../../net/ip.ts';
import type { PolicyNamespace } from '../inputs/policies/types.ts';
import type { PolicyDirection, PolicyProtocol } from '../model/policies/facts.ts';
import { DEFAULT_SUBNET, WORLD_HOSTS, WORLD_NETWORKS, type WorldPod } from './policy-world.ts';

export interface Peer {
  readonly podSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}
export interface Port {
  readonly protocol?: 'TCP' | 'UDP' | 'SCTP';
  readonly port?: number | string;
  readonly endPort?: number;
}
interface Rule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly Port[];
}
export interface Spec {
  readonly podSelector: LabelSelector;
  readonly policyTypes?: readonly PolicyDirection[];
  readonly ingress?: readonly Rule[];
  readonly egress?: readonly Rule[];
}

/** Everything that there is; the events bring it about. */
export interface Objects {
  readonly namespaces: Map<string, KnownNamespace>;
  readonly networks: Set<Tenant>;
  readonly pods: Map<string, WorldPod>;
  readonly policies: Map<string, Spec>;
}
export type Tenant = keyof typeof WORLD_NETWORKS;
export type KnownNamespace = Pick<PolicyNamespace, 'labels' | 'log'>;

export interface Probe {
  readonly network: string;
  readonly at: string;
  readonly target: WorldPod;
  readonly direction: PolicyDirection;
  readonly ip: Ip;
  readonly protocol: PolicyProtocol;
  readonly port: number;
}

export const isAllowed = (probe: Probe, objects: Objects): boolean => {
  const own = [...objects.policies].filter(
    ([at, one]) =>
      namespaceOf(at) === namespaceOf(probe.at) &&
      matchesSelector(one.podSelector, probe.target.labels ?? {}) &&
      typesOf(one).includes(probe.direction),
  );
  if (own.length === 0) return true;
  return own.some(([at, one]) =>
    (probe.direction === 'Ingress' ? one.ingress : one.egress)?.some((rule) =>
      ruleAllows(rule, probe, namespaceOf(at), objects),
    ),
  );
};

const namespaceOf = (at: string): string => at.split('/')[0] ?? '';

export const networkOf = (
  at: string,
  { networks }: Objects,
): { name: string; subnets: readonly Cidr[] } | undefined => {
  const namespace = namespaceOf(at) as Tenant;
  if (!(namespace in WORLD_NETWORKS)) return { name: 'default', subnets: [parseCidr(DEFAULT_SUBNET)] };
  const { name, subnets } = WORLD_NETWORKS[namespace];
  return networks.has(namespace) ? { name, subnets: subnets.map(parseCidr) } : undefined;
};

const typesOf = ({ policyTypes = [], egress = [] }: Spec): readonly PolicyDirection[] =>
  policyTypes.length > 0 ? policyTypes : egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];

const ruleAllows = (rule: Rule, probe: Probe, namespace: string, objects: Objects): boolean => {
  const whom = rule.from ?? rule.to ?? [];
  const which = rule.ports ?? [];
  const candidates: (Peer | undefined)[] = whom.length === 0 ? [undefined] : [...whom];
  return candidates.some((one) =>
    (which.length === 0 ? [undefined] : which).some((portOf) => allows(one, portOf, probe, namespace, objects)),
  );
};

const allows = (
  whom: Peer | undefined,
  which: Port | undefined,
  probe: Probe,
  namespace: string,
  objects: Objects,
): boolean => {
  const pods = peerPods(whom, probe, namespace, objects);
  const isPeer = whom === undefined || (whom.ipBlock ? isIn(whom.ipBlock, probe.ip) : pods.length > 0);
  if (!isPeer) return false;
  if (which === undefined) return true;
  if ((which.protocol ?? 'TCP').toLowerCase() !== probe.protocol) return false;
  if (which.port === undefined) return true;
  if (typeof which.port === 'number') return which.port <= probe.port && probe.port <= (which.endPort ?? which.port);
  if (whom?.ipBlock !== undefined && probe.direction === 'Egress') return false;
  const owners = probe.direction === 'Ingress' ? [probe.target] : pods;
  return owners.some(
    ({ ports: own = [] }) =>
      own.find((text) => text.startsWith(`${which.port}:${probe.protocol}:`))?.split(':')[2] === String(probe.port),
  );
};

const isIn = ({ cidr, except = [] }: NonNullable<Peer['ipBlock']>, ip: Ip): boolean =>
  cidrContainsIp(parseCidr(cidr), ip) && !except.some((part) => cidrContainsIp(parseCidr(part), ip));

/** A host-network pod is its node. */
const hostAddresses = (node: string | undefined): readonly Ip[] =>
  node !== undefined && node in WORLD_HOSTS ? WORLD_HOSTS[node as keyof typeof WORLD_HOSTS].map(parseIp) : [];

/** Pods that have the address on the same network, and are selected. */
const peerPods = (whom: Peer | undefined, { network, ip }: Probe, namespace: string, objects: Objects): WorldPod[] =>
  [...objects.pods].flatMap(([at, one]) => {
    const place = networkOf(at, objects);
    const nad = namespaceOf(at) in WORLD_NETWORKS ? `${namespaceOf(at)}/net` : 'default';
    const isThere =
      one.isHost === true
        ? nad === 'default' && hostAddresses(one.node).includes(ip)
        : place?.subnets.some((subnet) => cidrContainsIp(subnet, ip)) === true &&
          one.ips?.[nad]?.some((text) => parseIp(text) === ip) === true;
    if (!isThere || one.finished === true || place?.name !== network) return [];
    const known = objects.namespaces.get(namespaceOf(at));
    const isSelected =
      whom?.namespaceSelector === undefined
        ? whom === undefined
          ? known !== undefined
          : namespaceOf(at) === namespace
        : known !== undefined && matchesSelector(whom.namespaceSelector, known.labels);
    return isSelected && matchesSelector(whom?.podSelector ?? {}, one.labels ?? {}) ? [one] : [];
  });
