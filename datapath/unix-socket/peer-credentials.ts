import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

/** Of the process that connected, when it connected. */
export interface PeerCredentials {
  readonly pid: number;
  readonly uid: number;
  readonly gid: number;
}

export type ReadPeerCredentials = (socket: Socket) => PeerCredentials;

/**
 * @param addonPath what `make build` makes of `native/peercred.c`
 * @throws Error when the addon cannot be loaded; the returned function when the socket is closed already
 */
export const loadPeerCredentials = (addonPath: string = defaultAddonPath()): ReadPeerCredentials => {
  const addon: unknown = createRequire(import.meta.url)(addonPath);
  if (!isAddon(addon)) throw new TypeError(`${addonPath} is not the peer credentials addon`);
  return (socket) => {
    const [pid = -1, uid = -1, gid = -1] = addon.peerCredentials(descriptorOf(socket));
    return { pid, uid, gid };
  };
};

/** Where the build puts it, seen from a source file and from a bundle in dist/. */
const defaultAddonPath = (): string =>
  new URL(import.meta.url.endsWith('.ts') ? '../../build/peercred.node' : '../build/peercred.node', import.meta.url)
    .pathname;

interface Addon {
  peerCredentials(fd: number): readonly number[];
}

const isAddon = (value: unknown): value is Addon =>
  typeof value === 'object' && value !== null && 'peerCredentials' in value;

/** Node has no public way to a socket's descriptor; the handle has had this property since 0.12. */
const descriptorOf = (socket: Socket): number => {
  const handle: unknown = Reflect.get(socket, '_handle');
  const fd: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : undefined;
  return typeof fd === 'number' ? fd : -1;
};
