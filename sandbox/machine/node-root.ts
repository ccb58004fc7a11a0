/** What a node's root file system has beside the Debian tree. */
import { chmod, copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { addressOf } from '../../net/cidr.ts';
import type { NodeUser } from '../api/types.ts';
import type { Artifacts } from '../artifacts.ts';
import type { NetPlan } from '../plan/netplan.ts';
import type { RootSpec } from './namespaces.ts';
import type { Machine } from './types.ts';

/** Where nodes find this repository's programs, read-only. */
export const OPT = '/opt/ovn-udn';
export const NODE_PROGRAM = `${OPT}/bin/node`;
export const NODE_TOOLBOX = `${OPT}/build/toolbox`;
export const NODE_KUBELET = `${OPT}/bin/kubelet`;
export const NODE_COREDNS = `${OPT}/bin/coredns`;
export const NODE_KONNECTIVITY_AGENT = `${OPT}/bin/konnectivity-agent`;
/** The Debian tree: what pods' root file systems are made of. */
export const NODE_TREE = `${OPT}/tree`;
/** For people, who are administrators. */
export const NODE_KUBECONFIG = '/etc/ovn-udn/kubeconfig';
/** Each program has one of its own: on a real API server it has rights of its own. */
export const NODE_KUBECONFIGS: Readonly<Record<NodeUser, string>> = {
  administrator: NODE_KUBECONFIG,
  // As kubeadm has it.
  kubelet: '/etc/kubernetes/kubelet.conf',
  agent: '/etc/ovn-udn/agent.kubeconfig',
};
export const CNI_BIN = '/opt/cni/bin';
export const CNI_CONF = '/etc/cni/net.d';
/** The name under which clusters know the plugin. */
const SHIM = 'ovn-k8s-cni-overlay';

const FOLDERS: readonly string[] = [
  ...['/run/openvswitch', '/run/ovn', '/run/ovn-udn', '/run/netns'],
  ...['/var/lib/openvswitch', '/var/lib/ovn', '/var/log/pods', '/etc/ovn-udn', '/etc/kubernetes', CNI_BIN, CNI_CONF],
];

/** Programs that people type on a node. */
const COMMANDS: readonly string[] = ['udnctl', 'udn-agent'];

/** What a real kubelet has beside it, on this machine. */
export interface RealKubeletFiles {
  readonly kubelet: string;
  /** containerd and crun, as a tree of the same Debian release. */
  readonly runtime: string;
}

interface NodeParts {
  readonly realKubelet?: RealKubeletFiles | undefined;
  /** For pods of the stand-in; images of real kubelets have it. */
  readonly coredns?: string | undefined;
  /** Paths of plugins of other networks, by their names. */
  readonly cniPlugins?: Readonly<Record<string, string>> | undefined;
  /** Pods of it mount it. */
  readonly konnectivityAgent?: string | undefined;
}

export const nodeRoot = (
  artifacts: Artifacts,
  tree: string,
  staging: string,
  { realKubelet: real, coredns, cniPlugins = {}, konnectivityAgent }: NodeParts,
): RootSpec => ({
  staging,
  lower: real === undefined ? tree : `${tree}:${real.runtime}`,
  binds: [
    { source: artifacts.dist, target: `${OPT}/dist` },
    { source: artifacts.build, target: `${OPT}/build` },
    { source: artifacts.node, target: NODE_PROGRAM },
    { source: artifacts.toolbox, target: '/usr/local/bin/toolbox' },
    { source: tree, target: NODE_TREE },
    ...(real === undefined ? [] : realKubeletBinds(real)),
    ...Object.entries(cniPlugins).map(([name, source]) => ({ source, target: `${CNI_BIN}/${name}` })),
    ...(coredns === undefined ? [] : [{ source: coredns, target: NODE_COREDNS }]),
    ...(konnectivityAgent === undefined ? [] : [{ source: konnectivityAgent, target: NODE_KONNECTIVITY_AGENT }]),
  ],
  folders: FOLDERS,
});

/** A kubelet reads the kernel's log, for processes that ran out of memory. */
const realKubeletBinds = ({ kubelet }: RealKubeletFiles): RootSpec['binds'] => [
  { source: kubelet, target: NODE_KUBELET },
  { source: '/dev/kmsg', target: '/dev/kmsg' },
];

/** The network's addresses as names, the CNI plugin where a runtime looks for it, and commands. */
export const furnishNode = async (artifacts: Artifacts, plan: NetPlan, node: Machine): Promise<void> => {
  await Promise.all([
    writeFile(node.pathOf('/etc/hosts'), hostsFile(plan)),
    writeFile(node.pathOf('/etc/hostname'), `${node.name}\n`),
    installShim(artifacts, node),
    ...COMMANDS.map((command) => installCommand(command, node)),
  ]);
};

const hostsFile = (plan: NetPlan): string =>
  [
    '127.0.0.1 localhost',
    '::1 localhost',
    ...[plan.outside, ...plan.nodes].flatMap(({ name, addresses }) =>
      addresses.map((address) => `${addressOf(address)} ${name}`),
    ),
    '',
  ].join('\n');

/** A copy: an agent may replace it by renaming, which a mount would refuse. */
const installShim = async ({ shim }: Artifacts, node: Machine): Promise<void> => {
  const path = node.pathOf(join(CNI_BIN, SHIM));
  await copyFile(shim, path);
  await chmod(path, 0o755);
};

/** As those of `bin/` do, with the code that `make build` has compiled. */
const installCommand = (command: string, node: Machine): Promise<void> =>
  writeFile(
    node.pathOf(`/usr/local/bin/${command}`),
    [
      '#!/bin/sh',
      `export NODE_COMPILE_CACHE=${OPT}/build/compile-cache NODE_COMPILE_CACHE_PORTABLE=1`,
      `exec ${NODE_PROGRAM} ${OPT}/dist/${command}.mjs "$@"`,
      '',
    ].join('\n'),
    { mode: 0o755 },
  );
