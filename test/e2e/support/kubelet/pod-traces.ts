/** What pods of a container runtime leave on a node as long as they are there. */
import type { Sandbox } from '../../../../sandbox/index.ts';

const TRACES = `
ls /sys/class/net | sed 's/^/link /'
ls /run/netns | sed 's/^/namespace /'
find /sys/fs/cgroup -mindepth 1 -type d | sed 's/^/cgroup /'
ls /run/containerd/io.containerd.runtime.v2.task/k8s.io | sed 's/^/task /'
ls /var/lib/kubelet/pods | sed 's/^/volumes /'
awk '$2 ~ "^/(run|var)/" { print "mount " $2 }' /proc/mounts
ovs-vsctl --bare --columns=name list Interface | sed '/^$/d; s/^/interface /'
ovn-nbctl --bare --columns=name list Logical_Switch_Port | sed '/^$/d; s/^/port /'
for table in Address_Set Port_Group; do ovn-nbctl --format=csv --no-headings list $table | sed 's/^[^,]*,//'; done
nft -s list ruleset
`;

/**
 * What filters of links share comes with the first pod, and goes with `udn-agent cleanup` (MACs of locked pods sooner). Chains of links are
 * not among it.
 */
const SHARED_BY_FILTERS = /^\t(?:set locked-pods|chain shared-\S+) \{\n(?:\t\t.*\n)*\t\}\n/gm;

/**
 * One line each, sorted. Not what containerd keeps on record of sandboxes that are stopped and have nothing any more: the
 * kubelet removes those once a minute. The kubelet's cgroup is a new one whenever it starts.
 */
export const podTraces = async (sandbox: Pick<Sandbox, 'node'>, node: string): Promise<readonly string[]> => {
  const { stdout } = await sandbox.node(node, ['sh', '-c', TRACES]);
  return stdout
    .replaceAll(/comment "cgroup \d+"/g, 'comment "cgroup"')
    .replaceAll(SHARED_BY_FILTERS, '')
    .split('\n')
    .filter((line) => line !== '')
    .sort();
};
