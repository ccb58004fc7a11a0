/** A headless Chromium in a root and namespaces of its own: when its first process ends, nothing of it is left. Needs root. */
import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { SandboxError } from '../errors.ts';
import { devTools } from './dev-tools.ts';
import { openPage, type Page } from './page.ts';

export interface Browser extends AsyncDisposable {
  /** In a context of its own: nothing is shared with other pages. */
  open(url: string): Promise<Page>;
}

/**
 * `$0` is the tree and stays as it is: the profile is in memory. The network is the machine's, so that localhost is.
 * `exec`, so that the first process of the namespace is the browser, whose end ends its helpers.
 */
const START = `set -e
mount --make-rprivate /
mount --rbind /dev "$0/dev"
mount -t proc proc "$0/proc"
mount -t tmpfs tmpfs "$0/tmp"
exec chroot "$0" /usr/lib/chromium/chromium-headless-shell "$@"`;

const OPTIONS: readonly string[] = [
  // It has namespaces already, and opens pages of the tests alone.
  ...['--no-sandbox', '--no-zygote'],
  ...['--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars', '--disable-background-networking'],
  ...['--user-data-dir=/tmp/profile', '--remote-debugging-pipe'],
];

/** @param tree of `ensureChromium` @throws SandboxError ERR_SANDBOX_MACHINE when it does not start */
export const startBrowser = async (tree: string): Promise<Browser> => {
  await mkdir(join(tree, 'proc'), { recursive: true });
  const argv = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', START, tree, ...OPTIONS];
  const child = spawn('unshare', argv, { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'] });
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    log = (log + chunk).slice(-2_000);
  });
  const tools = devTools(child.stdio[3] as Writable, child.stdio[4] as Readable);
  const end = new Promise<void>((resolve) => {
    const ended = (how: string): void => {
      tools.fail(new SandboxError('ERR_SANDBOX_MACHINE', `Chromium ${how}: ${log.trim()}`));
      resolve();
    };
    child.once('error', (error) => ended(`does not start: ${error.message}`));
    child.once('close', (code, signal) => ended(`has ended (${signal ?? code})`));
  });
  const close = async (): Promise<void> => {
    child.kill('SIGKILL');
    await end;
  };
  try {
    await tools.call('Browser.getVersion');
  } catch (error) {
    await close();
    throw error;
  }
  return { open: (url) => openPage(tools, url), [Symbol.asyncDispose]: close };
};
