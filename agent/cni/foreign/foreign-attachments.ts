/**
 * Attachments to networks of other plugins, made and taken away as libcni does: a chain forwards with the result of the plugin before,
 * backwards with the result of the whole. One after the other (multi-net-spec v1.3, section 7.3).
 */
import { CniError } from '../../../api/cni/error.ts';
import type { AttachmentRequest } from '../../../api/cni/request.ts';
import { type CniResult, parseCniResult } from '../../../api/cni/result.ts';
import { isAtLeast } from '../../../api/cni/version.ts';
import { messageOf } from '../../../base/error-message.ts';
import { type Ip, ipFamily } from '../../../net/ip.ts';
import type { DefaultRoute, ForeignAttachment } from '../../model/attachments.ts';
import { unreachableGateway, withDefaultRoutes } from './default-route.ts';
import { pluginCall, recordOf } from './invocation.ts';
import { requireSuccess, resultOf } from './outcome.ts';
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
}

/** What a pod is to have of other plugins. */
export interface DesiredForeign {
  readonly attachments: readonly ForeignAttachment[];
  /** That the pod has asked for, by one of these or by an interface of ours. */
  readonly defaultRoute: DefaultRoute | undefined;
}

/** Whose attachments. */
export type Sandbox = Pick<AttachmentRequest, 'containerId' | 'netns' | 'pod'>;

export interface ForeignOptions {
  readonly store: RecordStore;
  readonly routes: PodRoutes;
}

export class ForeignAttachments {
  readonly #store: RecordStore;
  readonly #routes: PodRoutes;
  /** Sandboxes that the last GC could not take everything away of. */
  #failed: ReadonlySet<string> = new Set();

  constructor({ store, routes }: ForeignOptions) {
    this.#store = store;
    this.#routes = routes;
  }

  /**
   * Makes them in order, up to the first that fails; what is left of an earlier ADD of the sandbox is taken away first.
   * What it has made stays: `remove` takes it back.
   * @throws CniError that names the attachment and the plugin
   */
  async add(
    { attachments, defaultRoute }: DesiredForeign,
    sandbox: Sandbox,
    host: PluginHost,
    signal: AbortSignal,
  ): Promise<readonly MadeAttachment[]> {
    if (attachments.length === 0) return [];
    await this.remove(sandbox, host);
    const made: AttachmentRecord[] = [];
    for (const attachment of attachments) {
      signal.throwIfAborted();
      const record = recordOf(attachment);
      await this.#write(sandbox, [...made, record]);
      const result = await named(record, () => addChain(record, sandbox, host));
      made.push({ ...record, result });
      await this.#write(sandbox, made);
    }
    if (defaultRoute === undefined) return made.flatMap(madeOf);
    return (await this.#route(made, defaultRoute, sandbox)).flatMap(madeOf);
  }

  /** Only when all are made: each plugin may have brought a default route of its own. */
  async #route(
    made: readonly AttachmentRecord[],
    desired: DefaultRoute,
    sandbox: Sandbox,
  ): Promise<readonly AttachmentRecord[]> {
    const one = made.find(({ ifName }) => ifName === desired.interfaceName);
    const give = (): Promise<void> =>
      this.#routes.give(
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
    const record = await this.#store.read(sandbox.containerId);
    if (record === undefined) return;
    const left: AttachmentRecord[] = [];
    const failures: unknown[] = [];
    for (const attachment of record.attachments.toReversed()) {
      const failed = await removeChain(attachment, sandbox, host);
      if (failed.length > 0) left.unshift(attachment);
      failures.push(...failed);
    }
    await this.#store.write({ ...record, attachments: left });
    throwAll(failures);
  }

  /** Those that were made and are on record, in their order. @throws Error when the record cannot be read */
  async made({ containerId }: Pick<Sandbox, 'containerId'>): Promise<readonly MadeAttachment[]> {
    const record = await this.#store.read(containerId);
    return (record?.attachments ?? []).flatMap(madeOf);
  }

