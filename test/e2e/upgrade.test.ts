/**
 * `kubectl apply -k` over the version before, back, and again, with the images of both: real kubelets, Open vSwitch and OVN of packages, tenants of each
 * kind, every packet counted. A few minutes, so it is of `make test-all`. UDN_UPGRADE_FROM names another commit. Needs root and `make build`.
 */
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildImages, loadImages, loadImagesAs } from '../../sandbox/install/images.ts';
import { ensureVersionBefore, missingVersionBefore, type VersionBefore } from '../../sandbox/install/version-before.ts';
import { createKubectl, type Kubectl } from '../conformance/kube/kubectl.ts';
import { useCluster } from './support/cluster/cluster.ts';
import { HAS_ALL_SCENARIOS } from './support/cluster/sample.ts';
import { note } from './support/faults/survive.ts';
import {
  countedTwice,
  expectNewPods,
  expectOneLostForEach,
  prepareTenants,
  replaceVersion,
  rolledOut,
  runningImages,
  serverOf,
  type UpgradeOptions,
} from './support/upgrade/suite.ts';

const NODES = ['node-1', 'node-2'] as const;
const BEFORE = 'before';
const missing = missingVersionBefore();
const cluster = useCluster({
  ...{ name: 'test-upgrade', api: 'kube', kubelet: 'real', programs: 'kubelet', definitions: false },
});

let kubectl: Kubectl;
let folder: string;
let before: VersionBefore;
let options: UpgradeOptions;

beforeAll(async () => {
  const { kubeconfig = '' } = await cluster().status();
  kubectl = await createKubectl(await readFile(kubeconfig, 'utf8'), 180_000);
  options = { sandbox: cluster(), kubectl, nodes: NODES };
  before = await ensureVersionBefore(note);
  await buildImages();
  await loadImagesAs(cluster(), NODES, { ...before, tag: BEFORE });
  await loadImages(cluster(), NODES);
  folder = await mkdtemp(join(tmpdir(), 'upgrade-'));
  await writeOverlay(BEFORE, before.daemonset);
  await writeOverlay('now', resolve('daemonset'));
}, 600_000);
afterAll(async () => {
  await kubectl?.close();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

/** Settings stay what they are: the version before has to be told where the API server is. */
const writeOverlay = async (name: 'before' | 'now', daemonset: string): Promise<void> => {
  const { host, port } = await serverOf(options);
  await mkdir(join(folder, name, 'overlay'), { recursive: true });
  await symlink(daemonset, join(folder, name, 'daemonset'));
  const images = ['udn-agent', 'udn-cluster-manager'].map((image) => `  - { name: ${image}, newTag: ${BEFORE} }\n`);
  await writeFile(
    join(folder, name, 'overlay/kustomization.yaml'),
    `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: ovn-udn
resources: [../daemonset]
configMapGenerator:
  - name: cluster-settings
    behavior: merge
    literals:
      - UDN_CLUSTER_SUBNETS=10.128.0.0/14/23,fd00:10:128::/48/64
      - UDN_SERVICE_SUBNETS=10.96.0.0/16,fd00:10:96::/112
      - KUBERNETES_SERVICE_HOST=${host}
      - KUBERNETES_SERVICE_PORT=${port}
${name === BEFORE ? `images:\n${images.join('')}` : ''}`,
  );
};

const apply = async (name: 'before' | 'now'): Promise<void> => {
  await kubectl.run('apply', '-k', join(folder, name, 'overlay'));
  for (const workload of ['deployment/udn-cluster-manager', 'daemonset/udn-agent']) {
    await rolledOut(options, workload);
  }
};

describe.skipIf(!HAS_ALL_SCENARIOS || missing !== undefined)(
  `kubectl apply -k ${missing === undefined ? '' : `(skipped: ${missing})`}`,
  () => {
    it('the version before is installed, with its images', async () => {
      await apply(BEFORE);
      await kubectl.run('wait', 'node', '--all', '--for=condition=Ready', '--timeout=60s');
      await prepareTenants(options);
      expect(await runningImages(options, 'udn-agent')).toEqual([`udn-agent:${BEFORE}`]);
      await expectNewPods(options);
    }, 300_000);

    it('while nothing is done, next to nothing is lost', async () => {
      const { traffic } = await replaceVersion(options, 'at rest', async () => {
        await cluster().exec('plain/plain-client', ['ping', '-q', '-c', '1000', '-i', '0.01', '::1']);
      });
      expectOneLostForEach(traffic, 1);
    }, 300_000);

    // A retry of Vitest would replace a version by itself.
    it.each([
      ['upgraded', BEFORE, 'now', /^udn-agent:\d/],
      ['downgraded', 'now', BEFORE, /^udn-agent:before$/],
      ['upgraded again', BEFORE, 'now', /^udn-agent:\d/],
    ] as const)(
      '%s, with at most one packet lost for each agent that was restarted',
      { retry: 0, timeout: 800_000 },
      async (title, from, to, image) => {
        const attempt = async (): Promise<void> => {
          const { traffic } = await replaceVersion(options, title, () => apply(to));
          expect(await runningImages(options, 'udn-agent')).toEqual([expect.stringMatching(image)]);
          expectOneLostForEach(traffic, NODES.length);
        };
        await countedTwice(attempt, () => apply(from));
        await expectNewPods(options);
      },
    );
  },
);
