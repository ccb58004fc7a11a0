/** The cluster that the suites run against: a sandbox with real kubelets and CoreDNS, and the images of the specs on every node. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensureCoredns } from '../../sandbox/coredns/ensure.ts';
import { type Sandbox, startSandbox } from '../../sandbox/index.ts';
import { NODE_KUBECONFIG, OPT } from '../../sandbox/machine/node-root.ts';
import { referenceOf, specImages, tagsFor } from './images.ts';
import type { ConformancePrograms } from './programs.ts';
import type { ClusterNeeds } from './suites.ts';

export interface ClusterSpec {
  /** The repository's. */
  readonly root: string;
  readonly programs: ConformancePrograms;
  /** Paths by program, of suites that are not Kubernetes' own. */
  readonly others: ReadonlyMap<string, string>;
  readonly cluster: ClusterNeeds;
  readonly progress: (text: string) => void;
  readonly onError: (error: unknown) => void;
  /** When it resolves while the cluster comes up, that is given up. */
  readonly stop: Promise<void>;
}

/** Three: some specs need as many, and specs of zones need three of those. */
export const NODES = 3;
const NODE_NAMES = Array.from({ length: NODES }, (_, index) => `node-${index + 1}`);
/** An emulated guest takes six minutes where it has two processors for itself. */
const START_SECONDS = 900;

/** Where nodes and the host outside of the cluster see what is in `build/conformance`. */
export const PROGRAMS = `${OPT}/build/conformance`;
/** Of the host outside of the cluster. */
export const WORK_FOLDER = '/root/conformance';
/** Beside the programs, where tenants ask it. */
export const NAME_SERVER = 'coredns';
export const KUBECONFIG = `${WORK_FOLDER}/kubeconfig`;

/** It ends with this process, however that ends. */
export const startCluster = async (spec: ClusterSpec): Promise<Sandbox> => {
  const { progress, onError, stop } = spec;
  const folder = join(spec.root, 'build', 'conformance');
  const images = await writeParts(folder, spec);
  const { name, egress, needs } = spec.cluster;
  const options = { name, nodes: NODES, kubelet: 'real', dns: 'coredns' } as const;
  const sandbox = await startSandbox(
    { ...options, egress, needs: [...needs], timeoutSeconds: START_SECONDS },
    { progress, onError, stop },
  );
  try {
    await prepare(sandbox, images);
    progress('every node has the images');
    return sandbox;
  } catch (error) {
    await sandbox.down();
    throw error;
  }
};

/** @returns a script that gives a node its images */
const writeParts = async (
  folder: string,
  { root, programs, others, cluster, progress }: ClusterSpec,
): Promise<string> => {
  await mkdir(folder, { recursive: true });
  const coredns = await ensureCoredns({ root, progress });
  const images = await specImages({ ...programs, coredns, worker: others.get('cyclonus-worker') }, progress);
  await Promise.all([
    ...RUN_OUTSIDE.map((name) => copyWhole(programs[name], join(folder, name))),
    ...(cluster.names === 'outside' ? [copyWhole(coredns, join(folder, NAME_SERVER))] : []),
    ...[...others].map(([name, path]) => copyWhole(path, join(folder, name))),
    ...images.map(({ name, archive }) => writeFile(join(folder, `${name}.tar`), archive)),
  ]);
  const { stdout } = await promisify(execFile)(programs['e2e.test'], ['--list-images'], { maxBuffer: 64 << 20 });
  return [
    'set -e',
    'ctr() { command ctr --namespace k8s.io images "$@"; }',
    ...images.map(({ name }) => `ctr import ${PROGRAMS}/${name}.tar`),
    ...tagsFor(stdout, images).map(({ name, reference }) => `ctr tag --force ${reference} ${name}`),
    ...images.map(({ name }) => `ctr rm ${referenceOf(name)}`),
  ].join('\n');
};

const RUN_OUTSIDE = ['e2e.test', 'ginkgo', 'kubectl'] as const;

/** A program that somebody runs can't be written to, but be replaced. */
const copyWhole = async (from: string, to: string): Promise<void> => {
  await copyFile(from, `${to}.draft`);
  await rename(`${to}.draft`, to);
};

const IMPORT_MS = 300_000;

const prepare = async (sandbox: Sandbox, images: string): Promise<void> => {
  const objects = await sandbox.objects();
  const zone = (name: string) => ({ labels: { 'topology.kubernetes.io/zone': `zone-of-${name}` } });
  await Promise.all([
    objects.apply(NODE_NAMES.map((name) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name, ...zone(name) } }))),
    ...NODE_NAMES.map((node) => sandbox.node(node, ['sh', '-c', images], { timeoutMs: IMPORT_MS })),
    giveKubeconfig(sandbox),
  ]);
};

/** With the address at which nodes reach the API server: the host outside of the cluster is beside them. */
const giveKubeconfig = async (sandbox: Sandbox): Promise<void> => {
  const { stdout: input } = await sandbox.node('node-1', ['cat', NODE_KUBECONFIG]);
  await sandbox.outside(['sh', '-c', `mkdir -p ${WORK_FOLDER} && cat > ${KUBECONFIG}`], { input });
};
