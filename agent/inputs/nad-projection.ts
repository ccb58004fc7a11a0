/** What the agent keeps of a NetworkAttachmentDefinition. */
import { adoptedConf, editedKeys, editIgnored } from '../../api/adopted-conf.ts';
import { ApiError, describeFinding } from '../../api/errors.ts';
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
  /** What it says now, and what does not count as long as pods are on the network. */
  readonly ignored?: string | undefined;
}

/** Of another plugin. */
export interface ForeignNad {
  readonly isForeign: true;
  readonly fact: ForeignNadFact;
}

/** @throws ApiError when the NAD is about a network of ours and cannot be read */
export const projectNad = (object: KubeObject): NadProjection | ForeignNad => {
  const nad = parseNetworkAttachmentDefinition(object);
  const said = readConf(nad);
  if (said === undefined) return { isForeign: true, fact: foreignFact(nad) };
  const { conf, ignored } = said;
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
    beside: besideOf(nad, ignored),
    keys,
    ...(ignored !== undefined && { ignored }),
  };
};

/** What counts is what the cluster manager has adopted: a NAD that is edited takes no port from a pod that runs. */
const readConf = (
  nad: NetworkAttachmentDefinition,
): { readonly conf: NetConf; readonly ignored?: string } | undefined => {
  const adopted = adoptedConf(nad);
  if (adopted === undefined) {
    const conf = nadNetConf(nad);
    return conf && { conf };
  }
  try {
    const keys = editedKeys(adopted, nadNetConf(nad));
    return keys.length === 0 ? { conf: adopted } : { conf: adopted, ignored: editIgnored(adopted.name, keys) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { conf: adopted, ignored: describeFinding(error) };
  }
};

/** What the list of an edited NAD says of others does not count, either; it may be no list at all. */
const besideOf = ({ spec, metadata }: NetworkAttachmentDefinition, ignored: string | undefined): readonly string[] =>
  ignored === undefined ? pluginsBeside(spec.config, metadata) : [];

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
