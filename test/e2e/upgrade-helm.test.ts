/**
 * `helm upgrade` over the version before, back, and again while programs are killed, with Open vSwitch and OVN in the cluster. The version before is told
 * where the API server is, and this one finds it. A few minutes, so it is of `make test-all`. UDN_UPGRADE_FROM names another commit, UDN_SEED repeats
 * the order of kills. Needs root and `make build`.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildImages, loadImages, loadImagesAs } from '../../sandbox/install/images.ts';
import { ensureVersionBefore, missingVersionBefore, type VersionBefore } from '../../sandbox/install/version-before.ts';
import { createKubectl, type Kubectl } from '../conformance/kube/kubectl.ts';
import { CHART, createHelm, type Helm } from '../integration/install/helm.ts';
import { useCluster } from './support/cluster/cluster.ts';
import { HAS_ALL_SCENARIOS } from './support/cluster/sample.ts';
import { createRandom } from './support/faults/random.ts';
import { note } from './support/faults/survive.ts';
import { killAtRandom } from './support/upgrade/kills.ts';
import { outside, watchReplacements } from './support/upgrade/replacements.ts';
import {
  countedTwice,
  expectLasting,
  expectNewPods,
  expectOneLostForEach,
  prepareTenants,
  type Replaced,
  replaceVersion,
  rolledOut,
  runningImages,
  serverOf,
  type UpgradeOptions,
} from './support/upgrade/suite.ts';

const NODES = ['node-1', 'node-2'] as const;
const BEFORE = 'before';
const NAMESPACE = 'ovn-udn';
const KILLS = 12;
const missing = missingVersionBefore();
const cluster = useCluster({
  ...{ name: 'test-upgrade-helm', api: 'kube', kubelet: 'real', ovn: 'pods', uplink: 'nic' },
  ...{ programs: 'kubelet', definitions: false },
});

let kubectl: Kubectl;
let helm: Helm;
let folder: string;
let before: VersionBefore;
let options: UpgradeOptions;

beforeAll(async () => {
  const { kubeconfig = '' } = await cluster().status();
  const text = await readFile(kubeconfig, 'utf8');
  kubectl = await createKubectl(text, 180_000);
  helm = await createHelm(text);
  options = { sandbox: cluster(), kubectl, nodes: NODES };
  before = await ensureVersionBefore(note);
  await buildImages();
  await loadImagesAs(cluster(), NODES, { ...before, tag: BEFORE });
  await loadImages(cluster(), NODES);
  folder = await mkdtemp(join(tmpdir(), 'upgrade-helm-'));
  await kubectl.run('create', 'namespace', NAMESPACE);
  await kubectl.run('label', 'namespace', NAMESPACE, 'pod-security.kubernetes.io/enforce=privileged');
}, 600_000);
afterAll(async () => {
  await Promise.all([kubectl?.close(), helm?.close()]);
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

const SETTINGS = {
  settings: {
    clusterSubnets: '10.128.0.0/14/23,fd00:10:128::/48/64',
    serviceSubnets: '10.96.0.0/16,fd00:10:96::/112',
  },
};

const valuesOf = async (version: 'before' | 'now'): Promise<object> => {
  if (version === 'now') return { ...SETTINGS, ovn: { inCluster: true } };
  const { host, port } = await serverOf(options);
  const image = { image: { tag: BEFORE } };
  const variables = { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port };
  return { ...SETTINGS, variables, agent: image, clusterManager: image, ovn: { inCluster: true, ...image } };
};

const upgrade = async (version: 'before' | 'now', patience?: number): Promise<void> => {
  const file = join(folder, `${version}.json`);
  await writeFile(file, JSON.stringify(await valuesOf(version)));
  const chart = version === 'now' ? CHART : before.chart;
  await helm.run('upgrade', '--install', 'ovn-udn', chart, '--namespace', NAMESPACE, '--values', file);
  for (const workload of ['daemonset/udn-ovn', 'daemonset/udn-agent', 'deployment/udn-cluster-manager']) {
    await rolledOut(options, workload, patience);
  }
};

/**
 * Nothing is forwarded while the userspace datapath is replaced: what is lost then is reported. Agents are mostly replaced in the same seconds: what they
 * lose is counted by `upgrade.test.ts`, where no daemon of Open vSwitch and OVN is replaced.
 */
const counted = async (title: string, work: () => Promise<void>): Promise<Replaced> => {
  const replacements = watchReplacements(kubectl, NAMESPACE);
  const [replaced, spans] = await replaceVersion(options, title, work).then(
    async (done) => [done, await replacements.stop()] as const,
    async (error: unknown) => {
      await replacements.stop().catch(() => {});
      throw error;
    },
  );
  expect(spans.length).toBeGreaterThanOrEqual(NODES.length);
  const traffic = outside(replaced.traffic, spans);
  const most = Math.max(...traffic.pings.map(({ lost }) => lost.length));
  note(`${title}: at most ${most} of one flow lost while no pod of Open vSwitch and OVN was replaced`);
  return { ...replaced, traffic };
};

describe.skipIf(!HAS_ALL_SCENARIOS || missing !== undefined)(
  `helm upgrade ${missing === undefined ? '' : `(skipped: ${missing})`}`,
  () => {
    it('the version before is installed, with its images', async () => {
      await upgrade('before');
      await kubectl.run('wait', 'node', '--all', '--for=condition=Ready', '--timeout=60s');
      await prepareTenants(options);
      for (const image of ['udn-agent', 'udn-ovn']) {
        expect(await runningImages(options, image)).toEqual([`${image}:${BEFORE}`]);
      }
    }, 400_000);

    // A retry of Vitest would replace a version by itself.
    it.each([
      ['upgraded', 'before', 'now', /:\d/],
      ['downgraded', 'now', 'before', /:before$/],
    ] as const)(
      '%s, and every stream lasts; but for the seconds without a datapath at most one packet is lost for each agent',
      { retry: 0, timeout: 900_000 },
      async (title, from, to, image) => {
        const attempt = async (): Promise<void> => {
          const { traffic } = await counted(title, () => upgrade(to));
          for (const name of ['udn-agent', 'udn-ovn', 'udn-cluster-manager']) {
            expect(await runningImages(options, name)).toEqual([expect.stringMatching(image)]);
          }
          expectOneLostForEach(traffic, NODES.length);
        };
        await countedTwice(attempt, () => upgrade(from));
        await expectNewPods(options);
      },
    );

    const random = createRandom();
    it(`upgraded again, while agents, kubelets and daemons of OVN are killed (UDN_SEED=${random.seed})`, {
      retry: 0,
      timeout: 900_000,
    }, async () => {
      expect(await runningImages(options, 'udn-agent')).toEqual([`udn-agent:${BEFORE}`]);
      const { traffic } = await counted('with kills', async () => {
        const end = new AbortController();
        const kills = killAtRandom(cluster(), {
          ...{ nodes: NODES, random, count: KILLS, pauseMs: 4_000 },
          signal: AbortSignal.any([end.signal, AbortSignal.timeout(240_000)]),
        });
        await upgrade('now', 400).catch(async (error: unknown) => {
          end.abort();
          await kills;
          throw error;
        });
        expect((await kills).length).toBe(KILLS);
        // Those that came last.
        await upgrade('now', 400);
      });
      expect(await runningImages(options, 'udn-agent')).toEqual([expect.stringMatching(/:\d/)]);
      expectLasting(traffic);
      await expectNewPods(options);
    });
  },
);
