/** A cluster on a real API server. Needs root, `make build`, and the programs of sandbox/kubernetes, which `make test` builds. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseNodeNetworkReport } from '../api/node-network-report.ts';
import { connect } from '../kube/client/connect.ts';
import { loadConnection } from '../kube/config/load.ts';
import { isForbidden, isUnauthorized, KubeError } from '../kube/errors.ts';
import { CONFIG_MAPS, NODES, SERVICES } from '../kube/resources.ts';
import type { KubeClient } from '../kube/types.ts';
import { findArtifacts } from './artifacts.ts';
import { type ManifestObject, type Sandbox, startSandbox } from './index.ts';
import { namespacesOf, untilNothingIsLeft } from './leaks.ts';
import { stateFolder } from './supervisor/state-folder.ts';
import { eventually } from './testing/eventually.ts';

const NAME = 'test-api-kube';
const AGENT = '/etc/ovn-udn/agent.kubeconfig';
const METRICS = '127.0.0.1:19410';
const TIMEOUT_SECONDS = 60;
let sandbox: Sandbox;
let client: KubeClient;

beforeAll(async () => {
  sandbox = await startSandbox({
    ...{ name: NAME, nodes: 1, api: 'kube', settings: { UDN_METRICS_ADDRESS: METRICS } },
  });
  client = await sandbox.client();
  // Early: its controller looks for definitions every half a minute.
  await (await sandbox.objects()).apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'few' } },
    {
      ...{ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { namespace: 'few', name: 'networks' } },
      spec: { hard: { 'count/userdefinednetworks.k8s.ovn.org': '2' } },
    },
  ]);
}, 120_000);
afterAll(async () => {
  const namespaces = await namespacesOf(NAME);
  await sandbox?.down();
  await untilNothingIsLeft(NAME, namespaces);
});

const pod = (namespace: string, name: string): ManifestObject => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name } },
  spec: { containers: [{ name: 'main', image: 'any' }] },
});

/** As the agent of the node. */
const kubectl = async (...args: readonly string[]): Promise<string> => {
  const { stdout } = await sandbox.node('node-1', ['kubectl', '--kubeconfig', AGENT, ...args]);
  return stdout;
};

const tokenOf = async (name: string): Promise<string> => {
  const path = `/api/v1/namespaces/default/serviceaccounts/${name}/token`;
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } };
  const answer = await client.request({ method: 'POST', path, body });
  return z.object({ status: z.object({ token: z.string() }) }).parse(answer).status.token;
};

const serviceNamed = async (name: string) => (await sandbox.status()).services.find((service) => service.name === name);

