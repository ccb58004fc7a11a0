/** What takes back the values that features have set in rows that are not ours. Pure. */
import { parseClusterConfig } from '../../api/cluster-config.ts';
import type { AnyFragment, AnyPatch, DesiredValue } from '../../ovsdb/desired/types.ts';
import { FactStore } from '../model/fact-store.ts';
import type { Feature, Fragment } from '../model/fragment.ts';
import { TrackedView } from '../model/tracked-view.ts';

export type Withdrawal = Pick<Fragment, 'northbound' | 'southbound' | 'openvswitch'>;

/** Entries of maps are removed, other values emptied. Only what a node has once is set that way. */
export const withdrawalOf = (features: readonly Feature[]): Withdrawal => {
  const settings = {
    node: '',
    cluster: parseClusterConfig(),
    encapIps: [],
    southboundRemote: '',
    networkRendering: 'always' as const,
    allowedDefaultServices: [],
  };
  const view = new TrackedView(new FactStore(), settings);
  const fragments = features.flatMap((feature) => (feature.over === 'zone' ? [feature.render({}, view)] : []));
  const patchesOf = (database: keyof Withdrawal): AnyFragment => ({
    patches: fragments
      .flatMap((fragment) => (fragment[database] as AnyFragment | undefined)?.patches ?? [])
      .map(emptied),
  });
  return {
    northbound: patchesOf('northbound'),
    southbound: patchesOf('southbound'),
    openvswitch: patchesOf('openvswitch'),
  } as Withdrawal;
};

const emptied = ({ columns = {}, entries = {}, ...target }: AnyPatch): AnyPatch => ({
  ...target,
  columns: mapValues(columns, emptyLike),
  entries: mapValues(entries, (map = {}) => mapValues(map, () => null)),
});

const emptyLike = (value: DesiredValue): DesiredValue => {
  if (typeof value === 'string') return '';
  if (typeof value === 'boolean') return false;
  return Array.isArray(value) ? [] : undefined;
};

const mapValues = <From, To>(record: Readonly<Record<string, From>>, change: (value: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
