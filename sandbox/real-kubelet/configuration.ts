/** The configuration of containerd and a kubelet of a node. Pure. */
import { stringify } from 'yaml';
import { CNI_BIN, CNI_CONF, NODE_KUBECONFIGS, NODE_KUBELET } from '../machine/node-root.ts';
import { CLUSTER_DOMAIN } from '../plan/cluster-settings.ts';
import { PAUSE_IMAGE } from './images.ts';

/** On a node. */
export const CONTAINERD_SOCKET = '/run/containerd/containerd.sock';
export const CONTAINERD_ROOT = '/var/lib/containerd';
export const KUBELET_ROOT = '/var/lib/kubelet';
const FOLDER = '/etc/ovn-udn';
export const CONTAINERD_CONFIGURATION = `${FOLDER}/containerd.toml`;
export const KUBELET_CONFIGURATION = `${FOLDER}/kubelet.yaml`;
export const CLIENT_AUTHORITY = `${FOLDER}/ca.crt`;
export const RUNTIME = `${FOLDER}/crun`;

/**
 * As kubeadm's users have it, with the cgroupfs driver. Without CAP_SYS_RESOURCE no process may lower its oom_score_adj, so
 * that containers keep containerd's; AppArmor's profiles are loaded for the whole machine, so that none is.
 */
export const containerdConfiguration = (): string => `version = 2
root = "${CONTAINERD_ROOT}"
state = "/run/containerd"
disabled_plugins = [${UNUSED_PLUGINS.map((name) => `"${name}"`).join(', ')}]
[grpc]
  address = "${CONTAINERD_SOCKET}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE_IMAGE}"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${CNI_BIN}"
    conf_dir = "${CNI_CONF}"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "crun"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.crun]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.crun.options]
        BinaryName = "${RUNTIME}"
        SystemdCgroup = false
`;

const UNUSED_PLUGINS = [
  ...['btrfs', 'zfs', 'devmapper', 'blockfile'].map((name) => `io.containerd.snapshotter.v1.${name}`),
  ...['io.containerd.internal.v1.opt', 'io.containerd.nri.v1.nri'],
  ...['io.containerd.tracing.processor.v1.otlp', 'io.containerd.internal.v1.tracing'],
];

/**
 * crun, without limits. Nodes have cgroups but no controllers, which belong to this machine, and crun refuses limits that it
 * can't set; containerd leaves them out only together with the cgroups themselves, by which agents know pods.
 */
export const RUNTIME_SCRIPT = `#!/bin/sh
bundle= last=
for word in "$@"; do
  [ "$last" = --bundle ] && bundle=$word
  last=$word
done
if [ -n "$bundle" ]; then
  jq -c 'del(.linux.resources)' "$bundle/config.json" > "$bundle/.config.json" && mv "$bundle/.config.json" "$bundle/config.json" || exit
fi
exec /usr/bin/crun "$@"
`;

/**
 * The kubelet of a node that limits nothing and evicts nobody: memory and disks are this machine's.
 * @param clusterDns given to pods; a kubelet warns without, so that it is there whether a server is or not
 */
export const kubeletConfiguration = (clusterDns: readonly string[]): string =>
  stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    containerRuntimeEndpoint: `unix://${CONTAINERD_SOCKET}`,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: CLIENT_AUTHORITY },
    },
    authorization: { mode: 'Webhook' },
    cgroupDriver: 'cgroupfs',
    clusterDomain: CLUSTER_DOMAIN,
    clusterDNS: clusterDns,
    resolvConf: '',
    failSwapOn: false,
    // Those of KERNEL_SETTINGS are the whole machine's: a kubelet that finds another value says so and ends.
    protectKernelDefaults: true,
    makeIPTablesUtilChains: false,
    enforceNodeAllocatable: [],
    evictionHard: {
      'memory.available': '0%',
      'nodefs.available': '0%',
      'nodefs.inodesFree': '0%',
      'imagefs.available': '0%',
    },
    imageGCHighThresholdPercent: 100,
  });

export interface KubeletNode {
  readonly name: string;
  /** One of each family. */
  readonly addresses: readonly string[];
}

export const kubeletArguments = ({ name, addresses }: KubeletNode): string[] => [
  NODE_KUBELET,
  ...[`--config=${KUBELET_CONFIGURATION}`, `--kubeconfig=${NODE_KUBECONFIGS.kubelet}`],
  ...[`--hostname-override=${name}`, `--node-ip=${addresses.join(',')}`],
  ...[`--root-dir=${KUBELET_ROOT}`, `--cert-dir=${KUBELET_ROOT}/pki`],
];

/**
 * What kubelets set below /proc/sys where they may. None of it belongs to a namespace: a node sees these values and this
 * machine keeps its own.
 */
export const KERNEL_SETTINGS: Readonly<Record<string, number>> = {
  'vm/overcommit_memory': 1,
  'vm/panic_on_oom': 0,
  'kernel/panic': 10,
  'kernel/panic_on_oops': 1,
  'kernel/keys/root_maxkeys': 1_000_000,
  'kernel/keys/root_maxbytes': 25_000_000,
};

/**
 * Makes the cgroup of a service again and starts the service in it, as systemd does: what knows the cgroup by anything but
 * its name has to look again. A cgroup that still has processes is kept.
 * @param cgroup its folder
 */
export const inNewCgroup = (cgroup: string, argv: readonly string[]): string[] => [
  ...['sh', '-c', NEW_CGROUP, cgroup],
  ...argv,
];

const NEW_CGROUP = 'rmdir "$0" 2>/dev/null; mkdir -p "$0" && echo $$ > "$0/cgroup.procs" && exec "$@"';
