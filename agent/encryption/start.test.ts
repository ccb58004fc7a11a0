import pino from 'pino';
import { expect, it } from 'vitest';
import { createAgentMetrics } from '../metrics/metrics.ts';
import { FactStore } from '../model/fact-store.ts';
import { startPeerWatch } from './start.ts';

it('counts no unprotected peer where tunnels are not encrypted', async () => {
  await using resources = new AsyncDisposableStack();
  const metrics = createAgentMetrics();
  const watch = startPeerWatch(
    {
      ...{ edges: { metrics }, core: { facts: new FactStore() }, node: 'a', encryption: undefined },
      ...{ spawnAddon: '', log: pino({ enabled: false }) },
    },
    resources,
  );
  expect(watch.problems()).toEqual([]);
  expect(await metrics.text()).toContain('\nudn_agent_unprotected_peers 0\n');
});
