import { createRequire } from 'node:module';
import { messageOf } from '../../../base/error-message.ts';
import { netlinkFault } from '../errors.ts';

/** What `native/nlsock.c` exports. Errors are Node's: `code`, negative `errno`, `syscall`. */
export interface NetlinkAddon {
  /**
   * A bound netlink socket of the namespace, with all checking and explaining that the kernel has.
   * @param netnsFd −1 for the namespace of the process
   * @param receiveBytes size of the receive buffer, 0 for the kernel's default
   * @param timeoutMs for sending and receiving
   */
  openSocket(netnsFd: number, protocol: number, receiveBytes: number, timeoutMs: number): number;
  setMembership(fd: number, group: number, join: boolean): void;
  /** @param key a path below /proc/sys/net */
  readSysctl(netnsFd: number, key: string): string;
  writeSysctl(netnsFd: number, key: string, value: string): void;
  /** @param fd any socket of the link's namespace */
  getTxChecksum(fd: number, link: string): boolean;
  setTxChecksum(fd: number, link: string, on: boolean): void;
  /**
   * Makes the socket non-blocking and calls back whenever it has something to read, until all of it has been read.
   * @returns what ends it, to be called once and before the socket is closed
   */
  watchReadable(fd: number, callback: () => void): () => void;
}

/** @throws NetlinkError ERR_NETLINK_ADDON */
export const loadAddon = (path: string): NetlinkAddon => {
  try {
    return createRequire(import.meta.url)(path);
  } catch (cause) {
    const message = messageOf(cause);
    throw netlinkFault('ERR_NETLINK_ADDON', `can't load ${path}, which \`make build\` builds: ${message}`, cause);
  }
};

/** Where the build puts it, seen from a source file and from a bundle in dist/. */
export const defaultAddonPath = (): string =>
  new URL(import.meta.url.endsWith('.ts') ? '../../../build/nlsock.node' : '../build/nlsock.node', import.meta.url)
    .pathname;
