/** What a pod's annotations ask for and nothing follows: said on the pod, since what is dropped silently is searched for long. Pure. */
import { ApiError } from '../errors.ts';
import { nadKey, POD_ANNOTATIONS } from '../names.ts';
import { type NetworkSelection, parseDefaultNetworkSelection, parseNetworkSelections } from './network-selection.ts';

/** The annotations that may have such requests. */
export interface PodRequests {
  readonly selection?: string | undefined;
  readonly defaultNetwork?: string | undefined;
  readonly requestedPrimary?: string | undefined;
}

export interface IgnoredRequest {
  /** The NAD that it is about: keys for another plugin are that one's. Absent: whatever the NADs are. */
  readonly nad?: string | undefined;
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
      return ignoredIn(one, `${POD_ANNOTATIONS.selection}: ${nad}`).map((message) => ({ nad, message }));
    }),
    ...ofDefault.flatMap((one) => ignoredIn(one, POD_ANNOTATIONS.defaultNetwork).map((message) => ({ message }))),
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

const ignoredIn = ({ ignoredKeys = [] }: NetworkSelection, where: string): readonly string[] =>
  ignoredKeys.map((key) => `${where}: ${key} has no effect`);