describe('a cluster on a real API server', () => {
  it('is a real one', async () => {
    expect(await client.request({ method: 'GET', path: '/version' })).toMatchObject({
      gitVersion: expect.stringMatching(/^v1\.\d+\.\d+$/),
      compiler: 'gc',
    });
    const service = await client.get(SERVICES, { namespace: 'default', name: 'kubernetes' });
    expect(service['spec']).toMatchObject({ clusterIPs: ['10.96.0.1'] });
  });

  it('gives pods their networks, with programs that have only the rights of daemonset/', async () => {
    const objects = await sandbox.objects();
    const pods = ['a', 'b'].map((name) => pod('red', name));
    const network: ManifestObject = {
      ...{ apiVersion: 'k8s.ovn.org/v1', kind: 'UserDefinedNetwork', metadata: { namespace: 'red', name: 'net' } },
      spec: { topology: 'Layer3', layer3: { role: 'Primary', subnets: [{ cidr: '10.20.0.0/16' }] } },
    };
    const labels = { 'k8s.ovn.org/primary-user-defined-network': '' };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'red', labels } };
    await objects.apply([
      namespace,
      network,
      pod('blue', 'c'),
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'blue' } },
    ]);
    await objects.wait('userdefinednetwork', 'red/net', 'condition=NetworkCreated', {
      timeoutSeconds: TIMEOUT_SECONDS,
    });
    await objects.apply(pods);
    for (const { metadata } of pods) {
      await objects.wait('pod', `red/${metadata.name}`, 'ready', { timeoutSeconds: TIMEOUT_SECONDS });
    }
    const { metadata } = await objects.get('pod', 'red/b');
    const [, address] =
      /"ip_address":"(10\.20\.[\d.]+)/.exec(metadata.annotations?.['k8s.ovn.org/pod-networks'] ?? '') ?? [];
    const { stdout } = await sandbox.exec('red/a', ['curl', '-sm5', `http://${address}:8080/hostname`]);
    expect(stdout).toBe('b');
    await objects.wait('pod', 'blue/c', 'ready', { timeoutSeconds: TIMEOUT_SECONDS });
    await eventually(async () => {
      const report = parseNodeNetworkReport(await objects.get('nodenetworkreport', 'node-1'));
      expect(report.status.networks).toEqual({ ready: 2, pending: 0, failed: 0 });
    });
    await objects.delete([namespace], { timeoutSeconds: TIMEOUT_SECONDS });
  }, 180_000);

  it('gives metrics to accounts that may get them, and to no other', async () => {
    const account = (name: string): ManifestObject => ({
      ...{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: 'default', name } },
    });
    const binding: ManifestObject = {
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: 'prometheus' } },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'ovn-udn-metrics-reader' },
      subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'prometheus' }],
    };
    await (await sandbox.objects()).apply([account('prometheus'), account('tenant'), binding]);
    const ask = async (token: string) => {
      const command = [
        'curl',
        '-s',
        '-w',
        '%{http_code}',
        '-H',
        `Authorization: Bearer ${token}`,
        `${METRICS}/metrics`,
      ];
      return (await sandbox.node('node-1', command)).stdout;
    };
    expect(await ask(await tokenOf('prometheus'))).toMatch(/^udn_agent_kubelet_cgroup_found [\s\S]*200$/m);
    for (const token of [await tokenOf('tenant'), 'made-up']) expect(await ask(token)).toMatch(/^.*\n40[13]$/);
  });

  it('the agent is a service account that is bound to its node', async () => {
    const review: unknown = JSON.parse(await kubectl('auth', 'whoami', '-o', 'json'));
    expect(review).toMatchObject({
      status: {
        userInfo: {
          username: 'system:serviceaccount:ovn-udn:udn-agent',
          extra: { 'authentication.kubernetes.io/node-name': ['node-1'] },
        },
      },
    });
  });

  it.each([
    [['get', 'secrets', '-A']],
    [['get', 'configmaps', '-A']],
    [['create', 'namespace', 'x']],
    [['delete', 'node', 'node-1']],
  ])('the agent may not %j', async (args) => {
    await expect(kubectl(...args)).rejects.toMatchObject({ stderr: expect.stringContaining('Forbidden') });
  });

  it('a kubelet may not write the objects of another node', async () => {
    const path = '/etc/kubernetes/kubelet.conf';
    const own = ['kubectl', '--kubeconfig', path, 'label', 'node', 'node-1', 'a=b'];
    expect((await sandbox.node('node-1', own)).stdout).toContain('labeled');
    await client.create(NODES, { metadata: { name: 'node-2' } });
    const other = ['kubectl', '--kubeconfig', path, 'label', 'node', 'node-2', 'a=b'];
    await expect(sandbox.node('node-1', other)).rejects.toMatchObject({ stderr: expect.stringContaining('Forbidden') });
    await client.delete(NODES, { name: 'node-2' });
  });

  it('lets nobody in without credentials', async () => {
    const kubeconfig = await readFile(stateFolder(NAME).kubeconfig, 'utf8');
    const folder = join(stateFolder(NAME).path, 'nobody.kubeconfig');
    await writeFile(folder, kubeconfig.replace(/^\s+client-(certificate|key)-data: .*$/gm, ''));
    const anonymous = connect(await loadConnection({ kubeconfig: folder, env: {} }), { userAgent: 'test' });
    const answer = await anonymous.list(CONFIG_MAPS).catch((error: unknown) => error);
    anonymous.close();
    expect(isForbidden(answer) || isUnauthorized(answer)).toBe(true);
  });

  it('refuses what a CEL rule refuses', async () => {
    const refused = await client
      .create(
        {
          group: 'k8s.ovn.org',
          version: 'v1',
          plural: 'userdefinednetworks',
          kind: 'UserDefinedNetwork',
          namespaced: true,
        },
        { metadata: { namespace: 'default', name: 'x' }, spec: { topology: 'Layer3' } },
      )
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(KubeError);
    expect((refused as KubeError).message).toContain('spec.layer3 is required when topology is Layer3');
  });
});

