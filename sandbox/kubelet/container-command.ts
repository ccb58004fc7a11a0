/** The command line that starts a container. */
import { NODE_COREDNS, NODE_TOOLBOX, NODE_TREE } from '../machine/node-root.ts';
import type { Pod, PodContainer } from './pod-spec.ts';

export const CGROUP_ROOT = '/sys/fs/cgroup';
const TOOLBOX_IN_POD = '/usr/local/bin/toolbox';
const COREDNS_IN_POD = '/usr/local/bin/coredns';
/** Beside kubelet's own cgroup, whose connections nftables rules distinguish from all others. */
const SHIM_CGROUP = `${CGROUP_ROOT}/system.slice/containerd.service`;

export interface ContainerStart {
  readonly id: string;
  readonly pod: Pod;
  readonly container: PodContainer;
  /** Undefined for pods of the host's network. */
  readonly netns: string | undefined;
  /** Below the node's root cgroup. */
  readonly cgroup: string;
  readonly podAddresses: readonly string[];
  readonly nodeName: string;
  readonly nodeAddresses: readonly string[];
  readonly files: {
    readonly pid: string;
    readonly exit: string;
    readonly log: string;
    readonly mount: string;
    readonly hosts: string;
    /** Undefined: that of the Debian tree. */
    readonly resolvConf?: string | undefined;
  };
}

/** As the kubelet's cgroupfs driver names them. */
export const podCgroup = (uid: string): string => `kubepods/besteffort/pod${uid}`;

export const containerArguments = (start: ContainerStart): string[] => {
  const { files, container } = start;
  return [
    'container',
    ...['--shim-cgroup', SHIM_CGROUP],
    ...['--pid-file', files.pid, '--exit-file', files.exit, '--log', files.log],
    ...(start.netns === undefined ? [] : ['--net-file', start.netns]),
    ...['--cgroup', `${CGROUP_ROOT}/${start.cgroup}`],
    ...['--hostname', hostnameOf(start)],
    ...['--staging', files.mount, '--lower', NODE_TREE],
    ...['--bind', `${NODE_TOOLBOX}:${TOOLBOX_IN_POD}`],
    ...['--bind', `${files.hosts}:/etc/hosts:rw`],
    ...(files.resolvConf === undefined ? [] : ['--bind', `${files.resolvConf}:/etc/resolv.conf:rw`]),
    ...(container.image === 'coredns' ? ['--bind', `${NODE_COREDNS}:${COREDNS_IN_POD}`] : []),
    ...(container.workingDir === undefined ? [] : ['--workdir', container.workingDir]),
    ...containerEnvironment(start).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    '--',
    ...commandOf(container),
  ];
};

/** In a container that runs, from the node. */
export const enterArguments = (pid: number, start: Pick<ContainerStart, 'cgroup'> & EnvironmentInput): string[] => [
  NODE_TOOLBOX,
  'enter',
  ...['--target', String(pid)],
  ...['--cgroup', `${CGROUP_ROOT}/${start.cgroup}`],
  '--clear-env',
  ...['--env', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', '--env', 'HOME=/root'],
  ...containerEnvironment(start).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
];

type EnvironmentInput = Pick<ContainerStart, 'pod' | 'container' | 'podAddresses' | 'nodeName' | 'nodeAddresses'>;

const hostnameOf = ({ pod, nodeName }: Pick<ContainerStart, 'pod' | 'nodeName'>): string =>
  pod.spec.hostNetwork ? nodeName : (pod.spec.hostname ?? pod.metadata.name);

/** Every image is the toolbox, `coredns` with that program besides: `command` takes the place of its entry point, `args` of its arguments. */
const commandOf = ({ command, args }: PodContainer): string[] => [
  ...(command.length === 0 ? [TOOLBOX_IN_POD] : command),
  ...args,
];

const containerEnvironment = (input: EnvironmentInput): [string, string][] => [
  ['POD_NAME', input.pod.metadata.name],
  ...input.container.env.map(({ name, value, valueFrom }): [string, string] => [
    name,
    valueFrom?.fieldRef === undefined ? value : fieldValue(valueFrom.fieldRef.fieldPath, input),
  ]),
];

/** The downward API: fields of the pod as environment variables. */
const fieldValue = (path: string, { pod, podAddresses, nodeName, nodeAddresses }: EnvironmentInput): string => {
  const [, map, key = ''] = /^metadata\.(labels|annotations)\['([^']+)'\]$/.exec(path) ?? [];
  if (map === 'labels') return pod.metadata.labels[key] ?? '';
  if (map === 'annotations') return pod.metadata.annotations[key] ?? '';
  const fields: Readonly<Record<string, string>> = {
    'metadata.name': pod.metadata.name,
    'metadata.namespace': pod.metadata.namespace,
    'metadata.uid': pod.metadata.uid,
    'spec.nodeName': nodeName,
    'status.podIP': podAddresses[0] ?? '',
    'status.podIPs': podAddresses.join(','),
    'status.hostIP': nodeAddresses[0] ?? '',
    'status.hostIPs': nodeAddresses.join(','),
  };
  return fields[path] ?? '';
};
