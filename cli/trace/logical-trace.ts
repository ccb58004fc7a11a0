/** Asks OVN's own tool about a packet, and puts what it says beside what Open vSwitch says. */
import { messageOf } from '../../base/error-message.ts';
import type { CommandRunner } from '../../datapath/exec/types.ts';
import { agrees, logicalResultOf } from './logical-result.ts';
import { allLogicalStages, logicalSteps } from './logical-steps.ts';
import { type LogicalBlock, parseOvnTrace } from './ovn-trace.ts';
import type { PortOwner, TraceResult } from './trace-result.ts';

export interface LogicalQuestion {
  readonly microflow: string;
  readonly established: boolean;
  /** The southbound database. */
  readonly remote: string;
  /** `address:port` of the endpoint that load balancers are to choose. */
  readonly endpoint?: string | undefined;
}

export type LogicalTrace =
  | {
      readonly kind: 'port' | 'remote' | 'gateway' | 'controller' | 'refused' | 'dropped' | 'unknown';
      readonly message: string;
      /** Absent where the two cannot be compared. */
      readonly agrees?: boolean;
      /** Whether Open vSwitch takes the packet there. */
      readonly comes: boolean;
      readonly microflow: string;
      readonly steps: readonly string[];
      readonly blocks: readonly LogicalBlock[];
      readonly raw: string;
    }
  | { readonly kind: 'failed'; readonly message: string; readonly microflow: string };

/**
 * @param decision of Open vSwitch; absent: it does not take the packet there, and there is nothing to compare
 * @param owners pods by logical port
 */
export const traceLogically = async (
  runner: Pick<CommandRunner, 'run'>,
  question: LogicalQuestion,
  result: TraceResult | undefined,
  owners: ReadonlyMap<string, PortOwner>,
): Promise<LogicalTrace> => {
  const { microflow } = question;
  try {
    const { stdout } = await runner.run({ file: 'ovn-trace', args: traceArguments(question), timeoutMs: TIMEOUT_MS });
    const blocks = parseOvnTrace(stdout);
    const logical = logicalResultOf(blocks, owners);
    const same = result && agrees(result, logical, owners);
    return {
      kind: logical.kind,
      message: logical.message,
      ...(same !== undefined && { agrees: same }),
      comes: result !== undefined,
      microflow,
      steps: logicalSteps(blocks),
      blocks,
      raw: stdout,
    };
  } catch (error) {
    return { kind: 'failed', message: messageOf(error), microflow };
  }
};

/** It reads the whole southbound database first. */
const TIMEOUT_MS = 20_000;

/** A packet meets conntrack at most that often; behind the last one, ovn-trace takes connections for known. */
const MAX_CONNTRACK = 16;

/** The datapath is the one of the inport. Any member of a cluster will do: nothing is written. */
const traceArguments = ({ microflow, established, remote, endpoint }: LogicalQuestion): string[] => [
  `--db=${remote}`,
  '--no-leader-only',
  ...(endpoint === undefined ? [] : [`--lb-dst=${endpoint}`]),
  ...Array.from({ length: MAX_CONNTRACK }, () => `--ct=${established ? 'est' : 'new'}`),
  microflow,
];

/** Says first whether it is the same; then how, where it was asked. */
export const logicalHead = (logical: LogicalTrace): string => {
  if (logical.kind === 'failed') return `ovn-trace failed: ${logical.message}`;
  if (!logical.comes) return `ovn-trace, if the packet reached it: ${logical.message}`;
  if (logical.agrees === undefined) return `ovn-trace: ${logical.message}`;
  return `${logical.agrees ? 'ovn-trace agrees' : 'ovn-trace disagrees'}: ${logical.message}`;
};

export const logicalLines = (logical: LogicalTrace, verbose: boolean): string[] =>
  logical.kind === 'failed'
    ? []
    : [
        '',
        `logically: ${logical.microflow}`,
        ...(verbose ? allLogicalStages(logical.blocks) : logical.steps).map((line) => `  ${line}`),
      ];
