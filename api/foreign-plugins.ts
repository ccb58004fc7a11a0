/**
 * Which plugins of other networks the nodes run (`--foreign-plugins`): they run as root on the host, with what the author of a NAD has
 * written. None by default. Pure. See ADR 128.
 */
import { ApiError } from './errors.ts';
import { type ForeignConf, type ForeignPlugin, PATH_KEYS } from './foreign-conf.ts';
import { commaList } from './scalars.ts';

export interface AllowedPlugin {
  readonly type: string;
  /** NADs of this namespace alone, and with paths of the host; absent: of all namespaces, without. */
  readonly namespace?: string | undefined;
}

const ENTRY = /^(?:([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)\/)?([A-Za-z0-9][A-Za-z0-9._-]{0,63})$/;

/** `bridge,host-local,infra/macvlan` @throws ApiError */
export const parseForeignPlugins = (text: string): readonly AllowedPlugin[] =>
  commaList(text).map((entry) => {
    const [, namespace, type] = ENTRY.exec(entry) ?? [];
    if (type === undefined) throw new ApiError('ERR_API_FIELD', `"${entry}" is not [NAMESPACE/]PLUGIN`);
    return { type, namespace };
  });

/** Why a node does not run what a NAD names; undefined: it does. */
export const refusedPlugins = (
  { plugins }: Pick<ForeignConf, 'plugins'>,
  nadNamespace: string,
  allowed: readonly AllowedPlugin[],
): string | undefined => {
  for (const plugin of plugins) {
    const reason = refusedPlugin(plugin, nadNamespace, allowed);
    if (reason !== undefined) return reason;
  }
  return undefined;
};

const refusedPlugin = (
  plugin: ForeignPlugin,
  nadNamespace: string,
  allowed: readonly AllowedPlugin[],
): string | undefined => {
  const types = [plugin.type, ...(plugin.ipam === undefined ? [] : [plugin.ipam])];
  const entries = types.map((type) => allowed.filter((one) => one.type === type));
  const isOfNamespace = ({ namespace }: AllowedPlugin): boolean => namespace === nadNamespace;
  const lacking = types.find((_, i) => !entries[i]?.some((one) => one.namespace === undefined || isOfNamespace(one)));
  if (lacking !== undefined)
    return `plugin ${lacking} is not in --foreign-plugins of the agents for NetworkAttachmentDefinitions of namespace ${nadNamespace}`;
  const { ipam, ...rest } = plugin.config;
  for (const [i, part] of [rest, { ipam }].entries()) {
    const type = types[i] ?? plugin.type;
    const found = entries[i]?.some(isOfNamespace) === true ? undefined : hostKeyIn(part);
    if (found !== undefined)
      return `${found} of plugin ${type} names a path or a link of the host, which --foreign-plugins allows by ${nadNamespace}/${type} only`;
  }
  return undefined;
};

/** The author of a pod writes `cni-args`, whoever has written the NAD. @returns why they are not passed on */
export const refusedArguments = (cniArgs: Readonly<Record<string, unknown>> | undefined): string | undefined => {
  const found = hostKeyIn(cniArgs);
  return found === undefined ? undefined : `cni-args: ${found} names a path or a link of the host`;
};

/** The first value that may be a path (one with a slash that is no subnet), or is the name of a link that ovn-udn or OVN makes. */
const hostKeyIn = (value: unknown, at = ''): string | undefined => {
  if (typeof value === 'string') return isPath(value) || isOurLink(value) ? at : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const name = Array.isArray(value) ? `${at}[${key}]` : at === '' ? key : `${at}.${key}`;
    const found = PATH_KEYS.has(key) || key.includes('/') ? name : hostKeyIn(inner, name);
    if (found !== undefined) return found;
  }
  return undefined;
};

const isPath = (text: string): boolean => text.includes('/') && !SUBNET.test(text);

/** The kernel reads a name up to its first NUL, whatever a plugin's request has behind it. */
const isOurLink = (text: string): boolean => OUR_LINK.test(text) || text.includes('\0');

const OUR_LINK = /^(?:ovn-k8s-|ovs-|genev_sys|br-(?:int|ex)$|mp[0-9]+-udn-vrf$)/;
const SUBNET = /^[0-9A-Fa-f.:]+\/[0-9]{1,3}$/;
