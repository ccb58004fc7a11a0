import { describe, expect, it } from 'vitest';
import { parseOptions, type SandboxOptionsInput } from '../plan/options.ts';
import { acceleratorsToTry, hasVirtualization } from './accelerator.ts';
import { cpioArchive } from './cpio.ts';
import { connectFrame } from './frames.ts';
import { neededParts } from './parts.ts';
import { qemuCommand } from './qemu.ts';
import { baseKey, packagesKey, treeDiskKey, unpackArguments } from './recipe.ts';
import { umlCommand } from './uml.ts';

it('an archive has a head and a padded name for each file, and an end', () => {
  const archive = cpioArchive([{ path: 'a' }, { path: 'a/b', content: Buffer.from('hello') }]);
  expect(archive.length % 4).toBe(0);
  const text = archive.toString('latin1');
  expect(text.slice(0, 112)).toBe(
    `070701${'00000001000041ed0000000000000000000000020000000000000000'}${'0'.repeat(32)}${'00000002'}${'00000000'}a\0`,
  );
  expect(text).toMatch(/07070100000002000081ed.{72}0000000400000000a\/b\0{3}hello\0{3}070701/s);
  expect(text).toMatch(/TRAILER!!!\0+$/);
});

it('a connection to a socket of the guest starts with a frame', () => {
  expect(connectFrame('/run/a')).toEqual(Buffer.from('C\0\0\0\x06/run/a'));
});

it('only a processor that has what KVM needs is asked to run guests', () => {
  expect(hasVirtualization('flags\t\t: fpu vme svm sse\n')).toBe(true);
  expect(hasVirtualization('flags\t\t: fpu vmx\nmodel name: x\n')).toBe(true);
  expect(hasVirtualization('model name\t: svm\nflags\t\t: fpu svm_lock\n')).toBe(false);
});

it('the best that this machine has is tried first, and only what somebody insists on', () => {
  expect(acceleratorsToTry({}, true)).toEqual(['kvm', 'uml', 'tcg']);
  expect(acceleratorsToTry({}, false)).toEqual(['uml', 'tcg']);
  expect(acceleratorsToTry({ UDN_GUEST_ACCELERATOR: 'warp' }, false)).toEqual(['uml', 'tcg']);
  expect(acceleratorsToTry({ UDN_GUEST_ACCELERATOR: 'kvm' }, false)).toEqual(['kvm']);
  expect(acceleratorsToTry({ UDN_GUEST_ACCELERATOR: 'tcg' }, true)).toEqual(['tcg']);
});

it('names in the cache identify what was made from what', () => {
  expect(packagesKey(['a'])).toMatch(/^guest-trixie-[0-9a-f]{12}$/);
  expect(packagesKey(['a'])).not.toBe(packagesKey(['b']));
  expect(baseKey(['a'], 'v24.1.0')).not.toBe(baseKey(['a'], 'v24.2.0'));
  expect(treeDiskKey('tree-1')).toBe('guest-disk-tree-1');
  expect(unpackArguments(['a', 'b'], 'http://mirror.example/debian', '/t').slice(-4)).toEqual([
    '--include=a,b',
    'trixie',
    '/t',
    'http://mirror.example/debian',
  ]);
});

describe('a cluster in a guest is given', () => {
  const partsOf = (input: SandboxOptionsInput) => neededParts(parseOptions(input));

  it('nothing, as long as all of it is ours', () => {
    expect(partsOf({})).toEqual({ kubernetes: [], coredns: false, konnectivity: false, runtime: false });
  });

  it('the programs of a real control plane, where there is one', () => {
    expect(partsOf({ api: 'kube' }).kubernetes).toEqual(['etcd', 'kube-apiserver', 'kube-controller-manager']);
    expect(partsOf({ api: 'kube', programs: 'none' }).kubernetes).toEqual([]);
  });

  it('real kubelets, their runtime and what they need beside, the DNS server and konnectivity', () => {
    expect(partsOf({ kubelet: 'real', dns: 'coredns', egress: 'konnectivity' })).toEqual({
      kubernetes: ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet'],
      coredns: true,
      konnectivity: true,
      runtime: true,
    });
    expect(partsOf({ dns: 'coredns' })).toMatchObject({ kubernetes: [], coredns: true, runtime: false });
  });
});

it.runIf(process.arch === 'x64')('disks can’t be written, and the guest finds the tree where the sandbox looks', () => {
  const { args } = qemuCommand({
    images: { packages: '/c/p', kernel: '/c/k', base: '/c/b', modules: '/c/m', treeDisk: '/c/t,1' },
    tree: '/c/tree-1',
    files: { initrd: '/f/i', programs: '/f/p' },
    accelerator: 'tcg',
    memoryMib: 3072,
  });
  expect(args.filter((arg) => arg.startsWith('file='))).toEqual([
    'file=/f/p,format=raw,if=virtio,readonly=on',
    'file=/c/b,format=raw,if=virtio,readonly=on',
    'file=/c/t,,1,format=raw,if=virtio,readonly=on',
  ]);
  expect(args[args.indexOf('-append') + 1]).toMatch(
    / -- guest-init --link eth0 --address \S+ --port 7000 --tree \/var\/cache\/ovn-udn\/tree-1 \/dev\/vda \/dev\/vdb \/dev\/vdc$/,
  );
  expect(args.slice(args.indexOf('-m'), args.indexOf('-m') + 2)).toEqual(['-m', '3072']);
});

it('user-mode Linux has its memory on a file system of its own, and folders of this machine for a root', () => {
  const { file, args } = umlCommand({
    images: { kernel: '/c/linux', node: '/c/n' },
    tree: '/c/tree-1',
    files: { initrd: '/f/i', programs: '/f/p' },
    memoryMib: 3072,
    scratch: '/f/s',
  });
  const start = args.indexOf('/c/linux');
  expect([file, args.slice(0, 3), args.slice(start - 2, start)]).toEqual([
    'unshare',
    ['--mount', '--propagation', 'private'],
    ['3136', '/f/s'],
  ]);
  expect(args.slice(start + 1).filter((arg) => !arg.startsWith('ncpus='))).toEqual([
    ...['mem=3072M', 'seccomp=on', 'initrd=/f/i', 'uml_dir=/f/s/', 'umid=guest'],
    ...['root=/dev/none', 'console=tty0', 'con=null', 'ssl=null', 'con0=null,fd:1', 'quiet', 'panic=-1', 'noreboot'],
    ...['vec0:transport=raw,ifname=guest,depth=64', '--', 'guest-init', '--link', 'vec0', '--address', '10.255.255.2'],
    ...['--port', '7000', '--tree', '/var/cache/ovn-udn/tree-1', 'hostfs:/f/p', 'hostfs:/c/n', 'hostfs:/c/tree-1'],
  ]);
});
