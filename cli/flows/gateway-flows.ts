/** The flows of the gateway bridge by whom they are for and what they do. Pure. */
import { networkCtMark, networkPacketMark } from '../../agent/model/registry/marks.ts';
import type { NetworkStatus } from '../../api/agent-status.ts';
import { parseNetworkId } from '../../net/ids.ts';
import { patchPortName } from '../trace/endpoints.ts';
import type { BridgePort } from '../trace/port-names.ts';
import type { Flow } from './flow-dump.ts';
import { purposeOf } from './purpose.ts';

export interface GatewayFlows {
  readonly bridge: string;
  /** In the order in which a packet meets them. */
  readonly groups: readonly FlowGroup[];
}

export interface FlowGroup {
  /** A network's name, `node` for what all have in common, `foreign` for what is not ours. */
  readonly owner: string;
  readonly table: number;
  readonly priority: number;
  readonly purpose: string;
  readonly flows: readonly Flow[];
}

export interface GatewayOptions {
  readonly bridge: string;
  readonly node: string;
  readonly networks: readonly NetworkStatus[];
  /** Of all bridges. */
  readonly ports: readonly BridgePort[];
  /** Only of this one; else all. */
  readonly network: string | undefined;
  readonly onlyNode: boolean;
}

export const gatewayFlows = (flows: readonly Flow[], options: GatewayOptions): GatewayFlows => {
  const ownerOf = ownerFinder(options);
  const owned = flows.map((flow) => {
    const purpose = purposeOf(flow)?.purpose;
    return purpose === undefined
      ? { owner: 'foreign', purpose: 'not ours', flow }
      : { owner: ownerOf(flow), purpose, flow };
  });
  const selected = owned.filter(({ owner }) => isSelected(owner, options));
  const groups = Map.groupBy(selected, ({ owner, purpose, flow }) =>
    JSON.stringify([owner, flow.table, flow.priority, purpose]),
  );
  return {
    bridge: options.bridge,
    groups: [...groups.values()].flatMap(toGroup).sort((a, b) => a.table - b.table || b.priority - a.priority),
  };
};

interface OwnedFlow {
  readonly owner: string;
  readonly purpose: string;
  readonly flow: Flow;
}

const toGroup = (members: readonly OwnedFlow[]): FlowGroup[] => {
  const [first] = members;
  if (first === undefined) return [];
  const { owner, purpose, flow } = first;
  return [{ owner, table: flow.table, priority: flow.priority, purpose, flows: members.map((one) => one.flow) }];
};

const isSelected = (owner: string, { network, onlyNode }: GatewayOptions): boolean => {
  if (onlyNode) return owner === 'node' || owner === 'foreign';
  return network === undefined || owner === network;
};

/** A network's flows name its patch port, its ct mark, its packet mark or one of its masquerade addresses. */
const ownerFinder = ({ bridge, node, networks, ports }: GatewayOptions): ((flow: Flow) => string) => {
  const tokens = new Map<string, string>();
  for (const { name, id, masquerade } of networks) {
    const patch = ports.find((port) => port.bridge === bridge && port.name === patchPortName(bridge, name, node));
    if (patch !== undefined) for (const field of ['in_port=', 'output:']) tokens.set(`${field}${patch.ofport}`, name);
    if (name === 'default') continue;
    const number = parseNetworkId(id);
    tokens.set(`ct_mark=0x${networkCtMark(number).toString(16)}`, name);
    tokens.set(`pkt_mark=0x${networkPacketMark(number).toString(16)}`, name);
    for (const address of [...(masquerade?.gateway ?? []), ...(masquerade?.management ?? [])])
      tokens.set(address, name);
  }
  // What a flow matches says more of whose it is than where it sends to: floods send to every network.
  return ({ match, actions }) =>
    ownerIn(match, tokens) ?? (isSingle(actions) ? ownerIn(actions, tokens) : undefined) ?? 'node';
};

const ownerIn = (text: string, tokens: ReadonlyMap<string, string>): string | undefined =>
  text
    .split(/[,()]/)
    .flatMap((field) => [field, field.slice(field.indexOf('=') + 1)])
    .map((word) => tokens.get(word))
    .find((owner) => owner !== undefined);

const isSingle = (actions: string): boolean => (actions.match(/output:/g) ?? []).length === 1;
