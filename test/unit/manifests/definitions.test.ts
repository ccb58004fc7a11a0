/** Both programs may ask for the definitions of the kinds that may be missing: each asks a server that has none of them. */
import { afterEach, expect, it, vi } from 'vitest';
import { createClusterInputs } from '../../../agent/inputs/cluster-inputs.ts';
import { parseClusterConfig } from '../../../api/cluster-config.ts';
import { createManager } from '../../../cluster-manager/controllers/manager.ts';
import { createEmbeddedCluster } from '../../../kube/embedded/cluster.ts';
import { createEventRecorder } from '../../../kube/events/recorder.ts';
import type { KubeClient } from '../../../kube/types.ts';
import { readManifests, roleSchema } from './load.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/';

const stop = new AbortController();
const running: Promise<void>[] = [];
afterEach(async () => {
  stop.abort();
  await Promise.all(running);
});

const namesOf = (role: string): string[] =>
  readManifests()
    .flatMap((one) => roleSchema.safeParse(one).data ?? [])
    .filter(({ metadata }) => metadata.name === role)
    .flatMap(({ rules }) => rules)
    .filter(({ resources }) => resources.includes('customresourcedefinitions'))
    .flatMap(({ resourceNames = [] }) => resourceNames)
    .toSorted();

it('which are those that the roles name', { timeout: 30_000 }, async () => {
  const server = createEmbeddedCluster();
  const asking = (asked: Set<string>): KubeClient => {
    const client = server.client('test');
    const request: KubeClient['request'] = (one, signal) => {
      if (one.path.startsWith(DEFINITIONS)) asked.add(one.path.slice(DEFINITIONS.length));
      return client.request(one, signal);
    };
    return { ...client, request };
  };
  const [byAgent, byManager] = [new Set<string>(), new Set<string>()];
  const inputs = createClusterInputs({ client: asking(byAgent), node: 'node-1', observe: () => undefined });
  const client = asking(byManager);
  const events = createEventRecorder({ client, component: 'test' });
  const manager = createManager({ client, events, cluster: parseClusterConfig() });
  running.push(inputs.run(stop.signal), manager.run(stop.signal));
  await vi.waitFor(
    () => {
      expect([...byAgent].toSorted()).toEqual(namesOf('ovn-udn-agent'));
      expect([...byManager].toSorted()).toEqual(namesOf('ovn-udn-cluster-manager'));
    },
    { timeout: 20_000 },
  );
});
