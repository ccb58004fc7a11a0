/** The annotations of a NAD that say what its network was given. Pure. */
import { formatTunnelKeys } from '../../api/annotations/tunnel-keys.ts';
import { NAD_ANNOTATIONS } from '../../api/names.ts';
import type { NetworkKeys } from '../../api/network-attachment-definition.ts';
import type { NadFacts } from '../facts/nad-facts.ts';

type Annotations = Readonly<Record<string, string>>;

export const idAnnotations = (network: string, { id, tunnelKeys }: NetworkKeys): Annotations => ({
  [NAD_ANNOTATIONS.networkName]: network,
  [NAD_ANNOTATIONS.networkId]: String(id),
  ...(tunnelKeys.length > 0 && { [NAD_ANNOTATIONS.tunnelKeys]: formatTunnelKeys(tunnelKeys) }),
});

/** What a NAD says now, whether it is right or not. */
export const heldIdAnnotations = ({ metadata: { annotations } }: NadFacts): Annotations =>
  Object.fromEntries(
    ID_ANNOTATIONS.flatMap((key): [string, string][] => {
      const text = annotations[key];
      return text === undefined ? [] : [[key, text]];
    }),
  );

/** What has to change for a NAD to say what it should; null takes an annotation away. */
export const changedIdAnnotations = (nad: NadFacts, desired: Annotations): Record<string, string | null> => {
  const held = heldIdAnnotations(nad);
  const changed = ID_ANNOTATIONS.filter((key) => held[key] !== desired[key]);
  return Object.fromEntries(changed.map((key) => [key, desired[key] ?? null]));
};

const ID_ANNOTATIONS = [
  NAD_ANNOTATIONS.networkName,
  NAD_ANNOTATIONS.networkId,
  NAD_ANNOTATIONS.tunnelKeys,
  NAD_ANNOTATIONS.networkConfig,
];
