/** How many packets a capture may store, so that it fills neither a disk nor the memory of a node. Pure. */
import type { StatsFs } from 'node:fs';
import { CliError } from '../errors.ts';
import { SNAP_LENGTH } from './tcpdump.ts';

/** Of each hop, where there is room for as many. */
export const USUAL_COUNT = 10_000;

/** What goes through the memory of a node, or is stored there, at all hops together. */
export const MEMORY_BUDGET = 64 * 1024 * 1024;

/** The rest of what is free is for the others on this file system, and for the archive that is made of the files. */
const SHARE_OF_FREE = 1 / 4;

/** statfs(2) */
const TMPFS_MAGIC = 0x0102_1994;

/** A packet and its header, pcap-savefile(5). */
const RECORD_LENGTH = SNAP_LENGTH + 16;

/**
 * @param system that the files are on
 * @param isSent as a stream: whoever receives it has it in memory
 * @returns bytes, at all hops together
 */
export const budgetOf = ({ type, bavail, bsize }: FileSystem, isSent: boolean): number => {
  const share = Math.floor(bavail * bsize * SHARE_OF_FREE);
  return isSent || type === TMPFS_MAGIC ? Math.min(share, MEMORY_BUDGET) : share;
};

export type FileSystem = Pick<StatsFs, 'type' | 'bavail' | 'bsize'>;

/**
 * The packets of each hop.
 * @param asked by the user; undefined: the usual number, or what fits
 * @throws CliError for more than the budget
 */
export const countWithin = (asked: number | undefined, hops: number, budget: number): number => {
  const most = Math.floor(budget / (RECORD_LENGTH * Math.max(hops, 1)));
  const count = asked ?? Math.min(USUAL_COUNT, most);
  if (count >= 1 && count <= most) return count;
  const room = `this capture may store ${mebibytes(budget)}`;
  if (most < 1) throw new CliError(`no room for packets: ${room}, a quarter of what is free`);
  const needed = mebibytes(count * RECORD_LENGTH * hops);
  throw new CliError(`--count: ${count} packets at ${hops} hops are up to ${needed}, ${room}: at most ${most}`, 2);
};

const mebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
