/** Where an API server keeps what the next one goes on with: its objects, and the port at which clients look for it. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { hasSystemCode, SandboxError } from '../errors.ts';

/**
 * Below the ports that Linux gives to connections (ip_local_port_range, ip(7)): while the server is away, a connection to
 * it must not get the server's own port.
 */
const PORTS = { first: 10_000, last: 32_767 };
const TRIES = 100;

export interface DataFolder {
  /** For `data` of EmbeddedClusterOptions. */
  readonly objects: string;
  /** On 127.0.0.1; the same every time. */
  readonly port: number;
}

/** Makes the folder when it is not there. */
export const openDataFolder = async (path: string): Promise<DataFolder> => {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const objects = join(path, 'objects');
  const known = await readPort(join(path, 'port'));
  if (known !== undefined) return { objects, port: known };
  const port = await freePort();
  await writeFile(join(path, 'port'), `${port}\n`);
  return { objects, port };
};

const readPort = async (file: string): Promise<number | undefined> => {
  try {
    const port = Number(await readFile(file, 'utf8'));
    return Number.isInteger(port) && port > 0 ? port : undefined;
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return undefined;
    throw error;
  }
};

const freePort = async (): Promise<number> => {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = randomInt(PORTS.first, PORTS.last + 1);
    if (await isFree(port)) return port;
  }
  throw new SandboxError('ERR_SANDBOX_MACHINE', `no free port between ${PORTS.first} and ${PORTS.last}`);
};

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return true;
  } catch (error) {
    if (hasSystemCode(error, 'EADDRINUSE')) return false;
    throw error;
  }
};
