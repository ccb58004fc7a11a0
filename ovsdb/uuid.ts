import { randomUUID } from 'node:crypto';

declare const uuidBrand: unique symbol;

/** A row's `_uuid`, lower case, as in `36bef046-7da7-43a5-905a-c17899216fcb` (RFC 4122). */
export type Uuid = string & { readonly [uuidBrand]: true };

const PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const isUuid = (value: unknown): value is Uuid => typeof value === 'string' && PATTERN.test(value);

/** The id of a monitor's client that has seen nothing yet (ovsdb-server(7), "Monitor_cond_since"). */
export const ZERO_UUID = '00000000-0000-0000-0000-000000000000';

/**
 * Uuids that nobody else has, for many rows at once: what is random is made once. They differ in the first part, by which alone
 * OVS hashes a uuid (lib/uuid.h).
 */
export class UuidSequence {
  readonly #rest = randomUUID().slice(FIRST_DIGITS);
  #next = Math.floor(Math.random() * 2 ** 32);

  next(): Uuid {
    const first = this.#next.toString(16).padStart(FIRST_DIGITS, '0');
    this.#next = (this.#next + 1) % 2 ** 32;
    return `${first}${this.#rest}` as Uuid;
  }
}

const FIRST_DIGITS = 8;
