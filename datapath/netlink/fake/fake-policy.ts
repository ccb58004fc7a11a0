import { constants } from 'node:os';
import { kernelError } from '../errors.ts';
import type { HostOp } from '../kernel/types.ts';
import type { Neighbour } from '../neighbour/types.ts';
import { type Rule, ruleText } from '../rule/types.ts';
import type { FakeLink } from './fake-link.ts';

const { EEXIST, ENOENT } = constants.errno;

/** The rules and permanent neighbours of a namespace. */
export class FakePolicy {
  readonly #rules: Rule[] = KERNEL_RULES.slice();
  #hadVrf = false;
  readonly #neighbours = new Map<string, Neighbour>();

  rules(): Rule[] {
    return this.#rules.slice();
  }

  neighbours(): Neighbour[] {
    return [...this.#neighbours.values()];
  }

  applyRule({ op, rule }: Extract<HostOp, { rule: Rule }>): void {
    const known = this.#rules.find((other) => isSame(other, rule));
    if (op === 'rule.put') {
      if (known !== undefined) throw kernelError(`add rule ${ruleText(rule)}`, EEXIST);
      this.#rules.push(rule);
    } else {
      if (known === undefined) throw kernelError(`delete rule ${ruleText(rule)}`, ENOENT);
      this.#rules.splice(this.#rules.indexOf(known), 1);
    }
  }

  /** The first of a namespace brings the rules of all (drivers/net/vrf.c, vrf_add_fib_rules). */
  vrfAdded(): void {
    if (this.#hadVrf) return;
    this.#hadVrf = true;
    this.#rules.push(...VRF_RULES);
  }

  applyNeighbour({ name }: FakeLink, change: Extract<HostOp, { op: 'neighbour.put' | 'neighbour.delete' }>): void {
    const { op, neighbour } = change;
    const key = `${name} ${neighbour.address}`;
    if (op === 'neighbour.put') {
      this.#neighbours.set(key, { ...neighbour, permanent: true });
    } else if (!this.#neighbours.delete(key)) {
      throw kernelError(`delete neighbour ${neighbour.address}`, ENOENT);
    }
  }

  linkDown({ name }: FakeLink): void {
    for (const [key, { link }] of this.#neighbours) if (link === name) this.#neighbours.delete(key);
  }

  linkGone(link: FakeLink): void {
    this.linkDown(link);
  }
}

/** What a namespace begins with (ip-rule(8)). */
const KERNEL_RULES: readonly Rule[] = [
  { family: 4, priority: 0, table: 255, protocol: 2 },
  { family: 4, priority: 32_766, table: 254, protocol: 2 },
  { family: 4, priority: 32_767, table: 253, protocol: 2 },
  { family: 6, priority: 0, table: 255, protocol: 2 },
  { family: 6, priority: 32_766, table: 254, protocol: 2 },
];

const VRF_RULES: readonly Rule[] = ([4, 6] as const).map((family) => ({
  ...{ family, priority: 1000, l3mdev: true, table: 0, protocol: 2 },
}));

const isSame = (a: Rule, b: Rule): boolean => a.protocol === b.protocol && ruleText(a) === ruleText(b);
