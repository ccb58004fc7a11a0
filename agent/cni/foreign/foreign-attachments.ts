/** Attachments to networks of other plugins, made and taken away one after the other (multi-net-spec v1.3, section 7.3). */
import { CniError } from '../../../api/cni/error.ts';
import type { AttachmentRequest, CniPod } from '../../../api/cni/request.ts';
import { type CniResult, parseCniResult } from '../../../api/cni/result.ts';
import type { DeviceInfo } from '../../../api/device-info.ts';
import { messageOf } from '../../../base/error-message.ts';
import { type Ip, ipFamily } from '../../../net/ip.ts';
import type { DefaultRoute, ForeignAttachment } from '../../model/attachments.ts';
import { addChain, checkChain, named, removeChain } from './chain.ts';
import { withDefaultRoutes } from './default-route.ts';
import type { DeviceInfoFiles } from './device-info-files.ts';
import { recordOf } from './invocation.ts';
import { overlapWith, rangesOfResult, type TakenRange } from './overlap.ts';
import type { PluginHost } from './plugin-host.ts';
import type { PodRoutes } from './pod-routes.ts';
import type { AttachmentRecord, SandboxRecord } from './record.ts';
import type { RecordStore } from './record-store.ts';

export interface MadeAttachment {
  readonly nadKey: string;
  readonly interfaceName: string;
  readonly result: CniResult;
  /** Gateways of the pod's default routes by this interface, where it has asked for them. */
  readonly defaultRoute?: readonly Ip[] | undefined;
  /** What a plugin has said of the device that it has given the pod. */
  readonly deviceInfo?: DeviceInfo | undefined;
}

/** What a pod is to have of other plugins. */
export interface DesiredForeign {
  readonly attachments: readonly ForeignAttachment[];
  /** That the pod has asked for, by one of these or by an interface of ours. */
  readonly defaultRoute: DefaultRoute | undefined;
  /** What the pod has by networks of ours. */
  readonly taken: readonly TakenRange[];
}

/** Whose attachments. */
export type Sandbox = Pick<AttachmentRequest, 'containerId' | 'netns' | 'pod'>;

export interface ForeignOptions {
  readonly store: RecordStore;
  readonly routes: PodRoutes;
  readonly deviceInfo: DeviceInfoFiles;
  /** The pod is attached, and something of it is not reported. */
  readonly onUnreported: (pod: CniPod, message: string) => void;
}

export class ForeignAttachments {
  readonly #options: ForeignOptions;
  /** Sandboxes that the last GC could not take everything away of. */
  #failed: ReadonlySet<string> = new Set();

  constructor(options: ForeignOptions) {
    this.#options = options;
  }

