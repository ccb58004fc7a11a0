/** Which network something that is programmed belongs to, for people. */
import type { Feature } from '../model/fragment.ts';
import type { NetworkOf } from './differences.ts';

export interface NetworkFinder {
  /** What the fragments of a feature are about, by the feature's name. */
  readonly subjects: ReadonlyMap<string, Feature['over']>;
  readonly isNetwork: (name: string) => boolean;
  /** The network that most of what a pod has is about. @param pod `namespace/name` */
  readonly networkOfPod: (pod: string) => string | undefined;
}

/** By what the text of a thing says, else by who wants it: the owner is the feature and its subject. */
export const networkFinder =
  (finder: NetworkFinder): NetworkOf =>
  ({ owners, text }) =>
    networkInText(text) ?? owners.map((owner) => networkOfOwner(owner, finder)).find((name) => name !== undefined);

/** The entry of `external_ids` as JSON has it. */
const networkInText = (text: string): string | undefined => /"k8s\.ovn\.org\/network":"([^"\\]+)"/.exec(text)?.[1];

const networkOfOwner = (owner: string, { subjects, isNetwork, networkOfPod }: NetworkFinder): string | undefined => {
  const colon = owner.indexOf(':');
  const subject = owner.slice(colon + 1);
  switch (subjects.get(owner.slice(0, colon))) {
    case 'network':
      return isNetwork(subject) ? subject : undefined;
    case 'networkNode': {
      // A node's name has no slash, a network's may.
      const network = subject.slice(subject.indexOf('/') + 1);
      return isNetwork(network) ? network : undefined;
    }
    case 'pod':
      return networkOfPod(subject);
    default:
      return undefined;
  }
};
