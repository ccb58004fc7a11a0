/** What is desired in each backend, and how the actual state differs. Reading is done on demand, and never changes anything. */
import type {
  BackendName,
  DesiredStatus,
  DifferenceStatus,
  DifferencesStatus,
  UnsupportedStatus,
} from '../../api/agent-status.ts';
import { messageOf } from '../../base/error-message.ts';
import type { Comparable, OwnedDifference } from '../../base/reconciler.ts';
import type { ComponentHealth } from '../health/component.ts';
import type { Reconcilers } from '../reconcile/reconcilers.ts';

/** Says which network a thing is about; undefined for what is the node's own. */
export type NetworkOf = (thing: { readonly owners: readonly string[]; readonly text: string }) => string | undefined;

export interface DifferenceSources {
  readonly reconcilers: Reconcilers;
  /** What is kept beside the reconcilers, in the same backends. */
  readonly kept: readonly (readonly [BackendName, Comparable])[];
  readonly networkOf: NetworkOf;
  /** What others have found to fail: a bridge of a switch that has stopped keeps who asks it waiting. */
  readonly components: () => readonly ComponentHealth[];
}

export const reportDesired = ({ reconcilers, kept, networkOf }: DifferenceSources): DesiredStatus[] =>
  [...reconcilers, ...kept].flatMap(([backend, comparable]) =>
    Array.from(comparable.desired(), ({ key, owners, problem }) => ({
      ...{ backend, key, owners: [...owners] },
      ...defined('network', networkOf({ owners, text: '' })),
      ...defined('problem', problem),
    })),
  );

/** A backend that does not answer is reported as unreadable, the others are compared all the same. */
export const reportDifferences = async (
  { reconcilers, kept, networkOf, components }: DifferenceSources,
  signal: AbortSignal,
): Promise<DifferencesStatus> => {
  const stopped = components().find(({ component, state }) => component === 'ovs-vswitchd' && state === 'failed');
  const read = await Promise.all(
    [...reconcilers, ...kept].map(async ([backend, comparable]) => {
      if (backend === 'openflow' && stopped !== undefined)
        return { differences: [], unreadable: [{ backend, message: stopped.message }] };
      try {
        const differences = await comparable.differences(signal);
        return { differences: differences.map((one) => differenceStatus(backend, one, networkOf)), unreadable: [] };
      } catch (error) {
        return { differences: [], unreadable: [{ backend, message: messageOf(error) }] };
      }
    }),
  );
  return {
    differences: read.flatMap(({ differences }) => differences),
    unreadable: read.flatMap(({ unreadable }) => unreadable),
    unsupported: unsupportedOf(reconcilers, networkOf),
  };
};

const unsupportedOf = (reconcilers: Reconcilers, networkOf: NetworkOf): UnsupportedStatus[] =>
  [...reconcilers].flatMap(([backend, reconciler]) =>
    reconciler
      .problems()
      .filter(({ status }) => status.kind === 'unsupported')
      .map(({ owner, key = owner, status: { message = '' } }) => ({
        ...{ backend, key, message },
        ...defined('network', networkOf({ owners: [owner], text: '' })),
      })),
  );

const differenceStatus = (
  backend: BackendName,
  { key, kind, owners, desired, actual, problem }: OwnedDifference,
  networkOf: NetworkOf,
): DifferenceStatus => ({
  ...{ backend, key, kind, owners: [...owners] },
  ...defined('network', networkOf({ owners, text: `${desired ?? ''} ${actual ?? ''}` })),
  ...defined('wanted', desired),
  ...defined('actual', actual),
  ...defined('problem', problem),
});

const defined = <Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } =>
  value === undefined ? {} : ({ [name]: value } as { [Key in Name]: Value });
