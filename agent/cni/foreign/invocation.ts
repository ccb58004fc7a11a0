/** What a plugin of another network is called with, as libcni has it (CNI specification 1.1.0, sections 2 to 4). Pure. */
import type { CniPod } from '../../../api/cni/request.ts';
import { DEVICE_INFO_CAPABILITY } from '../../../api/device-info.ts';
import { capabilityOf } from '../../../api/foreign-capabilities.ts';
import type { ForeignConf, ForeignPlugin } from '../../../api/foreign-conf.ts';
import type { ForeignAttachment, Selection } from '../../model/attachments.ts';
import type { PluginCall } from './plugin-host.ts';
import type { AttachmentRecord } from './record.ts';

export interface SandboxIdentity {
  readonly containerId: string;
  /** Empty: it is gone. */
  readonly netns: string;
}

type Verb = 'ADD' | 'DEL' | 'CHECK';

/**
 * Everything that DEL has to repeat is in the record: the NAD may be another one by then.
 * @param deviceInfoFile for plugins that say which device they have given the pod
 */
export const recordOf = (
  { nadKey, interfaceName, conf, selection }: ForeignAttachment,
  deviceInfoFile: string,
): AttachmentRecord => ({
  nadKey,
  ifName: interfaceName,
  cniVersion: conf.cniVersion,
  network: conf.name,
  disableCheck: conf.disableCheck,
  plugins: conf.plugins.map((plugin) => ({
    type: plugin.type,
    config: configOf(plugin, conf, { selection, deviceInfoFile }),
  })),
  ...(conf.plugins.some(({ capabilities }) => capabilities.includes(DEVICE_INFO_CAPABILITY)) && { deviceInfoFile }),
  ...(selection.defaultRoute.length > 0 && { defaultRoute: selection.defaultRoute }),
});

const configOf = (
  plugin: ForeignPlugin,
  { cniVersion, name }: ForeignConf,
  { selection, deviceInfoFile }: { readonly selection: Selection; readonly deviceInfoFile: string },
): AttachmentRecord['plugins'][number]['config'] => {
  const offered = [...capabilityOf(selection), { name: DEVICE_INFO_CAPABILITY, value: deviceInfoFile }];
  const asked = offered.filter((one) => plugin.capabilities.includes(one.name));
  const runtimeConfig = Object.fromEntries(asked.map((one) => [one.name, one.value]));
  return {
    ...plugin.config,
    ...withArguments(plugin.config['args'], selection.cniArgs),
    ...(asked.length > 0 && { runtimeConfig }),
    name,
    cniVersion,
  };
};

/** `cni-args` of a selection, besides what the configuration has. */
const withArguments = (args: unknown, cniArgs: Readonly<Record<string, unknown>> | undefined): object => {
  if (cniArgs === undefined) return {};
  const own = objectOf(args);
  return { args: { ...own, cni: { ...objectOf(own['cni']), ...cniArgs } } };
};

const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};

/** @param prevResult of the plugin before it; on DEL and CHECK of the whole chain */
export const pluginCall = (
  verb: Verb,
  record: AttachmentRecord,
  { type, config }: AttachmentRecord['plugins'][number],
  {
    sandbox,
    pod,
    prevResult,
  }: { readonly sandbox: SandboxIdentity; readonly pod: CniPod; readonly prevResult?: unknown },
): PluginCall => ({
  type,
  env: {
    CNI_COMMAND: verb,
    CNI_CONTAINERID: sandbox.containerId,
    CNI_NETNS: sandbox.netns,
    CNI_IFNAME: record.ifName,
    CNI_ARGS: argumentsOf(sandbox, pod),
  },
  stdin: JSON.stringify({ ...config, ...(prevResult !== undefined && { prevResult }) }),
});

/** As runtimes have them: plugins look the pod up. */
const argumentsOf = ({ containerId }: SandboxIdentity, { namespace, name, uid }: CniPod): string =>
  [
    'IgnoreUnknown=1',
    `K8S_POD_NAMESPACE=${namespace}`,
    `K8S_POD_NAME=${name}`,
    `K8S_POD_INFRA_CONTAINER_ID=${containerId}`,
    ...(uid === undefined ? [] : [`K8S_POD_UID=${uid}`]),
  ].join(';');
