/** The command line of QEMU, qemu(1). */
import { join } from 'node:path';
import type { CommandLine } from '../machine/types.ts';
import { treeCommand } from '../tree/tree.ts';
import type { GuestFiles } from './files.ts';
import { cpuCount, initArguments, linkBatch } from './first-process.ts';
import type { QemuImages } from './qemu-images.ts';
import { guestArchitecture } from './recipe.ts';

export interface QemuSpec {
  readonly images: QemuImages;
  readonly files: GuestFiles;
  readonly accelerator: 'kvm' | 'tcg';
  readonly memoryMib: number;
  /** Of the nodes. */
  readonly tree: string;
}

const TAP = 'tap0';
export const QEMU_LINK_BATCH = linkBatch([`tuntap add dev ${TAP} mode tap`], TAP);

export const qemuCommand = ({ images, files, accelerator, memoryMib, tree }: QemuSpec): CommandLine => {
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
      ...['-append', kernelArguments(tree, disks.length)],
      ...disks.flatMap((disk) => ['-drive', `file=${escaped(disk)},format=raw,if=virtio,readonly=on`]),
      ...['-netdev', `tap,id=machine,ifname=${TAP},script=no,downscript=no`],
      ...['-device', 'virtio-net-pci,netdev=machine,romfile='],
    ],
  };
};

/** QEMU pays for what these features check with every change between user and kernel, and with every walk of page tables. */
const TRANSLATED_CPU = 'max,smap=off,smep=off,la57=off';

const ACCELERATION: Readonly<Record<'kvm' | 'tcg', readonly string[]>> = {
  kvm: ['-accel', 'kvm', '-cpu', 'host'],
  tcg: ['-accel', 'tcg,thread=multi,tb-size=512', '-cpu', TRANSLATED_CPU],
};

/** In QEMU's lists of options a comma is written twice. */
const escaped = (path: string): string => path.replaceAll(',', ',,');

/** Nobody attacks a guest of tests. */
const WITHOUT_HARDENING = [
  'mitigations=off',
  'init_on_alloc=0',
  'hardened_usercopy=off',
  'randomize_kstack_offset=off',
];

const kernelArguments = (tree: string, diskCount: number): string => {
  const disks = Array.from({ length: diskCount }, (_, index) => `/dev/vd${String.fromCharCode(97 + index)}`);
  return [
    ...['console=ttyS0', 'quiet', 'panic=-1', 'net.ifnames=0', 'random.trust_cpu=on', ...WITHOUT_HARDENING],
    ...initArguments({ link: 'eth0', tree, lowers: disks }),
  ].join(' ');
};
