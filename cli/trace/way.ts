/** A packet's way: what Open vSwitch does with it, and what OVN's own tool says of it. */

import { externalBridgePortName } from '../../agent/model/names.ts';
import type { NetworkStatus, NodeStatus, PodStatus } from '../../api/agent-status.ts';
import type { CommandRunner } from '../../datapath/exec/types.ts';
import { vswitchdControl } from '../../datapath/exec/vswitchd-control.ts';
import type { Transact } from '../flows/datapaths.ts';
import { findNetwork } from '../node/find-network.ts';
import { logicalPortOwners } from './endpoints.ts';
import { logicalFlowsOf } from './logical-flows.ts';
import { enteredPort, microflow, packetAsEntered } from './logical-packet.ts';
import { type LogicalTrace, traceLogically } from './logical-trace.ts';
import { parseOfprotoTrace, type TracePass } from './ofproto-trace.ts';
import { flowText, type Packet } from './packet.ts';
import type { BridgePort } from './port-names.ts';
import { stepsOf } from './steps.ts';
import { type TraceContext, type TraceResult, traceResultOf } from './trace-result.ts';

export interface Scene {
  readonly runner: Pick<CommandRunner, 'run'>;
  readonly southbound: Transact;
  readonly node: NodeStatus;
  readonly networks: readonly NetworkStatus[];
  readonly pods: readonly PodStatus[];
  readonly ports: readonly BridgePort[];
  readonly owners: TraceContext['owners'];
  readonly datapaths: TraceContext['datapaths'];
  readonly packet: Packet;
  /** By which it comes into OVN; absent for what begins in the gateway bridge. */
  readonly logicalPort: string | undefined;
  readonly options: WayOptions;
}

export interface WayOptions {
  readonly from: readonly string[];
  readonly network: string | undefined;
  /** The packet belongs to a connection that conntrack knows. */
  readonly established: boolean;
  /** Where ovn-trace finds the southbound database. */
  readonly sbRemote: string;
}

export interface Way {
  readonly result: TraceResult;
  readonly logical: LogicalTrace | undefined;
  readonly steps: readonly string[];
  readonly raw: string;
}

export interface SwitchTrace {
  readonly passes: readonly TracePass[];
  readonly raw: string;
}

/**
 * @param hash of the packet, as the datapath would compute it: the groups of load balancers choose by it, and a trace ends
 * before them where there is none
 */
export const traceSwitch = async (
  { runner, packet, options: { established } }: Pick<Scene, 'runner' | 'packet' | 'options'>,
  hash = 1,
): Promise<SwitchTrace> => {
  const args = [...(await vswitchdControl()), ...traceArguments(packet, established, hash)];
  const { stdout } = await runner.run({ file: 'ovs-appctl', args });
  return { passes: parseOfprotoTrace(stdout), raw: stdout };
};

/** @param endpoint that a load balancer has chosen */
export const wayOf = async (scene: Scene, { passes, raw }: SwitchTrace, endpoint?: string): Promise<Way> => {
  const { node, networks, ports, owners, datapaths, southbound, logicalPort, packet, options } = scene;
  const result = await evaluateTrace(southbound, passes, { ports, owners, uplink: node.gateway?.uplink, datapaths });
  const entered = logicalPort ?? entranceOf(passes, scene);
  const entrance = entered ?? askedEntrance(node, networks, options);
  const logical =
    entrance === undefined
      ? undefined
      : await askOvn(scene, {
          ...{ entrance, endpoint, result: entered === undefined ? undefined : result },
          packet: logicalPort === undefined ? packetAsEntered(passes, packet.bridge, packet) : packet,
        });
  return { result, logical, steps: stepsOf(passes, { ports, datapaths }), raw };
};

/** The southbound database is read only for what is reported: it has many logical flows. */
const evaluateTrace = async (
  southbound: Transact,
  passes: readonly TracePass[],
  context: Omit<TraceContext, 'logicalFlows'>,
): Promise<TraceResult> => {
  const fromFlows = traceResultOf(passes, { ...context, logicalFlows: new Map() });
  return fromFlows.kind === 'dropped' || fromFlows.kind === 'controller'
    ? traceResultOf(passes, { ...context, logicalFlows: await logicalFlowsOf(southbound, passes) })
    : fromFlows;
};

/** Nobody reports what conntrack in the gateway bridge makes of the addresses of a reply: OVN cannot be asked about it. */
const entranceOf = (
  passes: readonly TracePass[],
  { node, ports, owners, options: { established } }: Scene,
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
  { from, network, established }: WayOptions,
): string | undefined =>
  from[0] !== 'outside' || network === undefined || gateway === undefined || established
    ? undefined
    : externalBridgePortName(gateway.bridge, findNetwork(networks, network).name, name);

interface OvnQuestion {
  /** A logical port. */
  readonly entrance: string;
  /** As it comes there. */
  readonly packet: Packet;
  readonly endpoint: string | undefined;
  /** Absent: the packet does not come there by itself. */
  readonly result: TraceResult | undefined;
}

const askOvn = (
  { runner, pods, options: { established, sbRemote: remote } }: Scene,
  { entrance, packet, endpoint, result }: OvnQuestion,
): Promise<LogicalTrace> => {
  const question = { microflow: microflow(packet, entrance), established, remote, endpoint };
  return traceLogically(runner, question, result, logicalPortOwners(pods));
};

/** A packet meets conntrack at most that often. */
const MAX_RECIRCULATIONS = 16;

/** Open vSwitch does not look up the state of conntrack, the caller gives it (ovs-vswitchd(8), `ofproto/trace`). */
const traceArguments = (packet: Packet, established: boolean, hash: number): string[] => [
  'ofproto/trace',
  packet.bridge,
  `${flowText(packet)},dp_hash=${hash}`,
  ...Array.from({ length: MAX_RECIRCULATIONS }, () => ['--ct-next', established ? 'trk,est' : 'trk,new']).flat(),
];
