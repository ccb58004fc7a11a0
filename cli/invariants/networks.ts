/** Ids and tunnel keys of networks. Pure. */
import { z } from 'zod';
import { describeFinding } from '../../api/errors.ts';
import type { NetConf } from '../../api/net-conf.ts';
import type { NetworkKeys } from '../../api/network-attachment-definition.ts';
import { FIRST_ALLOCATED_KEY, LAST_ALLOCATED_KEY, networkDatapathKey } from '../../api/network-keys.ts';
import { networkStatusSchema } from '../../api/network-status.ts';
import { compareByAge } from '../../api/object.ts';
import type { NadFacts } from '../../cluster-manager/facts/nad-facts.ts';
import { hasId } from '../../net/id-ranges.ts';
import type { Snapshot } from '../cluster/snapshot.ts';
import { givenTwice, type Violation } from './violation.ts';

/** A network, as the oldest of its NADs says. */
export interface KnownNetwork {
  readonly conf: NetConf;
  readonly nads: readonly NadFacts[];
}

export const knownNetworks = ({ nads }: Pick<Snapshot, 'nads'>): ReadonlyMap<string, KnownNetwork> => {
  const withConf = [...nads.values()].flatMap((nad) => (nad.conf === undefined ? [] : [{ nad, conf: nad.conf }]));
  const groups = Map.groupBy(withConf, ({ conf }) => conf.name);
  return new Map(
    [...groups].flatMap(([name, members]) => {
      const [oldest] = members.sort((a, b) => compareByAge(a.nad.metadata, b.nad.metadata));
      return oldest === undefined ? [] : [[name, { conf: oldest.conf, nads: members.map(({ nad }) => nad) }] as const];
    }),
  );
};

const objectOf = ({ key }: NadFacts): string => `NetworkAttachmentDefinition/${key}`;

export const networkViolations = (snapshot: Snapshot): readonly Violation[] => {
  const keyed = [...snapshot.nads.values()].flatMap((nad) => keyedNetwork(nad) ?? []);
  return [
    ...[...snapshot.nads.values()].flatMap(unreadable),
    ...givenTwice(
      'network-id',
      keyed.map(({ nad, name, keys }) => ({
        value: String(keys.id),
        holder: `network ${name}`,
        object: objectOf(nad),
      })),
      (id) => `network id ${id}`,
    ),
    ...keyed.flatMap((one) => reservedIds(one, snapshot)),
    ...twoIds(keyed),
    ...givenTwice(
      'tunnel-key',
      keyed.flatMap(({ nad, name, keys }) =>
        keys.tunnelKeys.map((key) => ({ value: String(key), holder: `network ${name}`, object: objectOf(nad) })),
      ),
      (key) => `tunnel key ${key}`,
    ),
    ...keyed.flatMap(outside),
    ...statusViolations(snapshot, keyed),
  ];
};

interface Keyed {
  readonly nad: NadFacts;
  readonly name: string;
  readonly keys: NetworkKeys;
}

/** An edited NAD keeps the annotations of its old network: they are that one's. Those of other plugins hold nothing of ours. */
const keyedNetwork = (nad: NadFacts): Keyed | undefined => {
  if (nad.conf === undefined && nad.confError === undefined) return undefined;
  const name = nad.annotatedNetwork ?? nad.conf?.name;
  // What else is wrong with them follows from what can't be read.
  if (nad.keysError !== undefined) return undefined;
  return nad.keys === undefined || name === undefined ? undefined : { nad, name, keys: nad.keys };
};

const unreadable = (nad: NadFacts): Violation[] =>
  [nad.confError, nad.keysError].flatMap((error) =>
    error === undefined
      ? []
      : [{ rule: 'unreadable' as const, objects: [objectOf(nad)], message: describeFinding(error) }],
  );

/** Ids of deleted networks that nodes may still have, or say that they have. */
const reservedIds = ({ nad, name, keys: { id } }: Keyed, { retired, reports }: Snapshot): readonly Violation[] => {
  const before = retired.get(id);
  const isOthers = before !== undefined && before.network !== name;
  // With rendering on demand a node may be about to give up a network that there is.
  const nodes = reports.filter(({ hasAll, leaving }) => hasAll && hasId(leaving, id)).map(({ node }) => node);
  return [
    ...(isOthers ? [`nodes may still have network ${before.network ?? 'that was deleted'}`] : []),
    ...(nodes.length > 0 ? [`${nodes.join(', ')} still has state of an earlier network`] : []),
  ].map((why) => ({
    rule: 'network-id' as const,
    objects: [objectOf(nad)],
    message: `network ${name} has the id ${id}, with which ${why}`,
  }));
};

const twoIds = (keyed: readonly Keyed[]): readonly Violation[] => {
  const byNetwork = Map.groupBy(keyed, ({ name }) => name);
  return [...byNetwork].flatMap(([name, nads]) => {
    const [first, ...others] = nads;
    const other = others.find(
      ({ keys }) => keys.id !== first?.keys.id || String(keys.tunnelKeys) !== String(first.keys.tunnelKeys),
    );
    if (first === undefined || other === undefined) return [];
    const message = `network ${name} has the id ${first.keys.id} and ${other.keys.id}, tunnel keys ${text(first)} and ${text(other)}`;
    return [{ rule: 'network-id' as const, objects: [objectOf(first.nad), objectOf(other.nad)], message }];
  });
};

const text = ({ keys }: Keyed): string => JSON.stringify(keys.tunnelKeys);

const outside = ({ nad, name, keys: { id, tunnelKeys } }: Keyed): readonly Violation[] => {
  const objects = [objectOf(nad)];
  const violations: Violation[] = [];
  if (id === 0)
    violations.push({ rule: 'network-id', objects, message: `network ${name} has the id of the default network` });
  const [datapath, router] = tunnelKeys;
  if (datapath !== undefined && datapath !== networkDatapathKey(id)) {
    const message = `tunnel key ${datapath} of network ${name} does not follow from its id ${id}`;
    violations.push({ rule: 'tunnel-key', objects, message });
  }
  if (router !== undefined && (router < FIRST_ALLOCATED_KEY || router > LAST_ALLOCATED_KEY)) {
    const message = `tunnel key ${router} of network ${name} is not from ${FIRST_ALLOCATED_KEY} to ${LAST_ALLOCATED_KEY}`;
    violations.push({ rule: 'tunnel-key', objects, message });
  }
  return violations;
};

const statusSchema = z.object({ networkID: networkStatusSchema.shape.networkID });

const statusViolations = ({ networks }: Snapshot, keyed: readonly Keyed[]): readonly Violation[] =>
  [...networks.values()].flatMap((facts) => {
    const { networkID } = statusSchema.catch({}).parse(facts.status);
    const other = keyed.find(({ name, keys }) => name === facts.networkName && keys.id !== networkID);
    if (networkID === undefined || other === undefined) return [];
    const message = `its status has network id ${networkID}, but NAD ${other.nad.key} has ${other.keys.id}`;
    return [{ rule: 'network-id' as const, objects: [`${facts.kind}/${facts.key}`, objectOf(other.nad)], message }];
  });
