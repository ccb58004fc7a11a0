/** The gateway bridge of a node that has not said how it is: what an agent would make of the node's addresses. Pure. */
import { projectNode } from '../../agent/inputs/node-projection.ts';
import { formatL3GatewayConfig } from '../../api/annotations/l3-gateway-config.ts';
import { parsePrimaryAddresses } from '../../api/annotations/node-addresses.ts';
import { formatHostCidrs } from '../../api/annotations/node-lists.ts';
import { NODE_ANNOTATIONS } from '../../api/names.ts';
import type { KubeObject } from '../../kube/types.ts';
import { addressAt, addressOf, type InterfaceAddress, interfaceAddress, networkOfInterface } from '../../net/cidr.ts';
import { type Ip, ipFamily } from '../../net/ip.ts';
import { macFromIp } from '../../net/mac.ts';

/** Annotations; none for a node without addresses. One that cannot be read counts as absent: its reader reports it. */
export const gatewayDefaults = (node: KubeObject): Readonly<Record<string, string>> => {
  const { name } = node.metadata;
  const addresses = primaryAddresses(node);
  const [first] = addresses;
  if (first === undefined) return {};
  const projection = projectNode(node);
  const config = formatL3GatewayConfig({
    mode: 'shared',
    bridgeId: BRIDGE,
    interfaceId: `${BRIDGE}_${name}`,
    mac: macFromIp(addressOf(first)),
    ipAddresses: addresses,
    nextHops: addresses.map((address) => addressAt(networkOfInterface(address), 1)),
    nodePortEnable: true,
    vlanId: 0,
  });
  const hostCidrs = formatHostCidrs(projection.gateway?.addresses ?? addresses);
  return { [NODE_ANNOTATIONS.gatewayConfig]: config, [NODE_ANNOTATIONS.hostCidrs]: hostCidrs };
};

const BRIDGE = 'br-ex';

/** One per family, IPv4 first. */
const primaryAddresses = (node: KubeObject): readonly InterfaceAddress[] => {
  const text = node.metadata.annotations?.[NODE_ANNOTATIONS.primaryAddresses];
  const annotated = text === undefined ? [] : readOrNone(() => parsePrimaryAddresses(text, node.metadata.name));
  if (annotated.length > 0) return annotated;
  const ips = readOrNone(() => projectNode(node).internalIps);
  const onePerFamily = ips.filter((ip, index) => ips.findIndex((other) => ipFamily(other) === ipFamily(ip)) === index);
  return onePerFamily.map((ip: Ip) => interfaceAddress(ip, USUAL_LENGTH[ipFamily(ip)]));
};

const USUAL_LENGTH = { 4: 24, 6: 64 } as const;

const readOrNone = <Item>(read: () => readonly Item[]): readonly Item[] => {
  try {
    return read();
  } catch {
    return [];
  }
};
