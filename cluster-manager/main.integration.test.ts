import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { crdFiles } from '../api/crd/crds.ts';
import { NETWORK_ATTACHMENT_DEFINITIONS, USER_DEFINED_NETWORKS } from '../api/resources.ts';
import { DEFINITIONS } from '../api/testing/definitions.ts';
import { startEmbeddedServer } from '../kube/embedded/server.ts';
import type { EmbeddedServer } from '../kube/embedded/types.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, EVENTS, LEASES, NAMESPACES, NODES, PODS } from '../kube/resources.ts';
import type { KubeClient } from '../kube/types.ts';
import { layer2Udn, layer3Udn, node, pod, tenant } from './testing/objects.ts';

const MAIN = join(import.meta.dirname, 'main.ts');

let folder: string;
let server: EmbeddedServer;
let client: KubeClient;
let children: ChildProcess[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'udn-cluster-manager-'));
  server = await startEmbeddedServer({ listen: [{ host: '127.0.0.1', port: 0 }], token: 'secret' });
  client = server.cluster.client();
  children = [];
  writeFileSync(join(folder, 'kubeconfig'), server.kubeconfig());
  for (const definition of DEFINITIONS) await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
});

afterEach(async () => {
  for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
  await server.close();
  rmSync(folder, { recursive: true });
});

const ALONE = ['--leader-elect', 'false'];

/** The program, as soon as it has said that it recovered what was there, or something else. */
const start = async (
  flags: readonly string[] = ALONE,
  until = 'recovered allocations',
): Promise<{ child: ChildProcess; metricsPort: number; ended: Promise<unknown[]> }> => {
  const args = [MAIN, '--kubeconfig', join(folder, 'kubeconfig'), '--metrics-address', '127.0.0.1:0', ...flags];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], cwd: '/' });
  children.push(child);
  const ended = once(child, 'exit');
  let metricsPort = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const entry = JSON.parse(line);
    if (entry.msg === 'started') metricsPort = entry.metricsPort;
    if (entry.msg === until) break;
  }
  child.stdout.resume();
  return { child, metricsPort, ended };
};

const conditionOf = async (namespace: string): Promise<string | undefined> => {
  const udn = await client.get(USER_DEFINED_NETWORKS, { namespace, name: 'net' });
  const { conditions = [] } = (udn['status'] ?? {}) as { conditions?: { type: string; status: string }[] };
  return conditions.find(({ type }) => type === 'NetworkCreated')?.status;
};

it('runs until SIGTERM, ends with status 0, and goes on where it was', async () => {
  const first = await start();
  await client.create(NODES, node('n1'));
  await client.create(NAMESPACES, tenant('l2'));
  await client.create(NAMESPACES, tenant('l3'));
  await client.create(USER_DEFINED_NETWORKS, layer2Udn('l2/net', ['10.20.0.0/16']));
  await client.create(USER_DEFINED_NETWORKS, layer3Udn('l3/net', ['10.128.0.0/16']));
  await client.create(PODS, pod('l2/p'));
  const done = { timeout: 20_000, interval: 20 };
  await vi.waitFor(
    async () => expect([await conditionOf('l2'), await conditionOf('l3')]).toEqual(['True', 'False']),
    done,
  );
  const annotationsOfPod = async () => (await client.get(PODS, { namespace: 'l2', name: 'p' })).metadata.annotations;
  await vi.waitFor(async () => expect(JSON.stringify(await annotationsOfPod())).toContain('10.20.0.3/16'), done);
  await vi.waitFor(async () => {
    const { items } = await client.list(EVENTS, { namespace: 'l3' });
    expect(items.map((event) => event['reason'])).toContain('SyncError');
  }, done);

  const readyz = await fetch(`http://127.0.0.1:${first.metricsPort}/readyz`);
  // The embedded server knows no accounts that could get them.
  const metrics = await fetch(`http://127.0.0.1:${first.metricsPort}/metrics`);
  expect([readyz.status, metrics.status]).toEqual([200, 401]);

  first.child.kill('SIGTERM');
  expect(await first.ended).toEqual([0, null]);

  const nads = await client.list(NETWORK_ATTACHMENT_DEFINITIONS);
  const second = await start();
  await client.create(NODES, node('n2'));
  await vi.waitFor(async () => {
    expect((await client.get(NODES, { name: 'n2' })).metadata.annotations).toMatchObject({
      'k8s.ovn.org/node-id': '3',
    });
  }, done);
  expect((await client.list(NETWORK_ATTACHMENT_DEFINITIONS)).items).toEqual(nads.items);
  second.child.kill('SIGINT');
  expect(await second.ended).toEqual([0, null]);
});

it('holds a Lease unless it is told otherwise, and refuses to work without it while somebody holds it', async () => {
  await client.create(NAMESPACES, { metadata: { name: 'ovn-udn' } });
  const first = await start([]);
  const refused = await start(ALONE, 'started');
  expect((await refused.ended)[0]).not.toBe(0);
  first.child.kill('SIGTERM');
  expect(await first.ended).toEqual([0, null]);
  // It was given back.
  const alone = await start();
  alone.child.kill('SIGTERM');
  expect(await alone.ended).toEqual([0, null]);
});

it('is not ready before the API server has answered, whether it leads or not', async () => {
  const kubeconfig = join(folder, 'nowhere');
  const text = server.kubeconfig();
  writeFileSync(kubeconfig, text.replace(/server: .*/, 'server: http://127.0.0.1:1'));
  for (const flags of [[], ALONE]) {
    const { metricsPort, child } = await start([...flags, '--kubeconfig', kubeconfig], 'started');
    expect((await fetch(`http://127.0.0.1:${metricsPort}/readyz`)).status).toBe(503);
    child.kill('SIGTERM');
  }
});

