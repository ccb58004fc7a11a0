/** Decides about packets as the APIs say, from the objects alone: it knows nothing of rules, sets and priorities of OVN. */
import { matchesSelector } from '../../../../api/label-selector.ts';
import { type Cidr, cidrContainsIp, parseCidr } from '../../../../net/cidr.ts';
import { type Ip, ipFamily, parseIp } from '../../../../net/ip.ts';
import type { PolicyDirection, PolicyProtocol } from '../../../model/policies/facts.ts';
import { DEFAULT_SUBNET, WORLD_NETWORKS, type WorldPod } from '../../../testing/policy-world.ts';
import {
  ANSWERS,
  namespaceOf,
  type Objects,
  type Peer,
  type Port,
  type Rule,
  type Spec,
  type Tenant,
} from './random-policies.suite.ts';

const PROBES: readonly (readonly [PolicyProtocol, number])[] = [
  ...([
    ['tcp', 80],
    ['tcp', 81],
    ['tcp', 85],
    ['tcp', 8080],
    ['udp', 53],
    ['sctp', 81],
  ] as const),
];
const OUTSIDE = ['1.2.3.4', '172.18.0.2', '172.18.0.3', '192.0.2.9', '10.0.0.3', '10.128.0.1', 'fd00::3'].map(parseIp);

export interface Probe {
  readonly network: string;
  readonly at: string;
  readonly target: WorldPod;
  readonly direction: PolicyDirection;
  readonly ip: Ip;
  readonly protocol: PolicyProtocol;
  readonly port: number;
}

/** @returns none for a pod that policies cannot be about here */
export const probesOf = (at: string, objects: Objects): readonly Probe[] => {
  const network = networkOf(at, objects);
  const target = objects.pods.get(at);
  if (target?.isLocal !== true || target.finished === true || network === undefined) return [];
  const ofPods = [...objects.pods.values()].flatMap(({ ips = {} }) => Object.values(ips).flat().map(parseIp));
  const ips = [...new Set([...OUTSIDE, ...ofPods])].filter(
    (ip) => network.name === 'cluster_udn_shared' || ipFamily(ip) === 4,
  );
  return ips.flatMap((ip) =>
    (['Ingress', 'Egress'] as const).flatMap((direction) =>
      PROBES.map(([protocol, port]) => ({ network: network.name, at, target, direction, ip, protocol, port })),
    ),
  );
};

const networkOf = (at: string, { networks }: Objects): { name: string; subnets: readonly Cidr[] } | undefined => {
  const namespace = namespaceOf(at) as Tenant;
  if (!(namespace in WORLD_NETWORKS)) return { name: 'default', subnets: [parseCidr(DEFAULT_SUBNET)] };
  const { name, subnets } = WORLD_NETWORKS[namespace];
  return networks.has(namespace) ? { name, subnets: subnets.map(parseCidr) } : undefined;
};

export const isAllowed = (probe: Probe, objects: Objects): boolean => {
  const admin = [...objects.policies]
    .filter(([name]) => name !== 'default')
    .sort(([a, one], [b, two]) => one.priority - two.priority || (a < b ? -1 : 1))
    .flatMap(([, one]) => decisionOf(one, probe, objects) ?? [])[0];
  if (admin === 'Allow' || admin === 'Deny') return admin === 'Allow';
  const isIsolated = [...objects.isolated].some(
    ([at, one]) => namespaceOf(at) === namespaceOf(probe.at) && matchesSelector(one, probe.target.labels ?? {}),
  );
  if (isIsolated) return false;
  const baseline = objects.policies.get('default');
  return baseline === undefined || decisionOf(baseline, probe, objects) !== 'Deny';
};

const decisionOf = (policy: Spec, probe: Probe, objects: Objects): Rule['action'] | undefined =>
  isSelected(policy.subject, probe.at, probe.target, objects)
    ? policy[probe.direction === 'Ingress' ? 'ingress' : 'egress'].find((rule) => matches(rule, probe, objects))?.action
    : undefined;

const isSelected = ({ namespaces, pods }: Peer, at: string, one: WorldPod, objects: Objects): boolean => {
  const known = objects.namespaces.get(namespaceOf(at));
  return (
    known !== undefined &&
    matchesSelector(namespaces ?? pods?.namespaceSelector ?? {}, known) &&
    matchesSelector(pods?.podSelector ?? {}, one.labels ?? {})
  );
};

const matches = ({ from, to, ports: which }: Rule, probe: Probe, objects: Objects): boolean =>
  (from ?? to ?? []).some((peer) => {
    const found = podsAt(probe, objects).filter(([at, one]) => isSelected(peer, at, one, objects));
    const isPeer =
      peer.nodes !== undefined || peer.networks !== undefined || peer.domainNames !== undefined
        ? isOutside(peer, probe, objects)
        : found.length > 0;
    const owners = probe.direction === 'Ingress' ? [probe.target] : found.map(([, one]) => one);
    return isPeer && (which === undefined || which.some((port) => matchesPort(port, probe, owners)));
  });

const isOutside = ({ nodes, networks = [], domainNames = [] }: Peer, { ip, at }: Probe, objects: Objects): boolean =>
  // A name is for what is outside of the network.
  (domainNames.some((name) => ANSWERS.get(`${name.toLowerCase().replace(/\.$/, '')}.`)?.includes(ip) === true) &&
    networkOf(at, objects)?.subnets.some((subnet) => cidrContainsIp(subnet, ip)) !== true) ||
  networks.some((cidr) => cidrContainsIp(parseCidr(cidr), ip)) ||
  // What is within the cluster's own ranges is no node's.
  (nodes !== undefined &&
    !cidrContainsIp(parseCidr(DEFAULT_SUBNET), ip) &&
    [...objects.nodes.values()].some(
      ({ labels: own, ips }) => matchesSelector(nodes, own) && ips.map(parseIp).includes(ip),
    ));

const matchesPort = (
  { portNumber, portRange, namedPort }: Port,
  probe: Probe,
  owners: readonly WorldPod[],
): boolean => {
  if (portNumber !== undefined)
    return portNumber.protocol.toLowerCase() === probe.protocol && portNumber.port === probe.port;
  if (portRange !== undefined)
    return (
      portRange.protocol.toLowerCase() === probe.protocol &&
      portRange.start <= probe.port &&
      probe.port <= portRange.end
    );
  return owners.some(
    ({ ports: own = [] }) =>
      own.find((text) => text.startsWith(`${namedPort}:${probe.protocol}:`))?.split(':')[2] === String(probe.port),
  );
};

/** Pods that have the address on the probe's network. */
const podsAt = ({ network, ip }: Probe, objects: Objects): [string, WorldPod][] =>
  [...objects.pods].filter(([at, one]) => {
    const place = networkOf(at, objects);
    const nad = namespaceOf(at) in WORLD_NETWORKS ? `${namespaceOf(at)}/net` : 'default';
    return (
      one.finished !== true &&
      place?.name === network &&
      place.subnets.some((subnet) => cidrContainsIp(subnet, ip)) &&
      one.ips?.[nad]?.some((text) => parseIp(text) === ip) === true
    );
  });
