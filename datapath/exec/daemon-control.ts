/**
 * How to reach a daemon of Open vSwitch or OVN by ovs-appctl: by the name of its control socket. Without one ovs-appctl looks for the
 * process that has locked the pidfile (ovs-appctl(8), `--target`), and finds none where processes of the host are not seen: in a
 * container without `hostPID`.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** @returns the path of its socket; undefined where none is found, or several, and no pidfile says which */
export const controlSocket = async (daemon: string, folder: string): Promise<string | undefined> => {
  const names = await readdir(folder).catch((): string[] => []);
  const pid = (await readFile(join(folder, `${daemon}.pid`), 'utf8').catch(() => '')).trim();
  const named = `${daemon}.${pid}.ctl`;
  const sockets = names.filter(
    (name) => name.startsWith(`${daemon}.`) && /^[0-9]+\.ctl$/.test(name.slice(daemon.length + 1)),
  );
  // That of bin/ovn-daemon: its readers see other process ids than the daemon.
  const fixed = `${daemon}.ctl`;
  // One that was killed leaves its socket behind.
  const [socket] = [named, fixed].filter((name) => names.includes(name)).concat(sockets.length === 1 ? sockets : []);
  return socket === undefined ? undefined : join(folder, socket);
};
