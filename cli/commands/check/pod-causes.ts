/** Why pods of our programs are not ready, as their status has it: images, nodes without room, programs that end. */
import { z } from 'zod';
import { PODS } from '../../../kube/resources.ts';
import type { KubeClient, KubeObject } from '../../../kube/types.ts';

const text = z.string().default('');
const waiting = z.object({ reason: text, message: text });
const terminated = z.object({ exitCode: z.number().default(0), reason: text, message: text });
const containerSchema = z.object({
  name: text,
  image: text,
  ready: z.boolean().default(false),
  state: z.object({ waiting: waiting.optional(), terminated: terminated.optional() }).prefault({}),
  lastState: z.object({ terminated: terminated.optional() }).prefault({}),
});
const podSchema = z.object({
  spec: z.object({ nodeName: text }).prefault({}),
  status: z
    .object({
      conditions: z.array(z.object({ type: text, status: text, message: text })).default([]),
      initContainerStatuses: z.array(containerSchema).default([]),
      containerStatuses: z.array(containerSchema).default([]),
    })
    .prefault({}),
});
type Container = z.output<typeof containerSchema>;

/**
 * One message a cause, with the nodes that have it. Empty: the status of no pod has one, or this user may not list pods.
 * @param selector labels of the pods
 */
export const causesOfPods = async (
  client: KubeClient,
  namespace: string,
  selector: Readonly<Record<string, string>>,
): Promise<string[]> => {
  const labelSelector = Object.entries(selector)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const pods = await client.list(PODS, { namespace, labelSelector }).then(
    ({ items }) => items,
    () => [],
  );
  const nodesOf = new Map<string, string[]>();
  for (const pod of pods) {
    const cause = causeOfPod(pod);
    if (cause !== undefined) nodesOf.set(cause.message, [...(nodesOf.get(cause.message) ?? []), cause.node]);
  }
  return [...nodesOf].map(([message, nodes]) => `${message}${placeOf(nodes.filter((node) => node !== ''))}`);
};

const placeOf = (nodes: readonly string[]): string => {
  if (nodes.length === 0) return '';
  const [first = ''] = [...nodes].sort();
  return nodes.length === 1 ? ` (${first})` : ` (${first} and ${nodes.length - 1} more)`;
};

const causeOfPod = (pod: KubeObject): { readonly message: string; readonly node: string } | undefined => {
  const read = podSchema.safeParse(pod);
  if (!read.success || pod.metadata.deletionTimestamp !== undefined) return undefined;
  const { spec, status } = read.data;
  const unplaced = status.conditions.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False');
  if (unplaced !== undefined) return { message: `no node takes the pod: ${unplaced.message}`, node: spec.nodeName };
  for (const container of [...status.initContainerStatuses, ...status.containerStatuses]) {
    const message = container.ready ? undefined : causeOfContainer(container);
    if (message !== undefined) return { message, node: spec.nodeName };
  }
  return undefined;
};

const PULLS: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
]);

const causeOfContainer = ({ name, image, state, lastState }: Container): string | undefined => {
  const { reason = '', message = '' } = state.waiting ?? {};
  if (PULLS.has(reason))
    return `image ${image} of ${name} cannot be pulled: ${message === '' ? reason : message}; load it on the node, or set another name in the overlay or the values`;
  const ended = state.terminated ?? (reason === 'CrashLoopBackOff' ? lastState.terminated : undefined);
  if (ended !== undefined && ended.exitCode !== 0) {
    const why = [SILENT.has(ended.reason) ? '' : ended.reason, lastWords(name, ended.message)].filter(
      (one) => one !== '',
    );
    return `${name} ended with exit status ${ended.exitCode}${why.length === 0 ? '' : `: ${why.join(', ')}`}; kubectl logs --previous`;
  }
  // What every container that starts has.
  if (reason === '' || reason === 'ContainerCreating' || reason === 'PodInitializing') return undefined;
  return `${name} does not start: ${reason}${message === '' ? '' : `: ${message}`}`;
};

/** Reasons that say no more than the exit status. */
const SILENT: ReadonlySet<string> = new Set(['', 'Error', 'Completed']);

/** The error with which our programs end (program/run.ts); others write their own last line. */
const lastWords = (name: string, message: string): string => {
  const lines = message.trim().split('\n');
  return lines.findLast((line) => line.startsWith(`${name}: `)) ?? '';
};
