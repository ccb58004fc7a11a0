/**
 * The report of a node that has none: there before anything is programmed. A node without a report has no network, and the
 * cluster manager gives the ids of deleted ones to others without asking it (ADR 63). Where the server refuses it for what it
 * is, the node serves all the same: pods are worth more than what others may get meanwhile.
 */
import type { ReportStatus } from '../../../api/node-network-report.ts';
import { NODE_NETWORK_REPORTS } from '../../../api/resources.ts';
import { type Clock, delay } from '../../../base/clock.ts';
import { isForbidden, isInvalid, isNotFound } from '../../../kube/errors.ts';
import type { KubeClient, KubeObject } from '../../../kube/types.ts';
import type { Writer } from '../../../kube/writer/types.ts';
import { reportOf } from './reporter.ts';

export interface Announcing {
  readonly node: string;
  readonly rendering: ReportStatus['rendering'];
  readonly nodeUid: () => string | undefined;
  readonly client: Pick<KubeClient, 'get'>;
  readonly writer: Pick<Writer, 'apply'>;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
  /** By its admission, or for lack of a role: it is not tried again. */
  readonly onRefused: (error: unknown) => void;
}

const RETRY_MS = 2_000;

/** Resolves when there is a report, when the API server has no such kind, or when it refuses the report. @throws the signal's reason */
export const announceNode = async (options: Announcing, signal: AbortSignal): Promise<void> => {
  const { clock, onError, onRefused } = options;
  const failed = (error: unknown): boolean => {
    const isRefused = isForbidden(error) || isInvalid(error);
    (isRefused ? onRefused : onError)(error);
    return isRefused;
  };
  while (!(await isAnnounced(options, signal).catch(failed))) {
    await delay(clock, RETRY_MS, signal);
  }
};

const isAnnounced = async (options: Announcing, signal: AbortSignal): Promise<boolean> => {
  const { node, rendering, nodeUid, client, writer } = options;
  const uid = nodeUid();
  // Without a Node nobody counts this node, and nothing has been given to it.
  if (uid === undefined) return true;
  const found = await client.get(NODE_NETWORK_REPORTS, { name: node }, signal).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (found !== undefined && isOwnedBy(found, uid)) return true;
  // Of an earlier Node of that name: it goes with that one.
  const status: ReportStatus = {
    rendering,
    networks: { ready: 0, pending: 0, failed: 0 },
    ids: { ready: '', pending: '', failed: '' },
  };
  try {
    const kept = found?.['status'] as ReportStatus | undefined;
    await writer.apply(NODE_NETWORK_REPORTS, reportOf(node, uid, kept ?? status), {}, signal);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return true;
};

const isOwnedBy = ({ metadata: { ownerReferences = [] } }: KubeObject, uid: string): boolean =>
  ownerReferences.some((owner) => owner.uid === uid);
