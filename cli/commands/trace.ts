/** `udnctl trace`: what becomes of a packet, by the host's nftables, Open vSwitch' own tables, and OVN's tool. */
import type { CommandRunner } from '../../datapath/exec/types.ts';
import type { TableState } from '../../datapath/nftables/table-state.ts';
import { CliError } from '../errors.ts';
import { allDatapaths, type Transact } from '../flows/datapaths.ts';
import type { AgentClient } from '../node/agent-client.ts';
import type { TextOutput } from '../output/format.ts';
import { namesIn, withPolicies } from '../policy/in-trace.ts';
import { type Balancing, balancingOf } from '../trace/balancing.ts';
import { type EndpointOptions, endsOf, portOwners } from '../trace/endpoints.ts';
import { type HostResult, hostIsolationOf } from '../trace/host-isolation.ts';
import { type HostWay, hostWay, type Sent } from '../trace/host-way.ts';
import type { Packet, Protocol } from '../trace/packet.ts';
import { type BridgePort, readPorts } from '../trace/port-names.ts';
import { serviceTarget } from '../trace/service-target.ts';
import { serviceWays } from '../trace/service-ways.ts';
import { packetOutput, serviceOutput } from '../trace/trace-output.ts';
import { type Scene, traceSwitch, type WayOptions, wayOf } from '../trace/way.ts';

export interface TraceSources {
  readonly agent: Pick<AgentClient, 'node' | 'networks' | 'pods' | 'policies' | 'services'>;
  readonly northbound: Transact;
  readonly southbound: Transact;
  readonly runner: Pick<CommandRunner, 'run'>;
  /** Our table of nftables as it is; undefined when there is none. */
  readonly hostTable: () => Promise<TableState | undefined>;
}

export interface TraceOptions extends EndpointOptions, WayOptions {
  /** Default: 80, of a Service its first. */
  readonly port: number | undefined;
  /** Default: tcp, of a Service that of the port. */
  readonly protocol: Protocol | undefined;
  readonly verbose: boolean;
  readonly raw: boolean;
}

const DEFAULT_PORT = 80;

/** @throws CliError */
export const trace = async (sources: TraceSources, options: TraceOptions): Promise<TextOutput> => {
  const { agent, northbound } = sources;
  const target = await serviceTarget(agent, options);
  const { port = DEFAULT_PORT, protocol = 'tcp', to } = { ...options, ...target, ...(target && { to: target.ip }) };
  const asked = { to, port, protocol };
  const way = options.from[0] === 'host' ? await hostWay(sources, asked) : undefined;
  const { network, ...scene } = await sceneOf(sources, options, { ...asked, ...way?.sent });
  const { packet } = scene;
  const balancing = await balancingOf({ agent, northbound }, { ...packet, network });
  const host = way === undefined ? undefined : hostResultOf(way, scene, options);
  const named = (output: TextOutput): Promise<TextOutput> => namePolicies(agent, output, scene, options);
  if (balancing === undefined) {
    return await named(packetOutput({ packet, host, way: await wayOf(scene, await traceSwitch(scene)) }, options));
  }
  if (options.established) throw new CliError(onlyConntrackKnows(balancing), 2);
  return await named(serviceOutput({ packet, host, balancing, found: await serviceWays(scene, balancing) }, options));
};

/** An agent that cannot tell whose its ACLs are keeps no trace from being shown. */
const namePolicies = async (
  agent: Pick<AgentClient, 'policies'>,
  output: TextOutput,
  { pods }: Pick<Scene, 'pods'>,
  { from: [kind, name] }: TraceOptions,
): Promise<TextOutput> => {
  const sets = namesIn(output.lines);
  if (sets.length === 0) return output;
  const policies = await agent.policies({ sets: sets.join(',') }).catch(() => undefined);
  if (policies === undefined) return output;
  const addresses = new Map(
    pods.map((pod) => [
      `${pod.namespace}/${pod.name}`,
      pod.attachments.flatMap((one) => one.addresses.map((address) => address.split('/')[0] ?? '')),
    ]),
  );
  return withPolicies(output, policies, { from: kind === 'pod' ? name : undefined, addresses });
};

const onlyConntrackKnows = ({ what, service }: Balancing): string =>
  `${what} belongs to Service ${service.namespace}/${service.name}: only conntrack knows the endpoint of an established connection; trace to an endpoint instead`;

const sceneOf = async (
  { agent, northbound, southbound, runner }: TraceSources,
  given: TraceOptions,
  { to, ...sent }: Sent,
): Promise<Scene & { readonly network: string | undefined }> => {
  const options = { ...given, to };
  const [node, networks, pods, ports] = await Promise.all([
    agent.node(),
    agent.networks(),
    agent.pods(),
    readPorts(runner),
  ]);
  const { logicalPort, network, ...ends } = await endsOf({ node, networks, pods, ports, northbound }, options);
  return {
    ...{ runner, southbound, node, networks, pods, ports, network, logicalPort, options },
    owners: portOwners({ node, networks, pods }),
    datapaths: await allDatapaths(southbound),
    packet: { ...ends, ...sent },
  };
};

/** What a process of the host sends comes to Open vSwitch only when nftables let it pass. */
const hostResultOf = (
  { table, unread, why, stop }: HostWay,
  { packet, ports }: { readonly packet: Packet; readonly ports: readonly BridgePort[] },
  { established }: TraceOptions,
): HostResult => {
  if (stop !== undefined) return { kind: 'dropped', message: stop };
  if (unread !== undefined)
    return { kind: 'passes', why: `nftables cannot be read: host isolation may drop the packet: ${unread}` };
  const { bridge, inPort, destination, protocol, port } = packet;
  const link = ports.find((one) => one.bridge === bridge && String(one.ofport) === inPort)?.name;
  const result = hostIsolationOf(table, { destination, protocol, port, link, established });
  return result.kind === 'passes' && why !== undefined ? { ...result, why } : result;
};
