/**
 * Pods of which namespaces may be on a network by a NAD: asked by the cluster manager, which gives addresses and ids, and by the
 * agents, which make the interfaces, so that both decide the same. Pure. See ADR 123.
 */
import type { ClusterConfig } from './cluster-config.ts';

/** A NAD of a network of ours. */
export interface ScopedNad {
  /** `namespace/name` */
  readonly key: string;
  readonly namespace: string;
  readonly network: string;
  readonly role: 'primary' | 'secondary';
  /** Nothing says that it was rendered from a network (`isHandmade` of api/nad-owner.ts). */
  readonly isHandmade: boolean;
}

/** As with Multus' isolation of namespaces, whose `globalNamespaces` has it by default. */
const GLOBAL_NAMESPACE = 'default';

/**
 * Each namespace that a network is rendered for has a NAD of its own; one that was written by hand is for its own namespace, and in
 * namespace `default` for all. A primary network is for its namespace, whatever the cluster allows.
 */
export const mayAttach = (
  nad: Pick<ScopedNad, 'namespace' | 'role' | 'isHandmade'>,
  podNamespace: string,
  { crossNamespaceAttachments }: Pick<ClusterConfig, 'crossNamespaceAttachments'>,
): boolean => {
  if (nad.namespace === podNamespace) return true;
  if (nad.role === 'primary') return false;
  return crossNamespaceAttachments || (nad.isHandmade && nad.namespace === GLOBAL_NAMESPACE);
};

/** For the pod's author. */
export const notFor = ({ key, network }: Pick<ScopedNad, 'key' | 'network'>, podNamespace: string): string =>
  `network ${network} is not for namespace ${podNamespace}: NetworkAttachmentDefinition ${key} gives no address to its pods; use one of namespace ${podNamespace}`;
