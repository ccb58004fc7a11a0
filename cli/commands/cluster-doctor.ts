/** `udnctl doctor --cluster`: whether what the cluster has given out is consistent. */

import type { KubeClient } from '../../kube/types.ts';
import { withClient } from '../cluster/cluster-command.ts';
import { readCluster } from '../cluster/read-cluster.ts';
import type { ServerOptions } from '../cluster/server-options.ts';
import { violationsIn } from '../invariants/invariants.ts';
import type { TextOutput } from '../output/format.ts';
import { unreadText } from '../why/finding.ts';

export interface ClusterDoctorOutput extends TextOutput {
  /** 0: nothing is wrong; 1: something is; 2: not everything could be read. */
  readonly exitStatus: 0 | 1 | 2;
}

export const clusterDoctor = (options: ServerOptions): Promise<ClusterDoctorOutput> =>
  withClient(options, ({ client }) => examineCluster(client, Date.now()));

export const examineCluster = async (
  client: Pick<KubeClient, 'get' | 'list'>,
  now: number,
): Promise<ClusterDoctorOutput> => {
  const snapshot = await readCluster(client, { reservations: true, now });
  const violations = violationsIn(snapshot);
  const { networks, nads, nodes, pods, unread } = snapshot;
  const looked = `${networks.size} networks, ${nads.size} NADs, ${nodes.size} nodes and ${pods.size} pods were checked`;
  return {
    data: { violations, unread: unread.map(({ what, why }) => ({ what, why })) },
    lines: [
      ...violations.map(
        ({ rule, objects, message }) => `${rule}: ${[objects.join(', '), message].filter(Boolean).join(': ')}`,
      ),
      ...unread.map((one) => `unknown: ${unreadText(one)}`),
      violations.length === 0 ? `no problems: ${looked}` : `${violations.length} problems: ${looked}`,
    ],
    exitStatus: unread.length > 0 ? 2 : violations.length > 0 ? 1 : 0,
  };
};
