import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it('a server ends with the process that started it, however that ends', async () => {
  const script = `
    import { TestServer } from ${JSON.stringify(fileURLToPath(new URL('server.ts', import.meta.url)))};
    const server = await TestServer.create(['ovn-northbound']);
    console.log(server.controlSocket);
    setInterval(() => {}, 1000);`;
  const owner = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [socket] = (await once(createInterface(owner.stdout), 'line')) as [string];
  try {
    expect(await connectTo(socket)).toBe('connected');
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    await expect.poll(() => connectTo(socket)).toBe('ECONNREFUSED');
  } finally {
    owner.kill('SIGKILL');
    await rm(dirname(socket), { recursive: true, force: true });
  }
});

/** @returns 'connected', or the code of the error */
const connectTo = async (path: string): Promise<unknown> => {
  const connection = createConnection(path);
  try {
    await once(connection, 'connect');
    return 'connected';
  } catch (error) {
    return Reflect.get(Object(error), 'code');
  } finally {
    connection.destroy();
  }
};
