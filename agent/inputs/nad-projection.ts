/** What the agent keeps of a NetworkAttachmentDefinition. */
import { isHandmade, isNamedByOwner } from '../../api/nad-owner.ts';
import { nadKey } from '../../api/names.ts';
import { type NetConf, networkText } from '../../api/net-conf.ts';
import {
  type NetworkKeys,
  nadAnnotatedNetwork,
  nadNetConf,
  nadNetworkKeys,
  parseNetworkAttachmentDefinition,
} from '../../api/network-attachment-definition.ts';
import type { KubeObject } from '../../kube/types.ts';
import type { Problem } from './problem.ts';

export interface NadProjection {
  readonly key: string;
  readonly namespace: string;
  /** Of several NADs that contradict each other the oldest counts, for the cluster manager, too. */
  readonly createdAt: string;
  readonly conf: NetConf;
  /** What `conf` says of its network: formatted once, compared with each NAD of the network. */
  readonly networkText: string;
  /**
   * It was rendered from the network that its network name belongs to. Any author of a NAD can write an owner into it: it counts once the
   * cluster manager, which knows the owner, has written the ids.
   */
  readonly isRendered: boolean;
  /** Nothing says that it was rendered: in namespace `default` it is for all namespaces. */
  readonly isHandmade: boolean;
  /** Absent until the cluster manager has given the network its id. */
  readonly keys: NetworkKeys | undefined;
}

/** Of another plugin, which Multus asks: all that is kept of it is that it exists. */
export interface ForeignNad {
  readonly isForeign: true;
}

/** @throws ApiError when the NAD is about a network of ours and cannot be read */
export const projectNad = (object: KubeObject): NadProjection | ForeignNad => {
  const nad = parseNetworkAttachmentDefinition(object);
  const conf = nadNetConf(nad);
  if (conf === undefined) return FOREIGN;
  const isForThisNetwork = (nadAnnotatedNetwork(nad) ?? conf.name) === conf.name;
  const keys = isForThisNetwork ? nadNetworkKeys(nad) : undefined;
  const { namespace, name, creationTimestamp } = nad.metadata;
  return {
    key: nadKey(namespace, name),
    namespace,
    createdAt: creationTimestamp ?? '',
    conf,
    networkText: networkText(conf),
    isRendered: keys !== undefined && isNamedByOwner({ ...nad, conf }),
    isHandmade: isHandmade({ ...nad, conf }),
    keys,
  };
};

/** One for all. */
const FOREIGN: ForeignNad = { isForeign: true };

export const ownNad = (nad: NadProjection | ForeignNad | undefined): NadProjection | undefined =>
  nad === undefined || 'isForeign' in nad ? undefined : nad;

export const badNad = (key: string, reason: Error): Problem => ({
  object: `NetworkAttachmentDefinition/${key}`,
  message: reason.message,
  cause: 'network-invalid',
});
