/** `udnctl trace`: what becomes of a packet, by Open vSwitch' own tables. */
import type { CommandRunner } from '../../datapath/exec/types.ts';
import { allDatapaths, type Transact } from '../flows/datapaths.ts';
import type { AgentClient } from '../node/agent-client.ts';
import { mapOf, uuidOf } from '../node/wire-values.ts';
import type { TextOutput } from '../output/format.ts';
import { type EndpointOptions, endsOf, portOwners } from '../trace/endpoints.ts';
import { parseOfprotoTrace, type TracePass } from '../trace/ofproto-trace.ts';
import { flowText, type Packet, type Protocol } from '../trace/packet.ts';
import { readPorts } from '../trace/port-names.ts';
import { stepsOf } from '../trace/steps.ts';
import { decidingFlows, type LogicalFlow, verdictOf } from '../trace/verdict.ts';

export interface TraceSources {
  readonly agent: Pick<AgentClient, 'node' | 'networks' | 'pods'>;
  readonly northbound: Transact;
  readonly southbound: Transact;
  readonly runner: Pick<CommandRunner, 'run'>;
}

export interface TraceOptions extends EndpointOptions {
  readonly port: number;
  readonly protocol: Protocol;
  /** The packet belongs to a connection that conntrack knows. */
  readonly established: boolean;
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
  const ends = await endsOf({ node, networks, pods, ports, northbound }, options);
  const packet: Packet = { ...ends, protocol: options.protocol, port: options.port };
  const { stdout } = await runner.run({ file: 'ovs-appctl', args: traceArguments(packet, options.established) });
  const passes = parseOfprotoTrace(stdout);
  const datapaths = await allDatapaths(southbound);
  const context = { ports, owners: portOwners({ node, networks, pods }), uplink: node.gateway?.uplink, datapaths };
  const judged = verdictOf(passes, { ...context, logicalFlows: new Map() });
  // The southbound database is only asked for what is to be told: it has many logical flows.
  const verdict =
    judged.kind === 'dropped' || judged.kind === 'controller'
      ? verdictOf(passes, { ...context, logicalFlows: await logicalFlowsOf(southbound, passes) })
      : judged;
  const steps = stepsOf(passes, { ports, datapaths });
  return {
    data: { verdict: verdict.kind, sentence: verdict.sentence, packet, steps, ...(options.raw && { raw: stdout }) },
    lines: [
      verdict.sentence,
      '',
      `packet: ${packet.bridge} ${flowText(packet)}`,
      ...steps.map((step) => `  ${step}`),
      ...(options.raw ? ['', ...stdout.trimEnd().split('\n')] : []),
    ],
  };
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

/** The first 32 bits of a logical flow's UUID are the cookie of its OpenFlow flows (ovn-controller(8)). */
const logicalFlowsOf = async (
  southbound: Transact,
  passes: readonly TracePass[],
): Promise<ReadonlyMap<string, LogicalFlow>> => {
  const flows = decidingFlows(passes);
  const priorities = [...new Set(flows.map(({ priority }) => priority))].filter((one) => one <= MAX_LOGICAL_PRIORITY);
  if (priorities.length === 0) return new Map();
  const found = await southbound(
    priorities.map((priority) => ({
      op: 'select' as const,
      table: 'Logical_Flow',
      where: [['priority', '==', priority]] as const,
      columns: ['_uuid', 'match', 'external_ids'],
    })),
  );
  const cookies = new Map(flows.map(({ cookie }) => [cookie.slice(2).padStart(8, '0'), cookie]));
  return new Map(
    found
      .flatMap(({ rows = [] }) => rows)
      .flatMap((row): [string, LogicalFlow][] => {
        const cookie = cookies.get(uuidOf(row['_uuid']).slice(0, 8));
        if (cookie === undefined) return [];
        const stage = mapOf(row['external_ids']).get('stage-name') ?? 'unknown';
        return [[cookie, { stage, match: String(row['match']) }]];
      }),
  );
};

/** ovn-sb(5), Logical_Flow. */
const MAX_LOGICAL_PRIORITY = 65_535;
