/**
 * udnctl as somebody runs it who has a kubeconfig and no node: on this machine, outside of the cluster, with exec through a real
 * kube-apiserver, a real kubelet and containerd into a pod with the labels, mounts and rights of the DaemonSet. In that pod no
 * second agent runs: the sandbox's own has the sockets. Needs root and `make build`.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { findArtifacts } from '../../sandbox/artifacts.ts';
import type { ManifestObject } from '../../sandbox/index.ts';
import { connectivityMeasured } from './remote/connectivity.case.ts';
import { policiesExplained } from './remote/policies.case.ts';
import { agentPod, PROGRAMS } from './support/cluster/agent-pod.ts';
import { applyAndWait, readPod, useCluster } from './support/cluster/cluster.ts';
import { interruptCapture } from './support/cluster/interrupted-capture.ts';
import { layer3, namespace, plainNamespace, pod } from './support/cluster/manifests.ts';
import { type Said, udnctlOutside } from './support/cluster/udnctl.ts';
import { addressOfFamily } from './support/packets/packets.ts';

const NODES = ['node-1', 'node-2'] as const;
const cluster = useCluster({ name: 'test-udnctl-remote', api: 'kube', kubelet: 'real', timeoutSeconds: 120 });

const operatorRoles = (): ManifestObject[] =>
  parseAllDocuments(readFileSync('daemonset/operators-rbac.yaml', 'utf8')).map((document) => {
    const manifest = document.toJS() as ManifestObject;
    return manifest.kind === 'Role'
      ? { ...manifest, metadata: { ...manifest.metadata, namespace: PROGRAMS } }
      : manifest;
  });

const binding = (user: string): ManifestObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { namespace: PROGRAMS, name: user },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'ovn-udn-node-tools' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
});

const run = promisify(execFile);

const udnctl = (...args: readonly string[]): Promise<Said> => udnctlOutside(cluster(), ...args);

/** Packets go on while both are asked. */
const withoutCounts = (text: string): string => text.replace(/"packets": \d+|\b\d+ packets\b/g, 'packets');

beforeAll(async () => {
  await applyAndWait(cluster(), [
    plainNamespace(PROGRAMS),
    namespace('red'),
    layer3('red', 'net', ['10.84.0.0/16/24', 'fd00:84::/48/64']),
    ...operatorRoles(),
    binding('operator'),
  ]);
  await applyAndWait(cluster(), [pod('red', 'a', 'node-1'), pod('red', 'b', 'node-2'), ...NODES.map(agentPod)]);
});

