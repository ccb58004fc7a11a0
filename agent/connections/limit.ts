/** How many connections a network may have on this node where nobody says so. */
import { readFileSync } from 'node:fs';

/** Of the host's table, which the kernel's datapath shares with it; that of the userspace datapath is larger. */
const TABLE_SIZE = '/proc/sys/net/netfilter/nf_conntrack_max';

/**
 * A connection to the outside is up to four entries: in the zones of its pod, twice of its gateway router, and of the gateway
 * bridge. So a network that has all it may have takes a quarter of the table.
 */
const SHARE = 16;
/** On a small table, too. */
const LEAST = 1024;

/** @param desired by the option; 0: any number @returns undefined: any number */
export const connectionLimit = (desired: number | undefined, tableSize: number | undefined): number | undefined => {
  if (desired !== undefined) return desired === 0 ? undefined : desired;
  return tableSize === undefined ? undefined : Math.max(LEAST, Math.floor(tableSize / SHARE));
};

/** Undefined where the kernel tracks no connections. */
export const readTableSize = (): number | undefined => {
  try {
    const size = Number(readFileSync(TABLE_SIZE, 'utf8'));
    return size > 0 ? size : undefined;
  } catch {
    return undefined;
  }
};