  /** What differs from what was made, one message each. @param desired of the pod now; undefined: nobody knows */
  async check(
    desired: readonly ForeignAttachment[] | undefined,
    sandbox: Sandbox,
    host: PluginHost,
  ): Promise<readonly string[]> {
    const made = (await this.#store.read(sandbox.containerId))?.attachments ?? [];
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
    const stale = (await this.#store.list()).filter((containerId) => !stays.has(containerId));
    const failures: unknown[] = [];
    const failed = new Set<string>();
    // The shim runs one plugin at a time, and a call ends: what has failed before, perhaps as it hangs, lets the others go first.
    const isKnown = (containerId: string): number => Number(this.#failed.has(containerId));
    for (const containerId of stale.toSorted((a, b) => isKnown(a) - isKnown(b))) {
      try {
        const pod = (await this.#store.read(containerId))?.pod;
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
    const missing = await this.#routes.missing(netns, { interfaceName: ifName, gateways: defaultRoute });
    return missing.map((message) => `${nadKey} as ${ifName}: ${message}`);
  }

  #write({ containerId, pod }: Sandbox, attachments: readonly AttachmentRecord[]): Promise<void> {
    return this.#store.write({ containerId, pod, attachments } satisfies SandboxRecord);
  }
}

const addChain = async (record: AttachmentRecord, sandbox: Sandbox, host: PluginHost): Promise<unknown> => {
  let prevResult: unknown;
  for (const plugin of record.plugins) {
    const outcome = await host.run(pluginCall('ADD', record, plugin, { sandbox, pod: sandbox.pod, prevResult }));
    requireSuccess(plugin.type, outcome);
    prevResult = resultOf(plugin.type, outcome);
  }
  const { ifName: interfaceName, defaultRoute: gateways = [] } = record;
  const refused = unreachableGateway({ interfaceName, gateways }, parseCniResult(prevResult));
  if (refused !== undefined) throw new CniError('foreignPlugin', refused);
  return prevResult;
};

/** None of one whose ADD has not ended. */
const madeOf = ({ nadKey, ifName, result, defaultRoute }: AttachmentRecord): MadeAttachment[] =>
  result === undefined
    ? []
    : [{ nadKey, interfaceName: ifName, result: parseCniResult(result), ...(defaultRoute && { defaultRoute }) }];

/** All plugins, also after one that fails: the one before it may have made the link. @returns the failures */
const removeChain = async (record: AttachmentRecord, sandbox: Sandbox, host: PluginHost): Promise<unknown[]> => {
  const prevResult = isAtLeast(record.cniVersion, '0.4.0') ? record.result : undefined;
  const failures: unknown[] = [];
  for (const plugin of record.plugins.toReversed()) {
    const call = pluginCall('DEL', record, plugin, { sandbox, pod: sandbox.pod, prevResult });
    try {
      await named(record, async () => requireSuccess(plugin.type, await host.run(call)));
    } catch (error) {
      failures.push(error);
    }
  }
  return failures;
};

const checkChain = async (record: AttachmentRecord, sandbox: Sandbox, host: PluginHost): Promise<void> => {
  const { result: prevResult, cniVersion, disableCheck } = record;
  if (prevResult === undefined) throw new CniError('internal', 'its ADD has not ended');
  if (disableCheck || !isAtLeast(cniVersion, '0.4.0')) return;
  for (const plugin of record.plugins) {
    const call = pluginCall('CHECK', record, plugin, { sandbox, pod: sandbox.pod, prevResult });
    requireSuccess(plugin.type, await host.run(call));
  }
};

/** Errors say which attachment of the pod they are about. */
const named = async <Result>(
  { nadKey, ifName }: Pick<AttachmentRecord, 'nadKey' | 'ifName'>,
  work: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    const reason = error instanceof CniError ? error.reason : 'internal';
    throw new CniError(reason, `${nadKey} as ${ifName}: ${messageOf(error)}`, { cause: error });
  }
};

const throwAll = (failures: readonly unknown[]): void => {
  const [first, ...others] = failures;
  if (first === undefined) return;
  throw others.length === 0 ? first : new AggregateError(failures, failures.map(messageOf).join('; '));
};