describe('a node is asked from anywhere', () => {
  it.each(NODES)('what it has of the networks: %s', async (node) => {
    const { stdout, stderr, status } = await udnctl('networks', '--node', node, '-o', 'json');
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    const own = await cluster().node(node, ['udnctl', 'networks', '-o', 'json']);
    expect(JSON.parse(stdout)).toEqual(JSON.parse(own.stdout));
  });

  it.each([['problems'], ['diff'], ['pods', '--agent'], ['explain', 'network', 'red_net']])('%s', async (...args) => {
    const [there, own] = await Promise.all([
      udnctl(...args, '--node', 'node-2'),
      cluster().node('node-2', ['udnctl', ...args.filter((arg) => arg !== '--agent')]),
    ]);
    expect({ ...there, stdout: withoutCounts(there.stdout) }).toEqual({
      ...{ stdout: withoutCounts(own.stdout), stderr: '', status: 0 },
    });
  });

  it('the level of the log is that of the agent there', async () => {
    const set = await udnctl('log-level', 'debug', '--for', '5m', '--node', 'node-2', '-o', 'json');
    expect(set).toMatchObject({ stderr: '', status: 0 });
    const own = await cluster().node('node-2', ['udnctl', 'log-level', '-o', 'json']);
    expect(JSON.parse(own.stdout)).toEqual(JSON.parse(set.stdout));
    expect(JSON.parse(own.stdout)).toMatchObject({ level: 'debug', configured: 'info' });
    expect(await udnctl('log-level', 'info', '--node', 'node-2')).toMatchObject({ stdout: 'info, as configured\n' });
  });

  it('a capture there is ended here, and its files are here', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'udnctl-capture-'));
    const { kubeconfig } = await cluster().status();
    const destination = addressOfFamily(await readPod(cluster(), 'red/b'), 4);
    const ping = () => cluster().exec('red/a', ['ping', '-c', '2', '-i', '0.2', destination]);
    try {
      const words = ['b', '-n', 'red', '--duration', '2m'];
      const { status, captured } = await interruptCapture(kubeconfig, words, join(folder, 'files'), ping);
      expect(status).toBe(0);
      const seen = captured.filter(({ packets }) => packets >= 4);
      expect(seen.map(({ name }) => name)).toEqual(['pod ovn-udn1 (red_net)', 'uplink']);
      expect(new Set(captured.map(({ mode }) => mode))).toEqual(new Set([0o600]));
      const left = 'pgrep -c tcpdump; ls -d /tmp/udn-capture* /run/ovn-udn/udn-capture*; true';
      expect((await cluster().node('node-2', ['sh', '-c', left])).stdout).toBe('0\n');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('status of a node: from its agent, or what it has reported where that may not be asked', async () => {
    const asked = await udnctl('status', 'node-2');
    expect(asked.stdout).toMatch(/^COMPONENT +STATE +SINCE +MESSAGE\napi-server +working/);
    const reported = await udnctl('status', 'node-2', '--agent-namespace', 'default');
    expect(reported.stdout).toMatch(/^NODE +AGENT .*\nnode-2 +reporting/);
    expect(reported).toMatchObject({ status: 1, stderr: expect.stringMatching(/what its agent has reported\n$/) });
    expect(await udnctl('status', 'node-2', '--node', 'node-1')).toMatchObject({ status: 2, stdout: '' });
  });

  it('a pod names its node', async () => {
    const explained = await udnctl('explain', 'pod', 'red/b');
    expect(explained).toMatchObject({ stderr: '', status: 0 });
    expect(explained.stdout).toContain('red/b');
    const traced = await udnctl('trace', '--from', 'pod', 'red/a', '--to', '10.84.1.3');
    expect(traced).toMatchObject({ stderr: '', status: 0 });
    expect(traced.stdout).toMatch(/red\/a|10\.84\./);
  });

  it('more output than fits into one message arrives whole, and the exit status is that of the node', async () => {
    const [there, own] = await Promise.all([
      udnctl('flows', '--network', 'red_net', '--node', 'node-1', '-o', 'json'),
      cluster().node('node-1', ['udnctl', 'flows', '--network', 'red_net', '-o', 'json']),
    ]);
    expect(own.stdout.length).toBeGreaterThan(65_536);
    expect(withoutCounts(there.stdout)).toBe(withoutCounts(own.stdout));
    expect(await udnctl('explain', 'pod', 'red/none', '--node', 'node-1')).toMatchObject({ status: 1 });
    expect(await udnctl('explain', 'pod', 'none', '--node', 'node-1')).toMatchObject({
      status: 2,
      stderr: 'udnctl: a pod is NAMESPACE/NAME, not "none"\n',
    });
  });
});

it('a bundle has dumps of every node, and nothing of what pods are given', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'udnctl-bundle-'));
  try {
    const file = join(folder, 'b.tar.gz');
    expect(await udnctl('bundle', '-o', file)).toMatchObject({ stderr: '', status: 0 });
    const { stdout: index } = await run('tar', ['-xzOf', file, '--wildcards', '*/index.txt']);
    expect(index).not.toContain('MISSING');
    for (const node of NODES)
      expect(index).toMatch(new RegExp(`^ok +nodes/${node}/northbound.txt {2}[0-9]{4,} bytes$`, 'm'));
    const { stdout: northbound } = await run('tar', ['-xzOf', file, '--wildcards', '*/node-1/northbound.txt']);
    expect(northbound).toContain('red_net_node-1');
  } finally {
    await rm(folder, { recursive: true });
  }
});

describe('network policies', () => policiesExplained(cluster, udnctl));

