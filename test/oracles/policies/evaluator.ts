/**
 * Who reaches whom, as the API's documentation has it (networking.k8s.io/v1 NetworkPolicy): each policy by itself, each rule of it, each
 * peer, without any index. It shares no code with the agent.
 */
import { BlockList, isIPv6 } from 'node:net';
import type { Direction, Labels, Peer, Policy, PolicyPod, Port, Selector, Try, World } from './types.ts';

export interface Verdict {
  readonly allowed: boolean;
  /** `open`, which policy allows it, or which isolate the pod and do not. */
  readonly egress: string;
  readonly ingress: string;
}

export const evaluate = (world: World, attempt: Try): Verdict => {
  if (attempt.from.network !== attempt.to.network)
    return { allowed: false, egress: 'open', ingress: 'another network' };
  // Nobody can keep a pod from itself.
  if (attempt.from === attempt.to) return { allowed: true, egress: 'itself', ingress: 'itself' };
  const egress = decide(world, attempt, 'Egress');
  const ingress = decide(world, attempt, 'Ingress');
  return { allowed: egress.allowed && ingress.allowed, egress: egress.by, ingress: ingress.by };
};

const decide = (world: World, attempt: Try, direction: Direction): { allowed: boolean; by: string } => {
  const subject = direction === 'Egress' ? attempt.from : attempt.to;
  const own = world.policies.filter((policy) => isolates(policy, subject, direction));
  if (own.length === 0) return { allowed: true, by: 'open' };
  const allowing = own.find((policy) => allows(world, policy, attempt, direction));
  return allowing === undefined
    ? { allowed: false, by: `isolated by ${own.map(nameOf).join(', ')}` }
    : { allowed: true, by: nameOf(allowing) };
};

const nameOf = ({ namespace, name }: Policy): string => `${namespace}/${name}`;

const isolates = (policy: Policy, pod: PolicyPod, direction: Direction): boolean =>
  policy.namespace === pod.namespace &&
  selects(policy.spec.podSelector, pod.labels) &&
  typesOf(policy).includes(direction);

/** Without `policyTypes` Ingress always, and Egress where the policy has rules of it. */
const typesOf = ({ spec }: Policy): readonly Direction[] =>
  spec.policyTypes ?? ((spec.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress']);

const allows = (world: World, policy: Policy, attempt: Try, direction: Direction): boolean => {
  const { ingress = [], egress = [] } = policy.spec;
  const rules =
    direction === 'Ingress'
      ? ingress.map(({ from = [], ports = [] }) => ({ peers: from, ports }))
      : egress.map(({ to = [], ports = [] }) => ({ peers: to, ports }));
  return rules.some(
    ({ peers, ports }) =>
      (peers.length === 0 || peers.some((peer) => isPeer(world, policy.namespace, peer, attempt, direction))) &&
      (ports.length === 0 || ports.some((port) => isPort(port, attempt))),
  );
};

const isPeer = (world: World, namespace: string, peer: Peer, attempt: Try, direction: Direction): boolean => {
  const other = direction === 'Ingress' ? attempt.from : attempt.to;
  if (peer.ipBlock !== undefined) {
    const { cidr, except = [] } = peer.ipBlock;
    const address = direction === 'Egress' ? attempt.address : addressLike(other, attempt.address);
    return contains(cidr, address) && !except.some((one) => contains(one, address));
  }
  const inNamespace =
    peer.namespaceSelector === undefined
      ? other.namespace === namespace
      : selects(peer.namespaceSelector, world.namespaces.get(other.namespace) ?? {});
  return inNamespace && selects(peer.podSelector ?? {}, other.labels);
};

/** The sender's of the receiver's family. */
const addressLike = ({ addresses }: PolicyPod, like: string): string =>
  addresses.find((one) => isIPv6(one) === isIPv6(like)) ?? '';

const contains = (cidr: string, address: string): boolean => {
  const [base = '', bits] = cidr.split('/');
  if (address === '' || isIPv6(base) !== isIPv6(address)) return false;
  const family = isIPv6(base) ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  list.addSubnet(base, Number(bits), family);
  return list.check(address, family);
};

const isPort = ({ protocol = 'TCP', port, endPort }: Port, attempt: Try): boolean => {
  if (protocol !== attempt.protocol) return false;
  if (port === undefined) return true;
  // A name is always the receiver's, in both directions.
  if (typeof port === 'string') {
    return attempt.to.ports.some((one) => one.name === port && one.protocol === protocol && one.port === attempt.port);
  }
  return attempt.port >= port && attempt.port <= (endPort ?? port);
};

export const selects = ({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean =>
  Object.entries(matchLabels).every(([key, value]) => labelOf(labels, key) === value) &&
  matchExpressions.every(({ key, operator, values = [] }) => {
    const value = labelOf(labels, key);
    if (operator === 'In') return value !== undefined && values.includes(value);
    // Also of a pod without the label: meta/v1 LabelSelectorRequirement.
    if (operator === 'NotIn') return value === undefined || !values.includes(value);
    return (value !== undefined) === (operator === 'Exists');
  });

const labelOf = (labels: Labels, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;
