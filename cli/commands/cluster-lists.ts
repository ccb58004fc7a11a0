/** `udnctl networks`, `udnctl pods` and `udnctl services` from the API server alone: no node is asked. */

import { messageOf } from '../../base/error-message.ts';
import { parseLabelSelector } from '../../kube/label-selector.ts';
import type { KubeClient } from '../../kube/types.ts';
import { type NamespaceOptions, namespaceOf, PROGRAMS_NAMESPACE, withClient } from '../cluster/cluster-command.ts';
import { networkItems } from '../cluster/network-rows.ts';
import { podItems } from '../cluster/pod-rows.ts';
import { readCluster } from '../cluster/read-cluster.ts';
import { serviceItems } from '../cluster/service-rows.ts';
import type { Snapshot } from '../cluster/snapshot.ts';
import { networksOutput, podsOutput, servicesOutput } from '../cluster/tables.ts';
import { CliError } from '../errors.ts';
import type { Output } from '../output/format.ts';
import { sceneOf } from '../why/allocations.ts';
import { unreadText } from '../why/finding.ts';

export interface ListOptions extends NamespaceOptions {
  readonly selector?: string | undefined;
  readonly network?: string | undefined;
  readonly node?: string | undefined;
  readonly isWide: boolean;
}

export interface ListOutput extends Output {
  /** What could not be read, a line each: for the error output, so that a table stays a table. */
  readonly notes: readonly string[];
}

export const listClusterNetworks = (options: ListOptions): Promise<ListOutput> =>
  withClient(options, ({ client, namespace }) =>
    clusterNetworks(client, { ...options, in: namespaceOf(options, namespace), now: Date.now() }),
  );

export const listClusterPods = (options: ListOptions): Promise<ListOutput> =>
  withClient(options, ({ client, namespace }) =>
    clusterPods(client, { ...options, in: namespaceOf(options, namespace), now: Date.now() }),
  );

export const listClusterServices = (options: ListOptions): Promise<ListOutput> =>
  withClient(options, ({ client, namespace }) =>
    clusterServices(client, { ...options, in: namespaceOf(options, namespace), now: Date.now() }),
  );

export interface ListQuestion extends Pick<ListOptions, 'selector' | 'network' | 'node' | 'isWide'> {
  /** A namespace; undefined: all. */
  readonly in: string | undefined;
  readonly now: number;
}

type Reader = Pick<KubeClient, 'get' | 'list'>;

export const clusterNetworks = async (client: Reader, question: ListQuestion): Promise<ListOutput> => {
  const { now, selector, isWide } = question;
  const hasLabels = selector === undefined ? undefined : labelsOf(selector);
  const snapshot = await readCluster(client, { namespace: question.in, programs: PROGRAMS_NAMESPACE, now });
  const items = networkItems(sceneOf(snapshot), { hasLabels });
  return { ...networksOutput(items, snapshot, { isWide }), notes: notesOf(snapshot) };
};

export const clusterPods = async (client: Reader, question: ListQuestion): Promise<ListOutput> => {
  const { now, selector, network, node, isWide } = question;
  if (selector !== undefined) labelsOf(selector);
  const snapshot = await readCluster(client, { namespace: question.in, selector, programs: PROGRAMS_NAMESPACE, now });
  const items = podItems(sceneOf(snapshot), { network, node });
  return { ...podsOutput(items, snapshot, { isWide }), notes: notesOf(snapshot) };
};

export const clusterServices = async (client: Reader, question: ListQuestion): Promise<ListOutput> => {
  const { now, selector, isWide } = question;
  if (selector !== undefined) labelsOf(selector);
  const options = { namespace: question.in, selector, services: true, programs: PROGRAMS_NAMESPACE, now };
  const snapshot = await readCluster(client, options);
  return { ...servicesOutput(serviceItems(sceneOf(snapshot)), snapshot, { isWide }), notes: notesOf(snapshot) };
};

const labelsOf = (selector: string): ReturnType<typeof parseLabelSelector> => {
  try {
    return parseLabelSelector(selector);
  } catch (error) {
    throw new CliError(`--selector: ${messageOf(error)}`, 2);
  }
};

/** That the Lease or claims may not be read keeps nothing from being shown. */
const notesOf = ({ unread, unusable }: Snapshot): readonly string[] => [
  ...unread
    .filter(({ resource }) => resource !== 'leases' && resource !== 'ipamclaims')
    .map((one) => `not shown: ${unreadText(one)}`),
  ...unusable.map((text) => `not shown: ${text}`),
];
