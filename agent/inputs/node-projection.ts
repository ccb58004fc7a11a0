/** What the agent keeps of a Node. */

import { z } from 'zod';
import { parseNodeIdAnnotation } from '../../api/annotations/ids.ts';
import { type L3GatewayConfig, parseL3GatewayConfig } from '../../api/annotations/l3-gateway-config.ts';
import { parseTransitAddresses } from '../../api/annotations/node-addresses.ts';
import { parseEncapIps, parseHostCidrs } from '../../api/annotations/node-lists.ts';
import { type NodeSubnets, parseNodeSubnets, readableNodeSubnets } from '../../api/annotations/node-subnets.ts';
import { NODE_ANNOTATIONS, NODE_LABELS } from '../../api/names.ts';
import { isOurCondition, OUR_CONDITIONS } from '../../api/node-condition.ts';
import { parseWith } from '../../api/parse.ts';
import type { KubeObject } from '../../kube/types.ts';
import { cidrFamily, type InterfaceAddress } from '../../net/cidr.ts';
import { type Ip, ipFamily, parseIp } from '../../net/ip.ts';
import type { GatewayFact, NodeFact } from '../model/facts.ts';
import { PUBLISHED_ANNOTATIONS } from '../node/annotations.ts';
import type { PolicyNode } from './policies/admin/node-peers.ts';
import { type Problem, readOr } from './problem.ts';

export interface NodeProjection {
  readonly uid: string;
  /** Of two nodes with one identity the older counts. */
  readonly createdAt: string;
  readonly fact: NodeFact;
  readonly subnets: NodeSubnets;
  /** Absent when the node has not said so yet, or has no gateway. */
  readonly gateway: GatewayFact | undefined;
  readonly hostAddresses: readonly InterfaceAddress[];
  /** `status.addresses` of type InternalIP, IPv4 first. */
  readonly internalIps: readonly Ip[];
  /** What its agent has published, as it is written. */
  readonly published: Readonly<Record<string, string>>;
  /** Of the types that programs of ours write; absent where the Node has none. */
  readonly conditions: Readonly<Record<string, FoundCondition>>;
  /** For policies that have nodes as peers. */
  readonly peer: PolicyNode;
  readonly problems: readonly Problem[];
}

export interface WrittenCondition {
  readonly status: string;
  readonly reason: string;
}

/** `foreign`: another program has written it. */
export type FoundCondition = WrittenCondition | 'foreign';

/**
 * An annotation that cannot be read counts as absent; of the subnets, which are those of all networks, what can be read is read.
 * @param before of the same node, from an earlier version of it
 */
export const projectNode = (object: KubeObject, before?: Pick<NodeProjection, 'subnets'>): NodeProjection => {
  const { name, uid, annotations = {}, labels = {} } = object.metadata;
  const zone = labels[NODE_LABELS.zone];
  const problems: Problem[] = [];
  const read = <Value>(key: string, parse: (text: string, node: string) => Value): Value | undefined => {
    const text = annotations[key];
    return text === undefined ? undefined : readOr(`Node/${name}`, problems, () => parse(text, name));
  };
  return {
    uid,
    createdAt: object.metadata.creationTimestamp ?? '',
    fact: {
      name,
      id: read(NODE_ANNOTATIONS.id, parseNodeIdAnnotation),
      chassisId: annotations[NODE_ANNOTATIONS.chassisId] || undefined,
      encapIps: read(NODE_ANNOTATIONS.encapIps, parseEncapIps) ?? [],
      transitAddresses: read(NODE_ANNOTATIONS.transitAddresses, parseTransitAddresses) ?? [],
      gatewayMtuSupport: annotations[NODE_ANNOTATIONS.gatewayMtuSupport] !== 'false',
      ...(zone && { zone }),
    },
    subnets:
      read(NODE_ANNOTATIONS.subnets, (text, node) => parseNodeSubnets(text, node, before?.subnets)) ??
      readableNodeSubnets(annotations[NODE_ANNOTATIONS.subnets] ?? ''),
    gateway: gatewayFact(read(NODE_ANNOTATIONS.gatewayConfig, parseL3GatewayConfig)),
    hostAddresses: read(NODE_ANNOTATIONS.hostCidrs, parseHostCidrs) ?? [],
    internalIps: readOr(`Node/${name}`, problems, () => internalIps(object)) ?? [],
    published: Object.fromEntries(
      PUBLISHED_ANNOTATIONS.flatMap((key) => (annotations[key] === undefined ? [] : [[key, annotations[key]]])),
    ),
    conditions: ourConditions(object),
    peer: { labels, ips: statusIps(object) },
    problems,
  };
};

const gatewayFact = (config: L3GatewayConfig | undefined): GatewayFact | undefined => {
  if (config === undefined || config.mode === 'disabled') return undefined;
  const { mode, bridgeId, interfaceId, mac, ipAddresses, nextHops, nodePortEnable, vlanId } = config;
  const addresses = [...ipAddresses].sort((a, b) => cidrFamily(a) - cidrFamily(b));
  return { mode, bridge: bridgeId, interfaceId, mac, addresses, nextHops, nodePortEnable, vlanId };
};

const internalIps = (object: KubeObject): Ip[] => {
  const { status } = parseWith(bodySchema, object, 'Node');
  return (status?.addresses ?? [])
    .filter(({ type }) => type === 'InternalIP')
    .map(({ address }) => parseIp(address))
    .sort((a, b) => ipFamily(a) - ipFamily(b));
};

/** As AdminNetworkPolicy has them: the addresses of `status.addresses`, of which some are names. */
const statusIps = (object: KubeObject): Ip[] =>
  (bodySchema.safeParse(object).data?.status?.addresses ?? []).flatMap(({ type, address }) => {
    try {
      return type.endsWith('IP') ? [parseIp(address)] : [];
    } catch {
      return [];
    }
  });

const bodySchema = z.object({
  status: z.object({ addresses: z.array(z.object({ type: z.string(), address: z.string() })).nullish() }).optional(),
});

/** Conditions are not ours to judge: what cannot be read says nothing. */
const ourConditions = (object: KubeObject): NodeProjection['conditions'] =>
  Object.fromEntries(
    (conditionsSchema.safeParse(object).data?.status.conditions ?? [])
      .filter(({ type }) => OUR_CONDITIONS.includes(type))
      .map(({ type, status, reason = '' }) => [type, isOurCondition(type, reason) ? { status, reason } : 'foreign']),
  );

const conditionsSchema = z.object({
  status: z.object({
    conditions: z.array(z.object({ type: z.string(), status: z.string(), reason: z.string().optional() })),
  }),
});