describe('connectivity, measured with pods of its own', () => connectivityMeasured(cluster, udnctl));

interface Asked {
  readonly status: number;
  readonly answer: unknown;
}

/** As its page does, until the question is answered. */
const withConsole = async <Result>(
  args: readonly string[],
  use: (ask: (question: object) => Promise<Asked>) => Promise<Result>,
): Promise<Result> => {
  const { kubeconfig } = await cluster().status();
  const { node, dist } = findArtifacts();
  const words = [join(dist, 'udnctl.mjs'), 'console', '--no-browser', ...args];
  const child = spawn(node, words, { env: { KUBECONFIG: kubeconfig }, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [address] = await once(createInterface(child.stdout), 'line');
    const [origin, token] = String(address).split('/#');
    return await use(async (question) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const response = await fetch(`${origin}/api/ask`, { method: 'POST', headers, body: JSON.stringify(question) });
      return { status: response.status, answer: await response.json() };
    });
  } finally {
    child.kill('SIGTERM');
    await once(child, 'close');
  }
};

describe('the console asks a node', () => {
  it('for the path of a packet, and what a pod needs', async () => {
    await withConsole([], async (ask) => {
      const { status, answer } = await ask({ kind: 'trace', from: 'red/a', to: '10.84.1.3' });
      const traced = await udnctl('trace', '--from', 'pod', 'red/a', '--to', '10.84.1.3');
      expect({ status, answer }).toEqual({
        status: 200,
        answer: { exitStatus: 0, node: 'node-1', text: traced.stdout },
      });
      expect(await ask({ kind: 'explain-pod', pod: 'red/b' })).toMatchObject({
        answer: { exitStatus: 0, node: 'node-2', text: expect.stringContaining('red/b') },
      });
    });
  });

  it('with the rights of who runs it', async () => {
    await withConsole(['--as', 'nobody'], async (ask) => {
      const { answer } = await ask({ kind: 'problems', node: 'node-1' });
      expect(answer).toEqual({
        node: 'node-1',
        text: expect.stringMatching(/"nobody" cannot list.*Role ovn-udn-node-tools/s),
      });
    });
    await withConsole(['--as', 'operator'], async (ask) => {
      expect(await ask({ kind: 'problems', node: 'node-1' })).toMatchObject({ answer: { exitStatus: 0 } });
    });
  });
});

describe('what is wrong is said', () => {
  it('no agent there', async () => {
    expect(await udnctl('problems', '--node', 'node-9')).toEqual({
      ...{ stdout: '', status: 2 },
      stderr: 'udnctl: no pod of udn-agent is on node node-9; agents are on node-1, node-2\n',
    });
  });

  it('who may not', async () => {
    const { stderr, status } = await udnctl('problems', '--node', 'node-1', '--as', 'nobody');
    expect(status).toBe(2);
    expect(stderr).toMatch(/"nobody" cannot list.*Role ovn-udn-node-tools/s);
  });

  it('who may, may with the role alone', async () => {
    expect(await udnctl('networks', '--node', 'node-1', '--as', 'operator')).toMatchObject({ stderr: '', status: 0 });
    const { stderr } = await udnctl('explain', 'pod', 'red/a', '--as', 'operator');
    expect(stderr).toMatch(/the node of pod red\/a is unknown: .*--node names it/s);
  });

  it('no udnctl in the pod', async () => {
    const objects = await cluster().objects();
    const named = agentPod('node-2');
    const other = {
      ...named,
      metadata: { ...named.metadata, namespace: 'elsewhere' },
      spec: {
        nodeName: 'node-2',
        containers: [{ name: 'udn-agent', image: 'toolbox', command: ['sleep', 'infinity'] }],
      },
    };
    await objects.apply([plainNamespace('elsewhere')]);
    await applyAndWait(cluster(), [other]);
    const { stderr, status } = await udnctl('problems', '--node', 'node-2', '--agent-namespace', 'elsewhere');
    expect(status).toBe(2);
    expect(stderr).toMatch(/^udnctl: \/opt\/ovn-udn\/bin\/udnctl cannot be run: (?=.*no such file)/is);
  });
});
