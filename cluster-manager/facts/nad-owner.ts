/** The network that a NAD says it was rendered from. Pure. */
import { cudnNetworkName, udnNetworkName } from '../../api/names.ts';
import type { NadFacts } from './nad-facts.ts';
import type { NetworkKind } from './network-facts.ts';

export interface NadOwner {
  readonly kind: NetworkKind;
  /** `namespace/name` or `name`. */
  readonly key: string;
  readonly uid: string;
  readonly networkName: string;
}

/** Anybody who may write the NAD can write that: whether it is true is seen from the network with that uid. */
export const nadOwner = ({ metadata }: Pick<NadFacts, 'metadata'>): NadOwner | undefined => {
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

const KINDS: ReadonlySet<string> = new Set<NetworkKind>(['UserDefinedNetwork', 'ClusterUserDefinedNetwork']);

/** Whether the NAD has the network name of the owner that it names. */
export const isNamedByOwner = (nad: NadFacts): boolean =>
  nad.conf !== undefined && nadOwner(nad)?.networkName === nad.conf.name;
