/** The network that a NAD says it was rendered from. Pure. */
import { cudnNetworkName, cudnOfNetworkName, UDN_LABEL, udnNetworkName } from './names.ts';
import type { NetConf } from './net-conf.ts';
import type { ObjectMeta } from './object.ts';

export interface NadOwner {
  readonly kind: 'UserDefinedNetwork' | 'ClusterUserDefinedNetwork';
  /** `namespace/name` or `name`. */
  readonly key: string;
  readonly uid: string;
  readonly networkName: string;
}

/** What names the owner of a NAD. */
export interface OwnedNad {
  readonly metadata: Pick<ObjectMeta, 'name' | 'ownerReferences'> & { readonly namespace: string };
}

/** Anybody who may write the NAD can write that: whether it is true is seen from the network with that uid. */
export const nadOwner = ({ metadata }: OwnedNad): NadOwner | undefined => {
  const { namespace, name, ownerReferences } = metadata;
  const owner = ownerReferences.find((one) => one.name === name && KINDS.has(one.kind));
  if (owner?.kind === 'UserDefinedNetwork') {
    return {
      kind: owner.kind,
      key: `${namespace}/${name}`,
      uid: owner.uid,
      networkName: udnNetworkName(namespace, name),
    };
  }
  if (owner?.kind === 'ClusterUserDefinedNetwork') {
    return { kind: owner.kind, key: name, uid: owner.uid, networkName: cudnNetworkName(name) };
  }
  return undefined;
};

const KINDS: ReadonlySet<string> = new Set<NadOwner['kind']>(['UserDefinedNetwork', 'ClusterUserDefinedNetwork']);

/** Whether the NAD has the network name of the owner that it names. */
export const isNamedByOwner = (nad: OwnedNad & { readonly conf?: Pick<NetConf, 'name'> | undefined }): boolean =>
  nad.conf !== undefined && nadOwner(nad)?.networkName === nad.conf.name;

/** Whether neither a reference nor the label says that a network is behind it. */
export const isUnowned = (nad: OwnedNad & { readonly metadata: Pick<ObjectMeta, 'labels'> }): boolean =>
  nadOwner(nad) === undefined && !Object.hasOwn(nad.metadata.labels, UDN_LABEL);

/**
 * Whether nothing of a NAD says that it was rendered from a network: one that was, and has lost its owner reference, is still not for all
 * namespaces.
 */
export const isHandmade = (
  nad: OwnedNad & {
    readonly metadata: Pick<ObjectMeta, 'labels'>;
    readonly conf: Pick<NetConf, 'name'>;
  },
): boolean => {
  const { namespace, name } = nad.metadata;
  if (!isUnowned(nad)) return false;
  return cudnOfNetworkName(nad.conf.name) === undefined && nad.conf.name !== udnNetworkName(namespace, name);
};

/** What decides whose the name of a network is. */
export interface NamedNad {
  readonly namespace: string;
  readonly network: string;
  /** It was rendered from the network that its network name belongs to. */
  readonly isRendered: boolean;
}

/**
 * The names of networks are theirs: who copies the configuration of one in another namespace would be in it, and who is
 * there first would keep it away. As long as nothing is rendered with a name, it is free, and shared by who uses them.
 * @param definition the NAD that defines the network
 */
export const takesName = (nad: NamedNad, definition: NamedNad | undefined): boolean => {
  if (nad.isRendered || definition?.isRendered !== true) return false;
  return cudnOfNetworkName(nad.network) !== undefined || definition.namespace !== nad.namespace;
};
