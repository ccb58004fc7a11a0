/** The command line of QEMU, qemu(1). */
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import type { CommandLine } from '../machine/types.ts';
import { treeCommand } from '../tree/tree.ts';
import type { Accelerator } from './accelerator.ts';
import type { GuestFiles, GuestImages } from './images.ts';
import { guestArchitecture } from './recipe.ts';

/** The network between the machine and the guest, in a network namespace of its own. */
export const GUEST_LINK = {
  tap: 'tap0',
  machine: '10.255.255.1/24',
  guest: '10.255.255.2',
  port: 7000,
} as const;

/** ip(8) -batch commands that make the machine's end of it. */
export const LINK_BATCH = [
  `tuntap add dev ${GUEST_LINK.tap} mode tap`,
  `address add ${GUEST_LINK.machine} dev ${GUEST_LINK.tap}`,
  `link set ${GUEST_LINK.tap} up`,
  '',
].join('\n');

/** What the guest says when it takes commands. */
export const READY = 'guest-serve: ready';

export interface QemuSpec {
  readonly images: GuestImages;
  readonly files: GuestFiles;
  readonly accelerator: Accelerator;
  readonly memoryMib: number;
}

export const qemuCommand = ({ images, files, accelerator, memoryMib }: QemuSpec): CommandLine => {
  const { emulator, firmware } = guestArchitecture();
  const { file, args } = treeCommand(images.packages, emulator);
  const disks = [files.programs, images.base, images.treeDisk];
  return {
    file,
    args: [
      ...args,
      ...firmware.flatMap((folder) => ['-L', join(images.packages, folder)]),
      ...['-nodefaults', '-no-user-config', '-no-reboot', '-display', 'none', '-serial', 'stdio'],
      ...ACCELERATION[accelerator],
      ...['-smp', String(cpuCount()), '-m', String(memoryMib)],
      ...['-kernel', images.kernel, '-initrd', files.initrd],
      ...['-append', kernelArguments(basename(images.tree), disks.length)],
      ...disks.flatMap((disk) => ['-drive', `file=${escaped(disk)},format=raw,if=virtio,readonly=on`]),
      ...['-netdev', `tap,id=machine,ifname=${GUEST_LINK.tap},script=no,downscript=no`],
      ...['-device', 'virtio-net-pci,netdev=machine,romfile='],
    ],
  };
};

/** QEMU pays for what these features check with every change between user and kernel, and with every walk of page tables. */
const TRANSLATED_CPU = 'max,smap=off,smep=off,la57=off';

const ACCELERATION: Readonly<Record<Accelerator, readonly string[]>> = {
  kvm: ['-accel', 'kvm', '-cpu', 'host'],
  tcg: ['-accel', 'tcg,thread=multi,tb-size=512', '-cpu', TRANSLATED_CPU],
};

const cpuCount = (): number => Math.min(8, Math.max(2, availableParallelism()));

/** In QEMU's lists of options a comma is written twice. */
const escaped = (path: string): string => path.replaceAll(',', ',,');

/** Nobody attacks a guest of tests. */
const WITHOUT_HARDENING = [
  'mitigations=off',
  'init_on_alloc=0',
  'hardened_usercopy=off',
  'randomize_kstack_offset=off',
];

/** What follows `--` is for the first process, `toolbox guest-init`. */
const kernelArguments = (tree: string, diskCount: number): string => {
  const disks = Array.from({ length: diskCount }, (_, index) => `/dev/vd${String.fromCharCode(97 + index)}`);
  return [
    ...['console=ttyS0', 'quiet', 'panic=-1', 'net.ifnames=0', 'random.trust_cpu=on', ...WITHOUT_HARDENING, '--'],
    ...['guest-init', '--address', GUEST_LINK.guest, '--port', String(GUEST_LINK.port)],
    ...['--tree', `${GUEST_CACHE}/ovn-udn/${tree}`, ...disks],
  ].join(' ');
};

/** `$XDG_CACHE_HOME` of what runs there (guest-serve.c). */
const GUEST_CACHE = '/var/cache';
