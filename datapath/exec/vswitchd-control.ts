/**
 * How to reach ovs-vswitchd by ovs-appctl: by the name of its control socket. Without one ovs-appctl looks for the process that
 * has locked the pidfile (ovs-appctl(8), `--target`), and finds none where processes of the host are not seen: in a container
 * without `hostPID`.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const RUN_DIRECTORY = '/var/run/openvswitch';

/** Arguments of ovs-appctl. None where no socket is found: then ovs-appctl says what is missing. */
export const vswitchdControl = async (folder = RUN_DIRECTORY): Promise<readonly string[]> => {
  const names = await readdir(folder).catch((): string[] => []);
  const pid = (await readFile(join(folder, 'ovs-vswitchd.pid'), 'utf8').catch(() => '')).trim();
  const named = `ovs-vswitchd.${pid}.ctl`;
  const sockets = names.filter((name) => /^ovs-vswitchd\.[0-9]+\.ctl$/.test(name));
  // One that was killed leaves its socket behind.
  const socket = sockets.includes(named) ? named : sockets.length === 1 ? sockets[0] : undefined;
  return socket === undefined ? [] : ['--target', join(folder, socket)];
};
