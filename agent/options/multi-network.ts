/** Flags about pods on several networks. */
import { ApiError } from '../../api/errors.ts';
import { type AllowedPlugin, parseForeignPlugins } from '../../api/foreign-plugins.ts';
import { UsageError } from '../../program/errors.ts';
import type { Flag, Flags } from '../../program/flags.ts';
import type { MultiNetwork } from '../model/view.ts';

export interface MultiNetworkOptions {
  readonly mode: MultiNetwork;
  /** Plugins of other networks that this node runs. */
  readonly foreignPlugins: readonly AllowedPlugin[];
  /** Where is remembered what they have made; it outlives a boot of the node. */
  readonly attachmentFolder: string;
}

const DEFAULT_FOLDER = '/var/lib/ovn-udn/attachments';

export const MULTI_NETWORK_FLAGS: readonly Flag[] = [
  {
    flag: 'multi-network',
    help: 'native: one ADD makes all attachments of a pod; delegated: Multus calls for each',
    defaultText: 'native',
  },
  {
    flag: 'foreign-plugins',
    help: 'CNI plugins of other networks that this node runs, [NAMESPACE/]PLUGIN, comma list; IPAM plugins, too',
    defaultText: 'none',
  },
  {
    flag: 'attachment-dir',
    help: 'directory where the attachments of other plugins are remembered',
    defaultText: DEFAULT_FOLDER,
  },
];

/** @throws UsageError */
export const readMultiNetwork = (flags: Flags): MultiNetworkOptions => {
  const mode = readMode(flags.text('multi-network') ?? 'native');
  const foreignPlugins = readPlugins(flags.text('foreign-plugins') ?? '');
  if (mode === 'delegated' && foreignPlugins.length > 0)
    throw new UsageError('--foreign-plugins is for --multi-network=native: with delegated, Multus runs them');
  return { mode, foreignPlugins, attachmentFolder: flags.text('attachment-dir') ?? DEFAULT_FOLDER };
};

const readMode = (text: string): MultiNetwork => {
  if (text === 'native' || text === 'delegated') return text;
  throw new UsageError(`--multi-network must be native or delegated, not "${text}"`);
};

const readPlugins = (text: string): readonly AllowedPlugin[] => {
  try {
    return text === 'none' ? [] : parseForeignPlugins(text);
  } catch (error) {
    if (error instanceof ApiError) throw new UsageError(`--foreign-plugins: ${error.message}`);
    throw error;
  }
};
