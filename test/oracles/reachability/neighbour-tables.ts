/**
 * The kernel keeps the neighbours of all network namespaces in one table per family. Where it is full
 * (`net.ipv4.neigh.default.gc_thresh3`, 1024 unless set), packets are lost that no configuration of a network loses: to
 * know it is to not look for it elsewhere.
 */
import { readFile } from 'node:fs/promises';

const TABLES = ['/proc/net/stat/arp_cache', '/proc/net/stat/ndisc_cache'];

/** How often a neighbour found no room since this machine started; 0 where the kernel does not say. */
export const readNeighbourOverflows = async (): Promise<number> => {
  const texts = await Promise.all(TABLES.map((path) => readFile(path, 'utf8').catch(() => '')));
  return texts.reduce((sum, text) => sum + overflowsIn(text), 0);
};

/** A heading, then a line of hexadecimal numbers for each processor. */
export const overflowsIn = (text: string): number => {
  const [heading = '', ...lines] = text.split('\n').filter((line) => line.trim() !== '');
  const column = wordsOf(heading).indexOf('table_fulls');
  if (column < 0) return 0;
  return lines.reduce((sum, line) => sum + Number.parseInt(wordsOf(line)[column] ?? '0', 16), 0);
};

const wordsOf = (line: string): string[] => line.trim().split(/\s+/);
