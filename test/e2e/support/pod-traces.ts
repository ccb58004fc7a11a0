/** What pods of a container runtime leave on a node as long as they are there. */
import type { Sandbox } from '../../../sandbox/index.ts';

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
 * A MAC is taken out when another pod gets it: there are no more than addresses of the node. The table and what filters share come with
 * the first pod, and go with `udn-agent cleanup`. No chain of a link is among it.
 */
const LEFT_OF_FILTERS = /^table netdev ovn-udn-ports \{\n(?:(?!\tchain to-).*\n)*?\}\n/m;

/**
 * One line each, sorted. Not what containerd keeps on record of sandboxes that are stopped and have nothing any more: the
 * kubelet removes those once a minute. The kubelet's cgroup is a new one whenever it starts.
 */
export const podTraces = async (sandbox: Pick<Sandbox, 'node'>, node: string): Promise<readonly string[]> => {
  const { stdout } = await sandbox.node(node, ['sh', '-c', TRACES]);
  return stdout
    .replaceAll(/comment "cgroup \d+"/g, 'comment "cgroup"')
    .replace(LEFT_OF_FILTERS, '')
    .split('\n')
    .sort();
};
