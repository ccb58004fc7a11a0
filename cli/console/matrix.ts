/**
 * Who reaches whom of one network, as it is configured: what the documents of isolation and Services promise
 * (docs/host-isolation.md, docs/services.md), on the objects of this cluster. Nothing is measured. Pure.
 */
import { DEFAULT_ALLOWED_SERVICES } from '../../api/allowed-services.ts';
import { DEFAULT_NETWORK_NAME } from '../../api/names.ts';
import type { NetworkItem } from '../cluster/network-rows.ts';
import type { PodItem } from '../cluster/pod-rows.ts';
import type { ServiceItem } from '../cluster/service-rows.ts';
import type { MatrixCell, MatrixMember, ReachMatrix } from './types.ts';

interface MatrixInput {
  readonly networks: readonly NetworkItem[];
  readonly pods: readonly PodItem[];
  readonly services: readonly ServiceItem[];
  /** The only namespace that was read; undefined: all. */
  readonly namespace?: string | undefined;
  /** Kinds that may not be read, by their plurals. */
  readonly unread: readonly string[];
}

/** Something that sends, or is sent to. */
type Party =
  | { readonly kind: 'pods'; readonly network: string; readonly namespace?: string; readonly isSecondary: boolean }
  | { readonly kind: 'services'; readonly network: string | undefined }
  | { readonly kind: 'allowed' }
  | { readonly kind: 'outside' }
  | { readonly kind: 'node' };

interface Member extends MatrixMember {
  readonly party: Party;
}

/** @param network of `networks` */
export const reachMatrix = (network: NetworkItem, input: MatrixInput): ReachMatrix => {
  const own = ownMembers(network, input);
  const others = otherMembers(network, input);
  const from = [...own, ...others, NODE, OUTSIDE];
  const to = [...own, ...others, ...serviceMembers(network, input), OUTSIDE];
  return {
    network: network.name,
    from: from.map(shown),
    to: to.map(shown),
    cells: from.map((sender) => to.map((target) => cellOf(sender.party, target.party))),
    notes: notesOf(network, input),
  };
};

const shown = ({ label, detail }: Member): MatrixMember => ({ label, detail });

/** Of a network of the cluster those of each namespace; all of them can talk, and who reads wants to see it. */
const ownMembers = (network: NetworkItem, { pods }: MatrixInput): readonly Member[] => {
  const { name, role, namespaces } = network;
  const isSecondary = role === 'secondary';
  const members = namespaces.slice(0, MAX_MEMBERS).map(
    (namespace): Member => ({
      label: `pods of ${namespace}`,
      detail: countText(pods.filter((pod) => pod.namespace === namespace && isOn(pod, name))),
      party: { kind: 'pods', network: name, namespace, isSecondary },
    }),
  );
  const more = namespaces.length - members.length;
  if (more <= 0) return members;
  const rest: Member = {
    label: `pods of ${more} more namespaces`,
    detail: 'of the same network',
    party: { kind: 'pods', network: name, isSecondary },
  };
  return [...members, rest];
};

const MAX_MEMBERS = 8;

const otherMembers = ({ name }: NetworkItem, { networks, pods }: MatrixInput): readonly Member[] => {
  const others = networks.filter((one) => one.name !== name && one.role !== 'secondary');
  const members = others.slice(0, MAX_MEMBERS).map(
    (one): Member => ({
      label: `network ${one.name}`,
      detail: countText(pods.filter((pod) => isOn(pod, one.name))),
      party: { kind: 'pods', network: one.name, isSecondary: false },
    }),
  );
  const more = others.length - members.length;
  const rest: Member = {
    label: `${more} more networks`,
    detail: 'each isolated in the same way',
    party: { kind: 'pods', network: '(others)', isSecondary: false },
  };
  return [...members, ...(more > 0 ? [rest] : []), defaultMember(pods)];
};

const defaultMember = (pods: readonly PodItem[]): Member => ({
  label: 'default network',
  detail: countText(pods.filter(({ attachments }) => attachments.every(({ nad }) => nad === DEFAULT_NETWORK_NAME))),
  party: { kind: 'pods', network: DEFAULT_NETWORK_NAME, isSecondary: false },
});

const serviceMembers = ({ name }: NetworkItem, { services }: MatrixInput): readonly Member[] => {
  const own = services.filter(({ network }) => network === name);
  const others = services.filter(({ network }) => network !== name && network !== undefined);
  return [
    { label: 'its Services', detail: servicesText(own), party: { kind: 'services', network: name } },
    { label: 'other Services', detail: servicesText(others), party: { kind: 'services', network: undefined } },
    { label: 'API and DNS', detail: DEFAULT_ALLOWED_SERVICES.replace(',', ', '), party: { kind: 'allowed' } },
  ];
};

const NODE: Member = { label: 'processes of nodes', detail: 'not of host-network pods', party: { kind: 'node' } };
const OUTSIDE: Member = { label: 'outside', detail: 'hosts outside of the cluster', party: { kind: 'outside' } };

const isOn = ({ attachments, state }: PodItem, network: string): boolean =>
  state !== 'completed' && attachments.some((one) => one.network === network);

