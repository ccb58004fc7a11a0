/** `make demo`: what it shows, its exit status, and that nothing is left of it, however it ends. Needs root and `make build`. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import { type ManifestObject, openSandbox } from '../../sandbox/index.ts';
import { untilNothingIsLeft } from '../../sandbox/leaks.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { type Demo, type DemoRun, startDemo, temporaryFiles } from './support/cluster/demo.ts';
import { layer3, namespace, plainNamespace, pod } from './support/cluster/manifests.ts';
import { someOf } from './support/cluster/sample.ts';
import { backend, service } from './support/services/services.ts';
import { removeAcls } from './support/state/acls.ts';

const NAME = 'test-demo';
/** Two tenants with the same addresses and a Service of the same name each, and the default network. */
const SMALL = [
  ...['red', 'blue'].flatMap((name) => [
    namespace(name),
    layer3(name, 'net', ['10.78.0.0/16/24', 'fd00:78::/48/64']),
    pod(name, `${name}-a`, 'node-1'),
    backend(name, `${name}-b`, 'node-2', 'web'),
    service(name, 'web', { app: 'web', spec: { type: 'NodePort' } }),
  ]),
  plainNamespace('plain'),
  pod('plain', 'plain-a', 'node-1'),
];

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ovn-udn-demo-'));
});
afterEach(async () => {
  await openSandbox(NAME)
    .down()
    .catch(() => {});
  try {
    await untilNothingIsLeft(NAME);
    expect(await temporaryFiles(folder)).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

const start = async (manifests: readonly ManifestObject[], run: Partial<DemoRun> = {}): Promise<Demo> => {
  const path = join(folder, 'manifests.yaml');
  await writeFile(path, manifests.map((object) => stringify(object)).join('---\n'));
  return await startDemo({ name: NAME, folder, ...run, args: ['--manifests', path, ...(run.args ?? [])] });
};

const resultSchema = z.strictObject({
  from: z.string(),
  to: z.string(),
  network: z.strictObject({ from: z.string(), to: z.string() }),
  family: z.literal([4, 6]),
  protocol: z.enum(['icmp', 'tcp', 'udp']),
  address: z.string(),
  role: z.string(),
  expected: z.boolean(),
  observed: z.boolean(),
  delivered: z.boolean(),
  answered: z.boolean(),
  who: z.string().nullable(),
  error: z.string().nullable(),
  tries: z.number(),
  stray: z.boolean(),
});

const readResults = async (file = 'reachability.json'): Promise<z.output<typeof resultSchema>[]> =>
  z.array(resultSchema).parse(JSON.parse(await readFile(join(folder, 'out', file), 'utf8')));

const answersSchema = z.strictObject({
  service: z.string(),
  entryPoint: z.enum(['ClusterIP', 'NodePort']),
  addresses: z.array(z.string()),
  from: z.string(),
  expected: z.array(z.string()),
  attempts: z.number(),
  answered: z.number(),
  answeredBy: z.array(z.string()),
  ok: z.boolean(),
});

const readServices = async (): Promise<z.output<typeof answersSchema>[]> =>
  z.array(answersSchema).parse(JSON.parse(await readFile(join(folder, 'out', 'services.json'), 'utf8')));

/** Of examples/demo. */
const ALL_NETWORKS = new Set(['red_red', 'blue_blue', 'green_green', 'gold_gold', 'cluster_udn_shop', 'default']);
const networksIn = (results: Awaited<ReturnType<typeof readResults>>): Set<string> =>
  new Set(results.flatMap(({ network }) => [network.from, network.to]));

/** Each tenant's Service: answered at two ClusterIPs to one client and no other, and outside at both nodes' ports by its pods. */
const expectServices = async (namespaces: readonly string[]): Promise<void> => {
  const results = await readServices();
  expect(results.filter(({ ok }) => !ok)).toEqual([]);
  for (const name of namespaces) {
    const own = results.filter(({ service: key }) => key === `${name}/web`);
    const prefix = name === 'shop-data' ? 'shop' : name;
    const answered = own.filter((one) => one.answered > 0);
    expect(answered.map(({ entryPoint, from }) => `${entryPoint} ${from.split('/')[0]}`).sort()).toEqual([
      ...['ClusterIP', 'ClusterIP'].map((entryPoint) => expect.stringMatching(`^${entryPoint} ${prefix}`)),
      ...['NodePort', 'NodePort'].map((entryPoint) => `${entryPoint} outside`),
    ]);
    expect(answered.flatMap(({ answeredBy }) => answeredBy).filter((pod) => !pod.startsWith(`${prefix}-`))).toEqual([]);
    expect(own.filter((one) => one.answered === 0)).toHaveLength(2 * (namespaces.length - 1));
  }
};

/**
 * How many times longer everything takes, as others run here too: in CI a guest's emulator, on both of two processors. Of before the
 * first test, so that none of them makes time for itself.
 */
const SHARE_OF_OTHERS = 1 + Math.min(1, (loadavg()[0] ?? 0) / availableParallelism());

describe('make demo', () => {
  it('shows the tenants of the examples, in less than 30 seconds of a machine that does nothing else', async () => {
    const limitMs = 30_000 * SHARE_OF_OTHERS;
    const begin = performance.now();
    const demo = await startDemo({ name: NAME, folder, throughMake: true });
    expect(await demo.ended, demo.output()).toBe(0);
    expect(performance.now() - begin).toBeLessThan(limitMs);
    const results = await readResults();
    expect(results.filter(({ expected, observed }) => expected !== observed)).toEqual([]);
    expect(networksIn(results)).toEqual(ALL_NETWORKS);
    for (const text of ['✓·', 'udnctl networks', 'udnctl pods', 'udnctl flows --network red/red', '0 differences']) {
      expect(demo.output()).toContain(text);
    }
    await expectServices(['red', 'blue', 'green', 'gold', 'shop-data', 'plain']);
    expect(demo.output()).toContain('A NetworkPolicy of red');
    const denied = (await readResults('policy.json')).filter(
      ({ network, role, expected }) => network.to === 'red_red' && role === 'primary' && !expected,
    );
    // From two pods to the two of the Service: two families, three protocols.
    expect(denied.map(({ observed }) => observed)).toEqual(Array.from({ length: 24 }, () => false));
    const attached = z
      .array(z.looseObject({ network: z.string(), expected: z.boolean(), observed: z.boolean() }))
      .parse(JSON.parse(await readFile(join(folder, 'out', 'attachments.json'), 'utf8')));
    expect(attached.filter(({ expected, observed }) => expected !== observed)).toEqual([]);
    // Both families: two senders on each of three networks, and a host of the VLAN. Two of the ways lead nowhere.
    expect(attached).toHaveLength(14);
    expect(attached.filter(({ expected }) => !expected)).toHaveLength(4);
    // No terminal, no colours.
    expect(demo.output()).not.toContain('\u001b');
  });

  it('with API=kube does the same on a real API server', async () => {
    const demo = await startDemo({ name: NAME, folder, throughMake: true, variables: ['API=kube'] });
    expect(await demo.ended, demo.output()).toBe(0);
    expect(demo.output()).toContain('etcd and kube-apiserver answer');
    const results = await readResults();
    expect(networksIn(results)).toEqual(ALL_NETWORKS);
    expect(results.filter(({ expected, observed }) => expected !== observed)).toEqual([]);
  });

  it('with KEEP=1 leaves the cluster up, says how to go on, and a second one is refused', async () => {
    const demo = await start(SMALL, { throughMake: true, variables: ['KEEP=1'] });
    expect(await demo.ended, demo.output()).toBe(0);
    const [, from = '', url = ''] = /bin\/sandbox exec (\S+) -- curl -s (\S+)/.exec(demo.output()) ?? [];
    expect((await openSandbox(NAME).exec(from, ['curl', '-s', url])).stdout).toMatch(/^(red|blue)-[ab]$/);
    const second = await start(SMALL);
    expect(await second.ended).toBe(1);
    expect(second.output()).toMatch(/"test-demo" is already up/);
    expect((await openSandbox(NAME).status()).state).toBe('up');
  });
});

describe('the exit status is 1, and nothing is left,', () => {
  it('when a pod does not answer, and a Service by none of its pods: the difference and the entry points are listed', async () => {
    const deaf = backend('red', 'red-b', 'node-2', 'web');
    const containerPorts = [{ name: 'web', containerPort: 8080 }];
    const command = ['toolbox', 'serve', '--udp-port', '0'];
    const containers = [{ name: 'main', image: 'toolbox', command, ports: containerPorts }];
    const ports = [{ name: 'http', port: 80, targetPort: 9 }];
    const others = SMALL.filter(
      ({ kind, metadata: { namespace: inNamespace, name } }) =>
        name !== 'red-b' && (kind !== 'Service' || inNamespace !== 'blue'),
    );
    const demo = await start([
      ...others,
      { ...deaf, spec: { nodeName: 'node-2', containers } },
      service('blue', 'web', { app: 'web', spec: { type: 'NodePort', ports } }),
    ]);
    expect(await demo.ended, demo.output()).toBe(1);
    const wrong = (await readResults()).filter(({ expected, observed }) => expected !== observed);
    expect(wrong.map(({ from, to, family, protocol, observed }) => [from, to, family, protocol, observed])).toEqual([
      ['red/red-a', 'red/red-b', 4, 'udp', false],
      ['red/red-a', 'red/red-b', 6, 'udp', false],
    ]);
    expect(demo.output()).toMatch(
      /red-a \(red_net\) → red\/red-b \(red_net\) .*IPv4 udp: should be reached and was not/,
    );
    expect(demo.output()).toContain('✗·');
    expect(existsSync(join(folder, 'out', 'log', 'node-1.agent.log'))).toBe(true);
    const bad = (await readServices()).filter(({ ok }) => !ok);
    expect(bad.map(({ service: key, entryPoint, from, answered }) => [key, entryPoint, from, answered])).toEqual([
      ...[4, 6].map(() => ['blue/web', 'ClusterIP', 'blue/blue-a', 0]),
      ...[4, 6].map(() => ['blue/web', 'NodePort', 'outside', 0]),
    ]);
    expect(demo.output()).toMatch(/✗ {2}blue\/web .* ← {2}outside .*no reply/);
  });

  it('when a tenant’s pods can be reached from outside: every difference is listed', async () => {
    const gate = pod('plain', 'plain-gate', 'node-1');
    const readinessProbe = { exec: { command: ['test', '-e', '/tmp/open'] }, periodSeconds: 1 };
    const containers = [{ name: 'main', image: 'toolbox', readinessProbe }];
    const demo = await start([...SMALL, { ...gate, spec: { nodeName: 'node-1', containers } }]);
    await demo.printed('namespace red: ready');
    await demo.printed('namespace blue: ready');
    const sandbox = openSandbox(NAME);
    for (const node of ['node-1', 'node-2']) {
      // It would bring them back.
      await sandbox.kill(node, 'agent', 'SIGSTOP');
      await removeAcls(sandbox, node);
    }
    await eventually(() => sandbox.exec('plain/plain-gate', ['touch', '/tmp/open']));
    await demo.printed(' differences');
    for (const node of ['node-1', 'node-2']) await sandbox.kill(node, 'agent', 'SIGCONT');
    expect(await demo.ended, demo.output()).toBe(1);
    const wrong = (await readResults()).filter(({ expected, observed }) => expected !== observed);
    expect(wrong.length).toBeGreaterThan(0);
    expect(wrong.filter(({ expected, network }) => expected || network.to !== 'default')).toEqual([]);
    expect(demo.output().match(/^✗ .*should not be reached and was/gm)).toHaveLength(wrong.length);
  });

  it('when an object does not get ready: it says which one and why', async () => {
    const overlapping = layer3('green', 'net', ['10.128.0.0/16/24']);
    const manifests = [...SMALL, namespace('green'), overlapping, pod('green', 'green-a', 'node-1')];
    const demo = await start(manifests, { args: ['--timeout', '3'] });
    expect(await demo.ended, demo.output()).toBe(1);
    // On a busy machine others are not ready in time, either.
    expect(demo.output()).toMatch(/failed: \d+ objects are not ready/);
    expect(demo.output()).toMatch(/UserDefinedNetwork green\/net .*NetworkCreated=False .*overlaps cluster subnet/);
    expect(demo.output()).toMatch(/Pod green\/green-a after 3 s: Pending/);
    expect(demo.output()).toMatch(/logs of all programs: .*\/out\/log/);
  });

  it('when the manifests cannot be read', async () => {
    const demo = await startDemo({ name: NAME, folder, args: ['--manifests', join(folder, 'none.yaml')] });
    expect(await demo.ended, demo.output()).toBe(1);
    expect(demo.output()).toMatch(/none\.yaml/);
  });
});

describe('nothing is left', () => {
  const MOMENTS = [
    'with the userspace datapath',
    'OVS and OVN run',
    'objects applied',
    'Who reaches whom',
    'Services, asked by',
    '$ udnctl pods',
  ];

  it.each(someOf(MOMENTS, 2))('after Ctrl-C at "%s"', async (moment) => {
    const demo = await start(SMALL, { throughMake: true });
    await demo.printed(moment);
    demo.signalGroup('SIGINT');
    // Of make, which waits for the demo's end.
    expect(await demo.ended, demo.output()).toBe('SIGINT');
    // At the last moment it may have been done, and was cleaning up.
    expect(demo.output()).toMatch(/interrupted: SIGINT|or file of it is left/);
  });

  const SIGNALS = [
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const;

  it.each(someOf(SIGNALS, 1))('after %s, with the exit status %i', async (signal, status) => {
    const demo = await start(SMALL);
    await demo.printed('objects applied');
    await demo.signal(signal);
    expect(await demo.ended, demo.output()).toBe(status);
  });

  it.each(someOf(['with the userspace datapath', 'OVS and OVN run', 'Who reaches whom'], 1))(
    'after kill -9 at "%s"',
    async (moment) => {
      const demo = await start(SMALL);
      await demo.printed(moment);
      await demo.signal('SIGKILL');
      expect(await demo.ended, demo.output()).toBe('SIGKILL');
    },
  );

  it('after a second Ctrl-C, while it cleans up', async () => {
    const demo = await start(SMALL);
    await demo.printed('Who reaches whom');
    demo.signalGroup('SIGINT');
    await demo.printed('taking the cluster down');
    demo.signalGroup('SIGINT');
    expect(await demo.ended, demo.output()).toBe(130);
  });

  it('after Ctrl-C while a cluster comes up that is to be kept', async () => {
    const demo = await start(SMALL, { args: ['--keep'] });
    await demo.printed('OVS and OVN run');
    demo.signalGroup('SIGINT');
    expect(await demo.ended, demo.output()).toBe(130);
  });

  it('when nobody reads on', async () => {
    const demo = await start(SMALL);
    await demo.printed('objects applied');
    demo.closeOutput();
    expect(await demo.ended, demo.output()).toBe(1);
  });
});
