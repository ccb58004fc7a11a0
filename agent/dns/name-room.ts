/** Which names are resolved where there are too many: firewalls of tenants have a room of their own, and cannot fill that of administrators. */
import type { DomainName } from '../../net/domain-name.ts';

/** Whose rules name it. */
export type NameOwner = 'administrator' | 'firewall';

type Uses = Record<NameOwner, number>;

export class NameRoom {
  readonly #most: number;
  /** Those that are resolved, and in whose room. */
  readonly #held = new Map<DomainName, { readonly uses: Uses; room: NameOwner }>();
  /** Those that there is no room for, in the order in which they came. */
  readonly #waiting = { administrator: new Map<DomainName, Uses>(), firewall: new Map<DomainName, Uses>() };
  readonly #counts: Uses = { administrator: 0, firewall: 0 };

  /** @param most names of each room */
  constructor(most: number) {
    this.#most = most;
  }

  /** @returns the names that are resolved from now on */
  want(name: DomainName, owner: NameOwner): readonly DomainName[] {
    return this.#change(name, owner, 1);
  }

  /** As often as it was wanted. @returns the names that are resolved from now on; whether `name` is no more is to be seen by `has` */
  release(name: DomainName, owner: NameOwner): readonly DomainName[] {
    return this.#change(name, owner, -1);
  }

  has(name: DomainName): boolean {
    return this.#held.has(name);
  }

  /** Whose room it is resolved in. */
  roomOf(name: DomainName): NameOwner | undefined {
    return this.#held.get(name)?.room;
  }

  /** Names that are resolved in the room. */
  count(room: NameOwner): number {
    return this.#counts[room];
  }

  isWaiting(name: DomainName): boolean {
    return this.#waiting.administrator.has(name) || this.#waiting.firewall.has(name);
  }

  *waiting(): Generator<DomainName> {
    for (const names of Object.values(this.#waiting)) yield* names.keys();
  }

  #change(name: DomainName, owner: NameOwner, by: 1 | -1): readonly DomainName[] {
    const held = this.#held.get(name);
    const { administrator, firewall } = this.#waiting;
    const uses = held?.uses ?? administrator.get(name) ?? firewall.get(name) ?? { administrator: 0, firewall: 0 };
    uses[owner] += by;
    const room = roomOf(uses);
    if (held === undefined) {
      for (const [of, names] of [['administrator', administrator] as const, ['firewall', firewall] as const])
        if (of !== room) names.delete(name);
      if (room !== undefined) this.#waiting[room].set(name, uses);
    } else if (room === undefined) {
      this.#held.delete(name);
      this.#counts[held.room] -= 1;
    } else if (room !== held.room && this.#counts[room] < this.#most) {
      this.#counts[held.room] -= 1;
      this.#counts[room] += 1;
      held.room = room;
    }
    return [...this.#fill('administrator'), ...this.#fill('firewall')];
  }

  #fill(room: NameOwner): DomainName[] {
    const filled: DomainName[] = [];
    const names = this.#waiting[room];
    for (const [name, uses] of names) {
      if (this.#counts[room] >= this.#most) break;
      names.delete(name);
      this.#held.set(name, { uses, room });
      this.#counts[room] += 1;
      filled.push(name);
    }
    return filled;
  }
}

/** Undefined: nobody wants it. */
const roomOf = (uses: Uses): NameOwner | undefined =>
  uses.administrator > 0 ? 'administrator' : uses.firewall > 0 ? 'firewall' : undefined;
