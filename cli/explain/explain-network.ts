/** `udnctl explain network`: what a network needs on this node, and whether it is there. */

import { managementLinkName } from '../../agent/model/host-names.ts';
import { managementPortName } from '../../agent/model/names.ts';
import { networkCtMark, networkPacketMark } from '../../agent/model/registry/marks.ts';
import { vrfTable } from '../../agent/model/registry/routing.ts';
import type {
  DesiredStatus,
  DifferenceStatus,
  DifferencesStatus,
  NetworkStatus,
  NodeStatus,
} from '../../api/agent-status.ts';
import { parseNetworkId } from '../../net/ids.ts';
import { dumpFlows } from '../flows/flow-dump.ts';
import { gatewayFlows } from '../flows/gateway-flows.ts';
import { findNetwork } from '../node/find-network.ts';
import { kindOf } from '../node/kind-of.ts';
import { patchPortName } from '../trace/endpoints.ts';
import { readPorts } from '../trace/port-names.ts';
import { type Check, type Explanation, missing, ok, unknown } from './check.ts';
import { nextHopChecks } from './next-hop-checks.ts';
import { interfaceChecks } from './port-checks.ts';
import { attempt, type ExplainSources } from './sources.ts';

/** @throws CliError when the agent knows no such network */
export const explainNetwork = async (sources: ExplainSources, requested: string): Promise<Explanation> => {
  const { agent } = sources;
  const asked = await attempt('agent', async () => {
    const [node, networks, all, differences] = await Promise.all([
      agent.node(),
      agent.networks(),
      agent.desired(),
      agent.differences(),
    ]);
    return { node, networks, all, differences };
  });
  if ('failed' in asked) return { subject: `network ${requested}`, checks: [asked.failed] };
  const { node, networks, all, differences } = asked.value;
  const network = findNetwork(networks, requested);
  return {
    subject: `network ${network.name} on ${node.name}`,
    checks: [
      ...identityChecks(network),
      ...backendChecks(network.name, all, differences),
      ...(network.role === 'primary' ? await primaryChecks(sources, network, node, networks) : []),
    ],
  };
};

const identityChecks = (network: NetworkStatus): Check[] => {
  const { id, nads, topology, role, subnets, nodeSubnets, state, message, masquerade } = network;
  const number = parseNetworkId(id);
  const isLayer3 = topology === 'layer3';
  return [
    nads.length === 0 && role !== 'default'
      ? missing('NAD', 'no NetworkAttachmentDefinition refers to it any more', 'it is being deleted')
      : ok('NAD', nads.join(', ') || 'the default network needs none'),
    role === 'secondary'
      ? ok('id', String(id))
      : ok(
          'id',
          `${id}: VRF table ${vrfTable(number)}, packet mark 0x${networkPacketMark(number).toString(16)}, ct mark 0x${networkCtMark(number).toString(16)}`,
        ),
    isLayer3 && nodeSubnets.length === 0
      ? missing(
          'node subnets',
          'this node has none',
          'the cluster manager allocates them: is it running, are any left?',
        )
      : ok('node subnets', (isLayer3 ? nodeSubnets : subnets).join(', ') || 'none'),
    ...(masquerade === undefined
      ? []
      : [
          ok(
            'masquerade addresses',
            `gateway ${masquerade.gateway.join(', ')}; host ${masquerade.management.join(', ')}`,
          ),
        ]),
    state === 'ready'
      ? ok('agent', 'has programmed the network')
      : missing('agent', `${state}: ${message ?? 'not programmed yet'}`, 'udnctl problems'),
  ];
};

