/** containerd and a real kubelet on a node. */
import { globSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SandboxError } from '../errors.ts';
import { CNI_BIN, NODE_COREDNS, NODE_TREE } from '../machine/node-root.ts';
import type { Machine } from '../machine/types.ts';
import { partReady, unlessEnded } from '../process/parts.ts';
import { run } from '../process/run.ts';
import { REPORT_FD, type Service, startService } from '../process/service.ts';
import { waitForSocket } from '../process/wait-for-path.ts';
import {
  CLIENT_AUTHORITY,
  CONTAINERD_CONFIGURATION,
  CONTAINERD_ROOT,
  CONTAINERD_SOCKET,
  containerdConfiguration,
  inNewCgroup,
  KERNEL_SETTINGS,
  KUBELET_CONFIGURATION,
  KUBELET_ROOT,
  type KubeletNode,
  kubeletArguments,
  kubeletConfiguration,
  RUNTIME,
  RUNTIME_SCRIPT,
} from './configuration.ts';
import { COREDNS_PATH, TREE_MARKER } from './images.ts';

export interface NodeRuntimeSpec {
  readonly node: Machine;
  /** Of images.ts. */
  readonly images: Uint8Array;
  readonly logOf: (program: string) => string;
  readonly onService: (service: Service) => void;
}

/** Resolves when containerd answers and has the images. */
export const startContainerd = async (spec: NodeRuntimeSpec, signal: AbortSignal): Promise<void> => {
  const { node } = spec;
  await Promise.all([
    run(node.enter(['sh', '-c', PREPARE]), undefined, signal),
    writeFile(node.pathOf(CONTAINERD_CONFIGURATION), containerdConfiguration()),
    writeFile(node.pathOf(RUNTIME), RUNTIME_SCRIPT, { mode: 0o755 }),
    writeFile(node.pathOf(ARCHIVE), spec.images),
  ]);
  const containerd = startNodeService(spec, 'containerd', {
    cgroup: 'system.slice/containerd.service',
    argv: ['/usr/bin/containerd', '--config', CONTAINERD_CONFIGURATION],
  });
  const ready = waitForSocket(node.pathOf(CONTAINERD_SOCKET), signal).then(() => importImages(node, signal));
  await partReady(`containerd of ${node.name}`, containerd.log, unlessEnded(containerd, ready));
};

export interface KubeletSpec extends Omit<NodeRuntimeSpec, 'images'> {
  readonly host: KubeletNode;
  /** Given to pods. */
  readonly clusterDns: readonly string[];
  /** Whose clients may ask the kubelet, PEM. */
  readonly authority: string;
}

/** Its kubeconfig is there, and containerd runs. Returns when it has been started. */
export const startRealKubelet = async (spec: KubeletSpec): Promise<void> => {
  const { node, host, authority, clusterDns } = spec;
  await Promise.all([
    writeFile(node.pathOf(KUBELET_CONFIGURATION), kubeletConfiguration(clusterDns)),
    writeFile(node.pathOf(CLIENT_AUTHORITY), authority),
  ]);
  startNodeService(spec, 'kubelet', { cgroup: 'kubelet.slice/kubelet.service', argv: kubeletArguments(host) });
};

/** A device without a driver, where devices can't be opened. */
const UNREADABLE = '/run/ovn-udn-unreadable';

/** A kubelet wants to know how fast processors are, and user-mode Linux does not say. */
const CPUS = '/run/ovn-udn-cpuinfo';
const FAKE_SPEED = `grep -q MHz /proc/cpuinfo || { sed 's/^bogomips.*/cpu MHz : 1000.000/' /proc/cpuinfo > ${CPUS}; mount --bind ${CPUS} /proc/cpuinfo; }`;

/**
 * Folders that are no overlay's, as a node's root is one, and the overlay file system takes none of another for its upper
 * one; the kernel's settings that are the whole machine's, as KERNEL_SETTINGS has them; and the kubelet's cgroups of
 * qualities of service, so that it can't tell whether they are there: then it makes them and only notes that it could not
 * set weights, for which there is no controller. Those that it finds it sets, or ends.
 */
const PREPARE = [
  'set -e',
  `mkdir -p ${dirname(CONTAINERD_SOCKET)}`,
  `ln -sf /usr/lib/cni/loopback ${CNI_BIN}/loopback`,
  `for folder in ${CONTAINERD_ROOT} ${KUBELET_ROOT}; do mkdir -p $folder; mount -t tmpfs -o mode=0711 tmpfs $folder; done`,
  ...Object.entries(KERNEL_SETTINGS).map(([path, value]) => {
    const file = `/run/ovn-udn-kernel-${path.replaceAll('/', '-')}`;
    return `echo ${value} > ${file}; mount --bind ${file} /proc/sys/${path}`;
  }),
  FAKE_SPEED,
  `mknod ${UNREADABLE} c 0 0`,
  ...['besteffort', 'burstable'].map((quality) => {
    const cgroup = `/sys/fs/cgroup/kubepods/${quality}`;
    return `mkdir -p ${cgroup}; mount --bind ${UNREADABLE} ${cgroup}/cgroup.controllers`;
  }),
].join('\n');

const ARCHIVE = '/var/lib/ovn-udn-images.tar';
const SNAPSHOTS = `${CONTAINERD_ROOT}/io.containerd.snapshotter.v1.overlayfs/snapshots`;

/**
 * In place of the layer that stands for it, the Debian tree itself: no node needs a copy, or the time to make one. Of the DNS server,
 * which nodes have, the file system itself makes one: containerd would digest and unpack it.
 */
const importImages = async (node: Machine, signal: AbortSignal): Promise<void> => {
  await run(node.enter(['ctr', '--namespace', 'k8s.io', 'images', 'import', ARCHIVE]), undefined, signal);
  const [found] = globSync(`*/fs/${TREE_MARKER}`, { cwd: node.pathOf(SNAPSHOTS) });
  const [dns] = globSync(`*/fs/${COREDNS_PATH}`, { cwd: node.pathOf(SNAPSHOTS) });
  if (found === undefined) throw new SandboxError('ERR_SANDBOX_MACHINE', 'containerd has not unpacked its images');
  const layer = join(SNAPSHOTS, found, '..');
  await run(node.enter(['mount', '--bind', '-o', 'ro', NODE_TREE, layer]), undefined, signal);
  if (dns !== undefined) await run(node.enter(['cp', NODE_COREDNS, join(SNAPSHOTS, dns)]), undefined, signal);
};

const startNodeService = (
  { node, logOf, onService }: Omit<NodeRuntimeSpec, 'images'>,
  name: 'containerd' | 'kubelet',
  { cgroup, argv }: { readonly cgroup: string; readonly argv: readonly string[] },
): Service => {
  const [slice = ''] = cgroup.split('/');
  const command = node.enter(inNewCgroup(`/sys/fs/cgroup/${cgroup}`, argv), { cgroup: slice, reportPid: REPORT_FD });
  const service = startService({ name, command, log: logOf(name) });
  onService(service);
  return service;
};
