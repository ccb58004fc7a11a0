/** What `udnctl explain` asks. Whoever does not answer is said to be missing, and the rest is looked at all the same. */
import { messageOf } from '../../base/error-message.ts';
import type { CommandRunner } from '../../datapath/exec/types.ts';
import type { TableState } from '../../datapath/nftables/table-state.ts';
import type { Transact } from '../flows/datapaths.ts';
import type { AgentClient } from '../node/agent-client.ts';
import type { PodNetns } from '../node/pod-netns.ts';
import type { Row } from '../node/wire-values.ts';
import { type Check, missing } from './check.ts';

export interface ExplainSources {
  readonly agent: Omit<AgentClient, 'logLevel' | 'setLogLevel' | 'policyEnd' | 'policyMatrix'>;
  readonly northbound: Transact;
  readonly southbound: Transact;
  readonly openvswitch: Transact;
  readonly runner: Pick<CommandRunner, 'run'>;
  readonly podNetns: Pick<PodNetns, 'read'>;
  /** Our table of nftables as it is; undefined when there is none. */
  readonly hostTable: () => Promise<TableState | undefined>;
}

/** The first row with a value in a column. */
export const rowWith = async (
  transact: Transact,
  table: string,
  column: string,
  value: string,
  columns: readonly string[],
): Promise<Row | undefined> => {
  const [found] = await transact([{ op: 'select', table, where: [[column, '==', value]], columns }]);
  return found?.rows?.[0];
};

/** Something that may not answer: then that is what is missing. */
export const attempt = async <Value>(
  what: string,
  work: () => Promise<Value> | Value,
): Promise<{ readonly value: Value } | { readonly failed: Check }> => {
  try {
    return { value: await work() };
  } catch (error) {
    return { failed: missing(what, messageOf(error), what === 'agent' ? CHECK_AGENT : CHECK_DAEMON) };
  }
};

/** The message says the rest: whether it is silent, or not there. */
const CHECK_AGENT = 'check the process and the log of udn-agent on this node';
const CHECK_DAEMON = 'no answer: is the daemon running, and is this a node?';
