/** `udnctl trace`: what becomes of a packet, by the host's nftables, Open vSwitch' own tables, and OVN's tool. */
import { externalBridgePortName } from '../../agent/model/names.ts';
import type { NetworkStatus, NodeStatus, PodStatus } from '../../api/agent-status.ts';
import type { CommandRunner } from '../../datapath/exec/types.ts';
import type { TableState } from '../../datapath/nftables/table-state.ts';
import { allDatapaths, type Transact } from '../flows/datapaths.ts';
import type { AgentClient } from '../node/agent-client.ts';
import { findNetwork } from '../node/find-network.ts';
import type { TextOutput } from '../output/format.ts';
import { type EndpointOptions, endsOf, logicalPortOwners, portOwners } from '../trace/endpoints.ts';
import { type HostVerdict, hostIsolationOf } from '../trace/host-isolation.ts';
import { logicalFlowsOf } from '../trace/logical-flows.ts';
import { enteredPort, microflow } from '../trace/logical-packet.ts';
import { type LogicalTrace, logicalHead, logicalLines, traceLogically } from '../trace/logical-trace.ts';
import { parseOfprotoTrace, type TracePass } from '../trace/ofproto-trace.ts';
import { flowText, type Packet, type Protocol } from '../trace/packet.ts';
import { type BridgePort, readPorts } from '../trace/port-names.ts';
import { stepsOf } from '../trace/steps.ts';
import { type TraceContext, type Verdict, verdictOf } from '../trace/verdict.ts';

export interface TraceSources {
  readonly agent: Pick<AgentClient, 'node' | 'networks' | 'pods'>;
  readonly northbound: Transact;
  readonly southbound: Transact;
  readonly runner: Pick<CommandRunner, 'run'>;
  /** Our table of nftables as it is; undefined when there is none. */
  readonly hostTable: () => Promise<TableState | undefined>;
}

export interface TraceOptions extends EndpointOptions {
  readonly port: number;
  readonly protocol: Protocol;
  /** The packet belongs to a connection that conntrack knows. */
  readonly established: boolean;
  /** Where ovn-trace finds the southbound database. */
  readonly sbRemote: string;
  readonly verbose: boolean;
  readonly raw: boolean;
}

/** @throws CliError */
export const trace = async (sources: TraceSources, options: TraceOptions): Promise<TextOutput> => {
  const { agent, northbound, southbound, runner } = sources;
  const [node, networks, pods, ports] = await Promise.all([
    agent.node(),
    agent.networks(),
    agent.pods(),
    readPorts(runner),
  ]);
  const { logicalPort, ...ends } = await endsOf({ node, networks, pods, ports, northbound }, options);
  const packet: Packet = { ...ends, protocol: options.protocol, port: options.port };
  const { stdout } = await runner.run({ file: 'ovs-appctl', args: traceArguments(packet, options.established) });
  const passes = parseOfprotoTrace(stdout);
  const datapaths = await allDatapaths(southbound);
  const owners = portOwners({ node, networks, pods });
  const context = { ports, owners, uplink: node.gateway?.uplink, datapaths };
  const verdict = await judge(southbound, passes, context);
  const steps = stepsOf(passes, { ports, datapaths });
  const entered = logicalPort ?? entranceOf(passes, { node, ports, owners }, options);
  const entrance = entered ?? askedEntrance(node, networks, options);
  const logical =
    entrance === undefined
      ? undefined
      : await askOvn(sources, {
          options,
          packet,
          entrance,
          verdict: entered === undefined ? undefined : verdict,
          pods,
        });
  const host = options.from[0] === 'host' ? await judgeHost(sources, packet, ports, options) : undefined;
  return output({ verdict, host, logical, packet, steps, raw: stdout }, options);
};

/** The southbound database is only asked for what is to be told: it has many logical flows. */
const judge = async (
  southbound: Transact,
  passes: readonly TracePass[],
  context: Omit<TraceContext, 'logicalFlows'>,
): Promise<Verdict> => {
  const judged = verdictOf(passes, { ...context, logicalFlows: new Map() });
  return judged.kind === 'dropped' || judged.kind === 'controller'
    ? verdictOf(passes, { ...context, logicalFlows: await logicalFlowsOf(southbound, passes) })
    : judged;
};

