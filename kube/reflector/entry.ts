/** What a store of projections holds for each object. */
import { type IndexKeys, NO_KEYS } from './indexes.ts';

export interface Entry<T> {
  readonly value: T;
  /** Of the object when it was projected: the same version again needs no work. */
  readonly resourceVersion: string;
  readonly indexKeys: IndexKeys;
}

/** A projection that is its own entry, of objects of which there are very many. */
export abstract class EntryItself {
  #version: string | number = '';

  get value(): this {
    return this;
  }

  get resourceVersion(): string {
    return String(this.#version);
  }

  get indexKeys(): IndexKeys {
    return NO_KEYS;
  }

  /** A number costs no memory of its own. */
  setVersion(version: string): void {
    const number = Number(version);
    this.#version = Number.isInteger(number) && number < MAX_SMALL && String(number) === version ? number : version;
  }
}

const MAX_SMALL = 0x7fff_ffff;

/** Field by field: V8 gives what is copied and extended a second object for what is added. */
export const entryOf = <T>(
  { value, indexKeys }: Omit<Entry<T>, 'resourceVersion'>,
  resourceVersion: string,
): Entry<T> => {
  if (!(value instanceof EntryItself) || indexKeys.length > 0) return { value, resourceVersion, indexKeys };
  value.setVersion(resourceVersion);
  return value;
};