  /**
   * Makes them in order, up to the first that fails; what is left of an earlier ADD of the sandbox is taken away first.
   * What it has made stays: `remove` takes it back.
   * @throws CniError that names the attachment and the plugin
   */
  async add(
    { attachments, defaultRoute, taken }: DesiredForeign,
    sandbox: Sandbox,
    host: PluginHost,
    signal: AbortSignal,
  ): Promise<readonly MadeAttachment[]> {
    if (attachments.length === 0) return [];
    await this.remove(sandbox, host);
    const { deviceInfo } = this.#options;
    const made: AttachmentRecord[] = [];
    const ranges = [...taken];
    for (const [index, attachment] of attachments.entries()) {
      signal.throwIfAborted();
      const record = recordOf(attachment, deviceInfo.pathOf(sandbox.containerId, index));
      await this.#write(sandbox, [...made, record]);
      made.push(await named(record, () => this.#addOne(record, sandbox, host)));
      await this.#write(sandbox, made);
      const own = rangesOfResult(record, parseCniResult(made.at(-1)?.result));
      const overlap = overlapWith(own, ranges);
      if (overlap !== undefined)
        throw new CniError('foreignPlugin', `${record.nadKey} as ${record.ifName}: ${overlap}`);
      ranges.push(...own);
    }
    if (defaultRoute === undefined) return made.flatMap(madeOf);
    return (await this.#route(made, defaultRoute, sandbox)).flatMap(madeOf);
  }

  async #addOne(record: AttachmentRecord, sandbox: Sandbox, host: PluginHost): Promise<AttachmentRecord> {
    const { deviceInfoFile } = record;
    if (deviceInfoFile === undefined) return { ...record, result: await addChain(record, sandbox, host) };
    await this.#options.deviceInfo.prepare(deviceInfoFile);
    const result = await addChain(record, sandbox, host);
    const deviceInfo = await this.#deviceInfo(record, deviceInfoFile, sandbox);
    return { ...record, result, ...(deviceInfo && { deviceInfo }) };
  }

  /** The pod has its device, whatever its plugin says of it. */
  async #deviceInfo(
    { nadKey, ifName }: AttachmentRecord,
    path: string,
    { pod }: Sandbox,
  ): Promise<DeviceInfo | undefined> {
    try {
      return await this.#options.deviceInfo.read(path);
    } catch (error) {
      const what = `${nadKey} as ${ifName}: network-status lacks device-info`;
      this.#options.onUnreported(pod, `${what}: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** Only when all are made: each plugin may have brought a default route of its own. */
  async #route(
    made: readonly AttachmentRecord[],
    desired: DefaultRoute,
    sandbox: Sandbox,
  ): Promise<readonly AttachmentRecord[]> {
    const one = made.find(({ ifName }) => ifName === desired.interfaceName);
    const give = (): Promise<void> =>
      this.#options.routes.give(
        sandbox.netns,
        desired,
        made.map(({ ifName }) => ifName),
      );
    await (one === undefined ? give() : named(one, give));
    const families = desired.gateways.map(ipFamily);
    const routed = made.map(({ result, ...record }) => ({
      ...record,
      result: withDefaultRoutes(result, parseCniResult(result), { families, gateways: record.defaultRoute ?? [] }),
    }));
    await this.#write(sandbox, routed);
    return routed;
  }

  /**
   * Takes all away that the sandbox has, the last first, and goes on where one fails. What could not be taken away stays on record.
   * @throws the failure, or an AggregateError of several
   */
  async remove(sandbox: Sandbox, host: PluginHost): Promise<void> {
    const record = await this.#options.store.read(sandbox.containerId);
    if (record === undefined) return;
    const left: AttachmentRecord[] = [];
    const failures: unknown[] = [];
    for (const attachment of record.attachments.toReversed()) {
      const failed = await removeChain(attachment, sandbox, host);
      if (failed.length === 0) failed.push(...(await this.#removeFile(attachment)));
      if (failed.length > 0) left.unshift(attachment);
      failures.push(...failed);
    }
    await this.#options.store.write({ ...record, attachments: left });
    throwAll(failures);
  }

  /** When nobody needs it any more: a DEL that is repeated has its path. @returns the failure */
  async #removeFile({ deviceInfoFile, ...record }: AttachmentRecord): Promise<unknown[]> {
    if (deviceInfoFile === undefined) return [];
    try {
      await named(record, () => this.#options.deviceInfo.remove(deviceInfoFile));
      return [];
    } catch (error) {
      return [error];
    }
  }

  /** Those that were made and are on record, in their order. @throws Error when the record cannot be read */
  async made({ containerId }: Pick<Sandbox, 'containerId'>): Promise<readonly MadeAttachment[]> {
    const record = await this.#options.store.read(containerId);
    return (record?.attachments ?? []).flatMap(madeOf);
  }

  /** What differs from what was made, one message each. @param desired of the pod now; undefined: nobody knows */
  async check(
    desired: readonly ForeignAttachment[] | undefined,
    sandbox: Sandbox,
    host: PluginHost,
  ): Promise<readonly string[]> {
    const made = (await this.#options.store.read(sandbox.containerId))?.attachments ?? [];
    const missing = (desired ?? []).filter((one) => !made.some(({ ifName }) => ifName === one.interfaceName));
    const messages = missing.map(({ nadKey, interfaceName }) => `${nadKey} as ${interfaceName} is not attached`);
    for (const record of made) {
      try {
        await named(record, () => checkChain(record, sandbox, host));
        messages.push(...(await this.#missingRoutes(record, sandbox)));
      } catch (error) {
        messages.push(messageOf(error));
      }
    }
    return messages;
  }

  /**
   * Takes away what sandboxes have that are not kept. The verb GC is not passed on to plugins: the name of a network is its author's to
   * choose, and what other programs of the host have on a network of that name is not ours to judge.
   * @returns the sandboxes @throws an AggregateError of what could not be taken away; the others are gone
   */
  async collect(kept: readonly string[], host: PluginHost): Promise<readonly string[]> {
    const stays = new Set(kept);
    const stale = (await this.#options.store.list()).filter((containerId) => !stays.has(containerId));
    const failures: unknown[] = [];
    const failed = new Set<string>();
    // The shim runs one plugin at a time, and a call ends: what has failed before, perhaps as it hangs, lets the others go first.
    const isKnown = (containerId: string): number => Number(this.#failed.has(containerId));
    for (const containerId of stale.toSorted((a, b) => isKnown(a) - isKnown(b))) {
      try {
        const pod = (await this.#options.store.read(containerId))?.pod;
        if (pod !== undefined) await this.remove({ containerId, netns: '', pod }, host);
      } catch (error) {
        failed.add(containerId);
        failures.push(error);
      }
    }
    this.#failed = failed;
    throwAll(failures);
    return stale;
  }

  async #missingRoutes(
    { nadKey, ifName, defaultRoute = [] }: AttachmentRecord,
    { netns }: Sandbox,
  ): Promise<readonly string[]> {
    if (defaultRoute.length === 0) return [];
    const missing = await this.#options.routes.missing(netns, { interfaceName: ifName, gateways: defaultRoute });
    return missing.map((message) => `${nadKey} as ${ifName}: ${message}`);
  }

  #write({ containerId, pod }: Sandbox, attachments: readonly AttachmentRecord[]): Promise<void> {
    return this.#options.store.write({ containerId, pod, attachments } satisfies SandboxRecord);
  }
}

/** None of one whose ADD has not ended. */
const madeOf = ({ nadKey, ifName, result, defaultRoute, deviceInfo }: AttachmentRecord): MadeAttachment[] =>
  result === undefined
    ? []
    : [
        {
          nadKey,
          interfaceName: ifName,
          result: parseCniResult(result),
          ...(defaultRoute && { defaultRoute }),
          ...(deviceInfo && { deviceInfo }),
        },
      ];

const throwAll = (failures: readonly unknown[]): void => {
  const [first, ...others] = failures;
  if (first === undefined) return;
  throw others.length === 0 ? first : new AggregateError(failures, failures.map(messageOf).join('; '));
};
