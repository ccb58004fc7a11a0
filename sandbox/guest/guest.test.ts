import { describe, expect, it } from 'vitest';
import { parseOptions, type SandboxOptionsInput } from '../plan/options.ts';
import { hasVirtualization, wantedAccelerator } from './accelerator.ts';
import { cpioArchive } from './cpio.ts';
import { connectFrame } from './frames.ts';
import { neededParts } from './parts.ts';
import { qemuCommand } from './qemu.ts';
import { baseKey, packagesKey, treeDiskKey, unpackArguments } from './recipe.ts';

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
  expect(wantedAccelerator({ UDN_GUEST_ACCELERATOR: 'kvm' })).toBe('kvm');
  expect(wantedAccelerator({ UDN_GUEST_ACCELERATOR: 'warp' })).toBeUndefined();
});

it('names in the cache tell what was made from what', () => {
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
    expect(partsOf({})).toEqual({ kubernetes: [], coredns: false, runtime: false });
  });

  it('the programs of a real control plane, where there is one', () => {
    expect(partsOf({ api: 'kube' }).kubernetes).toEqual(['etcd', 'kube-apiserver', 'kube-controller-manager']);
    expect(partsOf({ api: 'kube', programs: 'none' }).kubernetes).toEqual([]);
  });

  it('real kubelets, their runtime and what they need beside, and the DNS server', () => {
    expect(partsOf({ kubelet: 'real', dns: 'coredns' })).toEqual({
      kubernetes: ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet'],
      coredns: true,
      runtime: true,
    });
    expect(partsOf({ dns: 'coredns' })).toEqual({ kubernetes: [], coredns: true, runtime: false });
  });
});

it.runIf(process.arch === 'x64')('disks can’t be written, and the guest finds the tree where the sandbox looks', () => {
  const { args } = qemuCommand({
    images: { packages: '/c/p', kernel: '/c/k', base: '/c/b', modules: '/c/m', treeDisk: '/c/t,1', tree: '/c/tree-1' },
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
    / -- guest-init --address \S+ --port 7000 --tree \/var\/cache\/ovn-udn\/tree-1 \/dev\/vda \/dev\/vdb \/dev\/vdc$/,
  );
  expect(args.slice(args.indexOf('-m'), args.indexOf('-m') + 2)).toEqual(['-m', '3072']);
});
