/** `ovn-bridge-mappings`, ovn-controller(8): `physnet:br-ex,other:br-other`. Pure. */

/** The physical network behind every gateway bridge, of the default network and of all that have none of their own. */
export const PHYSICAL_NETWORK = 'physnet';

/** The bridge of our physical network. */
export const mappedBridge = (mappings: string | undefined): string | undefined =>
  entriesOf(mappings)
    .find((entry) => entry.startsWith(PREFIX))
    ?.slice(PREFIX.length);

/** Those of others as they are, in their order, and then ours; absent when there is none. */
export const mergeMappings = (mappings: string | undefined, bridge: string | undefined): string | undefined => {
  const others = entriesOf(mappings).filter((entry) => !entry.startsWith(PREFIX));
  const all = bridge === undefined ? others : [...others, `${PREFIX}${bridge}`];
  return all.length === 0 ? undefined : all.join(',');
};

/** Physical network → bridge. Of two entries for one network the first counts, as for ovn-controller. */
export const bridgesOf = (mappings: string | undefined): ReadonlyMap<string, string> => {
  const bridges = new Map<string, string>();
  for (const entry of entriesOf(mappings)) {
    const colon = entry.indexOf(':');
    const network = entry.slice(0, Math.max(colon, 0));
    if (network !== '' && !bridges.has(network)) bridges.set(network, entry.slice(colon + 1));
  }
  return bridges;
};

const PREFIX = `${PHYSICAL_NETWORK}:`;

const entriesOf = (mappings = ''): string[] =>
  mappings
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
