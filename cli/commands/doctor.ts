/** `udnctl doctor`: what keeps networks apart and is missing, and what is left of those that are gone; `--fix` removes that. */
import { unplugOperations } from '../../agent/cni/vswitch-operations.ts';
import type { DifferencesStatus } from '../../api/agent-status.ts';
import { messageOf } from '../../base/error-message.ts';
import type { Conntrack } from '../../datapath/conntrack/conntrack.ts';
import type { Netns } from '../../datapath/netlink/kernel/types.ts';
import { isUuid } from '../../ovsdb/uuid.ts';
import { type OpenGuard, openGuards } from '../doctor/guards.ts';
import { inTime } from '../doctor/in-time.ts';
import { findLeftovers, type Leftover } from '../doctor/leftovers.ts';
import { type NodeReading, type NodeSources, readNode } from '../doctor/read-node.ts';
import { CliError } from '../errors.ts';
import type { AgentClient } from '../node/agent-client.ts';
import type { TextOutput } from '../output/format.ts';

export interface DoctorSources extends NodeSources {
  readonly agent: Pick<AgentClient, 'networks' | 'pods' | 'differences'>;
  readonly netns: Pick<Netns, 'links' | 'rules' | 'routes' | 'apply' | 'whyNoFilters'>;
  readonly conntrack: Pick<Conntrack, 'flushMark'>;
}

export interface DoctorOutput extends TextOutput {
  /** 0: nothing is left, and nothing that guards is missing; 1: something is; 2: not everything could be looked at. */
  readonly exitStatus: 0 | 1 | 2;
}

/** @throws CliError, status 2, when the agent does not report the desired state: then nothing counts as a leftover */
export const doctor = async (sources: DoctorSources, { fix }: { readonly fix: boolean }): Promise<DoctorOutput> => {
  // What appears after this was read is not looked at, so what is being made now is never taken for a leftover.
  const { state, blind } = await readNode(sources);
  const { networks, pods, report } = await desiredState(sources.agent, blind);
  const leftovers = findLeftovers(state, { networks, pods, differences: report.differences });
  const results: Treated[] = [];
  // In their order: ports before links, because OVS complains about links that vanish under it.
  for (const one of leftovers) results.push(await treat(sources, one, fix));
  const unseen = [...blind, ...report.unreadable.map(({ backend, message }) => `${backend}: ${message}`)];
  const open = [...filterGuard(state), ...openGuards(report)];
  const left = results.filter(({ outcome }) => outcome === 'left' || outcome === 'failed');
  return {
    data: { open, leftovers: results, blind: unseen },
    lines: [
      ...open.map(({ guard, key, why }) => `open: ${guard}: ${key}: ${why}`),
      ...results.map(({ outcome, what, why, problem }) => `${LABELS[outcome]}: ${what}: ${problem ?? why}`),
      ...unseen.map((text) => `cannot be inspected: ${text}`),
      ...(open.length === 0 && left.length === 0 && unseen.length === 0 && !fix ? [nothingLeft(results)] : []),
      ...(results.some(({ outcome, byAgent }) => outcome === 'left' && !byAgent)
        ? ['udnctl doctor --fix removes the leftovers']
        : []),
    ],
    exitStatus: unseen.length > 0 ? 2 : left.length + open.length > 0 ? 1 : 0,
  };
};

/** The agent adds no pod then, and says so too. */
const filterGuard = ({ noFilters }: NodeReading['state']): OpenGuard[] =>
  noFilters.map((why) => ({ guard: 'frame filters', key: 'kernel', why: `${why}; until then CNI ADD fails` }));

/** Who hangs does so for the agent too, which has more patience. */
const desiredState = async (agent: DoctorSources['agent'], blind: string[]) => {
  const differences = async (): Promise<DifferencesStatus> => {
    if (blind.length === 0) return await agent.differences();
    try {
      return await inTime((signal) => agent.differences(signal));
    } catch (error) {
      blind.push(`differences: ${messageOf(error)}`);
      return { differences: [], unreadable: [], unsupported: [] };
    }
  };
  try {
    const [networks, pods, report] = await Promise.all([agent.networks(), agent.pods(), differences()]);
    return { networks, pods, report };
  } catch (error) {
    const why = messageOf(error);
    throw new CliError(`leftovers cannot be determined, because the desired state is unknown: ${why}`, 2);
  }
};

interface Treated {
  readonly what: string;
  readonly why: string;
  /** `underway`: the agent is about to remove it, within seconds. */
  readonly outcome: 'left' | 'removed' | 'failed' | 'underway';
  /** Nobody else can remove it. */
  readonly byAgent: boolean;
  readonly problem?: string;
}

const LABELS = { left: 'left', removed: 'removed', failed: 'failed', underway: 'being removed' } as const;

const nothingLeft = ({ length }: readonly Treated[]): string =>
  length === 0
    ? 'no leftovers of deleted networks and pods'
    : 'only leftovers that the agent is removing: run this again in a few seconds';

const treat = async (
  sources: DoctorSources,
  { what, why, remedy, isUnderway }: Leftover,
  fix: boolean,
): Promise<Treated> => {
  const byAgent = remedy.by === 'agent';
  if (byAgent || !fix) return { what, why, byAgent, outcome: isUnderway ? 'underway' : 'left' };
  try {
    await remove(sources, remedy);
    return { what, why, byAgent, outcome: 'removed' };
  } catch (error) {
    return { what, why, byAgent, outcome: 'failed', problem: messageOf(error) };
  }
};

const remove = async (
  { openvswitch, netns, conntrack }: DoctorSources,
  remedy: Exclude<Leftover['remedy'], { readonly by: 'agent' }>,
): Promise<void> => {
  switch (remedy.by) {
    case 'unplug': {
      await openvswitch(unplugOperations([remedy.port].filter(isUuid)));
      return;
    }
    case 'kernel': {
      const [failure] = netns.apply([remedy.op]);
      if (failure !== undefined) throw failure.error;
      return;
    }
    case 'conntrack':
      await conntrack.flushMark(remedy.zone, remedy.mark);
  }
};