it('of two with a Lease one works, and the other takes over', async () => {
  const flags = ['--lease', 'kube-system/udn-cluster-manager'];
  const first = await start(flags);
  const second = await start(flags, 'leader seen');
  expect((await fetch(`http://127.0.0.1:${second.metricsPort}/readyz`)).status).toBe(200);
  await client.create(NODES, node('n1'));
  const done = { timeout: 20_000, interval: 20 };
  const idOf = async (name: string) =>
    (await client.get(NODES, { name })).metadata.annotations?.['k8s.ovn.org/node-id'];
  await vi.waitFor(async () => expect(await idOf('n1')).toBe('2'), done);

  first.child.kill('SIGTERM');
  expect(await first.ended).toEqual([0, null]);
  await client.create(NODES, node('n2'));
  // It was given the Lease: to take it, it would have waited for most of 15 s.
  await vi.waitFor(async () => expect(await idOf('n2')).toBe('3'), { ...done, timeout: 9000 });
  second.child.kill('SIGTERM');
  expect(await second.ended).toEqual([0, null]);
});

it('is ready when it has read what there is, and says until then what it has not', async () => {
  const name = 'userdefinednetworks.k8s.ovn.org';
  await client.delete(CUSTOM_RESOURCE_DEFINITIONS, { name });
  const { metricsPort } = await start(ALONE, 'started');
  const ready = async (): Promise<[number, string]> => {
    const response = await fetch(`http://127.0.0.1:${metricsPort}/readyz?verbose`);
    return [response.status, await response.text()];
  };
  const done = { timeout: 20_000, interval: 20 };
  // Only accounts that may get the path get the reasons.
  await vi.waitFor(async () => expect(await ready()).toEqual([503, expect.stringContaining('accounts with access')]), {
    timeout: 20_000,
  });
  const definition = Object.values(crdFiles()).find((text) => text.includes(`name: ${name}\n`)) ?? '';
  await client.create(CUSTOM_RESOURCE_DEFINITIONS, parse(definition));
  await vi.waitFor(async () => expect(await ready()).toEqual([200, 'ok\n']), done);
});

/** Everything that is given out once in the cluster, by who has it. */
const givenOut = async (): Promise<string[]> => {
  const { items: nodes } = await client.list(NODES);
  const { items: pods } = await client.list(PODS);
  const addresses = pods.flatMap(({ metadata }) => [
    // Named twice: ip_address, ip_addresses.
    ...new Set(metadata.annotations?.['k8s.ovn.org/pod-networks']?.match(/10\.20\.\d+\.\d+\/16/g)),
  ]);
  return [...nodes.map(({ metadata }) => `node-id ${metadata.annotations?.['k8s.ovn.org/node-id']}`), ...addresses];
};

it.each([
  ['paused past its Lease and continued', 'SIGSTOP'],
  ['killed', 'SIGKILL'],
] as const)(
  'a leader %s gives out nothing twice, and does not write any more',
  { timeout: 60_000 },
  async (_, signal) => {
    const flags = ['--lease', 'kube-system/udn-cluster-manager', '--lease-duration', '3'];
    const first = await start(flags);
    await start(flags, 'leader seen');
    await client.create(NAMESPACES, tenant('l2'));
    await client.create(USER_DEFINED_NETWORKS, layer2Udn('l2/net', ['10.20.0.0/16']));
    const done = { timeout: 20_000, interval: 20 };
    const makeBatch = async (name: string): Promise<void> => {
      await client.create(NODES, node(`n-${name}`));
      for (let index = 0; index < 10; index++) await client.create(PODS, pod(`l2/${name}-${index}`));
    };
    const expectGiven = (count: number) =>
      vi.waitFor(async () => {
        const given = (await givenOut()).filter((text) => !text.includes('undefined'));
        expect([given.length, new Set(given).size]).toEqual([count, count]);
      }, done);
    await makeBatch('before');
    await expectGiven(11);

    // Pending events wait in its sockets, and it sees them first when it goes on.
    const stopped = makeBatch('meanwhile');
    first.child.kill(signal);
    await stopped;
    await expectGiven(22);
    const before = await givenOut();
    if (signal === 'SIGSTOP') {
      first.child.kill('SIGCONT');
      expect(await first.ended).toEqual([1, null]);
    }
    expect(await givenOut()).toEqual(before);
    await makeBatch('after');
    await expectGiven(33);
  },
);

it('ends when somebody else has taken its Lease', async () => {
  const { ended } = await start(['--lease', 'kube-system/udn-cluster-manager']);
  const ref = { namespace: 'kube-system', name: 'udn-cluster-manager' };
  const spec = { holderIdentity: 'other', leaseDurationSeconds: 3600 };
  await client.patch(LEASES, ref, { type: 'merge', body: { spec } });
  expect(await ended).toEqual([1, null]);
});

it('ends without the Lease as soon as another instance holds it', async () => {
  const alone = await start();
  expect((await fetch(`http://127.0.0.1:${alone.metricsPort}/readyz`)).status).toBe(200);
  await client.create(NAMESPACES, { metadata: { name: 'ovn-udn' } });
  const second = await start([]);
  expect(await alone.ended).toEqual([1, null]);
  await client.create(NODES, node('n1'));
  await vi.waitFor(
    async () =>
      expect((await client.get(NODES, { name: 'n1' })).metadata.annotations).toMatchObject({
        'k8s.ovn.org/node-id': '2',
      }),
    { timeout: 20_000, interval: 20 },
  );
  expect((await fetch(`http://127.0.0.1:${second.metricsPort}/readyz`)).status).toBe(200);
});
