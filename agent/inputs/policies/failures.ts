/**
 * Changes that could not be followed because of an error of the agent's own. What it leaves half done must not open a pod: those that it may
 * be about are isolated and allowed nothing, until the next change of the same object, which is tried as if it were the first, or until the whole
 * index is built anew (`PolicyKeeper`).
 */
import { messageOf } from '../../../base/error-message.ts';
import type { Problem } from '../problem.ts';

export class Failures {
  /** By namespace, then by object: `Pod/red/web` is about that pod alone, others about all pods of the namespace. */
  readonly #messages = new Map<string, Map<string, string>>();
  readonly #onFailure: () => void;

  constructor(onFailure: () => void) {
    this.#onFailure = onFailure;
  }

  /** What failed before of the same object stays so until it is forgotten. @returns whether it fails */
  isFailing(namespace: string, object: string, run: () => void): boolean {
    try {
      run();
      return false;
    } catch (error) {
      this.#add(namespace, object, messageOf(error));
      return true;
    }
  }

  /** @returns whether it was a failure */
  forget(namespace: string, object: string): boolean {
    const messages = this.#messages.get(namespace);
    const isKnown = messages?.delete(object) === true;
    if (messages?.size === 0) this.#messages.delete(namespace);
    return isKnown;
  }

  /** @param pod `namespace/name` */
  isClosed(namespace: string, pod: string): boolean {
    const own = podObject(pod);
    for (const object of this.#messages.get(namespace)?.keys() ?? [])
      if (object === own || !object.startsWith(POD)) return true;
    return false;
  }

  /** @param object absent: of all */
  problems(object?: string): Problem[] {
    const all = [...this.#messages.values()].flatMap((messages) => [...messages]);
    return all.filter(([failed]) => object === undefined || failed === object).map(problemOf);
  }

  #add(namespace: string, object: string, message: string): void {
    const messages = this.#messages.get(namespace) ?? new Map<string, string>();
    this.#messages.set(namespace, messages.set(object, message.slice(0, MAX_MESSAGE)));
    this.#onFailure();
  }
}

export const podObject = (key: string): string => `${POD}${key}`;
export const policyObject = (key: string): string => `NetworkPolicy/${key}`;
export const namespaceObject = (name: string): string => `Namespace/${name}`;

/** An event that is about no namespace closes no pods: what it would change stays, until the next event. */
export const NO_NAMESPACE = '';
export const ALL_POLICIES = 'AllPolicies';

const POD = 'Pod/';

/** It goes into events and logs. */
const MAX_MESSAGE = 400;

const problemOf = ([object, message]: [string, string]): Problem => {
  const who = object.startsWith(POD) ? 'it is isolated' : 'pods of its namespace are isolated';
  const effect = object === ALL_POLICIES ? 'rules stay as they are until the next event' : `${who} and allowed nothing`;
  return { object, message: `what policies make of it could not be worked out (${message}): ${effect}` };
};
