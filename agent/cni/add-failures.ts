/** Why the last ADD of a pod failed, until one succeeds: for those who ask why the pod has no port. */
import type { CniPod } from '../../api/cni/request.ts';
import type { PodFact } from '../model/facts.ts';

interface Failure {
  readonly uid: string | undefined;
  readonly message: string;
}

export class AddFailures {
  /** By `namespace/name`; the oldest come first. */
  readonly #failures = new Map<string, Failure>();

  failed({ namespace, name, uid }: CniPod, message: string): void {
    const key = `${namespace}/${name}`;
    this.#failures.delete(key);
    this.#failures.set(key, { uid, message });
    // Pods go, and no runtime says so of one that was never added.
    for (const oldest of this.#failures.keys()) {
      if (this.#failures.size <= MAX_REMEMBERED) break;
      this.#failures.delete(oldest);
    }
  }

  succeeded({ namespace, name }: CniPod): void {
    this.#failures.delete(`${namespace}/${name}`);
  }

  /** Undefined: it has not failed, or is that of an earlier pod of the name. */
  of({ namespace, name, runtimeUid }: Pick<PodFact, 'namespace' | 'name' | 'runtimeUid'>): string | undefined {
    const found = this.#failures.get(`${namespace}/${name}`);
    return found?.uid === undefined || found.uid === runtimeUid ? found?.message : undefined;
  }
}

const MAX_REMEMBERED = 1_000;