/** What the agent wants, by place and kind; and which of it differs. */
const backendChecks = (
  network: string,
  all: readonly DesiredStatus[],
  { differences, unreadable, unsupported }: DifferencesStatus,
): Check[] => {
  const own = all.filter((one) => one.network === network);
  const wrong = Map.groupBy(
    differences.filter((one) => one.network === network),
    kindOf,
  );
  const kinds = Map.groupBy(own, kindOf);
  const lacking = Map.groupBy(
    unsupported.filter((one) => one.network === network),
    kindOf,
  );
  const silent = new Map(unreadable.map(({ backend, message }) => [backend, message]));
  return [...new Set([...kinds.keys(), ...wrong.keys()])].sort().map((kind) => {
    const desired = kinds.get(kind) ?? [];
    const problem = wrong.get(kind);
    const [some] = [...desired, ...(problem ?? [])];
    const unread = some && silent.get(some.backend);
    if (unread !== undefined) return unknown(kind, `cannot be read: ${unread}`);
    if (problem !== undefined) return missing(kind, differencesText(problem, desired), 'udnctl diff shows them');
    const [lack] = lacking.get(kind) ?? [];
    if (lack !== undefined)
      return unknown(kind, lackText(desired.length, lacking.get(kind)?.length ?? 0, lack.message));
    return ok(kind, `${desired.length} as desired`);
  });
};

const lackText = (desired: number, lacking: number, message: string): string =>
  lacking < desired
    ? `${desired - lacking} as desired, ${lacking} not supported: ${message}`
    : `${lacking} not supported: ${message}`;

const SHOWN = 3;

const differencesText = (differences: readonly DifferenceStatus[], desired: readonly DesiredStatus[]): string => {
  const shown = differences.slice(0, SHOWN).map(({ kind, key }) => {
    const problem = desired.find((one) => one.key === key)?.problem;
    return `${key} is ${kind}${problem === undefined ? '' : ` (${problem})`}`;
  });
  const more = differences.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
};

const primaryChecks = async (
  sources: ExplainSources,
  { id, name }: NetworkStatus,
  node: NodeStatus,
  networks: readonly NetworkStatus[],
): Promise<Check[]> => {
  const management = await portChecks(
    sources,
    'management port',
    managementLinkName(parseNetworkId(id)),
    managementPortName(name, node.name),
  );
  const { gateway } = node;
  if (gateway === undefined) return [...management, unknown('gateway', 'this node has no gateway bridge')];
  const patch = patchPortName(gateway.bridge, name, node.name);
  const flows = await attempt('gateway flows', () => gatewayFlowCheck(sources, gateway.bridge, node, networks, name));
  const hops = await attempt('next hops', () =>
    nextHopChecks(sources, { id, name, node: node.name, bridge: gateway.bridge }),
  );
  return [
    ...management,
    ...(await portChecks(sources, 'patch port', patch, undefined)),
    'failed' in flows ? flows.failed : flows.value,
    ...('failed' in hops ? [hops.failed] : hops.value),
  ];
};

const gatewayFlowCheck = async (
  { runner }: ExplainSources,
  bridge: string,
  node: NodeStatus,
  networks: readonly NetworkStatus[],
  network: string,
): Promise<Check> => {
  const what = 'gateway flows';
  const [flows, ports] = await Promise.all([dumpFlows(runner, bridge), readPorts(runner)]);
  const { groups } = gatewayFlows(flows, { bridge, node: node.name, networks, ports, network, onlyNode: false });
  if (groups.length === 0) {
    return missing(what, `${bridge} has none for it`, 'they need its patch port; udnctl diff shows the flows');
  }
  const own = groups.flatMap((group) => group.flows);
  const packets = own.reduce((sum, flow) => sum + flow.packets, 0);
  return ok(what, `${own.length} on ${bridge}, ${packets} packets: udnctl flows --network ${network}`);
};

const portChecks = async (
  sources: ExplainSources,
  what: string,
  name: string,
  port: string | undefined,
): Promise<Check[]> => {
  const found = await attempt(what, () => interfaceChecks(sources, name, port));
  return 'failed' in found ? [found.failed] : found.value.checks.map((check) => ({ ...check, what }));
};
