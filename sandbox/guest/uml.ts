/** The command line of user-mode Linux: Documentation/virt/uml of the kernel's sources. */
import { join } from 'node:path';
import type { CommandLine } from '../machine/types.ts';
import type { GuestFiles } from './files.ts';
import { cpuCount, initArguments, linkBatch } from './first-process.ts';
import type { UmlImages } from './uml-images.ts';

export interface UmlSpec {
  readonly images: UmlImages;
  readonly files: GuestFiles;
  readonly memoryMib: number;
  /** Of the nodes. */
  readonly tree: string;
  /** An empty folder. */
  readonly scratch: string;
}

/**
 * A pair, of which the guest reads and writes one end as packet sockets do: with a tap the driver of 7.2 faults (it counts what
 * waits in queues that a tap has none of).
 */
const ENDS = { machine: 'machine', guest: 'guest' };
export const UML_LINK_BATCH = linkBatch(
  [`link add ${ENDS.guest} up type veth peer name ${ENDS.machine}`],
  ENDS.machine,
);
/** ethtool(8) arguments: that driver drops what is longer than a packet. */
export const UML_LINK_FEATURES: readonly string[] = ['-K', ENDS.machine, 'tso', 'off', 'gso', 'off'];

/** Where it makes the file that is the guest's memory. A container's /dev/shm is too small, and a disk too slow. */
const ON_A_TMPFS =
  'ulimit -n "$(ulimit -H -n)" && mount -t tmpfs -o "size=$1m" guest "$2" && cd "$2" && export TMPDIR="$2" && shift 2 && exec "$@"';
const SPARE_MIB = 64;

/** What it writes is in a mount of its own, which goes with it, however it ends. */
export const umlCommand = (spec: UmlSpec): CommandLine => ({
  file: 'unshare',
  args: [
    ...['--mount', '--propagation', 'private', '--', 'sh', '-c', ON_A_TMPFS, 'sh'],
    ...[String(spec.memoryMib + SPARE_MIB), spec.scratch],
    ...kernelCommand(spec),
  ],
});

const kernelCommand = ({ images, files, memoryMib, tree, scratch }: UmlSpec): string[] => [
  images.kernel,
  ...[`mem=${memoryMib}M`, `ncpus=${cpuCount()}`],
  // Only so it has several processors. What runs in there may break out of its process: they are our own tests.
  'seccomp=on',
  ...[`initrd=${files.initrd}`, `uml_dir=${join(scratch, '/')}`, 'umid=guest'],
  // Left out, they are added at the end, among the first process' arguments.
  ...['root=/dev/none', 'console=tty0'],
  ...['con=null', 'ssl=null', 'con0=null,fd:1', 'quiet', 'panic=-1', 'noreboot'],
  `vec0:transport=raw,ifname=${ENDS.guest},depth=64`,
  ...initArguments({
    link: 'vec0',
    tree,
    lowers: [files.programs, images.node, tree].map((folder) => `hostfs:${folder}`),
  }),
];
