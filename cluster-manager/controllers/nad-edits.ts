/** What an edit of a NAD that was written by hand comes to, and what is said of it. Pure. */
import { editedKeys, editIgnored, editsFollowed, mayBeAdopted } from '../../api/adopted-conf.ts';
import { NAD_ANNOTATIONS } from '../../api/names.ts';
import { formatNetConf } from '../../api/net-conf.ts';
import type { NadFacts } from '../facts/nad-facts.ts';
import type { ClusterState } from '../state/cluster-state.ts';

type Known = Pick<ClusterState, 'registry' | 'confInForce'>;

/** An edit that waits until no pod is on the network. What cannot be read is reported as such. */
export const heldEdit = (
  nad: NadFacts,
  { registry }: Pick<Known, 'registry'>,
): { readonly network: string; readonly messages: readonly string[] } | undefined => {
  const known = registry.nad(nad.key);
  if (known === undefined || known.isOwn || nad.confError !== undefined || nad.conf === known.conf) return undefined;
  const keys = editedKeys(known.conf, nad.conf);
  const network = known.conf.name;
  return keys.length === 0 ? undefined : { network, messages: [editIgnored(network, keys)] };
};

/** With the configuration that counts from now on. One that is refused leaves the last one. */
export const withConf = (
  ids: Readonly<Record<string, string>>,
  nad: NadFacts,
  state: Known,
): Readonly<Record<string, string>> => {
  const { [NAD_ANNOTATIONS.networkConfig]: _held, ...others } = ids;
  const { registry } = state;
  const known = registry.nad(nad.key);
  // Of another plugin, of nobody's network, or of one that renders its NADs: what it says itself counts, or nothing.
  if (known === undefined || known.isOwn || !mayBeAdopted(nad) || registry.mismatch(nad.key).length > 0) return others;
  const conf = state.confInForce(nad.key);
  const text = conf === undefined ? nad.metadata.annotations[NAD_ANNOTATIONS.networkConfig] : formatNetConf(conf);
  return text === undefined ? others : { ...others, [NAD_ANNOTATIONS.networkConfig]: text };
};

/** What pods that run have to be told of: there was another configuration before. */
export const followedEdit = (nad: NadFacts, desired: Readonly<Record<string, string>>): readonly string[] => {
  const isSame = desired[NAD_ANNOTATIONS.networkConfig] === nad.metadata.annotations[NAD_ANNOTATIONS.networkConfig];
  if (isSame || nad.adopted === undefined || nad.conf === undefined) return [];
  return editsFollowed(nad.conf.name, editedKeys(nad.adopted, nad.conf));
};