/** What conntrack in the gateway bridge makes of the addresses of a reply, nobody tells: OVN cannot be asked about it. */
const entranceOf = (
  passes: readonly TracePass[],
  { node, ports, owners }: { node: NodeStatus; ports: readonly BridgePort[]; owners: TraceContext['owners'] },
  { established }: TraceOptions,
): string | undefined => {
  const bridge = node.gateway?.bridge;
  return bridge === undefined || established
    ? undefined
    : enteredPort(passes, { bridge, node: node.name, ports, owners });
};

/** What comes from outside for a connection that nobody has begun goes to the host: OVN says what it would do with it. */
const askedEntrance = (
  { name, gateway }: NodeStatus,
  networks: readonly NetworkStatus[],
  { from, network, established }: TraceOptions,
): string | undefined =>
  from[0] !== 'outside' || network === undefined || gateway === undefined || established
    ? undefined
    : externalBridgePortName(gateway.bridge, findNetwork(networks, network).name, name);

interface OvnQuestion {
  readonly options: TraceOptions;
  readonly packet: Packet;
  /** A logical port. */
  readonly entrance: string;
  /** Absent: the packet does not come there by itself. */
  readonly verdict: Verdict | undefined;
  readonly pods: readonly PodStatus[];
}

const askOvn = (
  { runner }: TraceSources,
  { options, packet, entrance, verdict, pods }: OvnQuestion,
): Promise<LogicalTrace> => {
  const { established, sbRemote: remote } = options;
  const question = { microflow: microflow(packet, entrance), established, remote };
  return traceLogically(runner, question, verdict, logicalPortOwners(pods));
};

/** What a process of the host sends comes to Open vSwitch only when nftables let it pass. */
const judgeHost = async (
  { hostTable }: TraceSources,
  { bridge, inPort, destination, protocol, port }: Packet,
  ports: readonly BridgePort[],
  { established }: TraceOptions,
): Promise<HostVerdict> => {
  const link = ports.find((one) => one.bridge === bridge && String(one.ofport) === inPort)?.name;
  try {
    return hostIsolationOf(await hostTable(), { destination, protocol, port, link, established });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { kind: 'passes', why: `nftables cannot be read, host isolation may drop it: ${why}` };
  }
};

interface Findings {
  readonly verdict: Verdict;
  readonly host: HostVerdict | undefined;
  readonly logical: LogicalTrace | undefined;
  readonly packet: Packet;
  readonly steps: readonly string[];
  readonly raw: string;
}

const output = (findings: Findings, { verbose, raw: showRaw }: TraceOptions): TextOutput => {
  const { verdict, host, logical, packet, steps, raw } = findings;
  const isDropped = host?.kind === 'dropped';
  const head = isDropped
    ? [host.sentence, `if it gets past: ${verdict.sentence}`]
    : [verdict.sentence, ...(host?.why === undefined ? [] : [host.why])];
  return {
    data: {
      verdict: isDropped ? 'dropped' : verdict.kind,
      sentence: head[0],
      ...(host !== undefined && { host }),
      openVswitch: verdict,
      ...(logical !== undefined && { logical: withoutRaw(logical, showRaw) }),
      packet,
      steps,
      ...(showRaw && { raw }),
    },
    lines: [
      ...head,
      ...(logical === undefined ? [] : [logicalHead(logical)]),
      '',
      `packet: ${packet.bridge} ${flowText(packet)}`,
      ...steps.map((step) => `  ${step}`),
      ...(logical === undefined ? [] : logicalLines(logical, verbose)),
      ...(showRaw ? ['', ...raw.trimEnd().split('\n')] : []),
      ...(showRaw && logical !== undefined && logical.kind !== 'failed'
        ? ['', ...logical.raw.trimEnd().split('\n')]
        : []),
    ],
  };
};

const withoutRaw = (logical: LogicalTrace, showRaw: boolean): unknown => {
  if (logical.kind === 'failed' || showRaw) return logical;
  const { raw: _, ...rest } = logical;
  return rest;
};

/** A packet meets conntrack at most that often. */
const MAX_RECIRCULATIONS = 16;

/** What conntrack says is not looked up by Open vSwitch but told (ovs-vswitchd(8), `ofproto/trace`). */
const traceArguments = (packet: Packet, established: boolean): string[] => [
  'ofproto/trace',
  packet.bridge,
  flowText(packet),
  ...Array.from({ length: MAX_RECIRCULATIONS }, () => ['--ct-next', established ? 'trk,est' : 'trk,new']).flat(),
];