describe('a quota of networks', () => {
  const hard = { 'count/userdefinednetworks.k8s.ovn.org': '2' };
  const network = (name: string): ManifestObject => ({
    ...{ apiVersion: 'k8s.ovn.org/v1', kind: 'UserDefinedNetwork', metadata: { namespace: 'few', name } },
    spec: { topology: 'Layer2', layer2: { role: 'Secondary', subnets: ['10.30.0.0/16'] } },
  });

  it('keeps a namespace to as many as it says', async () => {
    const objects = await sandbox.objects();
    // It holds from the moment that its controller has counted what is there.
    const path = '/api/v1/namespaces/few/resourcequotas/networks';
    await eventually(async () => {
      const { status } = (await client.request({ method: 'GET', path })) as { status: Record<string, unknown> };
      expect(status).toMatchObject({ hard, used: { 'count/userdefinednetworks.k8s.ovn.org': '0' } });
    }, TIMEOUT_SECONDS * 1000);
    await objects.apply([network('one'), network('two')]);
    await expect(objects.apply([network('three')])).rejects.toThrow(/exceeded quota: networks/);
    await objects.delete([network('one')], { timeoutSeconds: TIMEOUT_SECONDS });
    await eventually(() => objects.apply([network('three')]), TIMEOUT_SECONDS * 1000);
  }, 180_000);
});

describe('parts that are killed', () => {
  it.each(['api', 'etcd'] as const)(
    '%s: nothing that was acknowledged is lost, and all goes on',
    async (program) => {
      const before = (await serviceNamed(program))?.restarts ?? 0;
      const stop = new AbortController();
      const created: string[] = [];
      const enough = Promise.withResolvers<void>();
      const creating = (async () => {
        for (let n = 0; !stop.signal.aborted; n += 1) {
          const metadata = { namespace: 'default', name: `${program}-${n}` };
          await client.create(CONFIG_MAPS, { metadata, data: { n: 'x'.repeat(500) } }).then(
            () => created.push(metadata.name),
            () => sleep(5),
          );
          if (created.length === 50) enough.resolve();
        }
      })();
      await enough.promise;
      await sandbox.kill('control-plane', program, 'SIGKILL');
      await expect.poll(async () => (await serviceNamed(program))?.restarts, { timeout: 20_000 }).toBe(before + 1);
      const acknowledged = created.length;
      await expect.poll(() => created.length, { timeout: 60_000 }).toBeGreaterThan(acknowledged + 20);
      stop.abort();
      await creating;
      const stored = new Set(
        (await client.list(CONFIG_MAPS, { namespace: 'default' })).items.map(({ metadata }) => metadata.name),
      );
      expect(created.filter((name) => !stored.has(name))).toEqual([]);
    },
    150_000,
  );
});

it('nothing is left of one whose owner is killed', async () => {
  const name = `${NAME}-killed`;
  const { node, dist } = findArtifacts();
  const options = JSON.stringify({ name, nodes: 0, programs: 'api', api: 'kube' });
  const owner = spawn(node, [join(dist, 'sandbox.mjs'), 'supervise', options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface(owner.stdout)) {
    expect(line).not.toContain('"failed"');
    if (line.includes('"kind":"up"')) break;
  }
  const namespaces = await namespacesOf(name);
  const ended = once(owner, 'exit');
  owner.kill('SIGKILL');
  await ended;
  await untilNothingIsLeft(name, namespaces, 10_000);
}, 120_000);
