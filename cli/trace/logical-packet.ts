/** The same packet for ovn-trace: where it enters OVN, and an expression of ovn-sb(5), Logical_Flow `match`. */
import { externalBridgePortName } from '../../agent/model/names.ts';
import { type Family, ipFamily, parseIp } from '../../net/ip.ts';
import { parseMac } from '../../net/mac.ts';
import type { TracePass } from './ofproto-trace.ts';
import { type Packet, SOURCE_PORT } from './packet.ts';
import type { BridgePort } from './port-names.ts';
import type { PortOwner } from './trace-result.ts';

/** @param logicalPort the port of a logical switch by which it comes in */
export const microflow = (packet: Omit<Packet, 'bridge' | 'inPort'>, logicalPort: string): string => {
  const family = ipFamily(packet.destination);
  return [
    `inport == ${JSON.stringify(logicalPort)}`,
    `eth.src == ${packet.sourceMac}`,
    `eth.dst == ${packet.destinationMac}`,
    `ip${family}.src == ${packet.source}`,
    `ip${family}.dst == ${packet.destination}`,
    'ip.ttl == 64',
    ...upperFields(packet, family),
  ].join(' && ');
};

const upperFields = ({ protocol, port }: Pick<Packet, 'protocol' | 'port'>, family: Family): string[] => {
  if (protocol !== 'icmp') return [protocol, `${protocol}.src == ${SOURCE_PORT}`, `${protocol}.dst == ${port}`];
  const name = `icmp${family}`;
  return [name, `${name}.type == ${family === 4 ? 8 : 128}`, `${name}.code == 0`];
};

/** What the gateway bridge has made of a packet that it hands to OVN: addresses by conntrack, MACs by its flows. */
export const packetAsEntered = (passes: readonly TracePass[], bridge: string, packet: Packet): Packet => {
  const pass = passes.find(({ bridges }) => bridges.some((one) => one.bridge !== bridge && !one.isUnderlay));
  if (pass === undefined) return packet;
  const actions = pass.bridges
    .filter((one) => one.bridge === bridge)
    .flatMap(({ steps }) => steps.flatMap((step) => step.actions.map(({ text }) => text)));
  const field = (...names: readonly string[]): string | undefined =>
    names.map((name) => new RegExp(`(?:^|,)${name}=([^,]+)`).exec(pass.flow)?.[1]).find((value) => value !== undefined);
  const set = (name: string): string | undefined =>
    actions.map((action) => new RegExp(`^set_field:(\\S+)->${name}$`).exec(action)?.[1]).findLast((value) => value);
  return {
    ...packet,
    sourceMac: parseMac(set('eth_src') ?? field('dl_src') ?? packet.sourceMac),
    destinationMac: parseMac(set('eth_dst') ?? field('dl_dst') ?? packet.destinationMac),
    source: parseIp(field('nw_src', 'ipv6_src') ?? packet.source),
    destination: parseIp(field('nw_dst', 'ipv6_dst') ?? packet.destination),
  };
};

export interface Entrance {
  /** The gateway bridge. */
  readonly bridge: string;
  readonly node: string;
  readonly ports: readonly BridgePort[];
  readonly owners: ReadonlyMap<string, PortOwner>;
}

/** The port by which a packet that began in the gateway bridge comes into OVN; undefined: it does not. */
export const enteredPort = (passes: readonly TracePass[], entrance: Entrance): string | undefined => {
  const { bridge, node, ports, owners } = entrance;
  const outputs = passes
    .flatMap(({ bridges }) => bridges.filter((one) => one.bridge === bridge && !one.isUnderlay))
    .flatMap(({ steps }) =>
      steps.flatMap(({ actions }) => actions.map(({ text }) => /^output:([0-9]+)$/.exec(text)?.[1])),
    );
  const networks = outputs
    .map((number) => ports.find((port) => port.bridge === bridge && String(port.ofport) === number))
    .flatMap((port) => (port?.type === 'patch' ? (owners.get(port.name)?.network ?? []) : []));
  const [network, ...others] = new Set(networks);
  // A flood is for several of them.
  if (network === undefined || others.length > 0) return undefined;
  return externalBridgePortName(bridge, network, node);
};
