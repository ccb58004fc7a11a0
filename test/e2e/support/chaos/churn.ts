/** Pods and networks that come and go, also while programs are killed. */
import type { ManifestObject, Objects } from '../../../../sandbox/index.ts';
import { eventually } from '../../../../sandbox/testing/eventually.ts';
import { layer3, namespace, pod } from '../cluster/manifests.ts';
import type { Random } from '../faults/random.ts';
import type { ReadyPod } from './losses.ts';

/** The API server may be the one that was killed. */
const PATIENCE_MS = 120_000;

const insist = <T>(work: () => Promise<T>): Promise<T> => eventually(work, PATIENCE_MS);

export interface ChurnOptions {
  readonly objects: Objects;
  readonly nodes: readonly string[];
  /** Where pods come and go. */
  readonly namespaces: readonly string[];
  readonly random: Random;
  readonly signal: AbortSignal;
}

/** Until the signal aborts; then all that it made is deleted. @returns how long pods took to be Ready */
export const churn = async (options: ChurnOptions): Promise<ReadyPod[]> => {
  const pods: ReadyPod[] = [];
  await Promise.all([podsComeAndGo(options, pods), networksComeAndGo(options, pods)]);
  return pods;
};

const podsComeAndGo = async (options: ChurnOptions, pods: ReadyPod[]): Promise<void> => {
  const { objects, namespaces, random, nodes, signal } = options;
  for (let round = 0; !signal.aborted; round++) {
    const manifests = namespaces.map((name) => pod(name, `churn-${round}`, random.pick(nodes)));
    await comeAndGo(objects, manifests, pods);
  }
};

const networksComeAndGo = async (options: ChurnOptions, pods: ReadyPod[]): Promise<void> => {
  const { objects, random, nodes, signal } = options;
  for (let round = 0; !signal.aborted; round++) {
    const name = `passing-${round}`;
    const network = [namespace(name), layer3(name, 'net', ['10.90.0.0/16/24', 'fd00:90::/48/64'])];
    await insist(() => objects.apply(network));
    await insist(() => objects.wait('udn', `${name}/net`, 'condition=NetworkCreated', { timeoutSeconds: 60 }));
    await comeAndGo(objects, [pod(name, 'only', random.pick(nodes))], pods);
    // The network first: a namespace is deleted with what is in it.
    await insist(() => objects.delete(network.slice(1), { timeoutSeconds: 60 }));
    await insist(() => objects.delete(network.slice(0, 1), { timeoutSeconds: 60 }));
  }
};

const comeAndGo = async (objects: Objects, manifests: readonly ManifestObject[], pods: ReadyPod[]): Promise<void> => {
  const keys = manifests.map(({ metadata: { namespace: inNamespace, name } }) => `${inNamespace}/${name}`);
  await insist(() => objects.apply(manifests));
  const from = Date.now();
  await Promise.all(
    keys.map(async (key) => {
      await insist(() => objects.wait('pod', key, 'ready', { timeoutSeconds: 60 }));
      pods.push({ from, to: Date.now() });
    }),
  );
  await insist(() => objects.delete(manifests, { timeoutSeconds: 60 }));
};
