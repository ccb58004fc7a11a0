import { hasCode, type NetlinkError, PodInterfaceError } from '../errors.ts';
import type { Kernel, KernelOp, OpFailure } from '../kernel/types.ts';
import { NOTHING, observePod } from './observe.ts';
import { planPod, type Stage } from './plan.ts';
import { requireNetns } from './require-netns.ts';
import type { EnsureOutcome, PodNetwork } from './types.ts';
import { validatePod } from './validate.ts';

/** The second repair finds nothing to do unless something else changes the pod at the same time. */
const MAX_REPAIRS = 3;

/**
 * Makes all interfaces of a pod as desired. Nearly every call is for a new pod, so it begins without looking: the kernel
 * says itself when a link is there already, and only then is the pod read and compared.
 * @throws PodInterfaceError after taking away again what this call has made
 */
export const ensurePod = (kernel: Kernel, pod: PodNetwork, onLinked = (): void => {}): EnsureOutcome => {
  validatePod(pod);
  requireNetns(kernel, pod.netns);
  const made = new Set<string>();
  try {
    const attempt: Attempt = { kernel, pod, made, onLinked };
    const stages = planPod(pod, NOTHING);
    // New links are down until their filters are there, so that whoever has them already gets nothing past those.
    const failures = apply(attempt, stages, 1 + stages.findLastIndex(({ ops }) => ops.some(isAddition)));
    if (failures.length === 0) return 'created';
    if (!failures.every(isOccupied)) throw setupError(pod, failures);
    return repair(attempt);
  } catch (error) {
    takeAway(kernel, made);
    throw error;
  }
};

interface Attempt {
  readonly kernel: Kernel;
  readonly pod: PodNetwork;
  /** Gets the node's ends of the pairs that were made. */
  readonly made: Set<string>;
  /** See `PodInterfaces.ensure`. */
  readonly onLinked: () => void;
}

/** A link that vanishes or appears between reading and changing is looked at once more. */
const repair = (attempt: Attempt): EnsureOutcome => {
  const { kernel, pod, made } = attempt;
  for (let round = 0; round < MAX_REPAIRS; round++) {
    const stages = planPod(pod, observePod(kernel, pod));
    if (stages.length === 0) return round === 0 && made.size === 0 ? 'unchanged' : 'repaired';
    // A link that was there may be up, and its filter may be gone.
    const failures = apply(attempt, stages, 1 + stages.findLastIndex(({ where }) => where === 'node'));
    if (!failures.every(({ error }) => hasCode(error, 'EEXIST', 'ENODEV'))) throw setupError(pod, failures);
  }
  throw new PodInterfaceError('ERR_POD_INTERFACE_SETUP', `${pod.netns}: another program keeps changing the interfaces`);
};

/**
 * Ends after the first stage with a failure.
 * @param linkedAt the stage before which the node's ends are reported
 */
const apply = ({ kernel, pod, made, onLinked }: Attempt, stages: readonly Stage[], linkedAt: number): OpFailure[] => {
  for (const [index, { where, ops }] of stages.entries()) {
    if (index === linkedAt) onLinked();
    const failures = kernel.netns(where === 'pod' ? pod.netns : undefined).apply(ops);
    const failed = new Set<KernelOp>(failures.map(({ op }) => op));
    for (const op of ops) if (isAddition(op) && !failed.has(op)) made.add(op.link.name);
    if (failures.length > 0) return failures;
  }
  return [];
};

const isOccupied = ({ op, error }: OpFailure): boolean => isAddition(op) && hasCode(error, 'EEXIST');

const isAddition = (op: KernelOp): op is Extract<KernelOp, { op: 'link.add' }> => op.op === 'link.add';

const setupError = ({ netns }: PodNetwork, failures: readonly OpFailure[]): PodInterfaceError => {
  const messages = failures.map(({ error }) => error.message).join('; ');
  return new PodInterfaceError('ERR_POD_INTERFACE_SETUP', `${netns}: ${messages}`, firstError(failures));
};

const firstError = ([first]: readonly OpFailure[]): NetlinkError | undefined => first?.error;

const takeAway = (kernel: Kernel, made: ReadonlySet<string>): void => {
  if (made.size > 0) kernel.netns().apply([...made].map((name) => ({ op: 'link.delete', name })));
};
