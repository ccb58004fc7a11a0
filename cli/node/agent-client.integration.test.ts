/** udnctl's client against the agent's status server. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AttachmentRegistry } from '../../agent/cni/attachments/registry.ts';
import { serveStatus } from '../../agent/status/server.ts';
import { TestCluster } from '../../agent/testing/cluster.ts';
import { FakePorts } from '../../agent/testing/fake-ports.ts';
import { fakeReconciler } from '../../agent/testing/fake-reconciler.ts';
import type { Reconciler } from '../../base/reconciler.ts';
import { connectAgent } from './agent-client.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-client-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const serve = (host: Reconciler) => {
  const cluster = new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'], red_net: ['10.20.1.0/24'] } })
    .gateway('node1', { addresses: ['172.30.0.2/24'], nextHops: ['172.30.0.1'] })
    .network('red_net', { id: 1, topology: 'layer3', subnets: ['10.20.0.0/16'], namespace: 'red', nad: 'net' })
    .service('red/web', { ips: ['10.96.0.7', 'fd00::7'], ports: ['TCP/80'] });
  return serveStatus(join(folder, 'agent.sock'), {
    node: 'node1',
    facts: cluster.facts,
    registry: new AttachmentRegistry(),
    ports: new FakePorts(),
    podFailures: { of: () => undefined, entries: () => [] },
    policies: () => Promise.resolve([]),
    shortageOf: () => undefined,
    isHere: () => true,
    ownersOfNetwork: () => [],
    diagnostics: new Map(),
    components: () => [{ component: 'ovn-northd', state: 'failed', message: 'it sleeps', since: 0 }],
    inputProblems: () => [],
    unreachable: () => [],
    cluster: cluster.settings.cluster,
    desiredFor: () => [],
    reconcilers: new Map([['host', host]]),
    kept: [],
    networkOf: () => 'red_net',
  });
};

it('asks everything that the agent answers', async () => {
  const [key, owners] = ['link red', ['host-network:red_net']];
  const difference = { key, kind: 'missing', owners } as const;
  const server = await serve(
    fakeReconciler({ desired: () => [{ key, owners }], differences: () => Promise.resolve([difference]) }),
  );
  try {
    const agent = connectAgent(join(folder, 'agent.sock'));
    expect(await agent.node()).toMatchObject({ name: 'node1', gateway: { bridge: 'br-ex', nextHops: ['172.30.0.1'] } });
    expect((await agent.networks()).map(({ name }) => name)).toEqual(['default', 'red_net']);
    expect(await agent.pods()).toEqual([]);
    expect(await agent.problems()).toEqual([]);
    expect(await agent.health()).toEqual([
      { component: 'ovn-northd', state: 'failed', message: 'it sleeps', since: '1970-01-01T00:00:00.000Z' },
    ]);
    expect(await agent.services('none/none')).toEqual([]);
    for (const asked of ['red/web', '10.96.0.7:80', '[fd00::7]:80']) {
      expect((await agent.services(asked)).map(({ name }) => name)).toEqual(['web']);
    }
    const expected = { backend: 'host', key, owners, network: 'red_net' };
    expect(await agent.desired()).toEqual([expected]);
    expect(await agent.differences()).toEqual({
      differences: [{ ...expected, kind: 'missing' }],
      unreadable: [],
      unsupported: [],
    });
  } finally {
    await server.close();
  }
});

it('a report that fails is an error of the question, not of the agent', async () => {
  const broken = (): never => {
    throw new Error('broken');
  };
  const server = await serve(fakeReconciler({ desired: broken }));
  try {
    const agent = connectAgent(join(folder, 'agent.sock'));
    await expect(agent.desired()).rejects.toThrow('it answered 500 to /v1/wanted');
    expect((await agent.node()).name).toBe('node1');
  } finally {
    await server.close();
  }
});
