/** udnctl's client against the agent's status server. */

import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AttachmentRegistry } from '../../agent/cni/attachments/registry.ts';
import { logLevelResource } from '../../agent/status/log-level.ts';
import { type StatusExtras, serveStatus } from '../../agent/status/server.ts';
import { noPolicies } from '../../agent/status/testing/no-policies.ts';
import { TestCluster } from '../../agent/testing/cluster.ts';
import { FakePorts } from '../../agent/testing/fake-ports.ts';
import { fakeReconciler } from '../../agent/testing/fake-reconciler.ts';
import type { Reconciler } from '../../base/reconciler.ts';
import { createFakeClock } from '../../base/testing/fake-clock.ts';
import { createLog } from '../../program/log.ts';
import { LogLevelControl } from '../../program/log-level.ts';
import { connectAgent } from './agent-client.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-client-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const serve = (host: Reconciler, extras?: StatusExtras) => {
  const cluster = new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'], red_net: ['10.20.1.0/24'] } })
    .gateway('node1', { addresses: ['172.30.0.2/24'], nextHops: ['172.30.0.1'] })
    .network('red_net', { id: 1, topology: 'layer3', subnets: ['10.20.0.0/16'], namespace: 'red', nad: 'net' })
    .service('red/web', { ips: ['10.96.0.7', 'fd00::7'], ports: ['TCP/80'] });
  return serveStatus(
    join(folder, 'agent.sock'),
    {
      ...noPolicies,
      node: 'node1',
      facts: cluster.facts,
      registry: new AttachmentRegistry(),
      ports: new FakePorts(),
      podFailures: { of: () => undefined, entries: () => [] },
      shortageOf: () => undefined,
      statusProblemOf: () => undefined,
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
    },
    extras,
  );
};

it('says so of an agent that takes the connection and does not answer', async () => {
  const path = join(folder, 'silent.sock');
  await using silent = createServer((socket) => socket.resume()).listen(path);
  await once(silent, 'listening');
  const { health, differences } = connectAgent(path, 50);
  const said = /^the agent has not answered at .*silent\.sock for 0\.05 s: it is stopped or overloaded/;
  await expect(health()).rejects.toThrow(said);
  await expect(differences()).rejects.toThrow(said);
});

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

it('asks about network policies', async () => {
  const server = await serve(fakeReconciler({}));
  try {
    const agent = connectAgent(join(folder, 'agent.sock'));
    const none = { isRead: true, policies: [], rules: [], pods: [], admin: [] };
    for (const about of [undefined, { policy: 'red/web' }, { pod: 'red/a&b' }, { sets: 'a1,a2' }]) {
      expect(await agent.policies(about)).toEqual(none);
    }
    const message = 'namespace red/ü% is not known here: there is no such namespace';
    expect(await agent.policyMatrix('red/ü%')).toEqual({ pods: [], ends: [], message });
    const question = { pod: 'red/a', direction: 'Egress', peer: 'fd00::7' } as const;
    const packet = { protocol: 'sctp', port: 80 } as const;
    expect(await agent.policyEnd({ ...question, packet })).toMatchObject({ ...question, verdict: 'unknown' });
    await expect(agent.policyEnd({ ...question, pod: 'red' })).rejects.toThrow(/the agent refuses it: pod: /);
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

it('reads and sets the level of the log; what the agent refuses changes nothing', async () => {
  const clock = createFakeClock();
  const level = new LogLevelControl('info', clock);
  const written: object[] = [];
  const log = createLog('udn-agent', level, { write: (line: string) => void written.push(JSON.parse(line)) });
  const server = await serve(fakeReconciler({}), { settings: { '/v1/log-level': logLevelResource(level, log) } });
  try {
    const agent = connectAgent(join(folder, 'agent.sock'));
    expect(await agent.logLevel()).toEqual({ level: 'info', configured: 'info' });
    expect(await agent.setLogLevel({ level: 'debug', by: 'test', forSeconds: 600 })).toEqual({
      ...{ level: 'debug', configured: 'info' },
      revertsAt: new Date(clock.wall() + 600_000).toISOString(),
    });
    expect(written).toMatchObject([
      { msg: 'log level changed', module: 'log', from: 'info', to: 'debug', by: 'test', forSeconds: 600 },
    ]);
    await clock.advance(600_000);
    expect(await agent.logLevel()).toEqual({ level: 'info', configured: 'info' });
    expect(written.at(-1)).toMatchObject({ msg: 'log level reverted', from: 'debug', to: 'info' });
    // @ts-expect-error: an udnctl of another version.
    await expect(agent.setLogLevel({ level: 'loud', by: 'test' })).rejects.toMatchObject({
      exitStatus: 2,
      message: expect.stringMatching(/refuses it: level: must be "trace" or .* is "loud"/),
    });
    await expect(agent.setLogLevel({ level: 'debug', by: 'test', forSeconds: -1 })).rejects.toThrow(/forSeconds: must/);
    await expect(agent.setLogLevel({ level: 'debug', by: 'x'.repeat(70_000) })).rejects.toThrow(/longer than 65536/);
    expect(await agent.logLevel()).toEqual({ level: 'info', configured: 'info' });
  } finally {
    await server.close();
  }
});

it('an agent without a setting is an older one', async () => {
  const server = await serve(fakeReconciler({}));
  try {
    await expect(connectAgent(join(folder, 'agent.sock')).logLevel()).rejects.toThrow(/it is older than this udnctl/);
  } finally {
    await server.close();
  }
});
