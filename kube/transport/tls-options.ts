import type { TlsMaterial } from '../config/types.ts';

export type TlsOptions = { -readonly [K in keyof TlsMaterial]: Exclude<TlsMaterial[K], undefined> };

/** Node takes an option that is there as one that is set. */
export const withoutUndefined = (tls: TlsMaterial): TlsOptions =>
  Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
