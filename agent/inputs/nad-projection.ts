/** What the agent keeps of a NetworkAttachmentDefinition. */
import { ApiError } from '../../api/errors.ts';
import { parseForeignConf } from '../../api/foreign-conf.ts';
import { isHandmade, isNamedByOwner } from '../../api/nad-owner.ts';
import { nadKey } from '../../api/names.ts';
import { type NetConf, networkText, pluginsBeside } from '../../api/net-conf.ts';
import {
  type NetworkAttachmentDefinition,
  type NetworkKeys,
  nadAnnotatedNetwork,
  nadNetConf,
  nadNetworkKeys,
  parseNetworkAttachmentDefinition,
} from '../../api/network-attachment-definition.ts';
import type { KubeObject } from '../../kube/types.ts';
import type { ForeignNadFact } from '../model/facts.ts';
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
  /** Plugins that its list has beside ours. */
  readonly beside: readonly string[];
  /** Absent until the cluster manager has given the network its id. */
  readonly keys: NetworkKeys | undefined;
}

/** Of another plugin. */
export interface ForeignNad {
  readonly isForeign: true;
  readonly fact: ForeignNadFact;
}

/** @throws ApiError when the NAD is about a network of ours and cannot be read */
export const projectNad = (object: KubeObject): NadProjection | ForeignNad => {
  const nad = parseNetworkAttachmentDefinition(object);
  const conf = nadNetConf(nad);
  if (conf === undefined) return { isForeign: true, fact: foreignFact(nad) };
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
    beside: pluginsBeside(nad.spec.config, nad.metadata),
    keys,
  };
};

/** What is wrong with it refuses the pods that select it, and nobody else. */
const foreignFact = ({ metadata, spec }: NetworkAttachmentDefinition): ForeignNadFact => {
  try {
    return { conf: parseForeignConf(spec.config, metadata) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { unreadable: error.message };
  }
};

export const ownNad = (nad: NadProjection | ForeignNad | undefined): NadProjection | undefined =>
  nad === undefined || 'isForeign' in nad ? undefined : nad;

export const badNad = (key: string, reason: Error): Problem => ({
  object: `NetworkAttachmentDefinition/${key}`,
  message: reason.message,
  cause: 'network-invalid',
});
