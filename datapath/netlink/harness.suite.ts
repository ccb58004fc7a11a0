/** What conformance suites run on: the fake, and the real kernel in namespaces of their own. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { FakeKernel } from './fake/fake-kernel.ts';
import { fakeNetlink } from './fake/fake-netlink.ts';
import type { Netlink } from './netlink.ts';
import { startNetlink } from './worker/client.ts';

export interface Harness extends AsyncDisposable {
  /** Its own namespace is empty and nobody else's. */
  readonly netlink: Netlink;
  /** The path of that namespace, for other programs; the fake's leads nowhere. */
  readonly ownNetns: string;
  /** The path of an empty namespace. */
  newNetns(): Promise<string>;
  deleteNetns(path: string): Promise<void>;
}

export const fakeHarness = (options?: { readonly vrf?: boolean }): Promise<Harness> => {
  const kernel = new FakeKernel(options);
  let count = 0;
  return Promise.resolve({
    netlink: fakeNetlink(kernel),
    ownNetns: '',
    newNetns: () => {
      const path = `/run/netns/fake-${count++}`;
      kernel.addNetns(path);
      return Promise.resolve(path);
    },
    deleteNetns: (path) => Promise.resolve(kernel.removeNetns(path)),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
};

/** Needs root and `build/nlsock.node`. Whatever happens, disposing takes all namespaces away. */
export const linuxHarness = async (): Promise<Harness> => {
  const run = promisify(execFile);
  const prefix = `udn-test-${randomBytes(4).toString('hex')}`;
  const names = new Set<string>();
  const newNetns = async (): Promise<string> => {
    const name = `${prefix}-${names.size}`;
    names.add(name);
    await run('ip', ['netns', 'add', name]);
    return `/run/netns/${name}`;
  };
  const deleteNetns = async (path: string): Promise<void> => {
    await run('ip', ['netns', 'delete', path.slice('/run/netns/'.length)]);
  };
  const ownNetns = await newNetns();
  const netlink = startNetlink({ ownNetns });
  return {
    netlink,
    ownNetns,
    newNetns,
    deleteNetns,
    [Symbol.asyncDispose]: async () => {
      await netlink.close();
      for (const name of names) await deleteNetns(`/run/netns/${name}`).catch(() => {});
    },
  };
};
