/**
 * What a node's agent publishes about its node, for nodes of the input that lack it: the sensible values, each with a
 * diagnostic. Pure.
 */

import { projectNode } from '../../agent/inputs/node-projection.ts';
import { type Problem, readOr } from '../../agent/inputs/problem.ts';
import type { Diagnostic } from '../../agent/model/fragment.ts';
import { parseL3GatewayConfig } from '../../api/annotations/l3-gateway-config.ts';
import { parsePrimaryAddresses } from '../../api/annotations/node-addresses.ts';
import { formatEncapIps } from '../../api/annotations/node-lists.ts';
import { NODE_ANNOTATIONS } from '../../api/names.ts';
import type { KubeObject } from '../../kube/types.ts';
import { addressOf } from '../../net/cidr.ts';
import type { Ip } from '../../net/ip.ts';
import { gatewayDefaults } from './gateway-defaults.ts';

export interface WithNodeDefaults {
  readonly manifests: readonly KubeObject[];
  readonly diagnostics: readonly Diagnostic[];
}

export const withNodeDefaults = (objects: readonly KubeObject[]): WithNodeDefaults => {
  const diagnostics: Diagnostic[] = [];
  const manifests = objects.map((object) => {
    if (object.kind !== 'Node') return object;
    const defaults = defaultsOf(object);
    diagnostics.push(...defaults.diagnostics);
    if (defaults.isUnreachable) diagnostics.push(unreachable(object));
    return withAnnotations(object, defaults.annotations);
  });
  return { manifests, diagnostics };
};

interface NodeDefaults {
  readonly annotations: Readonly<Record<string, string>>;
  readonly diagnostics: readonly Diagnostic[];
  /** Nothing says where tunnels to it end. */
  readonly isUnreachable: boolean;
}

const defaultsOf = (node: KubeObject): NodeDefaults => {
  const present = node.metadata.annotations ?? {};
  const hasTunnelEnd = present[NODE_ANNOTATIONS.encapIps] !== undefined;
  const { ip, problems } = hasTunnelEnd ? { ip: undefined, problems: [] } : tunnelEnd(node);
  const missing = Object.entries({
    [NODE_ANNOTATIONS.chassisId]: node.metadata.name,
    ...(ip === undefined ? {} : { [NODE_ANNOTATIONS.encapIps]: formatEncapIps([ip]) }),
    ...gatewayDefaults(node),
  }).filter(([key]) => present[key] === undefined);
  return {
    annotations: Object.fromEntries(missing),
    diagnostics: [
      ...problems.map((problem): Diagnostic => ({ ...problem, severity: 'error' })),
      ...missing.map(([key, value]) => missingDefault(node, key, value)),
    ],
    isUnreachable: !hasTunnelEnd && ip === undefined,
  };
};

/**
 * One address, as the agent takes it: tunnels between addresses of different families do not work. Nodes whose status is
 * not in the input may say in their annotations what they are.
 */
const tunnelEnd = (node: KubeObject): { ip: Ip | undefined; problems: readonly Problem[] } => {
  const { name, annotations = {} } = node.metadata;
  const problems: Problem[] = [];
  const read = (key: string, parse: (text: string, node: string) => readonly Ip[]): Ip | undefined => {
    const text = annotations[key];
    return text === undefined ? undefined : readOr(`Node/${name}`, problems, () => parse(text, name))?.[0];
  };
  const ip =
    projectNode(node).internalIps[0] ??
    read(NODE_ANNOTATIONS.primaryAddresses, (text) => parsePrimaryAddresses(text, name).map(addressOf)) ??
    read(NODE_ANNOTATIONS.gatewayConfig, gatewayIps);
  return { ip, problems };
};

const gatewayIps = (text: string, node: string): readonly Ip[] => {
  const config = parseL3GatewayConfig(text, node);
  return config.mode === 'disabled' ? [] : config.ipAddresses.map(addressOf);
};

const withAnnotations = (node: KubeObject, added: Readonly<Record<string, string>>): KubeObject => ({
  ...node,
  metadata: { ...node.metadata, annotations: { ...node.metadata.annotations, ...added } },
});

const missingDefault = ({ metadata: { name } }: KubeObject, key: string, value: string): Diagnostic => ({
  object: `Node/${name}`,
  severity: 'info',
  message: `annotation ${key} is not in the input: assuming what the node's agent would write, ${value}`,
});

/** Everything else of the node can be rendered. */
const unreachable = ({ metadata: { name } }: KubeObject): Diagnostic => ({
  object: `Node/${name}`,
  severity: 'warning',
  message: `status.addresses has no InternalIP and there is no annotation ${NODE_ANNOTATIONS.encapIps}: the endpoint of its tunnels is unknown`,
});
