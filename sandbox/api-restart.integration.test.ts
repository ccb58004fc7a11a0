/** The API server and the cluster manager are killed while the cluster is used. Needs root and `make build`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONFIG_MAPS } from '../kube/resources.ts';
import type { KubeClient } from '../kube/types.ts';
import { type ManifestObject, type Objects, type Sandbox, startSandbox } from './index.ts';
import { untilNothingIsLeft } from './leaks.ts';

const NAME = 'test-api-restart';
const TIMEOUT_SECONDS = 30;
let sandbox: Sandbox;
let objects: Objects;
let client: KubeClient;

beforeAll(async () => {
  sandbox = await startSandbox({ name: NAME });
  objects = await sandbox.objects();
  client = await sandbox.client();
});
afterAll(async () => {
  await sandbox?.down();
  await untilNothingIsLeft(NAME);
});

const pod = (namespace: string, name: string): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace, name },
  spec: { containers: [{ name: 'main', image: 'any' }] },
});

const statusOf = async (program: string) => {
  const { services, nodes } = await sandbox.status();
  return [...services, ...nodes.flatMap((node) => node.services)].filter(({ name }) => name === program);
};

const restartsOf = async (program: string): Promise<number[]> =>
  (await statusOf(program)).map(({ restarts }) => restarts);

/** Ends it, and resolves when the next one runs. */
const kill = async (program: 'api' | 'cluster-manager'): Promise<void> => {
  const [before = 0] = await restartsOf(program);
  await sandbox.kill('control-plane', program, 'SIGKILL');
  await expect
    .poll(async () => (await statusOf(program))[0], { timeout: 20_000 })
    .toMatchObject({ state: 'running', restarts: before + 1, lastEnd: 'signal SIGKILL' });
};

/** Creates objects until it is stopped; returns the names of those that the server has acknowledged. */
const createObjects = async (stop: AbortSignal, onCreated: () => void): Promise<string[]> => {
  const created: string[] = [];
  for (let n = 0; !stop.aborted; n += 1) {
    const metadata = { namespace: 'default', name: `c-${n}` };
    await client.create(CONFIG_MAPS, { metadata, data: { n: 'x'.repeat(1000) } }).then(
      () => created.push(metadata.name),
      () => sleep(5),
    );
    onCreated();
  }
  return created;
};

describe('an API server that is killed again and again', () => {
  it('loses nothing that it has acknowledged, and everybody comes back', async () => {
    const stop = new AbortController();
    let attempts = 0;
    const creating = createObjects(stop.signal, () => {
      attempts += 1;
    });
    const pods: string[] = [];
    for (let round = 1; round <= 4; round += 1) {
      const before = attempts;
      await expect.poll(() => attempts, { timeout: 20_000 }).toBeGreaterThan(before + 50);
      const names = [`a-${round}`, `b-${round}`];
      await expect
        .poll(() => objects.apply(names.map((name) => pod('default', name))).catch(() => []), { timeout: 20_000 })
        .toHaveLength(2);
      pods.push(...names);
      await kill('api');
    }
    for (const name of pods) {
      await objects.wait('pod', `default/${name}`, 'ready', { timeoutSeconds: TIMEOUT_SECONDS });
    }
    stop.abort();
    const created = await creating;
    const stored = new Set((await client.list(CONFIG_MAPS)).items.map(({ metadata }) => metadata.name));
    expect(created.length).toBeGreaterThan(100);
    expect(created.filter((name) => !stored.has(name))).toEqual([]);
    for (const program of ['agent', 'kubelet', 'cluster-manager', 'forwarder']) {
      expect(new Set(await restartsOf(program))).toEqual(new Set([0]));
    }
  });

  it('leaves a cluster that goes on: networks, pods and their connections', async () => {
    await objects.apply([
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'red', labels: { 'k8s.ovn.org/primary-user-defined-network': '' } },
      },
      {
        apiVersion: 'k8s.ovn.org/v1',
        kind: 'UserDefinedNetwork',
        metadata: { namespace: 'red', name: 'net' },
        spec: {
          topology: 'Layer3',
          layer3: {
            role: 'Primary',
            subnets: [{ cidr: '10.20.0.0/16' }, { cidr: 'fd00:20::/48' }],
          },
        },
      },
    ]);
    await kill('api');
    await kill('cluster-manager');
    await objects.wait('userdefinednetwork', 'red/net', 'condition=NetworkCreated', {
      timeoutSeconds: TIMEOUT_SECONDS,
    });
    await objects.apply(['a', 'b'].map((name) => pod('red', name)));
    for (const name of ['a', 'b']) {
      await objects.wait('pod', `red/${name}`, 'ready', { timeoutSeconds: TIMEOUT_SECONDS });
    }
    const annotation = (await objects.get('pod', 'red/b')).metadata.annotations?.['k8s.ovn.org/pod-networks'] ?? '{}';
    const networks = JSON.parse(annotation) as Record<string, { ip_addresses?: string[] }>;
    const [address = ''] = networks['red/net']?.ip_addresses ?? [];
    expect(address).toMatch(/^10\.20\./);
    const { stdout } = await sandbox.exec('red/a', ['curl', '-sm5', `http://${address.split('/')[0]}:8080/hostname`]);
    expect(stdout).toBe('b');
    await objects.delete(
      ['a', 'b'].map((name) => pod('red', name)),
      { timeoutSeconds: TIMEOUT_SECONDS },
    );
  });

  it('is not reached by a node’s kill, and the control plane has no daemons of nodes', async () => {
    await expect(sandbox.kill('node-1', 'api')).rejects.toMatchObject({ code: 'ERR_SANDBOX_NOT_FOUND' });
    await expect(sandbox.kill('control-plane', 'northd')).rejects.toMatchObject({ code: 'ERR_SANDBOX_NOT_FOUND' });
  });
});
