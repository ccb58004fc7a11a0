/**
 * What is wanted of each place where the agent programs things, and how that differs from what is there. Reading is done
 * when somebody asks, and never changes anything.
 */
import type {
  BackendName,
  DifferenceStatus,
  DifferencesStatus,
  UnsupportedStatus,
  WantedStatus,
} from '../../api/agent-status.ts';
import { messageOf } from '../../base/error-message.ts';
import type { Difference } from '../../datapath/backend.ts';

/** One place, for people. */
export interface Place {
  readonly backend: BackendName;
  /** The keys of everything that is wanted. */
  wanted(): Iterable<string>;
  /** Who wants a thing, the one that has its way first. */
  ownersOf(key: string): readonly string[];
  /** Why a thing is not there, as far as that is known without looking. */
  readonly problemOf: (key: string) => string | undefined;
  /** What of it this machine cannot have at all, and why: it is no difference. */
  unsupported(): Iterable<{ readonly key: string; readonly message: string }>;
  /** Reads the place. @throws when it does not answer */
  differences(signal: AbortSignal): Promise<readonly OwnedDifference[]>;
}

export interface OwnedDifference extends Difference {
  /** Empty when nobody wants it. */
  readonly owners: readonly string[];
}

/** Says which network a thing is about; undefined for what is the node's own. */
export type NetworkOf = (thing: { readonly owners: readonly string[]; readonly text: string }) => string | undefined;

export const reportWanted = (places: readonly Place[], networkOf: NetworkOf): WantedStatus[] =>
  places.flatMap((place) =>
    [...place.wanted()].map((key) => {
      const owners = place.ownersOf(key);
      return {
        backend: place.backend,
        key,
        owners: [...owners],
        ...defined('network', networkOf({ owners, text: '' })),
        ...defined('problem', place.problemOf(key)),
      };
    }),
  );

/** A place that does not answer is said to be unreadable, the others are compared all the same. */
export const reportDifferences = async (
  places: readonly Place[],
  networkOf: NetworkOf,
  signal: AbortSignal,
): Promise<DifferencesStatus> => {
  const read = await Promise.all(
    places.map(async (place) => {
      try {
        const differences = await place.differences(signal);
        return { differences: differences.map((one) => status(place, one, networkOf)), unreadable: [] };
      } catch (error) {
        return { differences: [], unreadable: [{ backend: place.backend, message: messageOf(error) }] };
      }
    }),
  );
  return {
    differences: read.flatMap(({ differences }) => differences),
    unreadable: read.flatMap(({ unreadable }) => unreadable),
    unsupported: places.flatMap((place) => unsupportedOf(place, networkOf)),
  };
};

const unsupportedOf = (place: Place, networkOf: NetworkOf): UnsupportedStatus[] =>
  [...place.unsupported()].map(({ key, message }) => ({
    backend: place.backend,
    key,
    ...defined('network', networkOf({ owners: place.ownersOf(key), text: '' })),
    message,
  }));

const status = (
  { backend, problemOf }: Place,
  { key, kind, owners, wanted, actual }: OwnedDifference,
  networkOf: NetworkOf,
): DifferenceStatus => ({
  backend,
  key,
  kind,
  owners: [...owners],
  ...defined('network', networkOf({ owners, text: `${wanted ?? ''} ${actual ?? ''}` })),
  ...defined('wanted', wanted),
  ...defined('actual', actual),
  ...defined('problem', problemOf(key)),
});

const defined = <Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } =>
  value === undefined ? {} : ({ [name]: value } as { [Key in Name]: Value });
