/**
 * Says on the Node that packets of networks do not fit its tunnels: a condition of our own. `NetworkUnavailable` would keep every new
 * pod away from a node where small packets pass, and pods of networks that fit.
 */
import type { Diagnostic } from '../model/fragment.ts';
import type { ConditionVerdict } from './node-condition.ts';

/** What was found of each network that does not fit, by the owner of the diagnostic. */
export class OversizedNetworks {
  readonly #found = new Map<string, string>();

  /** @param owners whose diagnostics may be others now */
  update(owners: Iterable<string>, diagnostics: ReadonlyMap<string, readonly Diagnostic[]>): void {
    for (const owner of owners) {
      const found = diagnostics.get(owner)?.find(({ cause }) => cause === 'mtu-too-large');
      if (found === undefined) this.#found.delete(owner);
      else this.#found.set(owner, sentence(found));
    }
  }

  /** @param fitting the largest MTU that fits. Undefined: it is not known, and neither is the condition. */
  verdict(fitting: number | undefined): ConditionVerdict | undefined {
    if (fitting === undefined) return undefined;
    const [first] = [...this.#found.values()].sort();
    if (first !== undefined) {
      const others = this.#found.size === 1 ? '' : `; ${this.#found.size - 1} more networks`;
      return { status: 'True', reason: 'MTUTooLarge', message: `${first}${others}` };
    }
    const message = `packets of up to ${fitting} bytes of pods fit the tunnels of this node`;
    return { status: 'False', reason: 'MTUFits', message };
  }
}

const sentence = ({ object, message }: Diagnostic): string => {
  const [kind, name] = object.split('/');
  return kind === 'Network' ? `network ${name}: ${message}` : message;
};
