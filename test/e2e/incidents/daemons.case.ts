/** Daemons of OVN that are there and do nothing: no pod is needed to find out. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { componentStatusSchema } from '../../../api/agent-status.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { MINUTE_MS, NODE, type Operator } from './operator.ts';

/** From the stop to the answer. */
const FOUND_MS = 15_000;

/** @param operator as the cluster of the file has it */
export const incidentsOfDaemons = ({ cluster, asked, of, unavailable, isWell }: Operator): void => {
  it.each([
    ['ovn-controller', 'ovn-controller', 'OVNControllerNotProcessing', 'controller-not-processing'],
    ['northd', 'ovn-northd', 'NorthdNotProcessing', 'northd-not-processing'],
  ] as const)('%s has stopped', async (daemon, component, reason, cause) => {
    const { problemBecomes, unavailableBecomes } = of(component);
    await isWell();
    await cluster().kill(NODE, daemon, 'SIGSTOP');
    const stoppedAt = Date.now();
    try {
      await problemBecomes(new RegExp(`^error {4}${component} has not processed configuration .*\\[${cause}\\]$`), 1);
      await unavailableBecomes(new RegExp(`^True ${reason}: ${component} has not processed`));
      const components = await asked('status', NODE, '-o', 'json');
      expect(sinceOf(components.stdout, component) - stoppedAt).toBeLessThan(FOUND_MS);
      expect(components.status).toBe(1);
    } finally {
      await cluster().kill(NODE, daemon, 'SIGCONT');
    }
    await isWell();
    await eventually(async () => expect(await unavailable()).toMatchObject({ status: 'False' }), MINUTE_MS);
  });
};

const componentsSchema = z.object({ components: z.array(componentStatusSchema) });

/** Since when the agent has known it. */
const sinceOf = (status: string, component: string): number => {
  const { components } = componentsSchema.parse(JSON.parse(status));
  return Date.parse(components.find((one) => one.component === component)?.since ?? '');
};
