/** What a pod's annotations ask for and nothing follows: said on the pod, since what is dropped silently is searched for long. Pure. */
import { ApiError } from '../errors.ts';
import { nadKey, POD_ANNOTATIONS } from '../names.ts';
import { type NetworkSelection, parseDefaultNetworkSelection, parseNetworkSelections } from './network-selection.ts';
import { keyMeantBy } from './selection-element.ts';

/** The annotations that may have such requests. */
export interface PodRequests {
  readonly selection?: string | undefined;
  readonly defaultNetwork?: string | undefined;
  readonly requestedPrimary?: string | undefined;
}

export interface IgnoredRequest {
  /** The NAD that it is about: keys for another plugin are that one's. Absent: whatever the NADs are. */
  readonly nad?: string | undefined;
  /** Keys that no plugin is told of. */
  readonly isUnknown?: true;
  /** ADD refuses the pod for it. */
  readonly refuses?: true;
  /** Without a full stop. */
  readonly message: string;
}

export const requestsIn = (annotations: Readonly<Record<string, string>> = {}): PodRequests => ({
  selection: annotations[POD_ANNOTATIONS.selection],
  defaultNetwork: annotations[POD_ANNOTATIONS.defaultNetwork],
  requestedPrimary: annotations[POD_ANNOTATIONS.requestedPrimary],
});

/** What can't be read is reported elsewhere. @param pod `namespace/name` */
export const ignoredRequests = (
  { selection, defaultNetwork, requestedPrimary }: PodRequests,
  pod: string,
): readonly IgnoredRequest[] => {
  const selected = readable(selection, (text) => parseNetworkSelections(text, pod));
  const ofDefault = readable(defaultNetwork, (text) => [parseDefaultNetworkSelection(text, pod)]);
  return [
    ...selected.flatMap((one) => {
      const nad = nadKey(one.namespace, one.name);
      const where = `${POD_ANNOTATIONS.selection}: ${nad}`;
      return [
        ...refusedIn(one, where).map((message) => ({ nad, message, refuses: true as const })),
        ...unfollowedIn(one, where).map((message) => ({ nad, message })),
        ...misspeltIn(one, where).map((message) => ({
          nad,
          message,
          isUnknown: true as const,
          refuses: true as const,
        })),
        ...unknownIn(one, where).map((message) => ({ nad, message, isUnknown: true as const })),
      ];
    }),
    ...ofDefault.flatMap((one) => {
      const where = POD_ANNOTATIONS.defaultNetwork;
      const found = [...unfollowedOfDefault(one, where), ...unfollowedIn(one, where), ...unknownIn(one, where)];
      return [
        ...[...refusedIn(one, where), ...misspeltIn(one, where)].map((message) => ({
          message,
          refuses: true as const,
        })),
        ...found.map((message) => ({ message })),
      ];
    }),
    ...(requestedPrimary === undefined
      ? []
      : [
          {
            message: `${POD_ANNOTATIONS.requestedPrimary} has no effect: a pod is on the primary network of its namespace`,
          },
        ]),
  ];
};

/** Of most pods there is none, and of most others a short list of names, in which there are no keys. */
const readable = (
  text: string | undefined,
  parse: (text: string) => readonly NetworkSelection[],
): readonly NetworkSelection[] => {
  if (text === undefined || !text.includes('{')) return [];
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof ApiError) return [];
    throw error;
  }
};

/**
 * Section 4.1.2.1 of the specification: what cannot be followed must fail. Whoever may annotate a pod need not be allowed a port of the node:
 * admission (Pod Security Standards) looks at containers only.
 */
const refusedIn = ({ portMappings, infinibandGuid }: NetworkSelection, where: string): readonly string[] => [
  ...(portMappings === undefined
    ? []
    : [`${where}: portMappings: ports of a node are opened by hostPort of a container only`]),
  ...(infinibandGuid === undefined
    ? []
    : [`${where}: infiniband-guid: interfaces of ovn-udn are Ethernet, which has no GUID`]),
];

/** The key that the specification lets all but those who execute plugins ignore: no network of ours follows it. */
const unfollowedIn = ({ cniArgs }: NetworkSelection, where: string): readonly string[] =>
  cniArgs === undefined ? [] : [withoutEffect(where, 'cni-args')];

/** The pod's default interface and its routes are not the pod's to choose, and its limits have annotations of their own. */
const unfollowedOfDefault = (
  { interface: name, defaultRoute, bandwidth }: NetworkSelection,
  where: string,
): readonly string[] => [
  ...(name === undefined ? [] : [withoutEffect(where, 'interface')]),
  ...(defaultRoute.length === 0 ? [] : [withoutEffect(where, 'default-route')]),
  ...(bandwidth === undefined ? [] : [withoutEffect(where, 'bandwidth')]),
];

const withoutEffect = (where: string, key: string): string => `${where}: ${key} has no effect`;

/** Who writes `IPs` wants that address, and gets it where Multus reads it: with another one the pod must not come up. */
const misspeltIn = ({ unknownKeys = [] }: NetworkSelection, where: string): readonly string[] =>
  unknownKeys.flatMap((key) => {
    const meant = keyMeantBy(key);
    return meant === undefined ? [] : [`${where}: "${key}" has to be written "${meant}"`];
  });

/** One message for all: their author may have written thousands. */
const unknownIn = (selection: NetworkSelection, where: string): readonly string[] => {
  const unknownKeys = (selection.unknownKeys ?? []).filter((key) => keyMeantBy(key) === undefined);
  if (unknownKeys.length === 0) return [];
  const named = unknownKeys.slice(0, NAMED_KEYS).map((key) => JSON.stringify(key.slice(0, 40)));
  const more = unknownKeys.length > NAMED_KEYS ? ` and ${unknownKeys.length - NAMED_KEYS} more` : '';
  return [`${where}: ${named.join(', ')}${more} ${unknownKeys.length === 1 ? 'is' : 'are'} unknown and ignored`];
};

const NAMED_KEYS = 5;
