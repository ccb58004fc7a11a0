/** In which namespaces pods may be on the network of a NAD by it. Pure. */
import type { NadRecord } from './network-records.ts';

/** As with Multus' isolation of namespaces, whose `globalNamespaces` has it by default. */
const GLOBAL_NAMESPACE = 'default';

/**
 * Each namespace that a network is rendered for has a NAD of its own; one that was written by hand is for its own namespace, and in
 * namespace `default` for all (ADR 80).
 */
export const isFor = ({ isOwn, conf, metadata }: NadRecord, namespace: string): boolean => {
  if (metadata.namespace === namespace) return true;
  return conf.role === 'secondary' && !isOwn && metadata.namespace === GLOBAL_NAMESPACE;
};
