/** What is the same whatever runs a guest: its network, and the arguments of its first process (toolbox/guest-init.c). */
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { GUEST_CACHE } from './files.ts';

/** The network between the machine and the guest, in a network namespace of its own. */
export const GUEST_LINK = {
  machine: '10.255.255.1/24',
  guest: '10.255.255.2',
  port: 7000,
} as const;

/** ip(8) -batch commands that give the machine its end of it. @param make those that make that link */
export const linkBatch = (make: readonly string[], link: string): string =>
  [...make, `address add ${GUEST_LINK.machine} dev ${link}`, `link set ${link} up`, ''].join('\n');

/** What the guest says when it takes commands. */
export const READY = 'guest-serve: ready';

export const cpuCount = (): number => Math.min(8, Math.max(2, availableParallelism()));

export interface FirstProcess {
  /** The guest's end of the network. */
  readonly link: string;
  /** Of the nodes, on this machine. */
  readonly tree: string;
  /** What the root is made of, the first on top, the tree last: disks, or `hostfs:` and a folder. */
  readonly lowers: readonly string[];
}

/** The end of the kernel's command line: what follows `--` is for the first process. */
export const initArguments = ({ link, tree, lowers }: FirstProcess): string[] => [
  ...['--', 'guest-init', '--link', link, '--address', GUEST_LINK.guest, '--port', String(GUEST_LINK.port)],
  ...['--tree', `${GUEST_CACHE}/${basename(tree)}`, ...lowers],
];
