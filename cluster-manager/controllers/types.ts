/** What every controller gets. */

import type { Clock } from '../../base/clock.ts';
import type { WorkResult } from '../../kube/queue/types.ts';
import type { KubeClient } from '../../kube/types.ts';
import type { Writer } from '../../kube/writer/types.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import type { Caches } from './caches.ts';
import type { IdKeeper } from './id-keeper.ts';
import type { OwnWrites } from './own-writes.ts';
import type { ProblemReporter } from './problem-reporter.ts';
import type { WaitingPods } from './waiting-pods.ts';

export interface ControllerContext {
  readonly client: Pick<KubeClient, 'get' | 'patch' | 'delete'>;
  /** Of networks. */
  readonly ids: Pick<IdKeeper, 'look' | 'reported' | 'available'>;
  readonly writer: Writer;
  readonly problems: ProblemReporter;
  readonly clock: Clock;
  readonly caches: Caches;
  readonly state: ClusterState;
  /** Of the status of networks. */
  readonly ownWrites: OwnWrites;
  readonly waiting: WaitingPods;
  readonly enqueue: Enqueue;
}

/** Asks for work on an object; asking twice is asking once. */
export interface Enqueue {
  /** `UserDefinedNetwork/ns/name` or `ClusterUserDefinedNetwork/name` */
  network(key: string): void;
  /** How full a network is has changed: it is written after a while. The key is that of `network`. */
  usage(key: string): void;
  /** The same, without waiting. */
  usageNow(key: string): void;
  /** All nodes may have the network by now: it is looked at soon. The key is that of `network`. */
  readiness(key: string): void;
  /** What nodes report of an EgressFirewall may be another: its status is written after a while. */
  firewall(key: string): void;
  /** The same, without waiting. */
  firewallNow(key: string): void;
  /** All of them may have applied it by now, or one cannot: it is looked at soon. */
  firewallNews(key: string): void;
  nad(key: string): void;
  node(name: string): void;
  /** The agent of the node has stopped reporting, or reports again. */
  silence(node: string): void;
  pod(key: string): void;
  claim(key: string): void;
  /** The EndpointSlice that has, or should have, a mirror. */
  slice(key: string): void;
}

/** Brings one object to where it should be. Throws to be called again after a while. */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<WorkResult | undefined> | Promise<void>;