const countText = (pods: readonly PodItem[]): string => {
  const active = pods.filter(({ state }) => state !== 'completed' && state !== 'host network');
  const waiting = active.filter(({ state }) => state === 'waiting').length;
  const pending = waiting === 0 ? '' : `, ${waiting} not ready`;
  return `${active.length} ${active.length === 1 ? 'pod' : 'pods'}${pending}`;
};

const servicesText = (services: readonly ServiceItem[]): string => {
  const empty = services.filter(
    ({ state, clusterIps }) =>
      state === 'served' && clusterIps.every(({ ready = 0, terminating = 0 }) => ready + terminating === 0),
  ).length;
  return `${services.length}${empty === 0 ? '' : `, ${empty} without endpoints`}`;
};

const yes = (why: string): MatrixCell => ({ reaches: 'yes', why });
const no = (why: string): MatrixCell => ({ reaches: 'no', why });
const limited = (why: string): MatrixCell => ({ reaches: 'limited', why });

const cellOf = (from: Party, to: Party): MatrixCell => {
  switch (to.kind) {
    case 'pods':
      return toPods(from, to);
    case 'services':
      return toServices(from, to.network);
    case 'allowed':
      return toAllowed(from);
    case 'outside':
      return from.kind === 'pods'
        ? unlessSecondary(from, yes('by the gateway of the node, with its address'))
        : NOT_OF_CLUSTER;
    case 'node':
      return NOT_OF_CLUSTER;
  }
};

const NOT_OF_CLUSTER: MatrixCell = { reaches: 'unknown', why: 'the networks of the cluster do not decide this' };

type Pods = Extract<Party, { kind: 'pods' }>;

/** A secondary network is its pods and nothing else. */
const unlessSecondary = ({ isSecondary }: Pods, cell: MatrixCell): MatrixCell =>
  isSecondary ? no('a secondary network has no gateway, no Services and no port of the nodes') : cell;

const toPods = (from: Party, to: Pods): MatrixCell => {
  if (from.kind === 'node') return nodeToPods(to);
  if (from.kind === 'outside') return no('only by node ports and external addresses of Services');
  if (from.kind !== 'pods') return NOT_OF_CLUSTER;
  if (from.network === to.network && from.network !== '(others)') {
    return to.isSecondary
      ? yes('the same network; NetworkPolicies do not apply to it')
      : yes('the same network; NetworkPolicies may deny it: udnctl policy why');
  }
  if (from.network === to.network) return no('different networks are isolated from each other');
  if (from.network === DEFAULT_NETWORK_NAME || to.network === DEFAULT_NETWORK_NAME)
    return no('a primary network is isolated from the default network, except for ports that a pod opens on it');
  return no('different networks are isolated from each other');
};

const nodeToPods = (to: Pods): MatrixCell => {
  if (to.network === DEFAULT_NETWORK_NAME) return yes('nodes reach pods of the default network');
  return unlessSecondary(
    to,
    limited(
      'only probes of the kubelet and ports that a pod opens on the default network; host-network pods of its namespaces reach it',
    ),
  );
};

const toServices = (from: Party, network: string | undefined): MatrixCell => {
  if (from.kind === 'outside')
    return limited('by node ports, external IPs and load balancers, where a Service has them');
  if (from.kind === 'node' && network === undefined)
    return limited('the ClusterIPs of the default network; of others node ports, external IPs and load balancers');
  if (from.kind === 'pods' && from.isSecondary) return unlessSecondary(from, NOT_OF_CLUSTER);
  if (from.kind === 'pods' && from.network === network) return yes('by their ClusterIPs');
  if (from.kind === 'pods' && network === undefined)
    return limited('the ClusterIPs of its own network alone; of others node ports, external IPs and load balancers');
  return limited('not by ClusterIPs: by node ports, external IPs and load balancers, where a Service has them');
};

const toAllowed = (from: Party): MatrixCell => {
  if (from.kind === 'node') return yes('nodes reach ClusterIPs of the default network');
  if (from.kind === 'outside') return NOT_OF_CLUSTER;
  if (from.kind !== 'pods') return NOT_OF_CLUSTER;
  if (from.network === DEFAULT_NETWORK_NAME) return yes('Services of the default network');
  return unlessSecondary(from, yes('unless --udn-allowed-default-services excludes them'));
};

const notesOf = (network: NetworkItem, { namespace, unread }: MatrixInput): readonly string[] => {
  const hidden = NEEDED.filter((one) => unread.includes(one));
  return [
    ...(network.state === 'ready' || network.state === 'unknown'
      ? []
      : [`the network is ${network.state}: the matrix holds once it is ready`]),
    ...(namespace === undefined ? [] : [`only namespace ${namespace} was read: other networks may exist`]),
    ...(hidden.length === 0 ? [] : [`you may not list ${hidden.join(', ')}: members and numbers may be missing`]),
  ];
};

const NEEDED: readonly string[] = [
  'namespaces',
  'network-attachment-definitions',
  'pods',
  'services',
  'endpointslices',
];
