/** The network namespace and cgroup of a pod, and its attachment by CNI. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasSystemCode } from '../errors.ts';
import { NODE_TOOLBOX } from '../machine/node-root.ts';
import { commandRunner } from '../process/runner.ts';
import type { NetworkConf } from './cni/conf.ts';
import type { Cni } from './cni/invoke.ts';
import { type Attachment, POD_INTERFACE } from './cni/request.ts';
import { podAddresses } from './cni/result.ts';
import { CGROUP_ROOT, podCgroup } from './container-command.ts';
import type { Pod } from './pod-spec.ts';
import type { RecordStore, SandboxRecord } from './records.ts';

export interface PodSandboxes {
  /** Nothing is made yet, but the record is written: whatever becomes of `attach`, `remove` will follow. */
  prepare(pod: Pod, conf: NetworkConf | undefined, nodeAddresses: readonly string[]): Promise<SandboxRecord>;
  /** @returns the record with the pod's addresses, written @throws CniFailure */
  attach(record: SandboxRecord): Promise<SandboxRecord>;
  /** May be repeated. The record goes last. @throws CniFailure */
  remove(record: SandboxRecord): Promise<void>;
}

const NETNS_FOLDER = '/run/netns';

export const createPodSandboxes = (cni: Cni, records: RecordStore): PodSandboxes => ({
  prepare: async (pod, conf, nodeAddresses) => {
    const record = newRecord(pod, conf, nodeAddresses);
    await records.save(record);
    return record;
  },
  attach: async (record) => {
    await mkdir(join(CGROUP_ROOT, podCgroup(record.pod.uid)), { recursive: true });
    const attached = record.conf === undefined ? record : await attach(cni, record.conf, record);
    const ready: SandboxRecord = { ...attached, phase: 'ready' };
    await records.save(ready);
    return ready;
  },
  remove: async (record) => {
    if (record.conf !== undefined) await cni.delete(record.conf, await attachmentOf(record), record.result);
    if (record.netns !== undefined) await toolbox('netns', 'delete', record.netns);
    await rmdir(join(CGROUP_ROOT, podCgroup(record.pod.uid))).catch(ignoreAbsent);
    await records.remove(record.id);
  },
});

const newRecord = (pod: Pod, conf: NetworkConf | undefined, nodeAddresses: readonly string[]): SandboxRecord => {
  const { namespace, name, uid } = pod.metadata;
  return {
    id: newContainerId(),
    pod: { namespace, name, uid },
    phase: 'adding',
    hostNetwork: conf === undefined,
    ...(conf === undefined
      ? {}
      : { netns: join(NETNS_FOLDER, `cni-${randomUUID()}`), conf: { ...conf, plugins: [...conf.plugins] } }),
    addresses: conf === undefined ? [...nodeAddresses] : [],
    containers: {},
  };
};

/** As container runtimes make them. */
export const newContainerId = (): string => randomBytes(32).toString('hex');

const attach = async (cni: Cni, conf: NetworkConf, record: SandboxRecord): Promise<SandboxRecord> => {
  await toolbox('netns', 'add', record.netns ?? '');
  const result = await cni.add(conf, await attachmentOf(record));
  return { ...record, result, addresses: podAddresses(result) };
};

/** CNI_NETNS of a namespace that is gone is empty, CNI specification section 2. */
const attachmentOf = async ({ id, netns = '', pod }: SandboxRecord): Promise<Attachment> => {
  const isThere = await stat(netns).then(
    () => true,
    () => false,
  );
  return { containerId: id, netns: isThere ? netns : '', ifName: POD_INTERFACE, pod };
};

const toolbox = async (...args: readonly string[]): Promise<void> => {
  await commandRunner().run({ file: NODE_TOOLBOX, args });
};

const ignoreAbsent = (error: unknown): void => {
  if (!hasSystemCode(error, 'ENOENT', 'EBUSY', 'ENOTEMPTY')) throw error;
};
