/** The reconcilers of a node, by backend: probes, metrics and reports ask them all the same. */
import type { BackendName } from '../../api/agent-status.ts';
import { type Reconciler, type Status, worst } from '../../base/reconciler.ts';
import type { Databases } from '../databases/databases.ts';
import { DATAPATH_BACKENDS, type DatapathBackend, type NodeDatapath } from './node-datapath.ts';

export type Reconcilers = ReadonlyMap<BackendName, Reconciler>;

export const DATABASE_NAMES = ['northbound', 'southbound', 'openvswitch'] as const;

export const reconcilersOf = (
  databases: Pick<Databases, (typeof DATABASE_NAMES)[number]>,
  datapath: Pick<NodeDatapath, DatapathBackend>,
): Reconcilers =>
  new Map<BackendName, Reconciler>([
    ...DATABASE_NAMES.map((name) => [name, databases[name].reconciler] as const),
    ...DATAPATH_BACKENDS.map((name) => [name, datapath[name]] as const),
  ]);

/** What is not applied yet names its backend. */
export const statusOf = (reconcilers: Reconcilers, owner: string): Status =>
  worst(
    [...reconcilers].map(([backend, reconciler]) => {
      const status = reconciler.status(owner);
      if (status.kind !== 'pending') return status;
      const because = status.message === undefined ? '' : `: ${status.message}`;
      return { ...status, message: `${backend} is not programmed yet${because}` };
    }),
  );

/** Resolves when none has anything left to do but what waits or failed. @throws the signal's reason */
export const whenIdle = async (reconcilers: Reconcilers, signal: AbortSignal): Promise<void> => {
  await Promise.all(Array.from(reconcilers.values(), (reconciler) => reconciler.whenIdle(signal)));
};
