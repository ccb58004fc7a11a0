/** The containers of one pod in its sandbox. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ContainerStart, enterArguments, podCgroup } from './container-command.ts';
import type { ContainerRuntime } from './container-runtime.ts';
import type { ExecInfo } from './exec-info.ts';
import type { ObservedContainer } from './lifecycle.ts';
import { HOSTS_FOLDER, LOG_FOLDER, RESOLV_FOLDER } from './paths.ts';
import { newContainerId } from './pod-sandbox.ts';
import type { Pod, PodContainer } from './pod-spec.ts';
import type { ContainerRecord, SandboxRecord } from './records.ts';
import { resolvConf } from './resolv-conf.ts';

export interface NodeIdentity {
  readonly name: string;
  /** Without prefix lengths. */
  readonly addresses: readonly string[];
  /** What pods ask for names; none: what is in the Debian tree. */
  readonly clusterDns?: readonly string[];
}

export const observe = (runtime: ContainerRuntime, pod: Pod, record: SandboxRecord | undefined): ObservedContainer[] =>
  pod.spec.containers.map(({ name }) => {
    const known = record?.containers[name];
    return { name, record: known, state: known === undefined ? {} : runtime.state(known.id) };
  });

/** The record of the next start of a container; how it ended before is in it. */
export const nextStart = (
  runtime: ContainerRuntime,
  before: ContainerRecord | undefined,
  now: number,
): ContainerRecord => {
  const exit = before === undefined ? undefined : runtime.state(before.id).exit;
  const next = { id: newContainerId(), attempt: before === undefined ? 0 : before.attempt + 1, startedAt: now };
  if (before === undefined || exit === undefined) return next;
  const { code, signal, finishedAt } = exit;
  return { ...next, previous: { id: before.id, startedAt: before.startedAt, code, signal, finishedAt } };
};

export const startContainer = async (
  runtime: ContainerRuntime,
  node: NodeIdentity,
  pod: Pod,
  record: SandboxRecord,
  container: PodContainer,
): Promise<void> => {
  const known = record.containers[container.name];
  if (known === undefined) return;
  const { namespace, name, uid } = pod.metadata;
  const folder = join(LOG_FOLDER, `${namespace}_${name}_${uid}`, container.name);
  await mkdir(folder, { recursive: true });
  await runtime.start({
    id: known.id,
    ...startInput(node, pod, record, container),
    netns: record.netns,
    log: join(folder, `${known.attempt}.log`),
    hosts: await writeHosts(pod, record),
    resolvConf: await writeResolvConf(pod, record, node.clusterDns ?? []),
  });
};

export const containerCgroup = ({ pod }: SandboxRecord, { id }: ContainerRecord): string =>
  `${podCgroup(pod.uid)}/${id}`;

/** How to run a command in the container, from the node; undefined while it does not run. */
export const enterContainer = (
  runtime: ContainerRuntime,
  node: NodeIdentity,
  pod: Pod,
  record: SandboxRecord,
  container: PodContainer,
): string[] | undefined => {
  const known = record.containers[container.name];
  const { pid, exit } = known === undefined ? {} : runtime.state(known.id);
  if (pid === undefined || exit !== undefined) return undefined;
  return enterArguments(pid, startInput(node, pod, record, container));
};

export const execInfoOf = (
  runtime: ContainerRuntime,
  node: NodeIdentity,
  pod: Pod,
  record: SandboxRecord,
): ExecInfo => ({
  containers: pod.spec.containers.flatMap((container) => {
    const prefix = enterContainer(runtime, node, pod, record, container);
    return prefix === undefined ? [] : [{ name: container.name, prefix }];
  }),
});

/** Forgets containers that have ended, and their files. */
export const removeContainers = async (runtime: ContainerRuntime, record: SandboxRecord): Promise<void> => {
  await Promise.all(
    Object.values(record.containers).map((known) => runtime.remove(known.id, containerCgroup(record, known))),
  );
  for (const folder of [HOSTS_FOLDER, RESOLV_FOLDER]) await rm(join(folder, record.id), { force: true });
};

const startInput = (
  node: NodeIdentity,
  pod: Pod,
  record: SandboxRecord,
  container: PodContainer,
): Omit<ContainerStart, 'id' | 'files' | 'netns'> => {
  const known = record.containers[container.name];
  return {
    pod,
    container,
    cgroup: known === undefined ? podCgroup(pod.metadata.uid) : containerCgroup(record, known),
    podAddresses: record.addresses,
    nodeName: node.name,
    nodeAddresses: node.addresses,
  };
};

const writeHosts = async (pod: Pod, { id, addresses }: SandboxRecord): Promise<string> => {
  await mkdir(HOSTS_FOLDER, { recursive: true });
  const path = join(HOSTS_FOLDER, id);
  const name = pod.spec.hostname ?? pod.metadata.name;
  const lines = ['127.0.0.1 localhost', '::1 localhost', ...addresses.map((address) => `${address} ${name}`)];
  await writeFile(path, `${lines.join('\n')}\n`);
  return path;
};

const writeResolvConf = async (
  pod: Pod,
  { id }: SandboxRecord,
  clusterDns: readonly string[],
): Promise<string | undefined> => {
  const content = resolvConf(pod, clusterDns);
  if (content === undefined) return undefined;
  await mkdir(RESOLV_FOLDER, { recursive: true });
  const path = join(RESOLV_FOLDER, id);
  await writeFile(path, content);
  return path;
};
