/** The plugins of one attachment, called as libcni does: forwards with the result of the plugin before, backwards with that of the whole. */
import { CniError } from '../../../api/cni/error.ts';
import type { CniPod } from '../../../api/cni/request.ts';
import { parseCniResult } from '../../../api/cni/result.ts';
import { isAtLeast } from '../../../api/cni/version.ts';
import { messageOf } from '../../../base/error-message.ts';
import { unreachableGateway } from './default-route.ts';
import { pluginCall, type SandboxIdentity } from './invocation.ts';
import { requireSuccess, resultOf } from './outcome.ts';
import type { PluginHost } from './plugin-host.ts';
import type { AttachmentRecord } from './record.ts';

interface CalledSandbox extends SandboxIdentity {
  readonly pod: CniPod;
}

/** @returns the result of the last @throws CniError of the first that fails, or when the pod cannot have the default route that it asks for */
export const addChain = async (
  record: AttachmentRecord,
  sandbox: CalledSandbox,
  host: PluginHost,
): Promise<unknown> => {
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

/** All plugins, also after one that fails: the one before it may have made the link. @returns the failures */
export const removeChain = async (
  record: AttachmentRecord,
  sandbox: CalledSandbox,
  host: PluginHost,
): Promise<unknown[]> => {
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

/** @throws CniError of the first that is not content */
export const checkChain = async (record: AttachmentRecord, sandbox: CalledSandbox, host: PluginHost): Promise<void> => {
  const { result: prevResult, cniVersion, disableCheck } = record;
  if (prevResult === undefined) throw new CniError('internal', 'its ADD has not ended');
  if (disableCheck || !isAtLeast(cniVersion, '0.4.0')) return;
  for (const plugin of record.plugins) {
    const call = pluginCall('CHECK', record, plugin, { sandbox, pod: sandbox.pod, prevResult });
    requireSuccess(plugin.type, await host.run(call));
  }
};

/** Errors say which attachment of the pod they are about. */
export const named = async <Result>(
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
