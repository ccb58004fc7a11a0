/** Daemons of the node that fail: what is found here may not be in effect, and who has stopped is not asked. */
import type { ComponentStatus } from '../../api/agent-status.ts';
import { FOLLOWING_COMPONENTS } from '../../api/components.ts';
import { type Check, unknown } from './check.ts';
import type { ExplainSources } from './sources.ts';

/** Of those that rows need to have an effect on packets. An agent that does not answer is said to be missing by the other checks. */
export const failedDaemons = async ({ agent }: Pick<ExplainSources, 'agent'>): Promise<readonly ComponentStatus[]> => {
  try {
    return (await agent.health()).filter(({ component, state }) => state === 'failed' && FOLLOWING.has(component));
  } catch {
    return [];
  }
};

/** An agent that hears nothing of the API server desires what it has heard last. */
const FOLLOWING: ReadonlySet<string> = new Set(['api-server', ...FOLLOWING_COMPONENTS]);

/** What was in effect before they failed is so still: whether later changes are cannot be told. */
export const daemonChecks = (failed: readonly ComponentStatus[]): readonly Check[] =>
  failed.map(({ component, message = 'it fails' }) =>
    unknown(component, `later changes may not be in effect: ${message}`),
  );

/** A switch that has stopped keeps programs waiting for half a minute each. */
export const withoutStopped = (
  sources: ExplainSources,
  failed: Promise<readonly ComponentStatus[]>,
): ExplainSources => ({
  ...sources,
  runner: {
    run: async (command) => {
      const stopped = command.file.startsWith('ovs-') && (await failed).find(isSwitch);
      if (stopped) throw new Error(stopped.message);
      return await sources.runner.run(command);
    },
  },
});

const isSwitch = ({ component }: ComponentStatus): boolean => component === 'ovs-vswitchd';
